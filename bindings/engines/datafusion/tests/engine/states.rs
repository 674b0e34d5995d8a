//! Tests states as columns: the same rows give the same bytes, whether their state is computed for one group, for many groups, or by
//! merging states of single rows.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, BooleanArray};
use arrow::compute::{concat, filter};
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use datafusion::logical_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion::logical_expr::{Accumulator, AggregateUDF, EmitTo, GroupsAccumulator};

use crate::{Draws, doubles, integers};

const GROUPS: usize = 5;

/// A function, and the types of its arguments.
struct Call {
    function: AggregateUDF,
    fields: Vec<FieldRef>,
    schema: Schema,
    returned: FieldRef,
}

impl Call {
    fn all() -> Vec<Self> {
        // Only the first seven functions implement `GroupsAccumulator`.
        let functions = treefold_datafusion::aggregates().into_iter().take(7);
        let doubles = functions.map(|function| Self::of(function, &DataType::Float64));
        let functions = treefold_datafusion::aggregates().into_iter().take(2);
        let integers = functions.map(|function| Self::of(function, &DataType::Int64));
        doubles.chain(integers).collect()
    }

    fn of(function: AggregateUDF, argument: &DataType) -> Self {
        let arguments = if function.name() == "exact_dot" { 2 } else { 1 };
        let types = vec![argument.clone(); arguments];
        let field = |of_type: &DataType| Arc::new(Field::new("x", of_type.clone(), true));
        let returned = field(&function.return_type(&types).unwrap());
        Self {
            fields: types.iter().map(field).collect(),
            schema: Schema::empty(),
            function,
            returned,
        }
    }

    fn args(&self) -> AccumulatorArgs<'_> {
        AccumulatorArgs {
            return_field: Arc::clone(&self.returned),
            schema: &self.schema,
            ignore_nulls: false,
            order_bys: &[],
            is_reversed: false,
            name: "call",
            is_distinct: false,
            exprs: &[],
            expr_fields: &self.fields,
        }
    }

    fn alone(&self) -> Box<dyn Accumulator> {
        self.function.accumulator(self.args()).unwrap()
    }

    fn grouped(&self) -> Box<dyn GroupsAccumulator> {
        self.function
            .create_groups_accumulator(self.args())
            .unwrap()
    }

    /// Returns the state of all rows of `arguments`.
    fn state_of(&self, arguments: &[ArrayRef]) -> Vec<ArrayRef> {
        let mut alone = self.alone();
        alone.update_batch(arguments).unwrap();
        let state = alone.state().unwrap().into_iter();
        state.map(|column| column.to_array().unwrap()).collect()
    }

    fn arguments(&self, draws: &mut Draws, rows: usize) -> Vec<ArrayRef> {
        let mut column = |field: &FieldRef| {
            if field.data_type() == &DataType::Int64 {
                return integers(
                    (0..rows).map(|_| (draws.below(9) > 0).then(|| draws.bits().cast_signed())),
                );
            }
            doubles((0..rows).map(|_| match draws.below(30) {
                0 => None,
                1 => Some(-0.0),
                2 => Some(f64::NEG_INFINITY),
                3 => Some(f64::NAN),
                4 => Some(draws.double(1000)),
                _ => Some(draws.double(3)),
            }))
        };
        self.fields.iter().map(&mut column).collect()
    }
}

fn of_group(arguments: &[ArrayRef], groups: &[usize], group: usize) -> Vec<ArrayRef> {
    let kept: BooleanArray = groups.iter().map(|own| Some(*own == group)).collect();
    arguments
        .iter()
        .map(|argument| filter(argument, &kept).unwrap())
        .collect()
}

/// Stacks the columns of several states, one below the other.
fn stacked(states: &[Vec<ArrayRef>]) -> Vec<ArrayRef> {
    let columns = 0..states[0].len();
    let column = |number: usize| {
        let parts: Vec<&dyn Array> = states.iter().map(|state| state[number].as_ref()).collect();
        concat(&parts).unwrap()
    };
    columns.map(column).collect()
}

#[test]
fn equal_rows_have_equal_states() {
    let mut draws = Draws::new("equal_rows_have_equal_states");
    for call in Call::all() {
        let name = call.function.name().to_owned();
        for rows in [0, 1, 40, 900] {
            let arguments = call.arguments(&mut draws, rows);
            let groups: Vec<usize> = (0..rows)
                .map(|_| usize::try_from(draws.below(5)).unwrap())
                .collect();
            let each =
                (0..GROUPS).map(|group| call.state_of(&of_group(&arguments, &groups, group)));
            let expected = stacked(&each.collect::<Vec<_>>());

            let mut grouped = call.grouped();
            grouped
                .update_batch(&arguments, &groups, None, GROUPS)
                .unwrap();
            assert_eq!(grouped.state(EmitTo::All).unwrap(), expected, "{name}");

            // Converts each row to a state, merges the states, and emits the first groups before the others.
            let of_rows = grouped.convert_to_state(&arguments, None).unwrap();
            let mut merged = call.grouped();
            merged.merge_batch(&of_rows, &groups, GROUPS).unwrap();
            let mut again = call.grouped();
            again.merge_batch(&of_rows, &groups, GROUPS).unwrap();
            assert!(merged.size() > 0);
            let first = merged.state(EmitTo::First(2)).unwrap();
            let others = merged.state(EmitTo::All).unwrap();
            assert_eq!(stacked(&[first, others]), expected, "{name}");

            // The values equal those of a separate accumulator for each group.
            let values = again.evaluate(EmitTo::All).unwrap();
            for group in 0..GROUPS {
                let rows: Vec<ArrayRef> = expected
                    .iter()
                    .map(|column| column.slice(group, 1))
                    .collect();
                let mut alone = call.alone();
                alone.merge_batch(&rows).unwrap();
                let value = alone.evaluate().unwrap().to_array().unwrap();
                assert_eq!(&value, &values.slice(group, 1), "{name}, group {group}");
            }
        }
    }
}

#[test]
fn states_are_as_declared_and_others_are_refused() {
    let mut draws = Draws::new("states_are_as_declared");
    for call in Call::all() {
        let arguments = call.arguments(&mut draws, 10);
        let state = call.state_of(&arguments);
        let fields = call.function.state_fields(StateFieldsArgs {
            name: "call",
            input_fields: &call.fields,
            return_field: Arc::clone(&call.returned),
            ordering_fields: &[],
            is_distinct: false,
        });
        let declared: Vec<DataType> = fields
            .unwrap()
            .iter()
            .map(|field| field.data_type().clone())
            .collect();
        let own: Vec<DataType> = state
            .iter()
            .map(|column| column.data_type().clone())
            .collect();
        assert_eq!(own, declared, "{}", call.function.name());
        let mut other = state.clone();
        other[1] = Arc::new(arrow::array::BinaryArray::from(vec![
            &b"nonsense of nine"[..9],
        ]));
        for states in [&other[..], &state[..1], &arguments[..1]] {
            assert!(call.alone().merge_batch(states).is_err());
            assert!(
                call.grouped()
                    .merge_batch(states, &vec![0; states[0].len()], 1)
                    .is_err()
            );
        }
    }
}

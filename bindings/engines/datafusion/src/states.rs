//! Implements aggregates that keep a compact state and return a statistic or the state, and scalar functions that read states.

use std::fmt::Display;
use std::sync::Arc;

use arrow::array::{ArrayRef, AsArray, Float64Array};
use arrow::datatypes::{DataType, Field, FieldRef, Float64Type};
use datafusion_common::{
    DataFusionError, Result, ScalarValue, exec_datafusion_err, internal_datafusion_err,
    not_impl_err, plan_err,
};
use datafusion_expr::function::{AccumulatorArgs, StateFieldsArgs};
use datafusion_expr::utils::{AggregateOrderSensitivity, format_state_name};
use datafusion_expr::{
    Accumulator, AggregateUDFImpl, ColumnarValue, ReversedUDAF, ScalarFunctionArgs, ScalarUDFImpl,
    Signature, Volatility,
};
use exact_sum::sql::SqlFunction;
use exact_sum::{CompactAny, Held};

use crate::input::Items;

/// What an aggregate returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Outcome {
    /// A statistic of the rows.
    Figure,
    /// The state of the rows.
    State,
    /// The state that results from merging all input states.
    Merged,
}

#[derive(Debug)]
pub(crate) struct OfState {
    function: &'static SqlFunction,
    outcome: Outcome,
    signature: Signature,
    aliases: Vec<String>,
}

/// Aggregates are equal if their names are equal.
impl PartialEq for OfState {
    fn eq(&self, other: &Self) -> bool {
        self.function.name == other.function.name
    }
}

impl Eq for OfState {}

impl std::hash::Hash for OfState {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.function.name.hash(state);
    }
}

impl OfState {
    pub(crate) fn new(function: &'static SqlFunction, outcome: Outcome) -> Self {
        let aliases = function.aliases().unwrap_or_default().into_iter();
        Self {
            function,
            outcome,
            signature: Signature::user_defined(Volatility::Immutable),
            aliases: aliases.map(str::to_owned).collect(),
        }
    }

    fn arguments(&self) -> usize {
        match self.outcome {
            Outcome::Merged => 1,
            _ => self.function.statistic.inputs(),
        }
    }

    fn accumulator(&self, args: &AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        if args.is_distinct {
            return not_impl_err!("{} of DISTINCT rows", self.function.name);
        }
        let held = (self.outcome != Outcome::Merged).then(|| self.function.statistic.held());
        Ok(Box::new(States {
            function: self.function,
            outcome: self.outcome,
            held,
            state: held.and_then(CompactAny::empty),
        }))
    }
}

/// Returns DOUBLE, the type to which a number is cast. A decimal is rejected, because a silent
/// cast would round it.
fn coerced(name: &str, number: usize, of_type: &DataType) -> Result<DataType> {
    match of_type {
        decimal if decimal.is_decimal() => plan_err!(
            "{name}: argument {number} is {decimal}; cast it to DOUBLE, or to an integer that counts its smallest unit"
        ),
        number if number.is_numeric() => Ok(DataType::Float64),
        DataType::Null => Ok(DataType::Float64),
        other => plan_err!("{name}: argument {number} is {other}, not a number"),
    }
}

/// Returns BINARY, the type to which a state is cast.
fn coerced_state(name: &str, of_type: &DataType) -> Result<DataType> {
    match of_type {
        DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_)
        | DataType::Null => Ok(DataType::Binary),
        other => plan_err!("{name}: the argument is {other}, but states are bytes"),
    }
}

fn check_count(name: &str, expected: usize, types: &[DataType]) -> Result<()> {
    if types.len() != expected {
        return plan_err!("{name}: {} argument(s) instead of {expected}", types.len());
    }
    Ok(())
}

impl AggregateUDFImpl for OfState {
    fn name(&self) -> &str {
        self.function.name
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let name = self.function.name;
        check_count(name, self.arguments(), types)?;
        let types = (1..).zip(types);
        let coerced = types.map(|(number, of_type)| match self.outcome {
            Outcome::Merged => coerced_state(name, of_type),
            _ => coerced(name, number, of_type),
        });
        coerced.collect()
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(match self.outcome {
            Outcome::Figure => DataType::Float64,
            Outcome::State | Outcome::Merged => DataType::Binary,
        })
    }

    fn accumulator(&self, args: AccumulatorArgs<'_>) -> Result<Box<dyn Accumulator>> {
        self.accumulator(&args)
    }

    fn create_sliding_accumulator(
        &self,
        args: AccumulatorArgs<'_>,
    ) -> Result<Box<dyn Accumulator>> {
        self.accumulator(&args)
    }

    fn state_fields(&self, args: StateFieldsArgs<'_>) -> Result<Vec<FieldRef>> {
        let name = format_state_name(args.name, "state");
        Ok(vec![Arc::new(Field::new(name, DataType::Binary, true))])
    }

    /// Returns `Insensitive`, because the order of the rows never changes the value.
    fn order_sensitivity(&self) -> AggregateOrderSensitivity {
        AggregateOrderSensitivity::Insensitive
    }

    fn reverse_expr(&self) -> ReversedUDAF {
        ReversedUDAF::Identical
    }
}

/// The state of one group.
#[derive(Debug)]
struct States {
    function: &'static SqlFunction,
    outcome: Outcome,
    /// The kind of the state to which rows are added; `None` if states are merged instead.
    held: Option<Held>,
    state: Option<CompactAny>,
}

impl States {
    fn said(&self, error: impl Display) -> DataFusionError {
        exec_datafusion_err!("{}: {error}", self.function.name)
    }

    /// Returns a new state of the rows of a batch.
    fn of_rows(&self, values: &[ArrayRef]) -> Result<CompactAny> {
        let state = self.held.and_then(CompactAny::empty);
        let mut state = state.ok_or_else(|| internal_datafusion_err!("the state takes no rows"))?;
        let items = Items::<Float64Type>::of(values, None)?;
        let [first, second] = items.columns();
        // In SQL, the first argument is y, the dependent variable. `add_all` takes x first.
        if self.held == Some(Held::CoMoments) {
            state.add_all(second, first);
        } else {
            state.add_all(first, second);
        }
        Ok(state)
    }

    fn merge(&mut self, other: CompactAny) -> Result<()> {
        let merged = match &mut self.state {
            Some(state) => state.merge(&other),
            None => {
                self.state = Some(other);
                Ok(())
            }
        };
        merged.map_err(|error| self.said(error))
    }

    fn each_state(&self, column: &ArrayRef) -> Result<Vec<CompactAny>> {
        let column = column.as_binary_opt::<i32>();
        let column = column.ok_or_else(|| internal_datafusion_err!("states must be bytes"))?;
        let states = column.iter().flatten().map(CompactAny::of_bytes);
        states
            .map(|state| state.map_err(|error| self.said(error)))
            .collect()
    }

    fn bytes(&self) -> ScalarValue {
        let state = self.state.as_ref().filter(|state| state.items() > 0);
        ScalarValue::Binary(state.map(CompactAny::to_bytes))
    }
}

impl Accumulator for States {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        if self.outcome == Outcome::Merged {
            return self.merge_batch(values);
        }
        let rows = self.of_rows(values)?;
        self.merge(rows)
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let removed = match (self.outcome, values) {
            (Outcome::Merged, [column, ..]) => self.each_state(column)?,
            _ => vec![self.of_rows(values)?],
        };
        for other in &removed {
            let unmerged = self
                .state
                .as_mut()
                .map_or(Ok(()), |state| state.unmerge(other));
            unmerged.map_err(|error| self.said(error))?;
        }
        Ok(())
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        if self.outcome != Outcome::Figure {
            return Ok(self.bytes());
        }
        let SqlFunction {
            statistic, options, ..
        } = self.function;
        let state = self.state.as_ref();
        let value = state.and_then(|state| state.statistic(*statistic, *options));
        Ok(ScalarValue::Float64(value))
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        Ok(vec![self.bytes()])
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let column = states.first();
        let column = column.ok_or_else(|| internal_datafusion_err!("the states have no column"))?;
        for other in self.each_state(column)? {
            self.merge(other)?;
        }
        Ok(())
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// A scalar function that computes a statistic from each state of a column.
#[derive(Debug)]
pub(crate) struct Read {
    function: &'static SqlFunction,
    name: String,
    signature: Signature,
}

impl PartialEq for Read {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Read {}

impl std::hash::Hash for Read {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl Read {
    pub(crate) fn new(function: &'static SqlFunction) -> Self {
        Self {
            function,
            name: format!("{}_of", function.name),
            signature: Signature::user_defined(Volatility::Immutable),
        }
    }

    fn value(&self, bytes: &[u8]) -> Result<Option<f64>> {
        let SqlFunction {
            statistic, options, ..
        } = self.function;
        let name = &self.name;
        let state = CompactAny::of_bytes(bytes);
        let state = state.map_err(|error| exec_datafusion_err!("{name}: {error}"))?;
        let check = state.held().check(*statistic);
        check.map_err(|error| exec_datafusion_err!("{name}: {error}"))?;
        Ok(state.statistic(*statistic, *options))
    }
}

impl ScalarUDFImpl for Read {
    fn name(&self) -> &str {
        &self.name
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        check_count(&self.name, 1, types)?;
        Ok(vec![coerced_state(&self.name, &types[0])?])
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Float64)
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let states = arrays
            .first()
            .and_then(|states| states.as_binary_opt::<i32>());
        let states = states.ok_or_else(|| internal_datafusion_err!("states must be bytes"))?;
        let values = states
            .iter()
            .map(|bytes| bytes.map_or(Ok(None), |bytes| self.value(bytes)));
        let values: Float64Array = values.collect::<Result<_>>()?;
        Ok(ColumnarValue::Array(Arc::new(values)))
    }
}

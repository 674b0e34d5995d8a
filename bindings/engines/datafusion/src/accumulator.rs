//! Implements aggregates of one group of rows, such as all rows of a query or the rows of a window.

use std::fmt::{Debug, Display};
use std::marker::PhantomData;

use arrow::array::{ArrayRef, ArrowPrimitiveType, AsArray, BinaryArray};
use arrow::datatypes::{Decimal128Type, Float64Type, UInt64Type};
use datafusion_common::{
    Result, ScalarValue, exec_datafusion_err, exec_err, internal_datafusion_err,
};
use datafusion_expr::Accumulator;
use exact_sum::{IntegerSum, Moments, ProductSum, RemoveError, Sum};

use crate::input::{Items, Word};
use crate::kind::Kind;

/// The state of an aggregate, which accumulates the items of one group.
pub(crate) trait State: Default + Debug + Send + Sync + 'static {
    type Item: ArrowPrimitiveType<Native: Word>;

    fn add(&mut self, items: ItemColumns<'_, Self>);

    fn remove(&mut self, items: ItemColumns<'_, Self>) -> Result<(), RemoveError>;

    fn items(&self) -> u64;

    /// Returns the value of the aggregate. It is meaningful only if the state has at least [`Kind::least_items`] items.
    fn value(&self, kind: Kind) -> ScalarValue;

    /// Returns the columns in which the state is sent. The column with the number of items is not among them.
    fn write(&self) -> Vec<ScalarValue>;

    /// Merges a state of `items` items, which is read from a row of the columns that [`write`](Self::write) returns.
    fn merge(&mut self, items: u64, columns: &[ArrayRef], row: usize) -> Result<()>;
}

/// The items of each argument. For functions of one argument, the second slice is empty.
pub(crate) type ItemColumns<'i, S> = [&'i [<<S as State>::Item as ArrowPrimitiveType>::Native]; 2];

/// An aggregate of one group, in the form that the engine calls.
#[derive(Debug)]
pub(crate) struct Exact<S> {
    kind: Kind,
    state: S,
}

impl<S: State> Exact<S> {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            state: S::default(),
        }
    }
}

impl<S: State> Accumulator for Exact<S> {
    fn update_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        self.state
            .add(Items::<S::Item>::of(values, None)?.columns());
        Ok(())
    }

    fn retract_batch(&mut self, values: &[ArrayRef]) -> Result<()> {
        let removed = self
            .state
            .remove(Items::<S::Item>::of(values, None)?.columns());
        removed.map_err(|error| exec_datafusion_err!("{}: {error}", self.kind.name()))
    }

    fn supports_retract_batch(&self) -> bool {
        true
    }

    fn evaluate(&mut self) -> Result<ScalarValue> {
        value(&self.state, self.kind)
    }

    fn state(&mut self) -> Result<Vec<ScalarValue>> {
        let mut columns = vec![ScalarValue::UInt64(Some(self.state.items()))];
        columns.extend(self.state.write());
        Ok(columns)
    }

    fn merge_batch(&mut self, states: &[ArrayRef]) -> Result<()> {
        let (counts, columns) = split(states)?;
        for (row, &items) in counts.iter().enumerate() {
            let merged = self.state.merge(items, columns, row);
            merged.map_err(|error| error.context(self.kind.name()))?;
        }
        Ok(())
    }

    fn size(&self) -> usize {
        size_of_val(self)
    }
}

/// Returns the value of a state, or NULL if the state has too few items.
pub(crate) fn value<S: State>(state: &S, kind: Kind) -> Result<ScalarValue> {
    if state.items() < kind.least_items() {
        return ScalarValue::try_from(kind.returned(&S::Item::DATA_TYPE));
    }
    Ok(state.value(kind))
}

/// Splits the columns of sent states into the numbers of items and the other columns.
pub(crate) fn split(states: &[ArrayRef]) -> Result<(&[u64], &[ArrayRef])> {
    let counts = states
        .split_first()
        .and_then(|(counts, columns)| Some((counts.as_primitive_opt::<UInt64Type>()?, columns)));
    let (counts, columns) =
        counts.ok_or_else(|| internal_datafusion_err!("a state does not begin with counts"))?;
    Ok((counts.values(), columns))
}

/// Returns column `number` of sent states, which must hold sums as bytes.
pub(crate) fn binary(columns: &[ArrayRef], number: usize) -> Result<&BinaryArray> {
    let column = columns
        .get(number)
        .and_then(|column| column.as_binary_opt());
    column.ok_or_else(|| internal_datafusion_err!("column {number} of a state does not hold bytes"))
}

/// Returns the first column of sent states, which must hold sums of integers.
pub(crate) fn integers(columns: &[ArrayRef]) -> Result<&[i128]> {
    let column = columns.first();
    let column = column.and_then(|column| column.as_primitive_opt::<Decimal128Type>());
    let column = column.ok_or_else(|| internal_datafusion_err!("states must hold integers"))?;
    Ok(column.values())
}

pub(crate) fn wrong_state(error: impl Display) -> datafusion_common::DataFusionError {
    exec_datafusion_err!("a state cannot be read: {error}")
}

fn double(value: f64) -> ScalarValue {
    ScalarValue::Float64(Some(value))
}

fn bytes(write: impl FnOnce(&mut Vec<u8>)) -> ScalarValue {
    let mut bytes = Vec::new();
    write(&mut bytes);
    ScalarValue::Binary(Some(bytes))
}

/// Implements the functions of [`State`] that add, remove and count doubles. Each name stands for one argument.
macro_rules! of_doubles {
    ($($argument:ident)+) => {
        type Item = Float64Type;

        fn add(&mut self, [$($argument,)+ ..]: ItemColumns<'_, Self>) {
            self.add($($argument),+);
        }

        fn remove(&mut self, [$($argument,)+ ..]: ItemColumns<'_, Self>) -> Result<(), RemoveError> {
            self.remove($($argument),+)
        }

        fn items(&self) -> u64 {
            self.items()
        }
    };
}

/// Implements the functions of [`State`] that send and merge a sum in one column.
macro_rules! one_column {
    () => {
        fn write(&self) -> Vec<ScalarValue> {
            vec![bytes(|bytes| self.write_partial(bytes))]
        }

        fn merge(&mut self, items: u64, columns: &[ArrayRef], row: usize) -> Result<()> {
            let sum = binary(columns, 0)?.value(row);
            self.add_partial(items, sum).map_err(wrong_state)
        }
    };
}

impl State for Sum<f64> {
    of_doubles!(items);
    one_column!();

    fn value(&self, kind: Kind) -> ScalarValue {
        let sum = self.without_negative_zeros();
        double(if kind == Kind::Mean {
            sum.mean()
        } else {
            sum.value()
        })
    }
}

impl State for ProductSum<f64> {
    of_doubles!(x y);
    one_column!();

    fn value(&self, _: Kind) -> ScalarValue {
        double(self.without_negative_zeros().value())
    }
}

impl State for Moments<f64> {
    of_doubles!(items);

    fn value(&self, kind: Kind) -> ScalarValue {
        double(match kind {
            Kind::Deviation(divisor) => self.standard_deviation(divisor.ddof()),
            Kind::Variance(divisor) => self.variance(divisor.ddof()),
            _ => self.mean(),
        })
    }

    fn write(&self) -> Vec<ScalarValue> {
        vec![
            bytes(|bytes| self.sum().write_partial(bytes)),
            bytes(|bytes| self.squares().write_partial(bytes)),
        ]
    }

    fn merge(&mut self, items: u64, columns: &[ArrayRef], row: usize) -> Result<()> {
        let (sums, squares) = (binary(columns, 0)?, binary(columns, 1)?);
        let added = self.add_partial(items, sums.value(row), squares.value(row));
        added.map_err(wrong_state)
    }
}

/// A sum of integers of the type `P`.
#[derive(Debug)]
pub(crate) struct Integers<P> {
    sum: IntegerSum,
    of: PhantomData<fn() -> P>,
}

impl<P> Default for Integers<P> {
    fn default() -> Self {
        Self {
            sum: IntegerSum::new(),
            of: PhantomData,
        }
    }
}

impl<P: ArrowPrimitiveType<Native: Into<i128> + Word> + Debug> State for Integers<P> {
    type Item = P;

    fn add(&mut self, [items, _]: ItemColumns<'_, Self>) {
        self.sum.add(items);
    }

    fn remove(&mut self, [items, _]: ItemColumns<'_, Self>) -> Result<(), RemoveError> {
        self.sum.remove(items)
    }

    fn items(&self) -> u64 {
        self.sum.items()
    }

    fn value(&self, kind: Kind) -> ScalarValue {
        match kind {
            Kind::Mean => ScalarValue::Float64(self.sum.mean()),
            _ => long(&self.sum),
        }
    }

    fn write(&self) -> Vec<ScalarValue> {
        vec![long(&self.sum)]
    }

    fn merge(&mut self, items: u64, columns: &[ArrayRef], row: usize) -> Result<()> {
        let merged =
            IntegerSum::with(integers(columns)?[row], items).and_then(|sum| self.sum.merge(&sum));
        merged.map_err(wrong_state)?;
        match self.sum.value() {
            Some(_) => Ok(()),
            None => exec_err!("a state cannot be read: the sum exceeds 128 bits"),
        }
    }
}

fn long(sum: &IntegerSum) -> ScalarValue {
    ScalarValue::Decimal128(sum.value(), 38, 0)
}

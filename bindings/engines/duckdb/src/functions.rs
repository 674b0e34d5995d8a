//! Computes the values of all functions, in safe code.

use std::fmt::Display;
use std::marker::PhantomData;
use std::slice;

use exact_sum::sql::SqlFunction;
use exact_sum::{
    CompactAny, CompactBytes, CompactCoMoments, CompactNumber, CompactState, CompactSum, IntegerSum,
};
use simd_kernels::{Float, Level};

/// The text of an error.
pub(crate) type Error = String;

/// An aggregate over rows of items.
pub(crate) trait Aggregate {
    /// The state of a group. As long as all items fit into the state, it owns no other memory.
    type State: Clone + Default;

    type Item: Clone;

    type Value;

    fn add(state: &mut Self::State, item: &Self::Item) -> Result<(), Error>;

    fn add_all(state: &mut Self::State, items: &[Self::Item]) -> Result<(), Error> {
        items.iter().try_for_each(|item| Self::add(state, item))
    }

    fn merge(state: &mut Self::State, other: &Self::State) -> Result<(), Error>;

    /// Returns the value, where `None` is NULL, or an error if the value does not fit in its type.
    fn value(state: &Self::State, function: &SqlFunction) -> Result<Option<Self::Value>, Error>;
}

fn said(error: impl Display) -> Error {
    error.to_string()
}

/// What an aggregate returns: a statistic of its state, or the state's bytes.
pub(crate) trait Outcome<S> {
    type Value;

    fn of(state: &S, scales: [u8; 2], function: &SqlFunction)
    -> Result<Option<Self::Value>, Error>;
}

/// The outcome of an aggregate that returns a statistic.
pub(crate) struct Figure;

impl<S: CompactState> Outcome<S> for Figure {
    type Value = f64;

    fn of(state: &S, scales: [u8; 2], function: &SqlFunction) -> Result<Option<f64>, Error> {
        Ok(state.statistic_of_decimals(function.statistic, function.options, scales))
    }
}

pub(crate) struct Bytes;

impl<S: CompactBytes> Outcome<S> for Bytes {
    type Value = Vec<u8>;

    fn of(state: &S, scales: [u8; 2], _: &SqlFunction) -> Result<Option<Vec<u8>>, Error> {
        if scales != [0; 2] {
            return Err("states have no decimals; cast the DECIMAL to DOUBLE, or to an integer that counts its smallest unit".to_owned());
        }
        Ok((state.items() > 0).then(|| state.to_bytes()))
    }
}

/// An aggregate of DOUBLE columns.
pub(crate) struct OfDoubles<Row, S, O>(PhantomData<(Row, S, O)>);

/// A state to which rows of doubles are added.
pub(crate) trait AddAll<Row>: CompactState {
    fn add_all(&mut self, rows: &[Row]);
}

impl AddAll<f64> for CompactSum {
    fn add_all(&mut self, rows: &[f64]) {
        // This is faster than adding each item separately.
        CompactSum::add_all(self, rows);
    }
}

macro_rules! one_by_one {
    ($($row:ty: $($state:ident)*;)*) => {$($(
        impl AddAll<$row> for exact_sum::$state {
            fn add_all(&mut self, rows: &[$row]) {
                rows.iter().for_each(|row| exact_sum::CompactRows::add_row(self, *row));
            }
        }
    )*)*};
}

one_by_one!(
    f64: CompactMoments CompactPowers;
    (f64, f64): CompactProducts CompactWeightedMean;
);

/// A row is (y, x), which is SQL's order of arguments.
impl AddAll<(f64, f64)> for CompactCoMoments {
    fn add_all(&mut self, rows: &[(f64, f64)]) {
        rows.iter().for_each(|(y, x)| self.add(*x, *y));
    }
}

impl<Row: Copy, S: AddAll<Row>, O: Outcome<S>> Aggregate for OfDoubles<Row, S, O> {
    type State = S;
    type Item = Row;
    type Value = O::Value;

    #[inline]
    fn add(state: &mut S, item: &Row) -> Result<(), Error> {
        state.add_all(slice::from_ref(item));
        Ok(())
    }

    fn add_all(state: &mut S, items: &[Row]) -> Result<(), Error> {
        state.add_all(items);
        Ok(())
    }

    fn merge(state: &mut S, other: &S) -> Result<(), Error> {
        state.merge(other).map_err(said)
    }

    fn value(state: &S, function: &SqlFunction) -> Result<Option<O::Value>, Error> {
        O::of(state, [0; 2], function)
    }
}

/// A number of any DuckDB type.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Number {
    Double(f64),
    /// A number of units of 10^-scale, and the scale, which is 0 unless the column is a DECIMAL.
    Integer(i128, u8),
    /// An integer outside the range of HUGEINT.
    Beyond,
}

/// A state to which numbers are added without rounding.
pub(crate) trait AddNumbers<const N: usize>: CompactState {
    fn add_numbers(&mut self, numbers: [Number; N]) -> Result<(), Error>;

    /// Returns the scales of the state's columns for the scales of a row's arguments.
    fn scales(scales: [u8; 2]) -> [u8; 2] {
        scales
    }
}

impl Number {
    fn scale(self) -> u8 {
        match self {
            Self::Integer(_, scale) => scale,
            _ => 0,
        }
    }

    /// Returns the number for use in products, or an error if its integer does not fit in 64 bits.
    fn short(self) -> Result<CompactNumber, Error> {
        let short = match self {
            Self::Double(item) => Some(CompactNumber::Double(item)),
            Self::Integer(item, _) => i64::try_from(item).ok().map(CompactNumber::Integer),
            Self::Beyond => None,
        };
        short.ok_or_else(|| "a number has too many digits; cast the column to DOUBLE".to_owned())
    }
}

impl AddNumbers<1> for CompactSum {
    fn add_numbers(&mut self, [number]: [Number; 1]) -> Result<(), Error> {
        match number {
            Number::Double(item) => self.add(item),
            Number::Integer(item, _) => self.add_integer(item),
            Number::Beyond => return Err(BEYOND.to_owned()),
        }
        Ok(())
    }
}

macro_rules! of_one {
    ($($state:ident)*) => {$(
        impl AddNumbers<1> for exact_sum::$state {
            fn add_numbers(&mut self, [number]: [Number; 1]) -> Result<(), Error> {
                self.add(number.short()?);
                Ok(())
            }
        }
    )*};
}

of_one!(CompactMoments CompactPowers);

macro_rules! of_two {
    ($($state:ident)*) => {$(
        impl AddNumbers<2> for exact_sum::$state {
            fn add_numbers(&mut self, [x, y]: [Number; 2]) -> Result<(), Error> {
                self.add(x.short()?, y.short()?);
                Ok(())
            }
        }
    )*};
}

of_two!(CompactProducts CompactWeightedMean);

/// A row is (y, x), which is SQL's order of arguments.
impl AddNumbers<2> for CompactCoMoments {
    fn add_numbers(&mut self, [y, x]: [Number; 2]) -> Result<(), Error> {
        self.add(x.short()?, y.short()?);
        Ok(())
    }

    fn scales([y, x]: [u8; 2]) -> [u8; 2] {
        [x, y]
    }
}

/// A state, and the scale of the decimals in each of its columns.
#[derive(Clone, Default)]
pub(crate) struct Scaled<S> {
    state: S,
    scales: [u8; 2],
}

/// An aggregate of rows of N numbers of any of DuckDB's types.
pub(crate) struct OfNumbers<const N: usize, S, O>(PhantomData<(S, O)>);

impl<const N: usize, S: AddNumbers<N>, O: Outcome<S>> Aggregate for OfNumbers<N, S, O> {
    type State = Scaled<S>;
    type Item = [Number; N];
    type Value = O::Value;

    #[inline]
    fn add(state: &mut Scaled<S>, item: &[Number; N]) -> Result<(), Error> {
        for (scale, number) in state.scales.iter_mut().zip(item) {
            *scale = number.scale();
        }
        state.state.add_numbers(*item)
    }

    fn merge(state: &mut Scaled<S>, other: &Scaled<S>) -> Result<(), Error> {
        if other.state.items() > 0 {
            state.scales = other.scales;
        }
        state.state.merge(&other.state).map_err(said)
    }

    fn value(state: &Scaled<S>, function: &SqlFunction) -> Result<Option<O::Value>, Error> {
        O::of(&state.state, S::scales(state.scales), function)
    }
}

const BEYOND: &str = "a number is outside the range of HUGEINT; cast the column to DOUBLE";

/// An integer type that can be summed.
pub(crate) trait Integer: Copy {
    fn widened(self) -> Result<i128, Error>;
}

impl Integer for i64 {
    #[inline]
    fn widened(self) -> Result<i128, Error> {
        Ok(self.into())
    }
}

impl Integer for i128 {
    #[inline]
    fn widened(self) -> Result<i128, Error> {
        Ok(self)
    }
}

impl Integer for [Number; 1] {
    #[inline]
    fn widened(self) -> Result<i128, Error> {
        match self {
            [Number::Integer(item, 0)] => Ok(item),
            _ => Err(BEYOND.to_owned()),
        }
    }
}

pub(crate) struct SumOfIntegers<T>(PhantomData<T>);

impl<T: Integer> Aggregate for SumOfIntegers<T> {
    type State = IntegerSum;
    type Item = T;
    type Value = i128;

    #[inline]
    fn add(state: &mut IntegerSum, item: &T) -> Result<(), Error> {
        state.add_one(item.widened()?);
        Ok(())
    }

    fn merge(state: &mut IntegerSum, other: &IntegerSum) -> Result<(), Error> {
        state.merge(other).map_err(said)
    }

    fn value(state: &IntegerSum, _: &SqlFunction) -> Result<Option<i128>, Error> {
        match (state.items(), state.value()) {
            (0, _) => Ok(None),
            (_, Some(sum)) => Ok(Some(sum)),
            (_, None) => Err("the sum is outside the range of HUGEINT".to_owned()),
        }
    }
}

pub(crate) struct MeanOfIntegers<T>(PhantomData<T>);

impl<T: Integer> Aggregate for MeanOfIntegers<T> {
    type State = IntegerSum;
    type Item = T;
    type Value = f64;

    #[inline]
    fn add(state: &mut IntegerSum, item: &T) -> Result<(), Error> {
        SumOfIntegers::add(state, item)
    }

    fn merge(state: &mut IntegerSum, other: &IntegerSum) -> Result<(), Error> {
        SumOfIntegers::<T>::merge(state, other)
    }

    fn value(state: &IntegerSum, _: &SqlFunction) -> Result<Option<f64>, Error> {
        Ok(state.mean())
    }
}

/// The aggregate `exact_merge`, which merges states into one.
pub(crate) struct Merge;

impl Aggregate for Merge {
    type State = Option<CompactAny>;
    type Item = Box<[u8]>;
    type Value = Vec<u8>;

    fn add(state: &mut Option<CompactAny>, item: &Box<[u8]>) -> Result<(), Error> {
        let other = CompactAny::of_bytes(item).map_err(said)?;
        match state {
            Some(state) => state.merge(&other).map_err(said),
            None => {
                *state = Some(other);
                Ok(())
            }
        }
    }

    fn merge(state: &mut Option<CompactAny>, other: &Option<CompactAny>) -> Result<(), Error> {
        match (&mut *state, other) {
            (_, None) => Ok(()),
            (Some(state), Some(other)) => state.merge(other).map_err(said),
            (None, other) => {
                state.clone_from(other);
                Ok(())
            }
        }
    }

    fn value(state: &Option<CompactAny>, _: &SqlFunction) -> Result<Option<Vec<u8>>, Error> {
        Ok(state.as_ref().map(CompactAny::to_bytes))
    }
}

/// Computes a statistic from the bytes of a state.
pub(crate) fn statistic_of(bytes: &[u8], function: &SqlFunction) -> Result<Option<f64>, Error> {
    let state = CompactAny::of_bytes(bytes).map_err(said)?;
    state.held().check(function.statistic).map_err(said)?;
    Ok(state.statistic(function.statistic, function.options))
}

/// The name of the scalar function that sums lists.
pub(crate) const TREE_SUM: &str = "tree_sum";

/// Items that can be summed in tree order.
pub(crate) trait Tree: Float + Into<f64> {
    const NAN: Self;
}

impl Tree for f64 {
    const NAN: Self = Self::NAN;
}

impl Tree for f32 {
    const NAN: Self = Self::NAN;
}

/// Returns the sum of items in tree order, or `None` if there are no items.
pub(crate) fn tree_sum<T: Tree>(items: &[T]) -> Option<T> {
    let sum = simd_kernels::sum(Level::best(), items)?;
    let is_nan = sum.into().is_nan();
    Some(if is_nan { T::NAN } else { sum })
}

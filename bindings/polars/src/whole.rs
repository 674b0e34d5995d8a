//! Computes statistics of whole columns.

use treefold::exact::{self, Moments, Options, Statistic, Sum};

use crate::arrow::{Chunk, Series, Values};
use crate::column::{Real, each_block, from_zero, value_of};
use crate::error::Error;
use crate::figure::Parameter;

/// A sum, mean, variance or standard deviation of a column of floats.
pub(crate) fn of_floats<T: Real>(
    chunks: &[Chunk<'_>],
    statistic: Statistic,
    options: Options,
) -> Option<T> {
    let value = match (statistic, chunks) {
        // The fastest case: all items are adjacent in memory.
        (Statistic::Sum, [chunk]) if chunk.validity.is_none() => {
            Some(exact::sum(T::slice(&chunk.values)))
        }
        (Statistic::Sum | Statistic::Mean, _) => {
            let mut sum = Sum::<T>::new();
            each_block(chunks, |items| sum.add(items));
            value_of(&sum, sum.items(), statistic, options)
        }
        _ => {
            let mut moments = Moments::<T>::new();
            each_block(chunks, |items| moments.add(items));
            value_of(&moments, moments.items(), statistic, options)
        }
    };
    value.map(from_zero)
}

/// The only item of a column. Polars passes a scalar argument as a column of one item.
pub(crate) fn only_number(column: &Series, parameter: Parameter) -> Result<f64, Error> {
    match column.chunks()?.first() {
        Some(Chunk {
            values: Values::F64([number, ..]),
            ..
        }) if !number.is_nan() => Ok(*number),
        _ => Err(Error::new(match parameter {
            Parameter::Ddof => "ddof is not a number",
            Parameter::Bias => "bias is not a bool",
        })),
    }
}

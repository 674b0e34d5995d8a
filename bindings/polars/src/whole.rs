//! Figures of whole columns.

use treefold::exact::{self, IntegerMoments, Moments, Sum};

use crate::arrow::{Chunk, DataType, Made, Series, Values};
use crate::column::{Real, each_block, each_integer, from_zero};
use crate::error::Error;
use crate::figure::{Figure, Parameter};

/// A figure of a column of numbers.
pub(crate) fn of_column(column: &Series, figure: Figure, ddof: f64) -> Result<Made, Error> {
    let chunks = column.chunks()?;
    match &column.data_type {
        DataType::Float32 => Ok(Made::F32(vec![of_floats(&chunks, figure, ddof)])),
        integer if integer.is_integer() => {
            if figure == Figure::Sum {
                let mut sum = 0_i128;
                for chunk in &chunks {
                    each_integer(chunk, 0..chunk.len, |item| sum = sum.wrapping_add(item));
                }
                return made_of_integers(&column.name, integer, vec![Some(sum)]);
            }
            let mut moments = IntegerMoments::new();
            for chunk in &chunks {
                each_integer(chunk, 0..chunk.len, |item| moments.add_one(item));
            }
            Ok(Made::F64(vec![of_moments(&moments, figure, ddof)]))
        }
        _ => Ok(Made::F64(vec![of_floats(&chunks, figure, ddof)])),
    }
}

fn of_floats<T: Real>(chunks: &[Chunk<'_>], figure: Figure, ddof: f64) -> Option<T> {
    match figure {
        Figure::Variance | Figure::Deviation => {
            let mut moments = Moments::<T>::new();
            each_block(chunks, |items| moments.add(items));
            let is_defined = moments.items() as f64 > ddof;
            is_defined.then(|| match figure {
                Figure::Variance => moments.variance(ddof),
                _ => moments.standard_deviation(ddof),
            })
        }
        Figure::Mean => {
            let sum = sum_of::<T>(chunks);
            (sum.items() > 0).then(|| from_zero(sum.mean()))
        }
        _ => Some(from_zero(match chunks {
            // The fastest case.
            [chunk] if chunk.validity.is_none() => exact::sum(T::slice(&chunk.values)),
            _ => sum_of::<T>(chunks).value(),
        })),
    }
}

fn sum_of<T: Real>(chunks: &[Chunk<'_>]) -> Sum<T> {
    let mut sum = Sum::new();
    each_block(chunks, |items| sum.add(items));
    sum
}

/// A mean, variance or standard deviation of integers.
pub(crate) fn of_moments(moments: &IntegerMoments, figure: Figure, ddof: f64) -> Option<f64> {
    match figure {
        Figure::Mean => (moments.items() > 0).then(|| moments.mean()),
        _ if moments.items() as f64 <= ddof => None,
        Figure::Variance => Some(moments.variance(ddof)),
        _ => Some(moments.standard_deviation(ddof)),
    }
}

/// A column of integer sums, which must fit the type's 64 bits.
pub(crate) fn made_of_integers(
    name: &str,
    data_type: &DataType,
    sums: Vec<Option<i128>>,
) -> Result<Made, Error> {
    if data_type.is_unsigned() {
        narrowed(name, "UInt64", sums).map(Made::U64)
    } else {
        narrowed(name, "Int64", sums).map(Made::I64)
    }
}

fn narrowed<T: TryFrom<i128>>(
    name: &str,
    data_type: &str,
    sums: Vec<Option<i128>>,
) -> Result<Vec<Option<T>>, Error> {
    let narrow = |sum: i128| {
        T::try_from(sum).map_err(|_| {
            Error::new(format!(
                "a sum of column `{name}` is {sum}, beyond {data_type}: cast the column to Float64"
            ))
        })
    };
    let sums = sums.into_iter();
    sums.map(|sum| sum.map(narrow).transpose()).collect()
}

/// The only item of a column: Polars passes scalar arguments as columns of one item.
pub(crate) fn only_number(column: &Series, parameter: Parameter) -> Result<f64, Error> {
    match column.chunks()?.first() {
        Some(Chunk {
            values: Values::F64([number, ..]),
            ..
        }) if !number.is_nan() => Ok(*number),
        _ => Err(Error::new(match parameter {
            Parameter::Ddof => "ddof is not a number",
            Parameter::Bias => "bias is not a truth value",
        })),
    }
}

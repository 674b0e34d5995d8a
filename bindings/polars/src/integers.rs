//! Computes statistics of integers, either of a whole column or of each list.

use std::ops::Range;

use treefold::exact::{IntegerMoments, Options, Statistic};

use crate::arrow::{Chunk, DataType, Made};
use crate::column::{each_integer, value_of};
use crate::error::Error;

/// A statistic of each list of integers: a sum as Int64 or UInt64, another statistic as Float64. A list consists of ranges of chunks; `None`
/// is a null list.
pub(crate) fn of_integers<'c, 'a: 'c, L>(
    name: &str,
    integer: &DataType,
    statistic: Statistic,
    options: Options,
    lists: impl Iterator<Item = Option<L>>,
) -> Result<Made, Error>
where
    L: IntoIterator<Item = (&'c Chunk<'a>, Range<usize>)>,
{
    if statistic != Statistic::Sum {
        let values = lists.map(|list| {
            let mut moments = IntegerMoments::new();
            for (chunk, range) in list? {
                each_integer(chunk, range, |item| moments.add_one(item));
            }
            value_of(&moments, moments.items(), statistic, options)
        });
        return Ok(Made::F64(values.collect()));
    }
    let sums = lists.map(|list| {
        let mut sum = 0_i128;
        for (chunk, range) in list? {
            each_integer(chunk, range, |item| sum = sum.wrapping_add(item));
        }
        Some(sum)
    });
    if integer.is_unsigned() {
        narrowed(name, "UInt64", sums).map(Made::U64)
    } else {
        narrowed(name, "Int64", sums).map(Made::I64)
    }
}

/// Converts sums to a type of 64 bits.
fn narrowed<T: TryFrom<i128>>(
    name: &str,
    data_type: &str,
    sums: impl Iterator<Item = Option<i128>>,
) -> Result<Vec<Option<T>>, Error> {
    let narrow = |sum: i128| {
        T::try_from(sum).map_err(|_| {
            Error::new(format!(
                "a sum of column `{name}` is {sum}, beyond {data_type}: cast the column to Float64"
            ))
        })
    };
    sums.map(|sum| sum.map(narrow).transpose()).collect()
}

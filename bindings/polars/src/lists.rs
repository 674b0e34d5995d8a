//! Figures of each list in a column of lists.

use std::ops::Range;

use treefold::exact::{
    self, IntegerMoments, Keyed, KeyedSlot, Mean, Moments, Options, Slot, Statistic, Sum,
};

use crate::arrow::{Chunk, DataType, Lists, Made, Series, Values};
use crate::column::{BLOCK_ITEMS, Real, each_integer, from_zero};
use crate::error::Error;
use crate::figure::Figure;
use crate::whole::{made_of_integers, of_moments};

/// The number of lists that are summed together, so that their sums fit the caches.
const TOGETHER: usize = 1 << 14;

/// Lists with more items than this are summed one by one, which is faster.
const LONG_ITEMS: usize = 512;

/// A figure of each list of a column.
pub(crate) fn of_lists(column: &Series, figure: Figure, ddof: f64) -> Result<Made, Error> {
    let chunks = column.chunks()?;
    match column.data_type.items() {
        Some(DataType::Float32) => of_floats(&chunks, figure, ddof).map(Made::F32),
        Some(integer) if integer.is_integer() => {
            of_integers(&chunks, figure, ddof, &column.name, integer)
        }
        _ => of_floats(&chunks, figure, ddof).map(Made::F64),
    }
}

/// The lists of a chunk; `None` if it has only nulls.
pub(crate) fn lists_of<'c, 'a>(chunk: &'c Chunk<'a>) -> Option<&'c Lists<'a>> {
    match &chunk.values {
        Values::Lists(lists) => Some(lists),
        _ => None,
    }
}

fn of_floats<T: Real>(
    chunks: &[Chunk<'_>],
    figure: Figure,
    ddof: f64,
) -> Result<Vec<Option<T>>, Error> {
    let mut values = Vec::new();
    for chunk in chunks {
        let Some(lists) = lists_of(chunk) else {
            values.extend((0..chunk.len).map(|_| None));
            continue;
        };
        for begin in (0..chunk.len).step_by(TOGETHER) {
            let rows = begin..chunk.len.min(begin + TOGETHER);
            let before = values.len();
            match figure {
                Figure::Tree => add_trees(lists, rows.clone(), &mut values)?,
                Figure::Sum => add_sums(lists, rows.clone(), &mut values),
                Figure::Mean => add_means(lists, rows.clone(), &mut values),
                Figure::Variance => {
                    let variance = Statistic::Variance;
                    add_statistics::<Moments<T>>(lists, rows.clone(), variance, ddof, &mut values);
                }
                _ => {
                    let deviation = Statistic::StandardDeviation;
                    add_statistics::<Moments<T>>(lists, rows.clone(), deviation, ddof, &mut values);
                }
            }
            for row in rows.filter(|&row| !chunk.is_valid(row)) {
                values[before + row - begin] = None;
            }
        }
    }
    Ok(values)
}

/// Calls a function with the non-null items of the lists in `rows`, and with the number of each item's list,
/// counted from the first row.
fn each_block<T: Real>(lists: &Lists<'_>, rows: Range<usize>, mut add: impl FnMut(&[u32], &[T])) {
    let all = T::slice(&lists.items.values);
    let (mut keys, mut items) = (Vec::new(), Vec::new());
    for (key, row) in (0..).zip(rows) {
        lists.items.runs(lists.range(row), |run| {
            for piece in all[run].chunks(BLOCK_ITEMS) {
                items.extend_from_slice(piece);
                keys.resize(items.len(), key);
                if items.len() >= BLOCK_ITEMS {
                    add(&keys, &items);
                    keys.clear();
                    items.clear();
                }
            }
        });
    }
    add(&keys, &items);
}

fn add_sums<T: Real>(lists: &Lists<'_>, rows: Range<usize>, values: &mut Vec<Option<T>>) {
    let items = lists.range(rows.end - 1).end - lists.range(rows.start).start;
    if lists.items.validity.is_none() && items / rows.len() >= LONG_ITEMS {
        let all = T::slice(&lists.items.values);
        let sums = rows.map(|row| all.get(lists.range(row)).map_or_else(T::zeroed, exact::sum));
        values.extend(sums.map(|sum| Some(from_zero(sum))));
        return;
    }
    let mut sums = Keyed::<Sum<T>>::new(rows.len()).expect("there are as many lists");
    each_block(lists, rows, |keys, items| {
        sums.add(keys, items).expect("there is a sum for each list");
    });
    values.extend(sums.values().into_iter().map(Some));
}

fn add_means<T: Real>(lists: &Lists<'_>, rows: Range<usize>, values: &mut Vec<Option<T>>) {
    add_statistics::<Mean<T>>(lists, rows, Statistic::Mean, 0.0, values);
}

/// Appends a statistic of each list, null if the list has at most `ddof` items.
fn add_statistics<S>(
    lists: &Lists<'_>,
    rows: Range<usize>,
    statistic: Statistic,
    ddof: f64,
    values: &mut Vec<Option<S::Item>>,
) where
    S: for<'i> KeyedSlot<Item: Real, Items<'i> = &'i [<S as Slot>::Item]>,
{
    let mut slots = Keyed::<S>::new(rows.len()).expect("there are as many lists");
    each_block(lists, rows, |keys, items| {
        slots
            .add(keys, items)
            .expect("there is a slot for each list");
    });
    let options = Options { ddof, bias: true };
    let counts = slots
        .counts()
        .expect("the slots count items")
        .iter()
        .enumerate();
    values.extend(counts.map(|(key, &count)| {
        let value = || slots.statistic(key, statistic, options);
        (count as f64 > ddof).then(value).flatten()
    }));
}

fn add_trees<T: Real>(
    lists: &Lists<'_>,
    rows: Range<usize>,
    values: &mut Vec<Option<T>>,
) -> Result<(), Error> {
    let all = T::slice(&lists.items.values);
    let mut kept = Vec::new();
    for row in rows {
        let range = lists.range(row);
        let items = if lists.items.validity.is_some() {
            kept.clear();
            lists
                .items
                .runs(range, |run| kept.extend_from_slice(&all[run]));
            &kept[..]
        } else {
            all.get(range).unwrap_or_default()
        };
        let sum = if items.is_empty() {
            Ok(T::zeroed())
        } else {
            T::tree(items)
        };
        values.push(Some(sum.map_err(|error| Error::new(error.to_string()))?));
    }
    Ok(())
}

fn of_integers(
    chunks: &[Chunk<'_>],
    figure: Figure,
    ddof: f64,
    name: &str,
    data_type: &DataType,
) -> Result<Made, Error> {
    let (mut sums, mut figures) = (Vec::new(), Vec::new());
    for chunk in chunks {
        for row in 0..chunk.len {
            let lists = lists_of(chunk).filter(|_| chunk.is_valid(row));
            if figure == Figure::Sum {
                sums.push(lists.map(|lists| {
                    let mut sum = 0_i128;
                    each_integer(&lists.items, lists.range(row), |item| {
                        sum = sum.wrapping_add(item)
                    });
                    sum
                }));
            } else {
                figures.push(lists.and_then(|lists| {
                    let mut moments = IntegerMoments::new();
                    each_integer(&lists.items, lists.range(row), |item| moments.add_one(item));
                    of_moments(&moments, figure, ddof)
                }));
            }
        }
    }
    match figure {
        Figure::Sum => made_of_integers(name, data_type, sums),
        _ => Ok(Made::F64(figures)),
    }
}

//! Computes statistics of each list in a column of lists.

use std::ops::Range;

use treefold::exact::{self, Keyed, KeyedSlot, Mean, Moments, Options, Slot, Statistic, Sum};

use crate::arrow::{Chunk, Lists, Values};
use crate::column::{BLOCK_ITEMS, Real, from_zero};
use crate::error::Error;
use crate::figure::Figure;

/// The number of lists that are summed together, so that their sums fit the caches.
const TOGETHER: usize = 1 << 14;

/// Lists of at least this average number of items are summed one by one, which is faster.
const LONG_ITEMS: usize = 512;

/// The lists of a chunk; `None` if the chunk has only nulls.
pub(crate) fn lists_of<'c, 'a>(chunk: &'c Chunk<'a>) -> Option<&'c Lists<'a>> {
    match &chunk.values {
        Values::Lists(lists) => Some(lists),
        _ => None,
    }
}

/// The chunk and the range of each list's items; `None` for a null list.
pub(crate) fn all_lists<'c, 'a>(
    chunks: &'c [Chunk<'a>],
) -> impl Iterator<Item = Option<[(&'c Chunk<'a>, Range<usize>); 1]>> {
    chunks.iter().flat_map(|chunk| {
        (0..chunk.len).map(move |row| {
            let lists = lists_of(chunk).filter(|_| chunk.is_valid(row))?;
            Some([(&*lists.items, lists.range(row))])
        })
    })
}

/// The sum in tree order, or the exact sum, mean, variance or standard deviation, of each list of floats.
pub(crate) fn of_floats<T: Real>(
    chunks: &[Chunk<'_>],
    figure: Figure,
    options: Options,
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
                Figure::Items(Statistic::Sum) => add_sums(lists, rows.clone(), &mut values),
                Figure::Items(statistic @ Statistic::Mean) => {
                    add_statistics::<Mean<T>>(lists, rows.clone(), statistic, options, &mut values);
                }
                Figure::Items(statistic) => {
                    let rows = rows.clone();
                    add_statistics::<Moments<T>>(lists, rows, statistic, options, &mut values);
                }
                _ => add_trees(lists, rows.clone(), &mut values)?,
            }
            for row in rows.filter(|&row| !chunk.is_valid(row)) {
                values[before + row - begin] = None;
            }
        }
    }
    Ok(values)
}

/// Calls a function with blocks of the non-null items of the lists in `rows`, and with the number of each item's
/// list, counted from the first row.
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
    let mut sums = Keyed::<Sum<T>>::new(rows.len()).expect("the sums fit into memory");
    each_block(lists, rows, |keys, items| {
        sums.add(keys, items).expect("there is a sum for each list");
    });
    values.extend(sums.values().into_iter().map(Some));
}

/// Appends a statistic of each list, null if the list has at most `ddof` items.
fn add_statistics<S>(
    lists: &Lists<'_>,
    rows: Range<usize>,
    statistic: Statistic,
    options: Options,
    values: &mut Vec<Option<S::Item>>,
) where
    S: for<'i> KeyedSlot<Item: Real, Items<'i> = &'i [<S as Slot>::Item]>,
{
    let mut slots = Keyed::<S>::new(rows.len()).expect("the sums fit into memory");
    each_block(lists, rows, |keys, items| {
        slots
            .add(keys, items)
            .expect("there is a slot for each list");
    });
    let counts = slots
        .counts()
        .expect("the slots count items")
        .iter()
        .enumerate();
    values.extend(counts.map(|(key, &count)| {
        let value = || slots.statistic(key, statistic, options);
        (count as f64 > options.ddof).then(value).flatten()
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

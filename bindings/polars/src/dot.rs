//! Computes sums of products of two columns, or of each pair of lists in two columns.

use std::ops::Range;

use treefold::exact::{Keyed, ProductSum};

use crate::arrow::{Chunk, Series, Values};
use crate::column::{BLOCK_ITEMS, Real, from_zero, with_integers};
use crate::error::Error;
use crate::lists::lists_of;

/// The exact sum of the products of two columns' items, without pairs that have a null. If a column has a single item, that item is paired with
/// every item of the other column.
pub(crate) fn of_columns<T: Real>(x: &Series, y: &Series) -> Result<Vec<Option<T>>, Error> {
    let (x_chunks, y_chunks) = (x.chunks()?, y.chunks()?);
    let mut sum = ProductSum::<T>::new();
    let mut pairs = Pairs::new([x, y], |_: &[u32], x: &[T], y: &[T]| sum.add(x, y));
    match [x.len(), y.len()] {
        [own, other] if own == other => {
            for (x, y, places) in common(&x_chunks, &y_chunks) {
                pairs.add(0, [x, y], places)?;
            }
        }
        [1, _] => each_with_one(&x_chunks, &y_chunks, |one, other, at| {
            pairs.add(0, [one, other], [0..1, at..at + 1])
        })?,
        [_, 1] => each_with_one(&y_chunks, &x_chunks, |one, other, at| {
            pairs.add(0, [other, one], [at..at + 1, 0..1])
        })?,
        [own, other] => {
            return Err(Error::new(format!(
                "column `{}` has {own} items, but `{}` has {other}",
                x.name, y.name
            )));
        }
    }
    pairs.end();
    Ok(vec![Some(from_zero(sum.value()))])
}

/// The exact sums of the products of each pair of lists.
pub(crate) fn of_lists<T: Real>(x: &Series, y: &Series) -> Result<Vec<Option<T>>, Error> {
    if x.len() != y.len() {
        return Err(Error::new(format!(
            "column `{}` has {} lists, but `{}` has {}",
            x.name,
            x.len(),
            y.name,
            y.len()
        )));
    }
    let (x_chunks, y_chunks) = (x.chunks()?, y.chunks()?);
    let mut sums = Keyed::<ProductSum<T>>::new(x.len()).expect("the sums fit into memory");
    let mut are_there = Vec::with_capacity(x.len());
    let mut pairs = Pairs::new([x, y], |keys: &[u32], x: &[T], y: &[T]| {
        sums.add(keys, [x, y])
            .expect("there is a sum for each list");
    });
    for (x_chunk, y_chunk, [x_rows, y_rows]) in common(&x_chunks, &y_chunks) {
        for (x_row, y_row) in x_rows.zip(y_rows) {
            let row = are_there.len();
            let both = (lists_of(x_chunk), lists_of(y_chunk));
            let is_there = x_chunk.is_valid(x_row) && y_chunk.is_valid(y_row);
            let (Some(x_lists), Some(y_lists), true) = (both.0, both.1, is_there) else {
                are_there.push(false);
                continue;
            };
            are_there.push(true);
            let ranges = [x_lists.range(x_row), y_lists.range(y_row)];
            let [own, other] = ranges.each_ref().map(Range::len);
            if own != other {
                return Err(Error::new(format!(
                    "row {row} of columns `{}` and `{}` has lists of {own} and {other} items",
                    x.name, y.name
                )));
            }
            let key = u32::try_from(row).map_err(|_| Error::new("2^32 lists are too many"))?;
            pairs.add(key, [&x_lists.items, &y_lists.items], ranges)?;
        }
    }
    pairs.end();
    let values = sums.values().into_iter().zip(are_there);
    Ok(values
        .map(|(value, is_there)| is_there.then(|| from_zero(value)))
        .collect())
}

/// Divides two columns of equal length into ranges, each within one chunk of each column.
fn common<'c, 'a>(
    x: &'c [Chunk<'a>],
    y: &'c [Chunk<'a>],
) -> Vec<(&'c Chunk<'a>, &'c Chunk<'a>, [Range<usize>; 2])> {
    let mut parts = Vec::new();
    let (mut x_rest, mut y_rest) = (x.iter(), y.iter());
    let (mut x_now, mut y_now) = (x_rest.next().map(|x| (x, 0)), y_rest.next().map(|y| (y, 0)));
    while let (Some((x_chunk, x_at)), Some((y_chunk, y_at))) = (x_now, y_now) {
        let count = (x_chunk.len - x_at).min(y_chunk.len - y_at);
        let [x_end, y_end] = [x_at + count, y_at + count];
        parts.push((x_chunk, y_chunk, [x_at..x_end, y_at..y_end]));
        x_now = Some((x_chunk, x_end));
        if x_end == x_chunk.len {
            x_now = x_rest.next().map(|x| (x, 0));
        }
        y_now = Some((y_chunk, y_end));
        if y_end == y_chunk.len {
            y_now = y_rest.next().map(|y| (y, 0));
        }
    }
    parts
}

/// Pairs the only item of `one` with each item of `others`: passes `add` the chunk of the former, and the chunk and the place of the latter.
fn each_with_one<'c, 'a>(
    one: &'c [Chunk<'a>],
    others: &'c [Chunk<'a>],
    mut add: impl FnMut(&'c Chunk<'a>, &'c Chunk<'a>, usize) -> Result<(), Error>,
) -> Result<(), Error> {
    let Some(one) = one.iter().find(|chunk| chunk.len == 1) else {
        return Ok(());
    };
    for other in others {
        for at in 0..other.len {
            add(one, other, at)?;
        }
    }
    Ok(())
}

/// A buffer of pairs of items. When it is full, it passes the pairs to `add`.
struct Pairs<'s, T, F> {
    columns: [&'s Series; 2],
    keys: Vec<u32>,
    items: [Vec<T>; 2],
    add: F,
}

impl<'s, T: Real, F: FnMut(&[u32], &[T], &[T])> Pairs<'s, T, F> {
    fn new(columns: [&'s Series; 2], add: F) -> Self {
        Self {
            columns,
            keys: Vec::new(),
            items: [Vec::new(), Vec::new()],
            add,
        }
    }

    /// Adds the products of two ranges of equal length to a key's sum.
    fn add(
        &mut self,
        key: u32,
        chunks: [&Chunk<'_>; 2],
        ranges: [Range<usize>; 2],
    ) -> Result<(), Error> {
        let [x, y] = chunks;
        let [x_range, y_range] = ranges;
        let (x_first, y_first) = (x_range.start, y_range.start);
        let mut runs = Vec::new();
        x.runs(x_range, |run| {
            let begin = run.start - x_first + y_first;
            y.runs(begin..begin + run.len(), |run| runs.push(run));
        });
        for run in runs {
            for begin in run.clone().step_by(BLOCK_ITEMS) {
                let end = run.end.min(begin + BLOCK_ITEMS);
                let x_begin = begin - y_first + x_first;
                self.take(0, &x.values, x_begin..x_begin + end - begin)?;
                self.take(1, &y.values, begin..end)?;
                self.keys.resize(self.items[0].len(), key);
                if self.keys.len() >= BLOCK_ITEMS {
                    self.end();
                }
            }
        }
        Ok(())
    }

    /// Appends items of a column's chunk to the buffer.
    fn take(
        &mut self,
        column: usize,
        values: &Values<'_>,
        range: Range<usize>,
    ) -> Result<(), Error> {
        let taken = &mut self.items[column];
        let own = T::slice(values);
        if let Some(items) = own.get(range.clone()).filter(|_| !own.is_empty()) {
            taken.extend_from_slice(items);
            return Ok(());
        }
        if let Values::F32(items) = values {
            let items = items[range].iter().map(|&item| f64::from(item));
            taken.extend(items.map(T::of));
            return Ok(());
        }
        let mut lost = None;
        with_integers!(values, items => {
            for &item in &items[range] {
                let item = i128::from(item);
                let double = as_double(item);
                lost = lost.or(double.is_none().then_some(item));
                taken.push(T::of(double.unwrap_or_default()));
            }
        });
        lost.map_or(Ok(()), |item| {
            Err(Error::new(format!(
                "column `{}` has {item}, which Float64 cannot represent: cast the column",
                self.columns[column].name
            )))
        })
    }

    fn end(&mut self) {
        (self.add)(&self.keys, &self.items[0], &self.items[1]);
        self.keys.clear();
        for items in &mut self.items {
            items.clear();
        }
    }
}

/// The integer as a double; `None` if that would round.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a double that comes from a 64-bit integer fits into 128 bits"
)]
fn as_double(item: i128) -> Option<f64> {
    let double = item as f64;
    (double as i128 == item).then_some(double)
}

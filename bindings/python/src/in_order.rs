//! Reduces in tree order, either arrays in place or leaves that are computed a block at a time.

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::call::{Call, Counts};
use crate::element::{Item, Op, unsupported};
use crate::error::raised;
use crate::fold::{compute, fold_parts, zeroed};
use crate::pool::Workers;
use crate::source::{Make, Reader, Source};
use crate::statistic::Finish;
use crate::strided::Tile;
use crate::tree::reduce as reduce_blocks;

/// Writes the leaves of a tile, and adds the numbers of items that are not skipped to the counts.
type FillInOrder<'f, T, L> =
    dyn FnMut(&mut Reader<'_, T>, &Tile<'_>, &mut [i64], &mut [L]) + Send + 'f;

impl Call<'_, '_> {
    /// Reduces items by an operator; `initial` is the leftmost operand.
    pub(crate) fn values<T: Item>(
        &self,
        op: Op,
        initial: Option<T>,
        results: &mut [T],
    ) -> PyResult<Counts> {
        let counts = match self.side_by_side::<T>(op, results)? {
            Some(counts) => counts,
            None => self.blocks(
                op,
                &mut |reader: &mut Reader<'_, T>, tile, counts, into| {
                    reader.items(tile, op, counts, into);
                },
                results,
            )?,
        };
        complete(op, &counts, initial, self.without_numbers(), results)?;
        if self.items.unit.is_some() && op != Op::Min {
            // If an item is not-a-time, which is the least integer, the result is not-a-time.
            let mut least = zeroed::<T>(results.len())?;
            self.values(
                Op::Min,
                Some(initial.unwrap_or(T::hole(Op::Min))),
                &mut least,
            )?;
            for (result, least) in results.iter_mut().zip(least) {
                if least.is_same(&T::hole(Op::Max)) {
                    *result = least;
                }
            }
        }
        Ok(counts)
    }

    /// Reduces a contiguous array whose reduced axes are adjacent, without copying; `None` for other
    /// arrays.
    pub(crate) fn side_by_side<T: Item>(
        &self,
        op: Op,
        results: &mut [T],
    ) -> PyResult<Option<Counts>> {
        let py = self.items.array.py();
        let (array, Some(parts)) = (&self.items.array, self.parts()) else {
            return Ok(None);
        };
        let [_, length, after] = parts;
        let counts = Ok(Some(Counts::All(length)));
        if self.items.has_holes() || self.types.halves || length == 0 || results.is_empty() {
            return Ok(None);
        }
        if let Ok(array) = array.cast::<PyArrayDyn<T>>() {
            let (array, Some(reduction)) = (array.try_readonly()?, T::reduction(op)) else {
                return Ok(None);
            };
            if let Ok(items) = array.as_slice() {
                fold_parts(py, reduction, self.lanes, items, parts, results)?;
                return counts;
            }
        }
        let is_sum = self.statistic.finish == Finish::Nothing && T::KIND.is_integer();
        if after == 1 && is_sum && T::fold_short(array, self.items.kind, op, results)? {
            return counts;
        }
        Ok(None)
    }

    /// The numbers of elements before, along and after the reduced axes of a contiguous array, if these axes are adjacent.
    fn parts(&self) -> Option<[usize; 3]> {
        let (array, axes) = (&self.items.array, &self.axes);
        let size = |lengths: &[usize]| lengths.iter().fold(1, |all, one| all * one);
        let lengths = array.shape();
        if array.is_c_contiguous() {
            let (first, end) = match (axes.first(), axes.last()) {
                (Some(&first), Some(&last)) => (first, last + 1),
                _ => (lengths.len(), lengths.len()),
            };
            return (end - first == axes.len())
                .then(|| [&lengths[..first], &lengths[first..end], &lengths[end..]].map(size));
        }
        // The array has two axes in Fortran's order, and is reduced along one of them.
        match (array.is_fortran_contiguous(), lengths, axes.as_slice()) {
            (true, &[rows, columns], [0]) => Some([columns, rows, 1]),
            (true, &[rows, columns], [1]) => Some([1, columns, rows]),
            _ => None,
        }
    }

    /// Sums the products of two contiguous vectors, or the squares of one, in one pass; `None` for other
    /// arrays.
    pub(crate) fn dot<T: Item>(&self, results: &mut [T]) -> PyResult<Option<Counts>> {
        let y = self.y.as_ref().unwrap_or(&self.items.array);
        let ([result], Ok(x), Ok(y)) = (
            results,
            self.items.array.cast::<PyArrayDyn<T>>(),
            y.cast::<PyArrayDyn<T>>(),
        ) else {
            return Ok(None);
        };
        let are_in_order = x.is_c_contiguous() && y.is_c_contiguous();
        if !are_in_order || x.is_empty() || self.types.halves || self.items.has_holes() {
            return Ok(None);
        }
        let (x_ref, y_ref) = (x.try_readonly()?, y.try_readonly()?);
        let (Ok(x_items), Ok(y_items)) = (x_ref.as_slice(), y_ref.as_slice()) else {
            return Ok(None);
        };
        let by = Workers::of(x_items.len())?;
        let bytes = 2 * size_of_val(x_items);
        let Some(value) = compute(x.py(), bytes, || T::dot(&by, x_items, y_items)) else {
            return Ok(None);
        };
        *result = value.map_err(raised)?;
        Ok(Some(Counts::All(x_items.len())))
    }

    /// Reduces the leaves that `make` computes from items and the other array's items.
    pub(crate) fn leaves<T: Item, L: Item>(
        &self,
        op: Op,
        initial: Option<L>,
        make: &Make<'_, T, L>,
        results: &mut [L],
    ) -> PyResult<Counts> {
        let counts = self.blocks(
            op,
            &mut |reader: &mut Reader<'_, T>, tile, counts, into| {
                reader.leaves(tile, make, op, counts, into);
            },
            results,
        )?;
        complete(op, &counts, initial, None, results)?;
        Ok(counts)
    }

    /// The minimum and maximum if all items are skipped as NaNs: NaN. `None` if there are no items, if NaNs are not skipped, or if the type
    /// has no NaNs.
    fn without_numbers<T: Item>(&self) -> Option<T> {
        let has_items = self.items.drops_nan() && !self.items.array.is_empty();
        (has_items && !T::KIND.is_integer()).then(|| T::zeroed().over(0.0))
    }

    /// Reduces the leaves that `fill` writes for tiles. Returns the numbers of items that were not skipped.
    fn blocks<T: Item, L: Item>(
        &self,
        op: Op,
        fill: &mut FillInOrder<'_, T, L>,
        results: &mut [L],
    ) -> PyResult<Counts> {
        let source = self.source()?;
        let operator = if source.has_holes() {
            L::operator_with_holes(op)
        } else {
            L::operator(op)
        };
        let operator = operator.ok_or_else(|| unsupported(op, &self.items.array))?;
        let mut counts = zeroed(if source.has_holes() { results.len() } else { 0 })?;
        let items = source.shape.items_count();
        if items > 0 {
            compute(self.items.array.py(), self.bytes::<T>(), || {
                let mut reader = Reader::<T>::new(&source);
                let mut fill =
                    |tile: &Tile<'_>, into: &mut [L]| fill(&mut reader, tile, &mut counts, into);
                reduce_blocks(&source.shape, operator, &mut fill, results);
                operator.make_canonical(results);
            });
        }
        Ok(if source.has_holes() {
            Counts::Each(counts)
        } else {
            Counts::All(items)
        })
    }

    pub(crate) fn source(&self) -> PyResult<Source> {
        let y = self.y.as_ref();
        self.items.source(y, &self.axes, self.types.halves)
    }

    pub(crate) fn bytes<T>(&self) -> usize {
        self.items.array.len().saturating_mul(size_of::<T>())
    }
}

/// Combines results with `initial`. A result without items is the first that exists of `initial`, the operator's value for no items, and
/// `otherwise`.
fn complete<L: Item>(
    op: Op,
    counts: &Counts,
    initial: Option<L>,
    otherwise: Option<L>,
    results: &mut [L],
) -> PyResult<()> {
    let has_all = matches!(counts, Counts::All(1..));
    let Some(operator) = L::operator(op).filter(|_| initial.is_some() || !has_all) else {
        return Ok(());
    };
    for (number, result) in results.iter_mut().enumerate() {
        let value = match (counts.of(number) > 0.0, initial) {
            (true, None) => Some(*result),
            (true, Some(initial)) => Some(operator.combine(initial, *result)),
            (false, Some(initial)) => Some(initial),
            (false, None) => operator.empty().or(otherwise),
        };
        let Some(value) = value else {
            let name = if op == Op::Min { "minimum" } else { "maximum" };
            return Err(PyValueError::new_err(format!(
                "zero-size array to reduction operation {name} which has no identity"
            )));
        };
        *result = operator.canonical(value);
    }
    Ok(())
}

/// Computes a leaf from each item.
pub(crate) fn of_items<T: Item, L: Item>(
    leaf: impl Fn(T) -> L + Sync,
) -> impl Fn(&Tile<'_>, &[T], &[T], &mut [L]) + Sync {
    move |_, items, _, into| {
        for (into, &item) in into.iter_mut().zip(items) {
            *into = leaf(item);
        }
    }
}

/// Computes a leaf from each item and the other array's item.
pub(crate) fn of_pairs<T: Item>(
    leaf: impl Fn(T, T) -> T + Sync,
) -> impl Fn(&Tile<'_>, &[T], &[T], &mut [T]) + Sync {
    move |_, items, others, into| {
        for ((into, &item), &other) in into.iter_mut().zip(items).zip(others) {
            *into = leaf(item, other);
        }
    }
}

/// Computes the squared distances of items from the mean of their result.
pub(crate) fn distances<T: Item>(means: &[T]) -> impl Fn(&Tile<'_>, &[T], &[T], &mut [T::Real]) {
    |tile, values, _, into| {
        let width = tile.columns.len;
        if width == 1 {
            let mean = means[tile.place.result];
            for (into, &value) in into.iter_mut().zip(values) {
                *into = value.squared_distance(mean);
            }
            return;
        }
        let own: Vec<T> = tile.results().map(|result| means[result]).collect();
        for (into, values) in into.chunks_exact_mut(width).zip(values.chunks_exact(width)) {
            for ((into, value), &mean) in into.iter_mut().zip(values).zip(&own) {
                *into = value.squared_distance(mean);
            }
        }
    }
}

//! Computes exact statistics of arrays. All threads share a contiguous array; other arrays are read block by block.

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyOverflowError, PyZeroDivisionError};
use pyo3::prelude::*;

use crate::call::{Call, Counts};
use crate::element::{Item, Op};
use crate::fold::{compute, zeroed};
use crate::pool::Workers;
use crate::source::Reader;
use crate::states::{Statistics, Undefined, value_of};
use crate::tree::block_items;

/// The number of columns whose exact sums are computed at once.
const EXACT_COLUMNS: usize = 64;

impl Call<'_, '_> {
    /// Computes an exact statistic of the items of each result, rounded once.
    pub(crate) fn exact<T: Statistics>(&self, results: &mut [T]) -> PyResult<Counts> {
        let (name, ddof) = (self.statistic.name, self.ddof);
        let initial = self.initial::<T>()?;
        if initial.is_none()
            && let Some(counts) = self.exact_side_by_side(results)?
        {
            return Ok(counts);
        }
        let source = self.source()?;
        let (mut first_wrong, mut counts) = (None, zeroed(results.len())?);
        let mut states = Vec::new();
        compute(self.items.array.py(), self.bytes::<T>(), || {
            let mut reader = Reader::<T>::new(&source);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for group in source.shape.groups(EXACT_COLUMNS) {
                let width = group.columns.len;
                states.clear();
                states.extend((0..width).filter_map(|_| T::state(name, ddof)));
                for block in group.blocks((block_items::<T>(&source.shape) / width).max(1)) {
                    for (tile, state) in block.each_column().zip(&mut states) {
                        x.clear();
                        y.clear();
                        reader.compact(&tile, &mut x, &mut y);
                        state.add(&x, &y);
                        counts[tile.place.result] += x.len() as i64;
                    }
                }
                for (result, state) in group.results().zip(&mut states) {
                    if let Some(initial) = initial {
                        state.add(&[initial], &[]);
                    }
                    match state.value() {
                        Ok(value) => results[result] = value,
                        Err(wrong) => first_wrong = first_wrong.or(Some(wrong)),
                    }
                }
            }
        });
        first_wrong.map_or(Ok(Counts::Each(counts)), |wrong| Err(undefined::<T>(wrong)))
    }

    /// Computes the statistic of a contiguous array on all threads; `None` for other arrays.
    fn exact_side_by_side<T: Statistics>(&self, results: &mut [T]) -> PyResult<Option<Counts>> {
        let (name, ddof) = (self.statistic.name, self.ddof);
        if name == "sum"
            && let Some(counts) = self.side_by_side(Op::ExactSum, results)?
        {
            return Ok(Some(counts));
        }
        let ([result], Ok(x)) = (results, self.items.array.cast::<PyArrayDyn<T>>()) else {
            return Ok(None);
        };
        let y = self
            .y
            .as_ref()
            .map(|y| y.cast::<PyArrayDyn<T>>())
            .transpose();
        let Ok(y) = y else {
            return Ok(None);
        };
        // The order in which items are read matters only for pairs.
        if self.items.has_holes()
            || self.types.halves
            || y.is_some_and(|y| !(y.is_c_contiguous() && x.is_c_contiguous()))
        {
            return Ok(None);
        }
        let x_ref = x.try_readonly()?;
        let y_ref = y.map(|y| y.try_readonly()).transpose()?;
        let (Ok(x_items), Ok(y_items)) = (
            x_ref.as_slice(),
            y_ref.as_ref().map_or(Ok(&[][..]), |y| y.as_slice()),
        ) else {
            return Ok(None);
        };
        let by = Workers::of(x_items.len())?;
        let value = compute(x.py(), size_of_val(x_items), || {
            value_of(name, ddof, by.pool(), x_items, y_items)
        });
        *result = value
            .transpose()
            .map_err(undefined::<T>)?
            .unwrap_or(T::zeroed());
        Ok(Some(Counts::All(x_items.len())))
    }
}

/// The Python exception for a statistic that has no value.
pub(crate) fn undefined<T: Item>(wrong: Undefined) -> PyErr {
    match wrong {
        Undefined::ZeroWeights => {
            PyZeroDivisionError::new_err("the weights sum to zero, so the mean is not defined")
        }
        Undefined::Beyond(sum) => PyOverflowError::new_err(format!(
            "the sum is {sum}, beyond {} bits: pass dtype=float",
            8 * size_of::<T>()
        )),
    }
}

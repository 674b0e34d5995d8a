//! Exact sums, means and variances of arrays as they are in memory, some of whose items may not count.

use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyValueError, PyZeroDivisionError};
use pyo3::prelude::*;

use crate::element::Item;
use crate::engine::block_items;
use crate::exact::{ExactTask, with_exact_type};
use crate::exact_item::ExactItem;
use crate::fold::{check_length, compute};
use crate::leaves::Reader;
use crate::pool::Workers;
use crate::reductions::{Arrays, first};
use crate::statistics::Statistics;
use crate::strided::Tile;

/// The columns that are read together.
const COLUMNS: usize = 64;

struct Reduce<'a, 'py> {
    statistic: &'a str,
    ddof: f64,
    arrays: &'a Arrays<'py>,
    initial: Option<&'a Bound<'py, PyAny>>,
    result: &'a Bound<'py, PyAny>,
}

impl ExactTask for Reduce<'_, '_> {
    type Output = ();

    fn visit<T: Item + ExactItem<Part: Item> + Statistics>(
        self,
        like: &Bound<'_, PyArrayDyn<T>>,
    ) -> PyResult<()> {
        let source = self.arrays.source()?;
        let shape = &source.shape;
        let mut result = self.result.cast::<PyArrayDyn<T>>()?.try_readwrite()?;
        let results = result.as_slice_mut()?;
        check_length(results.len(), shape.results_count())?;
        let initial = self
            .initial
            .map(|initial| first::<T>(initial))
            .transpose()?;
        if T::state(self.statistic, self.ddof).is_none() {
            let message = format!("statistic: `{}` is not known", self.statistic);
            return Err(PyValueError::new_err(message));
        }
        let _by = Workers::of(0)?;
        let (statistic, ddof) = (self.statistic, self.ddof);
        let is_defined = compute(like.py(), self.arrays.bytes(), || {
            let mut reader = Reader::<T>::new(&source);
            let axis = shape.column_axis();
            let step = axis.map_or(1, |axis| shape.step(axis));
            let columns = axis.map_or(1, |axis| shape.kept[axis].len);
            let strides = axis.map_or_else(Default::default, |axis| shape.kept[axis].strides);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            let mut is_defined = true;
            for place in shape.places(axis) {
                for first_column in (0..columns).step_by(COLUMNS) {
                    let count = COLUMNS.min(columns - first_column);
                    let states = (0..count).filter_map(|_| T::state(statistic, ddof));
                    let mut states: Vec<_> = states.collect();
                    let items = (block_items::<T>(shape) / count).max(1);
                    for first in (0..shape.items_count()).step_by(items) {
                        for (column, state) in (first_column..).zip(&mut states) {
                            let mut place = place;
                            for (offset, stride) in place.offsets.iter_mut().zip(strides) {
                                *offset += stride * column.cast_signed();
                            }
                            let items = items.min(shape.items_count() - first);
                            x.clear();
                            y.clear();
                            reader.compact(&Tile::column(place, first, items), &mut x, &mut y);
                            state.add(&x, &y);
                        }
                    }
                    for (column, state) in (first_column..).zip(&mut states) {
                        if let Some(initial) = initial {
                            state.add(&[initial], &[]);
                        }
                        let value = state.value();
                        is_defined &= value.is_some();
                        results[place.result + column * step] = value.unwrap_or(T::zeroed());
                    }
                }
            }
            is_defined
        });
        if is_defined {
            return Ok(());
        }
        let message = "the weights sum to zero, and the mean is not defined";
        Err(PyZeroDivisionError::new_err(message))
    }
}

/// A statistic of the items of arrays, converted to the type of `like`, exact until it is rounded once, into a contiguous result.
/// `initial` is one more item.
#[pyfunction]
pub(crate) fn exact_arrays<'py>(
    statistic: &str,
    like: &Bound<'py, PyAny>,
    arrays: Arrays<'py>,
    ddof: f64,
    initial: Option<&Bound<'py, PyAny>>,
    result: &Bound<'py, PyAny>,
) -> PyResult<()> {
    let arrays = &arrays;
    let task = Reduce {
        statistic,
        ddof,
        arrays,
        initial,
        result,
    };
    with_exact_type(like, task)
}

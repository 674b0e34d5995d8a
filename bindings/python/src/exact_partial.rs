//! The partial exact sum of a chunk of items, as a Python object.

use bytemuck::cast_slice;
use num_complex::Complex;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use treefold::exact::{Accumulator, Float, Sum};

use crate::element::Item;
use crate::exact_item::{ExactItem, add, floats, groups, sum_of};
use crate::exact_keyed::by_type;
use crate::fold::{check_length, compute, reserved};
use crate::pool::Workers;

/// The exact sums of some items: the concatenated words of one sum for each float of an item. `treefold/_partial.py` keeps the
/// items' type.
#[pyclass(frozen, module = "treefold._native")]
#[derive(Debug)]
pub(crate) struct ExactPartial {
    words: Vec<u64>,
}

type Words<F> = <Sum<F> as Accumulator>::Words;

/// Calls a closure with an array downcast to its element type.
macro_rules! on_type {
    ($array:expr, |$typed:ident| $call:expr) => {
        by_type!($array, [f64, f32, Complex<f64>, Complex<f32>], |$typed| $call)
            .unwrap_or_else(|| Err(PyTypeError::new_err("the array has no floats")))
    };
}

/// The words grouped by sum; empty if they are not whole sums.
fn typed<F: Float>(words: &[u64]) -> &[Words<F>] {
    bytemuck::try_cast_slice(words).unwrap_or(&[])
}

impl ExactPartial {
    /// Sums the rows of a two-dimensional array; a row is an item.
    fn of_rows<T: Item + ExactItem>(array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Self> {
        let &[_, width] = array.shape() else {
            return Err(PyValueError::new_err("the array does not have two axes"));
        };
        let rows = array.try_readonly()?;
        let rows: &[T::Part] = cast_slice(rows.as_slice()?);
        let width = floats::<T>(width);
        let by = Workers::of(rows.len())?;
        let len = width.saturating_mul(size_of::<Words<T::Part>>() / size_of::<u64>());
        let mut words = reserved(len)?;
        compute(array.py(), size_of_val(rows), || {
            for columns in groups(width) {
                for sum in add::<T>(by.pool(), rows, width, columns) {
                    words.extend_from_slice(cast_slice(&[sum.words()]));
                }
            }
        });
        Ok(Self { words })
    }

    /// The words, after checking that they are valid sums, one for each float of an item's values.
    fn checked<T: Item + ExactItem>(&self, values: &Bound<'_, PyArrayDyn<T>>) -> PyResult<&[u64]> {
        let sums = typed::<T::Part>(&self.words);
        check_length(sums.len(), floats::<T>(values.len()))?;
        let checked = sums.iter().try_for_each(Sum::<T::Part>::check_words);
        checked.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(&self.words)
    }

    fn merged<T: Item + ExactItem>(
        &self,
        other: &Self,
        values: &Bound<'_, PyArrayDyn<T>>,
    ) -> PyResult<Self> {
        let (own, others) = (self.checked(values)?, other.checked(values)?);
        let mut words = reserved(own.len())?;
        words.extend_from_slice(own);
        compute(values.py(), size_of_val(others), || {
            let sums: &mut [Words<T::Part>] = bytemuck::cast_slice_mut(&mut words);
            for (sum, other) in sums.iter_mut().zip(typed::<T::Part>(others)) {
                Sum::<T::Part>::merge_words(sum, other);
            }
        });
        let merged = Self { words };
        merged.checked(values)?;
        Ok(merged)
    }

    fn finish<T: Item + ExactItem>(&self, into: &Bound<'_, PyArrayDyn<T>>) -> PyResult<()> {
        let words = self.checked(into)?;
        let mut values = into.try_readwrite()?;
        let results: &mut [T::Part] = bytemuck::cast_slice_mut(values.as_slice_mut()?);
        compute(into.py(), size_of_val(words), || {
            for (result, words) in results.iter_mut().zip(typed::<T::Part>(words)) {
                *result = sum_of(words).value();
            }
        });
        Ok(())
    }

    fn count<T: Item + ExactItem>(&self, values: &Bound<'_, PyArrayDyn<T>>) -> PyResult<u64> {
        let first = typed::<T::Part>(self.checked(values)?).first();
        Ok(first.map_or(0, |words| sum_of::<T::Part>(words).items()))
    }
}

#[pymethods]
impl ExactPartial {
    /// Sums the rows of a two-dimensional array.
    #[staticmethod]
    fn new(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        on_type!(array, |rows| Self::of_rows(rows))
    }

    /// Reads the bytes of `words`.
    #[staticmethod]
    fn from_words(words: &[u8]) -> PyResult<Self> {
        let (words, rest) = words.as_chunks();
        check_length(rest.len(), 0)?;
        let words = words.iter().copied().map(u64::from_le_bytes);
        Ok(Self {
            words: words.collect(),
        })
    }

    /// Merges two partial sums. Here and below, an array determines the type and number of an item's values.
    fn merge(&self, other: &Self, array: &Bound<'_, PyAny>) -> PyResult<Self> {
        on_type!(array, |values| self.merged(other, values))
    }

    /// Writes the sums of all items to an array.
    fn result(&self, array: &Bound<'_, PyAny>) -> PyResult<()> {
        on_type!(array, |into| self.finish(into))
    }

    /// The number of items.
    fn items(&self, array: &Bound<'_, PyAny>) -> PyResult<u64> {
        on_type!(array, |values| self.count(values))
    }

    /// The sums as words of eight bytes, the lowest byte first.
    fn words<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let words: Vec<[u8; 8]> = self.words.iter().map(|word| word.to_le_bytes()).collect();
        PyBytes::new(py, words.as_flattened())
    }
}

//! What a chunk of the items contributes to an exact sum, as a Python object.

use bytemuck::cast_slice;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use treefold::exact::{Accumulator, Float, Sum};

use crate::element::Item;
use crate::exact::{ExactTask, with_exact_type};
use crate::exact_item::{ExactItem, add, floats, groups, sum_of};
use crate::fold::{check_length, compute, reserved};
use crate::pool::Workers;

/// The exact sums of some items, whatever the type of their elements, which `treefold/exact.py` knows: the words of one after the other,
/// a sum for each float of an item.
#[pyclass(frozen, module = "treefold._native")]
#[derive(Debug)]
pub(crate) struct ExactPartial {
    words: Vec<u64>,
}

type Words<F> = <Sum<F> as Accumulator>::Words;

impl ExactPartial {
    /// The words of as many sums as an item has floats.
    fn words_of<T: Item + ExactItem>(&self, values: usize) -> PyResult<&[u64]> {
        let sums = typed::<T::Part>(&self.words);
        check_length(sums.len(), floats::<T>(values))?;
        let checked = sums.iter().try_for_each(Sum::<T::Part>::check_words);
        checked.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(&self.words)
    }
}

/// As the words of sums; none if there are no whole ones.
fn typed<F: Float>(words: &[u64]) -> &[Words<F>] {
    bytemuck::try_cast_slice(words).unwrap_or(&[])
}

struct New;

impl ExactTask for New {
    type Output = ExactPartial;

    /// Of an array of two axes, items and the values of an item.
    fn visit<T: Item + ExactItem>(
        self,
        array: &Bound<'_, PyArrayDyn<T>>,
    ) -> PyResult<ExactPartial> {
        let &[_, width] = array.shape() else {
            return Err(PyValueError::new_err("the array does not have two axes"));
        };
        let array_ref = array.try_readonly()?;
        let rows: &[T::Part] = bytemuck::cast_slice(array_ref.as_slice()?);
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
        Ok(ExactPartial { words })
    }
}

struct Merge<'a>(&'a ExactPartial, &'a ExactPartial);

impl ExactTask for Merge<'_> {
    type Output = ExactPartial;

    /// Of an array with an element for each value of an item.
    fn visit<T: Item + ExactItem>(
        self,
        array: &Bound<'_, PyArrayDyn<T>>,
    ) -> PyResult<ExactPartial> {
        let own = self.0.words_of::<T>(array.len())?;
        let mut words = reserved(own.len())?;
        words.extend_from_slice(own);
        let others = self.1.words_of::<T>(array.len())?;
        compute(array.py(), size_of_val(others), || {
            let sums: &mut [Words<T::Part>] = bytemuck::cast_slice_mut(&mut words);
            for (sum, other) in sums.iter_mut().zip(typed::<T::Part>(others)) {
                Sum::<T::Part>::merge_words(sum, other);
            }
        });
        let merged = ExactPartial { words };
        merged.words_of::<T>(array.len())?;
        Ok(merged)
    }
}

struct Finish<'a>(&'a ExactPartial);

impl ExactTask for Finish<'_> {
    type Output = ();

    /// Into an array with an element for each value of an item.
    fn visit<T: Item + ExactItem>(self, array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<()> {
        let words = self.0.words_of::<T>(array.len())?;
        let mut into = array.try_readwrite()?;
        let results: &mut [T::Part] = bytemuck::cast_slice_mut(into.as_slice_mut()?);
        compute(array.py(), size_of_val(words), || {
            for (result, words) in results.iter_mut().zip(typed::<T::Part>(words)) {
                *result = sum_of(words).value();
            }
        });
        Ok(())
    }
}

struct Count<'a>(&'a ExactPartial);

impl ExactTask for Count<'_> {
    type Output = u64;

    fn visit<T: Item + ExactItem>(self, array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<u64> {
        let words = self.0.words_of::<T>(array.len())?;
        let first = typed::<T::Part>(words).first();
        Ok(first.map_or(0, |words| sum_of::<T::Part>(words).items()))
    }
}

#[pymethods]
impl ExactPartial {
    /// Of the rows of an array of two axes.
    #[staticmethod]
    fn new(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        with_exact_type(array, New)
    }

    /// Of what `words` returned.
    #[staticmethod]
    fn from_words(words: &[u8]) -> PyResult<Self> {
        let (words, rest) = words.as_chunks();
        check_length(rest.len(), 0)?;
        let words = words.iter().copied().map(u64::from_le_bytes);
        Ok(Self {
            words: words.collect(),
        })
    }

    /// Of the items of both. An array has the type and number of the values of an item, here and below.
    fn merge(&self, other: &Self, array: &Bound<'_, PyAny>) -> PyResult<Self> {
        with_exact_type(array, Merge(self, other))
    }

    /// Leaves the sums of all items in an array.
    fn result(&self, array: &Bound<'_, PyAny>) -> PyResult<()> {
        with_exact_type(array, Finish(self))
    }

    /// The number of items.
    fn items(&self, array: &Bound<'_, PyAny>) -> PyResult<u64> {
        with_exact_type(array, Count(self))
    }

    /// The sums as words of eight bytes, the lowest first.
    fn words<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        let words: Vec<[u8; 8]> = self.words.iter().map(|word| word.to_le_bytes()).collect();
        PyBytes::new(py, words.as_flattened())
    }
}

//! What is done with arrays that have exact sums.

use num_complex::Complex;
use numpy::{PyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::element::{Item, with_first_of};
use crate::exact_item::ExactItem;

/// What is done with an array whose elements have exact sums.
pub(crate) trait ExactTask {
    type Output;

    fn visit<T: Item + ExactItem<Part: Item>>(
        self,
        array: &Bound<'_, PyArrayDyn<T>>,
    ) -> PyResult<Self::Output>;
}

/// Does it with an array of any of the types.
pub(crate) fn with_exact_type<K: ExactTask>(
    array: &Bound<'_, PyAny>,
    task: K,
) -> PyResult<K::Output> {
    first_exact(array, task)?.ok_or_else(|| match array.cast::<PyUntypedArray>() {
        Ok(array) => {
            let dtype = array.dtype();
            let message = format!("x has elements of type {dtype}, which have no exact sums");
            PyTypeError::new_err(message)
        }
        Err(error) => error.into(),
    })
}

fn first_exact<K: ExactTask>(array: &Bound<'_, PyAny>, task: K) -> PyResult<Option<K::Output>> {
    with_first_of!(array, task, [f64, f32, Complex<f64>, Complex<f32>])
}

//! Exact dot products and norms of arrays, and what is done with arrays that have exact sums.

use num_complex::Complex;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use treefold::exact;

use crate::element::{Item, with_first_of};
use crate::error::raised;
use crate::exact_item::ExactItem;
use crate::fold::{compute, scalar};
use crate::fused::of_pair;
use crate::pool::Workers;
use crate::statistics::Statistics;

/// What is done with an array whose elements have exact sums.
pub(crate) trait ExactTask {
    type Output;

    fn visit<T: Item + ExactItem<Part: Item> + Statistics>(
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

struct Dot<'a, 'py>(&'a Bound<'py, PyAny>);

impl ExactTask for Dot<'_, '_> {
    type Output = Py<PyAny>;

    fn visit<T: Item + ExactItem<Part: Item> + Statistics>(
        self,
        x: &Bound<'_, PyArrayDyn<T>>,
    ) -> PyResult<Self::Output> {
        of_pair(x, self.0, |by, x, y| {
            T::exact_dot(by.pool(), x, y).map_err(raised)
        })
    }
}

/// The exact sum of the products of two contiguous arrays of the same type and number of items, rounded once.
#[pyfunction]
pub(crate) fn exact_dot(x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    with_exact_type(x, Dot(y))
}

struct Norm;

impl ExactTask for Norm {
    type Output = Py<PyAny>;

    fn visit<T: Item + ExactItem<Part: Item> + Statistics>(
        self,
        array: &Bound<'_, PyArrayDyn<T>>,
    ) -> PyResult<Self::Output> {
        let array_ref = array.try_readonly()?;
        let items: &[T::Part] = bytemuck::cast_slice(array_ref.as_slice()?);
        let by = Workers::of(items.len())?;
        let root = compute(array.py(), size_of_val(items), || match by.pool() {
            None => exact::norm(items),
            Some(pool) => exact::par::install(pool, || exact::par::norm(items)),
        });
        scalar(array.py(), root)
    }
}

/// The square root of the exact sum of the squares of a contiguous array's items, rounded once; of complex items, those of their parts.
#[pyfunction]
pub(crate) fn exact_norm(array: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    with_exact_type(array, Norm)
}

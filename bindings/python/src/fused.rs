//! Sums of products.

use crate::element::{Item, Op, Task, with_type};
use crate::error::raised;
use crate::fold::{check_length, compute, no_type, scalar};
use crate::pool::Workers;
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;

struct Dot<'a, 'py>(&'a Bound<'py, PyAny>);

impl Task for Dot<'_, '_> {
    type Output = Py<PyAny>;

    fn visit<T: Item>(self, x: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Self::Output> {
        of_pair(x, self.0, |by, x, y| T::dot(by, x, y).map_err(raised))
    }
}

/// A scalar that is computed from the items of two contiguous arrays of the same type and number of items.
pub(crate) fn of_pair<T: Item>(
    x: &Bound<'_, PyArrayDyn<T>>,
    y: &Bound<'_, PyAny>,
    value: impl FnOnce(&Workers, &[T], &[T]) -> PyResult<T> + Send,
) -> PyResult<Py<PyAny>> {
    let (x_ref, y_ref) = (
        x.try_readonly()?,
        y.cast::<PyArrayDyn<T>>()?.try_readonly()?,
    );
    let (x_items, y_items) = (x_ref.as_slice()?, y_ref.as_slice()?);
    check_length(y_items.len(), x_items.len())?;
    let by = Workers::of(x_items.len())?;
    let value = compute(x.py(), 2 * size_of_val(x_items), || {
        value(&by, x_items, y_items)
    });
    scalar(x.py(), value?)
}

/// The sum of the products of two contiguous arrays of the same type and number of items.
#[pyfunction]
pub(crate) fn dot(x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let sum = with_type(x, Dot(y))?;
    sum.ok_or_else(|| no_type(Op::Sum, x))
}

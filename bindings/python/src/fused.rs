//! Sums of products.

use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::prelude::*;
use treefold::FoldError;

use crate::element::{Item, Op, Task, with_type};
use crate::error::raised;
use crate::fold::{check_length, compute, no_type, scalar};
use crate::pool::Workers;

struct Dot<'a, 'py>(&'a Bound<'py, PyAny>);

impl Task for Dot<'_, '_> {
    type Output = Py<PyAny>;

    fn visit<T: Item>(self, x: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Self::Output> {
        of_pair(x, self.0, T::dot)
    }
}

/// A scalar that is computed from the items of two contiguous arrays of the same type and number of items.
pub(crate) fn of_pair<T: Item>(
    x: &Bound<'_, PyArrayDyn<T>>,
    y: &Bound<'_, PyAny>,
    dot: impl FnOnce(&Workers, &[T], &[T]) -> Result<T, FoldError> + Send,
) -> PyResult<Py<PyAny>> {
    let (x_ref, y_ref) = (
        x.try_readonly()?,
        y.cast::<PyArrayDyn<T>>()?.try_readonly()?,
    );
    let (x_items, y_items) = (x_ref.as_slice()?, y_ref.as_slice()?);
    check_length(y_items.len(), x_items.len())?;
    let by = Workers::of(x_items.len())?;
    let sum = compute(x.py(), 2 * size_of_val(x_items), || {
        dot(&by, x_items, y_items)
    });
    scalar(x.py(), sum.map_err(raised)?)
}

/// The sum of the products of two contiguous arrays of the same type and number of items.
#[pyfunction]
pub(crate) fn dot(x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
    let sum = with_type(x, Dot(y))?;
    sum.ok_or_else(|| no_type(Op::Sum, x))
}

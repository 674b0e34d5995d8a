//! Sums of products.

use crate::convert::Kind;
use crate::element::{Item, Task, with_type};
use crate::error::raised;
use crate::fold::{check_length, compute, reserved, scalar};
use crate::pool::Workers;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

struct Dot<'a, 'py>(&'a Bound<'py, PyAny>);

impl Task for Dot<'_, '_> {
    type Output = Option<Py<PyAny>>;

    fn visit<T: Item>(self, x: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Self::Output> {
        let Ok(y) = self.0.cast::<PyArrayDyn<T>>() else {
            return Ok(None);
        };
        if x.ndim() != 1 || y.ndim() != 1 || x.len() != y.len() || x.is_empty() {
            return Ok(None);
        }
        let (x_ref, y_ref) = (x.try_readonly()?, y.try_readonly()?);
        let (Ok(x_items), Ok(y_items)) = (x_ref.as_slice(), y_ref.as_slice()) else {
            return Ok(None);
        };
        // Products of a type without a kernel are made first. Where there is no memory for them, others make them a block at a time.
        let has_kernel = matches!(T::KIND, Kind::F64 | Kind::F32);
        if !has_kernel && reserved::<T>(x_items.len()).is_err() {
            return Ok(None);
        }
        let by = Workers::of(x_items.len())?;
        let bytes = 2 * size_of_val(x_items);
        let value = compute(x.py(), bytes, || T::dot(&by, x_items, y_items));
        let value = value.map_err(raised)?;
        if !value.is_ordinary() {
            return Ok(None);
        }
        scalar(x.py(), value).map(Some)
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

/// The sum of the products of two vectors that lie side by side, have one type and as many items; None where it takes more than that, or
/// is not finite.
#[pyfunction]
pub(crate) fn dot_all(x: &Bound<'_, PyAny>, y: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
    let are_plain = [x, y].map(|one| one.is_exact_instance_of::<PyUntypedArray>());
    if are_plain != [true; 2] {
        return Ok(None);
    }
    with_type(x, Dot(y)).map(Option::flatten)
}

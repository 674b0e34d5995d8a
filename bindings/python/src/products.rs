//! Sums of products: `dot`, `inner` and `vdot`.

use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::arguments::{axes_of, kind_of_type, place_of, plain, python, shape_of_result};
use crate::call::Call;
use crate::convert::Kind;

/// Two arrays of the same shape, the axis along which products are added (`None` for all axes), and the type of the
/// products.
type Matched<'py> = (
    Bound<'py, PyUntypedArray>,
    Bound<'py, PyUntypedArray>,
    Bound<'py, PyAny>,
    Bound<'py, PyArrayDescr>,
);

/// The sums of the products of two arrays, with the shapes of NumPy's function `form`: dot, inner or vdot.
#[pyfunction]
pub(crate) fn products<'py>(
    form: &str,
    is_exact: bool,
    x: &Bound<'py, PyAny>,
    y: &Bound<'py, PyAny>,
    out: &Bound<'py, PyAny>,
) -> PyResult<Py<PyAny>> {
    let are_vectors = |x: &Bound<'_, PyUntypedArray>, y: &Bound<'_, PyUntypedArray>| {
        x.ndim() == 1 && x.shape() == y.shape() && x.dtype().is_equiv_to(&y.dtype())
    };
    let (arrays, axes, kind) = match (plain(x), plain(y)) {
        (Some((x, kind)), Some((y, _))) if kind != Kind::Bool && are_vectors(x, y) => {
            ([x.clone(), y.clone()], vec![0], kind)
        }
        _ => {
            let matched = python(x.py(), "matched")?.call1((form, is_exact, x, y, out))?;
            let Ok(matched) = matched.cast::<PyTuple>() else {
                return Ok(matched.unbind());
            };
            let (x, y, axis, dtype) = matched.extract::<Matched<'py>>()?;
            let axes = axes_of(&axis, x.ndim())?;
            ([x, y], axes, kind_of_type(&dtype)?)
        }
    };
    if is_exact && kind.is_integer() {
        let [x, y] = arrays.map(|array| array.dtype());
        let message = format!(
            "x has elements of type {x}, and y of type {y}, whose sums are never rounded: use treefold.{form}"
        );
        return Err(PyTypeError::new_err(message));
    }
    let shape = shape_of_result(arrays[0].shape(), &axes, false);
    let out = place_of(out, &shape)?;
    if let Some(out) = &out {
        let (own, dtype) = (out.dtype(), kind.dtype(out.py())?);
        if !own.is_equiv_to(&dtype) {
            let message = format!("out has elements of type {own}, but the result has {dtype}");
            return Err(PyValueError::new_err(message));
        }
    }
    let name = match form {
        "vdot" if kind.is_complex() => "conjugate_product",
        _ => "product",
    };
    Call::of_pairs(name, is_exact, arrays, axes, kind, out)?.run(x.py())
}

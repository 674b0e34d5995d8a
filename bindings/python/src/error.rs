//! Converts errors to Python exceptions.

use pyo3::PyErr;
use pyo3::exceptions::{PyFloatingPointError, PyValueError};
use pyo3::pyfunction;
use treefold::{FoldError, PartialError};

pub(crate) fn raised(error: FoldError) -> PyErr {
    let text = error.to_string();
    match error {
        FoldError::Environment(_) => PyFloatingPointError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

pub(crate) fn raised_by_partial(error: PartialError) -> PyErr {
    match error {
        PartialError::Fold(error) => raised(error),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// Panics, so that tests of a wheel can check that a panic becomes an exception. Whether it does depends on how the wheel was linked.
#[pyfunction]
pub(crate) fn panic_on_purpose() {
    panic!("on purpose")
}

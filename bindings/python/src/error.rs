//! Errors of the reductions as Python's.

use pyo3::PyErr;
use pyo3::exceptions::{PyFloatingPointError, PyValueError};
use treefold::{FoldError, PartialError};

/// As Python raises it.
pub(crate) fn raised(error: FoldError) -> PyErr {
    let text = error.to_string();
    match error {
        FoldError::Environment(_) => PyFloatingPointError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// As Python raises it.
pub(crate) fn raised_by_partial(error: PartialError) -> PyErr {
    match error {
        PartialError::Fold(error) => raised(error),
        error => PyValueError::new_err(error.to_string()),
    }
}

//! Exact sums by key, and the distinct keys of a vector.

use numpy::{Element, PyArray1, PyArrayDyn, PyArrayMethods, PyReadonlyArrayDyn};
use pyo3::exceptions::{PyIndexError, PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use treefold::exact::{self, Float, Hashed, KeyError, LimitError, Statistic, Sum, by_key};

use crate::element::Item;
use crate::fold::compute;
use crate::pool::Workers;

/// Calls a closure with an array downcast to its element type; `None` if that type is not listed.
macro_rules! by_type {
    ($array:expr, [$($element:ty),+], |$typed:ident| $call:expr) => {
        $(if let Ok($typed) = $array.cast::<numpy::PyArrayDyn<$element>>() { Some($call) } else)+ { None }
    };
}
pub(crate) use by_type;

/// Borrows a column whose elements have type `C`.
pub(crate) fn column<'py, C: Element>(
    array: &Bound<'py, PyAny>,
) -> PyResult<PyReadonlyArrayDyn<'py, C>> {
    let array = array.cast::<PyArrayDyn<C>>().map_err(|_| another_type())?;
    Ok(array.try_readonly()?)
}

/// The error for an array of the wrong type, which the Python package should have converted.
pub(crate) fn another_type() -> PyErr {
    PyTypeError::new_err("a column has elements of another type")
}

pub(crate) fn raised(error: KeyError) -> PyErr {
    let text = error.to_string();
    match error {
        KeyError::OutOfRange { .. } => PyIndexError::new_err(text),
        KeyError::Limit(LimitError::Memory { .. }) => PyMemoryError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// Returns the exact sum, rounded once, of the items of each key from 0 to `sums` - 1.
#[pyfunction]
pub(crate) fn exact_by_key(
    keys: &Bound<'_, PyArrayDyn<i64>>,
    x: &Bound<'_, PyAny>,
    sums: usize,
) -> PyResult<Py<PyAny>> {
    let found = by_type!(x, [f64, f32], |x| sums_by_key(keys, x, sums));
    found.unwrap_or_else(|| Err(another_type()))
}

fn sums_by_key<T: Item + Float>(
    keys: &Bound<'_, PyArrayDyn<i64>>,
    x: &Bound<'_, PyArrayDyn<T>>,
    sums: usize,
) -> PyResult<Py<PyAny>> {
    let (keys, items) = (keys.try_readonly()?, x.try_readonly()?);
    let (keys, items) = (keys.as_slice()?, items.as_slice()?);
    let by = Workers::of(items.len())?;
    let values = compute(x.py(), size_of_val(items), || match by.pool() {
        None => by_key(keys, items, sums),
        Some(pool) => exact::par::install(pool, || exact::par::by_key(keys, items, sums)),
    });
    let values = values.map_err(raised)?;
    Ok(PyArray1::from_vec(x.py(), values).into_any().unbind())
}

pub(crate) fn statistic_of_name(name: &str) -> PyResult<Statistic> {
    let statistic = name.parse::<Statistic>();
    statistic.map_err(|error| PyValueError::new_err(format!("statistic: {error}")))
}

/// The distinct keys, ascending, and for each key its index among them.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "the function returns two arrays")]
pub(crate) fn factorize<'py>(
    keys: &Bound<'py, PyArrayDyn<i64>>,
) -> PyResult<(Bound<'py, PyArray1<i64>>, Bound<'py, PyArray1<i64>>)> {
    let py = keys.py();
    let keys_ref = keys.try_readonly()?;
    let keys = keys_ref.as_slice()?;
    let (distinct, codes) = compute(py, size_of_val(keys), || {
        within_range(keys).unwrap_or_else(|| hashed(keys))
    });
    Ok((
        PyArray1::from_vec(py, distinct),
        PyArray1::from_vec(py, codes),
    ))
}

/// [`factorize`] with a table that has an entry for each number from the smallest to the largest key; `None` if the table would have many
/// more entries than there are keys.
fn within_range(keys: &[i64]) -> Option<(Vec<i64>, Vec<i64>)> {
    let (&least, &largest) = (keys.iter().min()?, keys.iter().max()?);
    let most = keys.len().saturating_mul(2).max(1024);
    let places = usize::try_from(largest.checked_sub(least)?).ok()?;
    if places >= most {
        return None;
    }
    let place = |key: &i64| usize::try_from(key - least).expect("no key is less");
    let mut codes_of = vec![0_i64; places + 1];
    for key in keys {
        codes_of[place(key)] = 1;
    }
    let mut distinct = Vec::new();
    for (code, key) in codes_of.iter_mut().zip(least..=largest) {
        if *code == 1 {
            *code = distinct.len() as i64;
            distinct.push(key);
        }
    }
    let codes = keys.iter().map(|key| codes_of[place(key)]).collect();
    Some((distinct, codes))
}

fn hashed(keys: &[i64]) -> (Vec<i64>, Vec<i64>) {
    let mut seen = Hashed::<i64, Sum<f64>>::new();
    let mut codes: Vec<i64> = keys.iter().map(|key| seen.code(key).into()).collect();
    let mut order: Vec<usize> = (0..seen.keys().len()).collect();
    order.sort_unstable_by_key(|&code| seen.keys()[code]);
    let mut ranks = vec![0_i64; order.len()];
    for (rank, &code) in (0..).zip(&order) {
        ranks[code] = rank;
    }
    for code in &mut codes {
        *code = ranks[usize::try_from(*code).expect("codes begin at 0")];
    }
    let distinct: Vec<i64> = order.iter().map(|&code| seen.keys()[code]).collect();
    (distinct, codes)
}

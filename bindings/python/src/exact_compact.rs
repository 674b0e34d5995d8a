//! Exact states as Python objects, with the bytes that the databases' extensions store.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use treefold::exact::{CompactAny, Held, Options, Statistic};

/// A state of rows of doubles: `treefold/_state.py` documents it.
#[pyclass(module = "treefold._native")]
#[derive(Debug)]
pub(crate) struct ExactCompact(CompactAny);

fn said(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// The names of the kinds of states, and what each kind holds.
const NAMES: [(&str, Held); 5] = [
    ("sum", Held::Sum),
    ("dot", Held::Products),
    ("moments", Held::Moments),
    ("comoments", Held::CoMoments),
    ("powers", Held::Powers),
];

#[pymethods]
impl ExactCompact {
    /// An empty state.
    #[staticmethod]
    fn of(name: &str) -> PyResult<Self> {
        let named = NAMES.iter().find(|(known, _)| *known == name);
        let state = named.and_then(|(_, held)| CompactAny::empty(*held));
        let names = NAMES.map(|(name, _)| name).join(", ");
        let unknown = || PyValueError::new_err(format!("kind: `{name}` is none of {names}"));
        state.map(Self).ok_or_else(unknown)
    }

    #[staticmethod]
    fn of_bytes(bytes: &[u8]) -> PyResult<Self> {
        CompactAny::of_bytes(bytes).map(Self).map_err(said)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn kind(&self) -> &'static str {
        let named = NAMES.iter().find(|(_, held)| *held == self.0.held());
        named.map_or("", |(name, _)| name)
    }

    /// Adds the rows of contiguous columns of equal length.
    fn add(&mut self, columns: Vec<PyReadonlyArray1<'_, f64>>) -> PyResult<()> {
        let slices = columns.iter().map(|column| column.as_slice());
        let slices: Vec<&[f64]> = slices.collect::<Result<_, _>>()?;
        let (x, y) = match (self.0.held().inputs(), slices.as_slice()) {
            (1, &[x]) => (x, &[][..]),
            (2, &[x, y]) => (x, y),
            (1, _) => return Err(PyTypeError::new_err("this state takes only x")),
            _ => return Err(PyTypeError::new_err("this state takes x and y")),
        };
        if slices.len() == 2 && x.len() != y.len() {
            let (own, other) = (x.len(), y.len());
            let message = format!("x has {own} items, but y has {other}");
            return Err(PyValueError::new_err(message));
        }
        self.0.add_all(x, y);
        Ok(())
    }

    fn merge(&mut self, other: PyRef<'_, Self>) -> PyResult<()> {
        self.0.merge(&other.0).map_err(said)
    }

    fn unmerge(&mut self, other: PyRef<'_, Self>) -> PyResult<()> {
        self.0.unmerge(&other.0).map_err(said)
    }

    fn equals(&self, other: PyRef<'_, Self>) -> bool {
        self.0 == other.0
    }

    fn items(&self) -> u64 {
        self.0.items()
    }

    /// A statistic; NaN if there are too few rows or a divisor is zero.
    fn value(&self, name: &str, ddof: Option<f64>, bias: Option<bool>) -> PyResult<f64> {
        let statistic: Statistic = name.parse().map_err(said)?;
        self.0.held().check(statistic).map_err(said)?;
        let defaults = statistic.defaults();
        let options = Options {
            ddof: ddof.unwrap_or(defaults.ddof),
            bias: bias.unwrap_or(defaults.bias),
        };
        let empty = match statistic {
            Statistic::Sum | Statistic::Dot => 0.0,
            _ => f64::NAN,
        };
        Ok(self.0.statistic(statistic, options).unwrap_or(empty))
    }
}

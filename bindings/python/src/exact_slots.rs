//! The state by key for any statistic, as a Python object.

mod any;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use treefold::exact::{Options, Statistic};

use self::any::{AnySlots, empty};
use crate::exact_keyed::{raised, statistic_of_name};
use crate::fold::reserved;
use crate::pool::Workers;

/// What `__reduce__` returns: a function, and its arguments.
type Pickled<'py> = (
    Bound<'py, PyAny>,
    (&'static str, Py<PyAny>, Bound<'py, PyBytes>),
);

/// A slot for each of the keys 0 to K - 1, for a statistic of columns that have the same type.
#[pyclass(module = "treefold._native")]
pub(crate) struct ExactSlots {
    statistic: Statistic,
    /// An empty array of the type of the columns.
    like: Py<PyAny>,
    slots: Box<dyn AnySlots>,
}

impl ExactSlots {
    /// Checks that there is memory for a copy, and for a result per key.
    fn check_memory(&self) -> PyResult<()> {
        let results = self.slots.keys().saturating_mul(size_of::<[f64; 2]>());
        reserved::<u8>(self.slots.memory().saturating_add(results)).map(drop)
    }
}

#[pymethods]
impl ExactSlots {
    /// An empty state for a number of keys.
    #[new]
    fn new(statistic: &str, like: &Bound<'_, PyAny>, keys: usize) -> PyResult<Self> {
        let statistic = statistic_of_name(statistic)?;
        Ok(Self {
            statistic,
            like: like.clone().unbind(),
            slots: empty(statistic, like, keys)?,
        })
    }

    /// The number of keys.
    #[getter]
    fn keys(&self) -> usize {
        self.slots.keys()
    }

    /// Grows to at least `keys` keys.
    fn grow(&mut self, keys: usize) -> PyResult<()> {
        let grown = self.slots.grow(keys);
        grown.map_err(|error| raised(error.into()))
    }

    /// Adds items to the slots of their keys, or removes the items. If a key has fewer items than to remove, the key is the error's first
    /// argument.
    fn change(
        &mut self,
        keys: &Bound<'_, PyArray1<i64>>,
        columns: Vec<Bound<'_, PyAny>>,
        removes: bool,
    ) -> PyResult<()> {
        self.slots.change(keys, &columns, removes)
    }

    /// Merges each slot of `other` into the slot of its key in `keys`; without `keys`, into the slot of the same key.
    #[pyo3(signature = (other, keys=None))]
    fn merge(
        &mut self,
        other: PyRef<'_, Self>,
        keys: Option<PyReadonlyArray1<'_, u32>>,
    ) -> PyResult<()> {
        let keys = keys.as_ref().map(|keys| keys.as_slice()).transpose()?;
        self.slots.merge(&*other.slots, keys)
    }

    /// Merges two states.
    fn __add__(&self, py: Python<'_>, other: PyRef<'_, Self>) -> PyResult<Self> {
        self.check_memory()?;
        let mut slots = self.slots.boxed();
        slots.merge(&*other.slots, None)?;
        Ok(Self {
            statistic: self.statistic,
            like: self.like.clone_ref(py),
            slots,
        })
    }

    /// The number of items of each key, if they are counted.
    fn counts<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i64>>> {
        let counts = self.slots.counts()?;
        Some(PyArray1::from_vec(py, counts))
    }

    /// A statistic of each key.
    fn values(
        &self,
        py: Python<'_>,
        statistic: &str,
        ddof: f64,
        bias: bool,
    ) -> PyResult<Py<PyAny>> {
        let _environment = Workers::of(0)?;
        self.check_memory()?;
        let statistic = statistic_of_name(statistic)?;
        self.slots.values(py, statistic, Options { ddof, bias })
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.check_memory()?;
        Ok(PyBytes::new(py, &self.slots.to_bytes()))
    }

    /// Reads the bytes of `to_bytes`.
    #[staticmethod]
    fn of_bytes(statistic: &str, like: &Bound<'_, PyAny>, bytes: &[u8]) -> PyResult<Self> {
        let mut slots = Self::new(statistic, like, 0)?;
        slots.slots.become_bytes(bytes)?;
        Ok(slots)
    }

    /// The function and the arguments with which pickle restores the state.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Pickled<'py>> {
        let of_bytes = py.get_type::<Self>().getattr("of_bytes")?;
        let (name, like) = (self.statistic.name(), self.like.clone_ref(py));
        Ok((of_bytes, (name, like, self.to_bytes(py)?)))
    }
}

/// The number of a statistic's inputs, and its default `ddof`.
#[pyfunction]
pub(crate) fn statistic_defaults(statistic: &str) -> PyResult<(usize, f64)> {
    let statistic = statistic_of_name(statistic)?;
    Ok((statistic.inputs(), statistic.defaults().ddof))
}

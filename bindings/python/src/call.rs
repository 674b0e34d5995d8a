//! Defines a call of a reduction, and the number of items of each result.

use numpy::{PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::arguments::{Items, shape_of_result};
use crate::convert::Kind;
use crate::fold::zeros;
use crate::statistic::{Statistic, Types};

/// The number of items that are not skipped: one number for all results, or one for each result.
pub(crate) enum Counts {
    All(usize),
    Each(Vec<i64>),
}

impl Counts {
    pub(crate) fn of(&self, result: usize) -> f64 {
        match self {
            Self::All(items) => *items as f64,
            Self::Each(counts) => counts[result] as f64,
        }
    }

    pub(crate) fn to_python<'py>(
        &self,
        py: Python<'py>,
        shape: &[usize],
    ) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::All(items) => Ok(items.into_pyobject(py)?.into_any()),
            Self::Each(counts) => {
                let array = zeros::<i64>(py, shape)?;
                array
                    .try_readwrite()?
                    .as_slice_mut()?
                    .copy_from_slice(counts);
                Ok(array.into_any())
            }
        }
    }
}

/// A statistic, along axes, of the items of an array or of pairs of items from two arrays.
pub(crate) struct Call<'a, 'py> {
    pub(crate) statistic: Statistic,
    pub(crate) is_exact: bool,
    pub(crate) items: Items<'py>,
    pub(crate) y: Option<Bound<'py, PyUntypedArray>>,
    pub(crate) axes: Vec<usize>,
    pub(crate) shape: Vec<usize>,
    pub(crate) out: Option<Bound<'py, PyUntypedArray>>,
    pub(crate) initial: Option<Bound<'py, PyAny>>,
    pub(crate) ddof: f64,
    pub(crate) mean: Option<&'a Bound<'py, PyAny>>,
    pub(crate) lanes: usize,
    pub(crate) types: Types,
    /// The name of NumPy's function in warnings.
    pub(crate) reported: &'static str,
}

impl<'py> Call<'_, 'py> {
    /// A statistic of items along axes, without options, whose result has the given shape.
    pub(crate) fn of(
        statistic: Statistic,
        is_exact: bool,
        items: Items<'py>,
        axes: Vec<usize>,
        shape: Vec<usize>,
        types: Types,
    ) -> Self {
        Self {
            statistic,
            is_exact,
            items,
            y: None,
            axes,
            shape,
            out: None,
            initial: None,
            ddof: 0.0,
            mean: None,
            lanes: 1,
            types,
            reported: "reduce",
        }
    }

    /// A statistic of pairs of items from two arrays of the same shape, along axes, computed in the type `kind`.
    pub(crate) fn of_pairs(
        name: &str,
        is_exact: bool,
        [x, y]: [Bound<'py, PyUntypedArray>; 2],
        axes: Vec<usize>,
        kind: Kind,
        out: Option<Bound<'py, PyUntypedArray>>,
    ) -> PyResult<Self> {
        let items = Items::of(&x, "x")?;
        let types = Types::of(kind, is_exact, items.kind);
        let shape = shape_of_result(x.shape(), &axes, false);
        let call = Self::of(Statistic::named(name)?, is_exact, items, axes, shape, types);
        Ok(Self {
            y: Some(y),
            out,
            reported: "dot",
            ..call
        })
    }
}

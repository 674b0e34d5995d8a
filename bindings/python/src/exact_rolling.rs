//! Computes exact statistics of moving windows.

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use treefold::exact::{Float, Options, Placement, Rolling, RollingError, Statistic};

use crate::element::Item;
use crate::exact_keyed::{another_type, by_type, column, statistic_of_name};
use crate::fold::compute;
use crate::pool::Workers;

/// Windows of a vector's items.
#[pyclass(frozen, module = "treefold._native")]
#[derive(Debug)]
pub(crate) struct ExactWindows(Rolling);

fn raised(error: RollingError) -> PyErr {
    PyValueError::new_err(error.to_string())
}

fn placement_of(name: &str) -> PyResult<Placement> {
    match name {
        "trailing" => Ok(Placement::Trailing),
        "forward" => Ok(Placement::Forward),
        "centred" => Ok(Placement::Centred),
        _ => {
            let message = format!("placement: '{name}' is none of trailing, forward, centred");
            Err(PyValueError::new_err(message))
        }
    }
}

#[pymethods]
impl ExactWindows {
    /// Windows of `width` items or, with an index, of a width in the index's units. Without a width, each window has all items up to the
    /// current item. The value of a window of fewer than `least` items is NaN.
    #[staticmethod]
    fn of(
        width: Option<&Bound<'_, PyAny>>,
        index: Option<&Bound<'_, PyAny>>,
        placement: &str,
        least: usize,
        skips_nan: bool,
    ) -> PyResult<Self> {
        let placement = placement_of(placement)?;
        let windows = match (width, index) {
            (None, _) => Rolling::expanding(),
            (Some(items), None) => Rolling::of_items(items.extract()?, placement),
            (Some(width), Some(index)) => {
                let windows = if let Ok(index) = index.cast::<PyArray1<u64>>() {
                    let index = index.try_readonly()?;
                    Rolling::of_range(index.as_slice()?, width.extract()?, placement)
                } else {
                    let index = index.cast::<PyArray1<f64>>()?.try_readonly()?;
                    Rolling::of_range(index.as_slice()?, width.extract()?, placement)
                };
                windows.map_err(raised)?
            }
        };
        Ok(Self(windows.least_items(least).skip_nan(skips_nan)))
    }

    /// A statistic of each window, of one column or two.
    fn values(
        &self,
        x: &Bound<'_, PyAny>,
        y: Option<&Bound<'_, PyAny>>,
        statistic: &str,
        ddof: f64,
        bias: bool,
    ) -> PyResult<Py<PyAny>> {
        let statistic = statistic_of_name(statistic)?;
        let options = Options { ddof, bias };
        let found = by_type!(x, [f64, f32], |x| self.of_columns(x, y, statistic, options));
        found.unwrap_or_else(|| Err(another_type()))
    }
}

impl ExactWindows {
    fn of_columns<T: Item + Float>(
        &self,
        x: &Bound<'_, PyArrayDyn<T>>,
        y: Option<&Bound<'_, PyAny>>,
        statistic: Statistic,
        options: Options,
    ) -> PyResult<Py<PyAny>> {
        let (x_ref, y_ref) = (x.try_readonly()?, y.map(column::<T>).transpose()?);
        let mut columns = vec![x_ref.as_slice()?];
        if let Some(y) = &y_ref {
            columns.push(y.as_slice()?);
        }
        let _environment = Workers::of(columns[0].len())?;
        let values = compute(x.py(), size_of_val(columns[0]), || {
            self.0.values(statistic, options, &columns)
        });
        let values = values.map_err(raised)?;
        Ok(PyArray1::from_vec(x.py(), values).into_any().unbind())
    }
}

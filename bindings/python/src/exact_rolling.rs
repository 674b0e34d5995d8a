//! Exact statistics of windows that move.

use numpy::{PyArray1, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use treefold::exact::{Float, Options, Placement, Rolling, RollingError, Statistic};

use crate::element::Item;
use crate::exact_keyed::{RealTask, with_real_type};
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
    /// Those of so many items, or from the first item on if there is no number; NaN for those of fewer than `least` items.
    #[staticmethod]
    fn of_items(
        items: Option<usize>,
        placement: &str,
        least: usize,
        skips_nan: bool,
    ) -> PyResult<Self> {
        let placement = placement_of(placement)?;
        let windows = match items {
            None => Rolling::expanding(),
            Some(0) => return Err(PyValueError::new_err("window: 0 is not positive")),
            Some(items) => Rolling::of_items(items, placement),
        };
        Ok(Self(windows.least_items(least).skip_nan(skips_nan)))
    }

    /// Those by an index and a width.
    #[staticmethod]
    fn of_range(
        index: &Bound<'_, PyAny>,
        width: &Bound<'_, PyAny>,
        placement: &str,
        least: usize,
        skips_nan: bool,
    ) -> PyResult<Self> {
        let placement = placement_of(placement)?;
        let windows = if let Ok(index) = index.cast::<PyArray1<u64>>() {
            let index = index.try_readonly()?;
            Rolling::of_range(index.as_slice()?, width.extract()?, placement)
        } else {
            let index = index.cast::<PyArray1<f64>>()?.try_readonly()?;
            Rolling::of_range(index.as_slice()?, width.extract()?, placement)
        };
        let windows = windows.map_err(raised)?;
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
        let statistic = statistic
            .parse()
            .map_err(|error: treefold::exact::UnknownStatistic| {
                PyValueError::new_err(error.to_string())
            })?;
        let of = OfWindows {
            windows: &self.0,
            y,
            statistic,
            options: Options { ddof, bias },
        };
        with_real_type(x, of)
    }
}

struct OfWindows<'a, 'py> {
    windows: &'a Rolling,
    y: Option<&'a Bound<'py, PyAny>>,
    statistic: Statistic,
    options: Options,
}

impl RealTask for OfWindows<'_, '_> {
    fn visit<T: Item + Float + PartialEq>(
        self,
        x: &Bound<'_, PyArrayDyn<T>>,
    ) -> PyResult<Py<PyAny>> {
        let x_ref = x.try_readonly()?;
        let items = x_ref.as_slice()?;
        let y_ref = match self.y {
            None => None,
            Some(y) => match y.cast::<PyArrayDyn<T>>() {
                Ok(y) => Some(y.try_readonly()?),
                Err(_) => return Err(another_type(y)),
            },
        };
        let others = y_ref.as_ref().map(|y| y.as_slice()).transpose()?;
        let columns: Vec<&[T]> = [Some(items), others].into_iter().flatten().collect();
        let _environment = Workers::of(items.len())?;
        let values = compute(x.py(), size_of_val(items), || {
            self.windows.values(self.statistic, self.options, &columns)
        });
        let values = values.map_err(raised)?;
        Ok(PyArray1::from_vec(x.py(), values).into_any().unbind())
    }
}

fn another_type(y: &Bound<'_, PyAny>) -> PyErr {
    match y.cast::<PyUntypedArray>() {
        Ok(y) => PyTypeError::new_err(format!("y has elements of type {}", y.dtype())),
        Err(error) => error.into(),
    }
}

//! Accumulators as Python objects: sums, means, variances and standard deviations of the items added so far.

use std::any::Any;
use std::ops::Range;

use num_complex::Complex;
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use treefold::exact::{ComplexMoments, Moments, Statistic};

use crate::exact_item::{FEWER, held};
use crate::exact_keyed::statistic_of_name;
use crate::fold::{compute, scalar};
use crate::pool::{DIVIDED_ELEMENTS, Workers};

/// The moments of items, whatever the items' type.
trait AnyMoments: Any + Send + Sync {
    fn merge(&mut self, other: &dyn AnyMoments) -> PyResult<()>;

    fn unmerge(&mut self, other: &dyn AnyMoments) -> PyResult<()>;

    fn equals(&self, other: &dyn AnyMoments) -> bool;

    fn items(&self) -> u64;

    fn to_bytes(&self) -> Vec<u8>;

    /// Reads the bytes of `to_bytes`, for items of the same type.
    fn of_bytes(&self, bytes: &[u8]) -> PyResult<Box<dyn AnyMoments>>;

    /// A sum, a mean, a variance or a standard deviation.
    fn statistic(&self, py: Python<'_>, statistic: Statistic, ddof: f64) -> PyResult<Py<PyAny>>;
}

fn same<M: 'static>(other: &dyn AnyMoments) -> PyResult<&M> {
    let any: &dyn Any = other;
    any.downcast_ref()
        .ok_or_else(|| PyTypeError::new_err("the accumulators have items of different types"))
}

fn raised(error: impl std::fmt::Display) -> PyErr {
    PyValueError::new_err(error.to_string())
}

macro_rules! any_moments {
    ($($moments:ty, |$value:ident| $of_parts:expr;)+) => {$(
        impl AnyMoments for $moments {
            fn merge(&mut self, other: &dyn AnyMoments) -> PyResult<()> {
                self.merge(same(other)?).map_err(raised)
            }

            fn unmerge(&mut self, other: &dyn AnyMoments) -> PyResult<()> {
                self.unmerge(same(other)?).map_err(raised)
            }

            fn equals(&self, other: &dyn AnyMoments) -> bool {
                same(other).is_ok_and(|other| self == other)
            }

            fn items(&self) -> u64 {
                self.items()
            }

            fn to_bytes(&self) -> Vec<u8> {
                self.to_bytes()
            }

            fn of_bytes(&self, bytes: &[u8]) -> PyResult<Box<dyn AnyMoments>> {
                Ok(Box::new(Self::of_bytes(bytes).map_err(raised)?))
            }

            fn statistic(
                &self,
                py: Python<'_>,
                statistic: Statistic,
                ddof: f64,
            ) -> PyResult<Py<PyAny>> {
                let $value = match statistic {
                    Statistic::Sum => self.sum().value(),
                    Statistic::Mean => self.mean(),
                    Statistic::Variance => return scalar(py, self.variance(ddof)),
                    Statistic::StandardDeviation => {
                        return scalar(py, self.standard_deviation(ddof));
                    }
                    _ => return Err(raised(format!("statistic: moments have no `{statistic}`"))),
                };
                scalar(py, $of_parts)
            }
        }
    )+};
}

any_moments! {
    Moments<f64>, |value| value;
    Moments<f32>, |value| value;
    ComplexMoments<f64>, |value| Complex { re: value[0], im: value[1] };
    ComplexMoments<f32>, |value| Complex { re: value[0], im: value[1] };
}

/// The moments of a contiguous array's items, computed by all threads if there are many items.
fn of_array(array: &Bound<'_, PyAny>) -> PyResult<Box<dyn AnyMoments>> {
    macro_rules! first_of {
        ($($element:ty, $item:ty, $moments:ident);+) => {$(
            if let Ok(array) = array.cast::<PyArrayDyn<$element>>() {
                let array_ref = array.try_readonly()?;
                let items: &[$item] = bytemuck::cast_slice(array_ref.as_slice()?);
                let by = Workers::of(items.len())?;
                return Ok(Box::new(compute(array.py(), size_of_val(items), || {
                    let of = |part: Range<usize>| $moments::of(&items[part]);
                    let merge = |mut left: $moments<_>, right| {
                        left.merge(&right).expect(FEWER);
                        left
                    };
                    held(by.pool(), items.len(), DIVIDED_ELEMENTS, &of, &merge)
                })));
            }
        )+};
    }
    first_of!(
        f64, f64, Moments;
        f32, f32, Moments;
        Complex<f64>, [f64; 2], ComplexMoments;
        Complex<f32>, [f32; 2], ComplexMoments
    );
    Err(PyTypeError::new_err("x has elements that are not floats"))
}

/// The count, sum and sum of squares of items. `treefold/_accumulator.py` keeps the items' type.
#[pyclass(module = "treefold._native")]
pub(crate) struct ExactAccumulator(Box<dyn AnyMoments>);

#[pymethods]
impl ExactAccumulator {
    /// The moments of a contiguous array's items.
    #[staticmethod]
    fn of(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        of_array(array).map(Self)
    }

    /// Reads the bytes of `to_bytes`, for items of an array's type.
    #[staticmethod]
    fn of_bytes(array: &Bound<'_, PyAny>, bytes: &[u8]) -> PyResult<Self> {
        of_array(array)?.of_bytes(bytes).map(Self)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.to_bytes())
    }

    fn add(&mut self, array: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.merge(&*of_array(array)?)
    }

    fn remove(&mut self, array: &Bound<'_, PyAny>) -> PyResult<()> {
        self.0.unmerge(&*of_array(array)?)
    }

    fn merge(&mut self, other: PyRef<'_, Self>) -> PyResult<()> {
        self.0.merge(&*other.0)
    }

    fn equals(&self, other: PyRef<'_, Self>) -> bool {
        self.0.equals(&*other.0)
    }

    fn items(&self) -> u64 {
        self.0.items()
    }

    fn value(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.0.statistic(py, Statistic::Sum, 0.0)
    }

    fn statistic(&self, py: Python<'_>, statistic: &str, ddof: f64) -> PyResult<Py<PyAny>> {
        self.0.statistic(py, statistic_of_name(statistic)?, ddof)
    }
}

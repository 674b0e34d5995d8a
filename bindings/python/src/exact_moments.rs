//! Means, variances and standard deviations, and accumulators, as Python objects.

use std::ops::Range;

use num_complex::Complex;
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use treefold::exact::par::{by_parts, install};
use treefold::exact::{ComplexMoments, Moments, Statistic};

use crate::exact_item::FEWER;
use crate::exact_keyed::statistic_of_name;
use crate::fold::{compute, scalar};
use crate::pool::{DIVIDED_ELEMENTS, Workers};

/// An accumulator of items of a type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a Python object holds one, and there are few"
)]
enum Held {
    F64(Moments<f64>),
    F32(Moments<f32>),
    C128(ComplexMoments<f64>),
    C64(ComplexMoments<f32>),
}

/// Does the same with whichever is held.
macro_rules! with_held {
    ($held:expr, $moments:ident => $body:expr) => {
        match $held {
            Held::F64($moments) => $body,
            Held::F32($moments) => $body,
            Held::C128($moments) => $body,
            Held::C64($moments) => $body,
        }
    };
}

/// The moments of a contiguous array's items, by all threads if there are many.
fn of_array(array: &Bound<'_, PyAny>) -> PyResult<Held> {
    macro_rules! first_of {
        ($($element:ty, $item:ty, $held:ident, $moments:ident);+) => {$(
            if let Ok(array) = array.cast::<PyArrayDyn<$element>>() {
                let array_ref = array.try_readonly()?;
                let items: &[$item] = bytemuck::cast_slice(array_ref.as_slice()?);
                let by = Workers::of(items.len())?;
                return Ok(Held::$held(compute(array.py(), size_of_val(items), || {
                    let Some(pool) = by.pool() else {
                        return $moments::of(items);
                    };
                    let of = |part: Range<usize>| $moments::of(&items[part]);
                    let merge = |mut left: $moments<_>, right| {
                        left.merge(&right).expect(FEWER);
                        left
                    };
                    install(pool, || by_parts(0..items.len(), DIVIDED_ELEMENTS, &of, &merge))
                })));
            }
        )+};
    }
    first_of!(
        f64, f64, F64, Moments;
        f32, f32, F32, Moments;
        Complex<f64>, [f64; 2], C128, ComplexMoments;
        Complex<f32>, [f32; 2], C64, ComplexMoments
    );
    Err(PyTypeError::new_err("x has elements that are no floats"))
}

/// The mean, variance or standard deviation of a contiguous array's items, rounded once.
#[pyfunction]
pub(crate) fn exact_statistic(
    array: &Bound<'_, PyAny>,
    statistic: &str,
    ddof: f64,
) -> PyResult<Py<PyAny>> {
    value_of(
        array.py(),
        &of_array(array)?,
        statistic_of_name(statistic)?,
        ddof,
    )
}

fn value_of(py: Python<'_>, held: &Held, statistic: Statistic, ddof: f64) -> PyResult<Py<PyAny>> {
    match (statistic, held) {
        (Statistic::Mean, Held::F64(moments)) => scalar(py, moments.mean()),
        (Statistic::Mean, Held::F32(moments)) => scalar(py, moments.mean()),
        (Statistic::Mean, Held::C128(moments)) => scalar(py, complex(moments.mean())),
        (Statistic::Mean, Held::C64(moments)) => scalar(py, complex(moments.mean())),
        (Statistic::Variance, held) => {
            with_held!(held, moments => scalar(py, moments.variance(ddof)))
        }
        (Statistic::StandardDeviation, held) => {
            with_held!(held, moments => scalar(py, moments.standard_deviation(ddof)))
        }
        _ => {
            let message = format!("statistic: `{statistic}` is none of mean, var and std");
            Err(PyValueError::new_err(message))
        }
    }
}

fn complex<F>([re, im]: [F; 2]) -> Complex<F> {
    Complex { re, im }
}

/// The number, sum and squares of items, which `treefold/exact.py` knows the type of.
#[pyclass(module = "treefold._native")]
#[derive(Debug)]
pub(crate) struct ExactAccumulator(Held);

/// Changes one accumulator by another of its type.
fn change(
    own: &mut Held,
    other: &Held,
    change: impl Fn(&mut Held, &Held) -> PyResult<()>,
) -> PyResult<()> {
    if std::mem::discriminant(own) != std::mem::discriminant(other) {
        return Err(PyTypeError::new_err(
            "the accumulators have items of different types",
        ));
    }
    change(own, other)
}

fn merge(own: &mut Held, other: &Held) -> PyResult<()> {
    let merged = match (own, other) {
        (Held::F64(own), Held::F64(other)) => own.merge(other),
        (Held::F32(own), Held::F32(other)) => own.merge(other),
        (Held::C128(own), Held::C128(other)) => own.merge(other),
        (Held::C64(own), Held::C64(other)) => own.merge(other),
        _ => unreachable!("they are of one type"),
    };
    merged.map_err(|error| PyValueError::new_err(error.to_string()))
}

fn unmerge(own: &mut Held, other: &Held) -> PyResult<()> {
    let unmerged = match (own, other) {
        (Held::F64(own), Held::F64(other)) => own.unmerge(other),
        (Held::F32(own), Held::F32(other)) => own.unmerge(other),
        (Held::C128(own), Held::C128(other)) => own.unmerge(other),
        (Held::C64(own), Held::C64(other)) => own.unmerge(other),
        _ => unreachable!("they are of one type"),
    };
    unmerged.map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pymethods]
impl ExactAccumulator {
    /// Of the items of a contiguous array.
    #[staticmethod]
    fn of(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        of_array(array).map(Self)
    }

    /// Of what `to_bytes` returned, for items of the type of an array.
    #[staticmethod]
    fn of_bytes(array: &Bound<'_, PyAny>, bytes: &[u8]) -> PyResult<Self> {
        let held = match of_array(array)? {
            Held::F64(_) => Moments::of_bytes(bytes).map(Held::F64),
            Held::F32(_) => Moments::of_bytes(bytes).map(Held::F32),
            Held::C128(_) => ComplexMoments::of_bytes(bytes).map(Held::C128),
            Held::C64(_) => ComplexMoments::of_bytes(bytes).map(Held::C64),
        };
        let held = held.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Self(held))
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &with_held!(&self.0, moments => moments.to_bytes()))
    }

    fn add(&mut self, array: &Bound<'_, PyAny>) -> PyResult<()> {
        change(&mut self.0, &of_array(array)?, merge)
    }

    fn remove(&mut self, array: &Bound<'_, PyAny>) -> PyResult<()> {
        change(&mut self.0, &of_array(array)?, unmerge)
    }

    fn merge(&mut self, other: PyRef<'_, Self>) -> PyResult<()> {
        change(&mut self.0, &other.0, merge)
    }

    fn equals(&self, other: PyRef<'_, Self>) -> bool {
        self.0 == other.0
    }

    fn items(&self) -> u64 {
        with_held!(&self.0, moments => moments.items())
    }

    fn value(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        match &self.0 {
            Held::F64(moments) => scalar(py, moments.sum().value()),
            Held::F32(moments) => scalar(py, moments.sum().value()),
            Held::C128(moments) => scalar(py, complex(moments.sum().value())),
            Held::C64(moments) => scalar(py, complex(moments.sum().value())),
        }
    }

    fn statistic(&self, py: Python<'_>, statistic: &str, ddof: f64) -> PyResult<Py<PyAny>> {
        value_of(py, &self.0, statistic_of_name(statistic)?, ddof)
    }
}

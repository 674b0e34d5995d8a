//! Sums arrays in the memory of NVIDIA GPUs. `treefold/_cuda.py` passes the addresses of the arrays.

use cuda::{Device, Element, Error};
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use treefold::{Operator, Sum, exact};

use crate::error::raised;
use crate::fold::check_length;

fn raised_by_device(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Fold(error) => raised(error),
        Error::Pointer { .. } | Error::Lengths(_) => PyValueError::new_err(text),
        Error::Driver { .. } if text.contains("OUT_OF_MEMORY") => PyMemoryError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

/// Returns the number of the device whose memory is at an address. If the array's owner passes a stream, first waits for that stream.
#[pyfunction]
#[expect(
    unsafe_code,
    reason = "the array's owner passes the address of a stream"
)]
pub(crate) fn cuda_device_of(pointer: u64, stream: Option<usize>) -> PyResult<usize> {
    let waited = Device::ordinal_of(pointer).and_then(|ordinal| {
        if let Some(stream) = stream {
            // SAFETY: by the protocol, this number is a stream of the array's device.
            unsafe { Device::shared(ordinal)?.wait_for_stream(stream) }?;
        }
        Ok(ordinal)
    });
    waited.map_err(raised_by_device)
}

/// Sums an array of three axes, at an address in device memory, along the middle axis, in tree order or exactly. The result has the other
/// two axes. Both arrays are in C order and of the same type, f32 or f64.
#[pyfunction]
pub(crate) fn cuda_sum(
    py: Python<'_>,
    ordinal: usize,
    pointer: u64,
    shape: [usize; 3],
    is_exact: bool,
    result: &Bound<'_, PyAny>,
) -> PyResult<()> {
    if let Ok(result) = result.cast::<PyArrayDyn<f32>>() {
        sum(py, ordinal, pointer, shape, is_exact, result)
    } else {
        let result = result.cast::<PyArrayDyn<f64>>()?;
        sum(py, ordinal, pointer, shape, is_exact, result)
    }
}

#[expect(unsafe_code, reason = "the array's owner passes its address")]
fn sum<T: Element + numpy::Element>(
    py: Python<'_>,
    ordinal: usize,
    pointer: u64,
    [before, length, after]: [usize; 3],
    is_exact: bool,
    result: &Bound<'_, PyArrayDyn<T>>,
) -> PyResult<()>
where
    Sum: Operator<T>,
    exact::Sum<T>: exact::Accumulator,
    <exact::Sum<T> as exact::Accumulator>::Integers: AsMut<[i64]>,
{
    let mut result = result.try_readwrite()?;
    let results = result.as_slice_mut()?;
    check_length(results.len(), before * after)?;
    if length == 0 || results.is_empty() {
        results.fill(T::zeroed());
        return Ok(());
    }
    let sum_items = || {
        let device = Device::shared(ordinal)?;
        let count = length * after;
        // SAFETY: `_cuda.py` has the address and the shape from the array's owner, and holds the array until this call returns.
        let items = unsafe { device.items::<T>(pointer, before * count) }?;
        if !is_exact {
            device.fold_runs(items, after, &vec![length; before], results)?;
            Operator::<T>::make_canonical(&Sum, results);
            return Ok(());
        }
        for (index, result) in results.iter_mut().enumerate() {
            let pointer = pointer + (index * count * size_of::<T>()) as u64;
            // SAFETY: these are some of the items above.
            let items = unsafe { device.items::<T>(pointer, count) }?;
            *result = device.exact_sum(items)?.value();
        }
        Ok(())
    };
    py.detach(sum_items).map_err(raised_by_device)
}

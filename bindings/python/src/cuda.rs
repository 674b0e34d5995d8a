//! Sums of arrays in the memory of NVIDIA GPUs, which `treefold/_cuda.py` describes by their addresses.

use std::slice;

use cuda::{Device, Element, Error};
use numpy::{PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use treefold::{Operator, Sum, exact};

use crate::element::Item;
use crate::error::raised;
use crate::fold::{check_length, scalar};

fn raised_by_device(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Fold(error) => raised(error),
        Error::Pointer { .. } | Error::Lengths(_) => PyValueError::new_err(text),
        Error::Driver { .. } if text.contains("OUT_OF_MEMORY") => PyMemoryError::new_err(text),
        _ => PyRuntimeError::new_err(text),
    }
}

/// An array of three axes, of which the middle one is reduced, in C order.
#[derive(Clone, Copy)]
struct Array {
    ordinal: usize,
    pointer: u64,
    shape: [usize; 3],
}

impl Array {
    fn length(self) -> PyResult<usize> {
        let [before, length, after] = self.shape;
        let length = before
            .checked_mul(length)
            .and_then(|rows| rows.checked_mul(after));
        length.ok_or_else(|| PyValueError::new_err("the array has more elements than memory"))
    }

    /// The sums of each part, in tree order or exact.
    #[expect(unsafe_code, reason = "the array's owner describes it by an address")]
    fn sum<T: Element>(self, is_exact: bool, results: &mut [T]) -> Result<(), Error>
    where
        Sum: Operator<T>,
        exact::Sum<T>: exact::Accumulator,
        <exact::Sum<T> as exact::Accumulator>::Integers: AsMut<[i64]>,
    {
        let device = Device::shared(self.ordinal)?;
        let [before, length, after] = self.shape;
        let count = length * after;
        // SAFETY: `_cuda.py` has the address and the shape from the array's owner, and holds the array until this returns.
        let items = unsafe { device.items::<T>(self.pointer, before * count) }?;
        if !is_exact {
            device.fold_runs(items, after, &vec![length; before], results)?;
            Operator::<T>::make_canonical(&Sum, results);
            return Ok(());
        }
        for (index, result) in (0..before).zip(results) {
            let pointer = self.pointer + (index * count * size_of::<T>()) as u64;
            // SAFETY: this is a part of the items.
            let items = unsafe { device.items::<T>(pointer, count) }?;
            *result = device.exact_sum(items)?.value();
        }
        Ok(())
    }
}

/// DLPack's `DLTensor`, which a `DLManagedTensor` begins with.
#[repr(C)]
struct Tensor {
    data: u64,
    device_type: i32,
    device: i32,
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// A tensor's device, address, shape, strides in elements, and the code, bits and lanes of its type.
type Described = (i32, u64, Vec<i64>, Option<Vec<i64>>, (u8, u8, u16));

/// What a capsule of DLPack's says.
#[pyfunction]
#[expect(unsafe_code, reason = "DLPack describes tensors by a C struct")]
pub(crate) fn dlpack(capsule: &Bound<'_, PyCapsule>) -> PyResult<Described> {
    let tensor = capsule.pointer_checked(Some(c"dltensor"))?.cast::<Tensor>();
    // SAFETY: DLPack has a tensor of this name begin so, and the capsule keeps it.
    let tensor = unsafe { tensor.as_ref() };
    let axes = usize::try_from(tensor.ndim)
        .map_err(|_| PyValueError::new_err("a tensor of fewer than no axes"))?;
    let numbers = |first: *const i64| {
        if axes == 0 || first.is_null() {
            return Vec::new();
        }
        // SAFETY: it has a number for each axis.
        unsafe { slice::from_raw_parts(first, axes) }.to_vec()
    };
    let strides = (!tensor.strides.is_null()).then(|| numbers(tensor.strides));
    Ok((
        tensor.device,
        tensor.data + tensor.byte_offset,
        numbers(tensor.shape),
        strides,
        (tensor.code, tensor.bits, tensor.lanes),
    ))
}

/// The number of the device that has the memory at an address, once a stream of its owner, if one is named, has come to its end.
#[pyfunction]
#[expect(
    unsafe_code,
    reason = "the array's owner names a stream by its address"
)]
pub(crate) fn cuda_device_of(pointer: u64, stream: Option<usize>) -> PyResult<usize> {
    let waited = Device::ordinal_of(pointer).and_then(|ordinal| {
        if let Some(stream) = stream {
            // SAFETY: the protocol has this number for a stream of the array's device.
            unsafe { Device::shared(ordinal)?.wait_for_stream(stream) }?;
        }
        Ok(ordinal)
    });
    waited.map_err(raised_by_device)
}

/// The sum of floats side by side in the memory of a device, as a scalar of NumPy.
#[pyfunction]
pub(crate) fn cuda_sum_all(
    py: Python<'_>,
    ordinal: usize,
    pointer: u64,
    length: usize,
    is_exact: bool,
    item_bytes: usize,
) -> PyResult<Py<PyAny>> {
    let array = Array {
        ordinal,
        pointer,
        shape: [1, length, 1],
    };
    if item_bytes == size_of::<f32>() {
        sum_all::<f32>(py, array, is_exact)
    } else {
        sum_all::<f64>(py, array, is_exact)
    }
}

fn sum_all<T: Element + Item>(py: Python<'_>, array: Array, is_exact: bool) -> PyResult<Py<PyAny>>
where
    Sum: Operator<T>,
    exact::Sum<T>: exact::Accumulator,
    <exact::Sum<T> as exact::Accumulator>::Integers: AsMut<[i64]>,
{
    let mut result = [T::zeroed()];
    if array.shape[1] > 0 {
        py.detach(|| array.sum(is_exact, &mut result))
            .map_err(raised_by_device)?;
    }
    scalar(py, result[0])
}

/// Sums the middle axis of an array of three axes in the memory of a device into a result of two.
#[pyfunction]
pub(crate) fn cuda_sum(
    py: Python<'_>,
    ordinal: usize,
    pointer: u64,
    shape: [usize; 3],
    is_exact: bool,
    result: &Bound<'_, PyAny>,
) -> PyResult<()> {
    let array = Array {
        ordinal,
        pointer,
        shape,
    };
    array.length()?;
    if result.is_instance_of::<PyArrayDyn<f32>>() {
        sum::<f32>(py, array, is_exact, result)
    } else {
        sum::<f64>(py, array, is_exact, result)
    }
}

fn sum<T: Element + numpy::Element>(
    py: Python<'_>,
    array: Array,
    is_exact: bool,
    result: &Bound<'_, PyAny>,
) -> PyResult<()>
where
    Sum: Operator<T>,
    exact::Sum<T>: exact::Accumulator,
    <exact::Sum<T> as exact::Accumulator>::Integers: AsMut<[i64]>,
{
    let mut result = result.cast::<PyArrayDyn<T>>()?.try_readwrite()?;
    let results = result.as_slice_mut()?;
    let [before, length, after] = array.shape;
    check_length(results.len(), before * after)?;
    if length == 0 || results.is_empty() {
        results.fill(T::zeroed());
        return Ok(());
    }
    py.detach(|| array.sum(is_exact, results))
        .map_err(raised_by_device)
}

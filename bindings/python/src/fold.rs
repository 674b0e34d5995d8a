//! Reductions and scans by an operator.

use std::ffi::c_int;
use std::ptr;

use bytemuck::Pod;
use numpy::npyffi::{PY_ARRAY_API, npy_intp};
use numpy::{
    PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use treefold::{FoldError, par};

use crate::element::{Item, Op, Reduction, Task, unsupported, with_type};
use crate::error::raised;
use crate::pool::{DIVIDED_ELEMENTS, Workers};

/// Reductions of more bytes than these let other Python threads run.
const ALONE_BYTES: usize = 1 << 14;

/// Runs a computation, without the interpreter if it is long.
pub(crate) fn compute<R: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> R + Send) -> R {
    /// Each computation is compiled once, for both cases.
    fn run(py: Python<'_>, bytes: usize, work: &mut (dyn FnMut() + Send)) {
        if bytes > ALONE_BYTES {
            py.detach(work);
        } else {
            work();
        }
    }
    let (mut work, mut result) = (Some(work), None);
    run(py, bytes, &mut || result = work.take().map(|work| work()));
    result.expect("it has run")
}

/// Room for so many values; a `MemoryError` where there is none. A failed allocation would end the process.
pub(crate) fn reserved<T>(len: usize) -> PyResult<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| {
        let message = format!(
            "there is no memory for {len} values of {} bytes",
            size_of::<T>()
        );
        PyMemoryError::new_err(message)
    })?;
    Ok(values)
}

/// So many zeros.
pub(crate) fn zeroed<T: Pod>(len: usize) -> PyResult<Vec<T>> {
    let mut values = reserved(len)?;
    values.resize(len, T::zeroed());
    Ok(values)
}

/// An array of zeros; an exception where there is no memory for it.
#[expect(unsafe_code, reason = "crate `numpy` panics where there is no memory")]
pub(crate) fn zeros<'py, T: Item>(
    py: Python<'py>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    let mut lengths: Vec<npy_intp> = shape.iter().map(|len| len.cast_signed()).collect();
    let axes = c_int::try_from(lengths.len())?;
    let descriptor = T::get_dtype(py).into_dtype_ptr();
    let lengths = lengths.as_mut_ptr();
    // SAFETY: there are as many lengths as axes, and NumPy takes the reference to the descriptor.
    let object = unsafe { PY_ARRAY_API.PyArray_Zeros(py, axes, lengths, descriptor, 0) };
    // SAFETY: it is a new reference, or NULL with an exception.
    let array = unsafe { Bound::from_owned_ptr_or_err(py, object) };
    Ok(array?.cast_into()?)
}

struct FoldAll {
    op: Op,
    lanes: usize,
}

impl Task for FoldAll {
    type Output = Option<Py<PyAny>>;

    fn visit<T: Item>(self, array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Self::Output> {
        let Some(reduction) = T::reduction(self.op) else {
            return Ok(None);
        };
        // Sums and products of short integers are longer.
        if T::KIND.is_short_integer() && matches!(self.op, Op::Sum | Op::Product) {
            return Ok(None);
        }
        // Slices of arrays in Fortran's order exist as well, in which items are in another order.
        if !array.is_c_contiguous() || array.is_empty() {
            return Ok(None);
        }
        let array_ref = array.try_readonly()?;
        // Not where its items are not aligned.
        let Ok(items) = array_ref.as_slice() else {
            return Ok(None);
        };
        let by = Workers::of(items.len())?;
        let mut value = [T::zeroed()];
        let folded = compute(array.py(), size_of_val(items), || {
            reduction.rows(self.lanes, by.pool(), items, &mut value)
        });
        folded.map_err(raised)?;
        if !value[0].is_ordinary() {
            return Ok(None);
        }
        scalar(array.py(), value[0]).map(Some)
    }
}

/// A scalar of an array's type.
#[expect(unsafe_code, reason = "NumPy copies a scalar's bytes from a pointer")]
pub(crate) fn scalar<T: Item>(py: Python<'_>, mut value: T) -> PyResult<Py<PyAny>> {
    let descriptor = T::get_dtype(py).into_dtype_ptr();
    let data = (&raw mut value).cast();
    // SAFETY: the bytes are a value of the type that the descriptor, a new reference, describes; NumPy copies them.
    let object = unsafe { PY_ARRAY_API.PyArray_Scalar(py, data, descriptor, ptr::null_mut()) };
    // SAFETY: it is a new reference, or NULL with an exception.
    let scalar = unsafe { Bound::from_owned_ptr_or_err(py, object) };
    // SAFETY: `PyArray_Scalar` takes its own reference.
    unsafe { pyo3::ffi::Py_DECREF(descriptor.cast()) };
    Ok(scalar?.unbind())
}

/// The reduction of all items of an array, as a scalar of its type; None where it takes more than that: an array that is not
/// contiguous, has no items, or has elements that are not reduced as they are, or a result that is not finite, which may be to be told.
#[pyfunction]
pub(crate) fn fold_all(
    op: &str,
    array: &Bound<'_, PyAny>,
    lanes: usize,
) -> PyResult<Option<Py<PyAny>>> {
    let op = Op::of_name(op)?;
    // Subclasses have results of their own.
    if !array.is_exact_instance_of::<PyUntypedArray>() {
        return Ok(None);
    }
    with_type(array, FoldAll { op, lanes }).map(Option::flatten)
}

/// The sizes of what is before, in and after the axis that is reduced.
fn sizes(array: &Bound<'_, PyUntypedArray>) -> PyResult<[usize; 3]> {
    let shape = array.shape().try_into();
    shape.map_err(|_| PyValueError::new_err("the array does not have three axes"))
}

struct Fold<'a, 'py> {
    op: Op,
    lanes: usize,
    result: &'a Bound<'py, PyAny>,
}

impl Task for Fold<'_, '_> {
    type Output = bool;

    fn visit<T: Item>(self, array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<bool> {
        let reduction =
            T::reduction(self.op).ok_or_else(|| unsupported(self.op, array.as_untyped()))?;
        let [before, length, after] = sizes(array.as_untyped())?;
        let array_ref = array.try_readonly()?;
        let items = array_ref.as_slice()?;
        let mut result = self.result.cast::<PyArrayDyn<T>>()?.try_readwrite()?;
        let results = result.as_slice_mut()?;
        fold_parts(
            array.py(),
            reduction,
            self.lanes,
            items,
            [before, length, after],
            results,
        )?;
        Ok(are_ordinary(results))
    }
}

/// Rows of few items are reduced so many at a time.
const RUNS: usize = 256;

/// Reduces what is before, in and after an axis, by the threads that there are.
pub(crate) fn fold_parts<T: Item>(
    py: Python<'_>,
    reduction: Reduction<T>,
    lanes: usize,
    items: &[T],
    [before, length, after]: [usize; 3],
    results: &mut [T],
) -> PyResult<()> {
    check_length(results.len(), before * after)?;
    let block = length * after;
    let by = Workers::of(items.len())?;
    let folded = compute(py, size_of_val(items), || match (by.pool(), reduction) {
        _ if results.is_empty() => Ok(()),
        (Some(pool), _) if block <= DIVIDED_ELEMENTS => {
            let fold = |items: &[T], results: &mut [T]| {
                let mut blocks = items
                    .chunks_exact(block)
                    .zip(results.chunks_exact_mut(after));
                blocks.try_for_each(|(items, results)| reduction.rows(lanes, None, items, results))
            };
            par::install(pool, || divided(items, results, [block, after], &fold))
        }
        (None, Reduction::InOrder(operator)) if after == 1 && lanes == 1 && length > 0 => {
            let lengths = [length; RUNS];
            let runs = items.chunks(RUNS * length).zip(results.chunks_mut(RUNS));
            for (items, results) in runs {
                operator.fold_runs(items, &lengths[..results.len()], results);
                operator.make_canonical(results);
            }
            Ok(())
        }
        (pool, _) => {
            let mut blocks = (0..before).zip(results.chunks_exact_mut(after));
            blocks.try_for_each(|(index, results)| {
                let items = &items[index * block..][..block];
                reduction.rows(lanes, pool, items, results)
            })
        }
    });
    folded.map_err(raised)
}

/// Reduces blocks of items, each into results of its own.
type FoldBlocks<'f, T> = dyn Fn(&[T], &mut [T]) -> Result<(), FoldError> + Sync + 'f;

/// Lets `fold` reduce blocks of items, each into results of its own, by threads. A thread takes enough blocks to be worth waking.
fn divided<T: Item>(
    items: &[T],
    results: &mut [T],
    [block, after]: [usize; 2],
    fold: &FoldBlocks<'_, T>,
) -> Result<(), FoldError> {
    let count = results.len() / after;
    if count < 2 || count * block <= DIVIDED_ELEMENTS {
        return fold(items, results);
    }
    let (left, right) = items.split_at(count / 2 * block);
    let (left_results, right_results) = results.split_at_mut(count / 2 * after);
    let (left, right) = par::join(
        || divided(left, left_results, [block, after], fold),
        || divided(right, right_results, [block, after], fold),
    );
    left.and(right)
}

/// Reduces the middle axis of a C-contiguous array of three axes into a C-contiguous result of two, and says whether all of it is finite.
#[pyfunction]
pub(crate) fn fold(
    op: &str,
    array: &Bound<'_, PyAny>,
    result: &Bound<'_, PyAny>,
    lanes: usize,
) -> PyResult<bool> {
    let op = Op::of_name(op)?;
    let done = with_type(array, Fold { op, lanes, result })?;
    done.ok_or_else(|| no_type(op, array))
}

/// Whether all results are finite.
pub(crate) fn are_ordinary<L: Item>(results: &[L]) -> bool {
    results
        .iter()
        .fold(true, |all, result| all & result.is_ordinary())
}

/// Whether a result, or a second operand, has the right number of elements.
pub(crate) fn check_length(found: usize, expected: usize) -> PyResult<()> {
    if found == expected {
        return Ok(());
    }
    let message = format!("there are {found} elements in place of {expected}");
    Err(PyValueError::new_err(message))
}

pub(crate) fn no_type(op: Op, array: &Bound<'_, PyAny>) -> PyErr {
    match array.cast::<PyUntypedArray>() {
        Ok(array) => unsupported(op, array),
        Err(error) => error.into(),
    }
}

//! Reduces contiguous arrays by an operator, allocates results, and releases the GIL.

use std::ffi::c_int;
use std::ptr;

use bytemuck::Pod;
use numpy::npyffi::{PY_ARRAY_API, npy_intp};
use numpy::{
    Element, PyArrayDescr, PyArrayDescrMethods, PyArrayDyn, PyArrayMethods, PyUntypedArray,
    PyUntypedArrayMethods,
};
use pyo3::exceptions::{PyMemoryError, PyValueError};
use pyo3::prelude::*;
use simd_kernels::{Level, fold_in_any_order};
use treefold::{FoldError, Operator, Product, Sum, par};

use crate::convert::trues;
use crate::element::{Item, Op, Reduction, unsupported};
use crate::error::raised;
use crate::pool::{DIVIDED_ELEMENTS, Workers};
use crate::strided::bytes_of_bools;

/// Computations over more bytes than this release the GIL.
const ALONE_BYTES: usize = 1 << 14;

/// Runs a computation over `bytes` bytes. Releases the GIL if there are many.
pub(crate) fn compute<R: Send>(py: Python<'_>, bytes: usize, work: impl FnOnce() -> R + Send) -> R {
    /// This function is not generic, so that each computation is compiled only once for both cases.
    fn run(py: Python<'_>, bytes: usize, work: &mut (dyn FnMut() + Send)) {
        if bytes > ALONE_BYTES {
            py.detach(work);
        } else {
            work();
        }
    }
    let (mut work, mut result) = (Some(work), None);
    run(py, bytes, &mut || result = work.take().map(|work| work()));
    result.expect("the work has run")
}

/// An empty vector with capacity for `len` values, or a `MemoryError`. A failed allocation by another function would end the process.
pub(crate) fn reserved<T>(len: usize) -> PyResult<Vec<T>> {
    let mut values = Vec::new();
    values.try_reserve_exact(len).map_err(|_| {
        let message = format!(
            "there is not enough memory for {len} values of {} bytes",
            size_of::<T>()
        );
        PyMemoryError::new_err(message)
    })?;
    Ok(values)
}

/// A vector of zeros.
pub(crate) fn zeroed<T: Pod>(len: usize) -> PyResult<Vec<T>> {
    let mut values = reserved(len)?;
    values.resize(len, T::zeroed());
    Ok(values)
}

/// An array of zeros. Returns an exception if there is not enough memory.
pub(crate) fn zeros<'py, T: Item>(
    py: Python<'py>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyArrayDyn<T>>> {
    Ok(zeros_of_type(T::get_dtype(py), shape)?.cast_into()?)
}

/// An array of zeros of a type chosen at run time.
#[expect(unsafe_code, reason = "crate `numpy` panics if there is no memory")]
pub(crate) fn zeros_of_type<'py>(
    dtype: Bound<'py, PyArrayDescr>,
    shape: &[usize],
) -> PyResult<Bound<'py, PyAny>> {
    let py = dtype.py();
    let mut lengths: Vec<npy_intp> = shape.iter().map(|len| len.cast_signed()).collect();
    let axes = c_int::try_from(lengths.len())?;
    let (lengths, descriptor) = (lengths.as_mut_ptr(), dtype.into_dtype_ptr());
    // SAFETY: there are as many lengths as axes, and NumPy takes the reference to the descriptor.
    let object = unsafe { PY_ARRAY_API.PyArray_Zeros(py, axes, lengths, descriptor, 0) };
    // SAFETY: the result is a new reference, or NULL with an exception.
    unsafe { Bound::from_owned_ptr_or_err(py, object) }
}

/// A scalar of an array's type.
#[expect(unsafe_code, reason = "NumPy copies a scalar's bytes from a pointer")]
pub(crate) fn scalar<T: Item>(py: Python<'_>, mut value: T) -> PyResult<Py<PyAny>> {
    let descriptor = T::get_dtype(py).into_dtype_ptr();
    let data = (&raw mut value).cast();
    // SAFETY: the bytes are a value of the type that the descriptor, a new reference, describes; NumPy copies them.
    let object = unsafe { PY_ARRAY_API.PyArray_Scalar(py, data, descriptor, ptr::null_mut()) };
    // SAFETY: the result is a new reference, or NULL with an exception.
    let scalar = unsafe { Bound::from_owned_ptr_or_err(py, object) };
    // SAFETY: `PyArray_Scalar` takes its own reference.
    unsafe { pyo3::ffi::Py_DECREF(descriptor.cast()) };
    Ok(scalar?.unbind())
}

/// The number of short rows that are reduced at once.
const RUNS: usize = 256;

/// Reduces an array of three axes along the middle axis, with all threads.
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

/// Reduces blocks of items, each into its own results.
type FoldBlocks<'f, T> = dyn Fn(&[T], &mut [T]) -> Result<(), FoldError> + Sync + 'f;

/// Calls `fold` on several threads. Each thread gets enough blocks that waking it is worthwhile.
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

/// Writes the sums or products of contiguous rows of integers or bools, as longer integers. Returns `false` for other
/// arrays.
pub(crate) fn fold_short<S: Element + Copy + Sync, T: Item + From<S>>(
    array: &Bound<'_, PyUntypedArray>,
    op: Op,
    results: &mut [T],
) -> PyResult<bool>
where
    Sum: Operator<T>,
    Product: Operator<T>,
{
    let Ok(array) = array.cast::<PyArrayDyn<S>>() else {
        return Ok(false);
    };
    let array_ref = array.try_readonly()?;
    let (Ok(items), true) = (array_ref.as_slice(), array.is_c_contiguous()) else {
        return Ok(false);
    };
    let level = Level::best();
    match op {
        Op::Sum => rows(array.py(), items, results, |row| {
            fold_in_any_order(level, row, T::from, |x, y| Sum.combine(x, y))
        }),
        Op::Product => rows(array.py(), items, results, |row| {
            fold_in_any_order(level, row, T::from, |x, y| Product.combine(x, y))
        }),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Sums or products of rows of bools; any byte but 0 is true.
pub(crate) fn fold_bools(
    array: &Bound<'_, PyUntypedArray>,
    op: Op,
    results: &mut [i64],
) -> PyResult<bool> {
    let array_ref = array.cast::<PyArrayDyn<bool>>()?.try_readonly()?;
    let Some(items) = bytes_of_bools(&array_ref) else {
        return Ok(false);
    };
    match op {
        Op::Sum => rows(array.py(), items, results, |row| Some(trues(row))),
        Op::Product => rows(array.py(), items, results, |row| {
            Some(i64::from(!row.contains(&0)))
        }),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Folds one row of at least one item for each result.
fn rows<S: Sync, T: Send>(
    py: Python<'_>,
    items: &[S],
    results: &mut [T],
    fold: impl Fn(&[S]) -> Option<T> + Send + Sync,
) {
    compute(py, size_of_val(items), || {
        let rows = items.chunks_exact(items.len() / results.len());
        for (row, result) in rows.zip(results) {
            *result = fold(row).expect("a row has items");
        }
    });
}

/// Whether all results are finite.
pub(crate) fn are_ordinary<L: Item>(results: &[L]) -> bool {
    results
        .iter()
        .fold(true, |all, result| all & result.is_ordinary())
}

/// Checks the number of elements of a result or of a second operand.
pub(crate) fn check_length(found: usize, expected: usize) -> PyResult<()> {
    if found == expected {
        return Ok(());
    }
    let message = format!("there are {found} elements instead of {expected}");
    Err(PyValueError::new_err(message))
}

pub(crate) fn no_type(op: Op, array: &Bound<'_, PyAny>) -> PyErr {
    match array.cast::<PyUntypedArray>() {
        Ok(array) => unsupported(op, array),
        Err(error) => error.into(),
    }
}

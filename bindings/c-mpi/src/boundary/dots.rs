//! Several dot products as one message: arrays that lie apart, by pointers to each.

use std::ffi::c_void;

use treefold::Operation;
#[cfg(feature = "cuda")]
use treefold::cuda::may_have_arrays;
use treefold_c::boundary::{Bytes, disjoint, guard};
use treefold_c::failure::{Failure, Status};

use super::collectives::{Input, Output};
#[cfg(feature = "cuda")]
use super::device;
use super::started::{check_start, write_run};
use crate::handle;
use crate::plan::{Shaped, treefold_plan};
use crate::run::treefold_run;

/// The dot products of k pairs of arrays of n elements each, on every rank. Collective.
///
/// # Safety
/// `x` and `y` are k pointers to n elements each, and `result` is m; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_allreduce_dots(
    plan: *const treefold_plan,
    x: *const *const c_void,
    y: *const *const c_void,
    k: usize,
    n: usize,
    result: *mut c_void,
    m: usize,
) -> Status {
    guard(|| {
        let plan = handle::object(plan)?;
        let refuse = |_: &Failure| plan.refuse(Operation::Allreduce);
        // SAFETY: the caller promises k pointers.
        let pairs = unsafe { pairs([("x", x), ("y", y)], k, n) }.inspect_err(refuse)?;
        #[cfg(feature = "cuda")]
        if may_have_arrays() {
            // SAFETY: the caller's promise is this function's.
            return unsafe { device::run_dots(&plan, &pairs, (result, m)) };
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { run_here(&plan, &pairs, (result, m)) }
    })
}

/// Starts `treefold_allreduce_dots`. Collective.
///
/// # Safety
/// `x` and `y` are k pointers to n elements each, and `run` is room for a handle; each may be NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_start_allreduce_dots(
    plan: *const treefold_plan,
    x: *const *const c_void,
    y: *const *const c_void,
    k: usize,
    n: usize,
    run: *mut *mut treefold_run,
) -> Status {
    guard(|| {
        let (name, plan) = (plan, handle::object(plan)?);
        let refuse = |_: &Failure| plan.refuse_to_start(Operation::Allreduce);
        // SAFETY: the caller promises k pointers.
        let pairs = unsafe { pairs([("x", x), ("y", y)], k, n) }.inspect_err(refuse)?;
        #[cfg(feature = "cuda")]
        if may_have_arrays() {
            // SAFETY: the caller's promise is this function's.
            return unsafe { device::start_dots(&plan, name, &pairs, run) };
        }
        // SAFETY: the caller's promise is this function's.
        unsafe { start_here(&plan, name, &pairs, run) }
    })
}

/// The arrays that two lists of pointers name.
///
/// # Safety
/// Each list is k pointers, or NULL.
unsafe fn pairs(
    lists: [(&'static str, *const *const c_void); 2],
    k: usize,
    n: usize,
) -> Result<Vec<[Input; 2]>, Failure> {
    for (name, list) in lists {
        let bytes = Bytes::of(name, list.cast(), k, size_of::<*const c_void>())?;
        bytes.aligned(align_of::<*const c_void>())?;
    }
    // SAFETY: not NULL and aligned, as was just found, and k pointers, as the caller promises.
    let at = |list: *const *const c_void, j| unsafe { list.wrapping_add(j).read() };
    let pair = |j| lists.map(|(_, list)| (at(list, j), n));
    Ok((0..k).map(pair).collect())
}

/// Blocking, on arrays in ordinary memory.
///
/// # Safety
/// Each array is so many elements of the plan's type, or NULL.
pub(super) unsafe fn run_here(
    plan: &Shaped,
    pairs: &[[Input; 2]],
    result: Output,
) -> Result<(), Failure> {
    let operation = Operation::Allreduce;
    let checked = check(plan, pairs, result);
    let (arrays, result_array) = checked.inspect_err(|_| plan.refuse(operation))?;
    // SAFETY: the caller promises the elements.
    let arrays = unsafe { read(&arrays, pairs) };
    // SAFETY: the caller promises m elements, which are in no other array, as was just found.
    let result = unsafe { result_array.write(result.0) };
    plan.run_dots(operation, &arrays, result).map(drop)
}

/// Where the arrays and the result are.
pub(super) fn check(
    plan: &Shaped,
    pairs: &[[Input; 2]],
    (result, m): Output,
) -> Result<(Vec<[Bytes; 2]>, Bytes), Failure> {
    let result = Bytes::of("result", result, m, plan.element_bytes)?;
    let array = |name, (pointer, n): Input| -> Result<Bytes, Failure> {
        let array = Bytes::of(name, pointer, n, plan.element_bytes)?;
        disjoint(array, result)?;
        Ok(array)
    };
    let pair = |&[x, y]: &[Input; 2]| Ok([array("x", x)?, array("y", y)?]);
    let arrays: Result<_, Failure> = pairs.iter().map(pair).collect();
    Ok((arrays?, result))
}

/// Starts, on arrays in ordinary memory.
///
/// # Safety
/// Each array is so many elements of the plan's type, or NULL; `run` is room for a handle, or NULL.
pub(super) unsafe fn start_here(
    plan: &Shaped,
    name: *const treefold_plan,
    pairs: &[[Input; 2]],
    run: *mut *mut treefold_run,
) -> Result<(), Failure> {
    let operation = Operation::Allreduce;
    let checked = check_starts(plan, pairs, run);
    let arrays = checked.inspect_err(|_| plan.refuse_to_start(operation))?;
    // SAFETY: the caller promises the elements.
    let arrays = unsafe { read(&arrays, pairs) };
    let started = plan.start_dots(name, operation, &arrays)?;
    // SAFETY: the caller promises room for a handle.
    unsafe { write_run(run, started) }
}

/// Where the arrays are that a start reads.
pub(super) fn check_starts(
    plan: &Shaped,
    pairs: &[[Input; 2]],
    run: *mut *mut treefold_run,
) -> Result<Vec<[Bytes; 2]>, Failure> {
    // That of the run is checked without arrays, too.
    Bytes::of_place("run", run)?;
    let array = |name, array| check_start(plan, run, name, array);
    let pair = |&[x, y]: &[Input; 2]| Ok([array("x", x)?, array("y", y)?]);
    pairs.iter().map(pair).collect()
}

/// # Safety
/// The arrays are those of `pairs`, which can be read, and nobody writes to them while the result is in use.
unsafe fn read<'a>(arrays: &[[Bytes; 2]], pairs: &[[Input; 2]]) -> Vec<[&'a [u8]; 2]> {
    // SAFETY: the caller's promise is this closure's.
    let slice = |array: Bytes, (pointer, _): Input| unsafe { array.read(pointer) };
    let each = arrays.iter().zip(pairs);
    let pair = |(&[x, y], &[x_from, y_from]): (&[Bytes; 2], &[Input; 2])| {
        [slice(x, x_from), slice(y, y_from)]
    };
    each.map(pair).collect()
}

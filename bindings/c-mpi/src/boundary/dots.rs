//! Several dot products as one message: arrays that lie apart, by pointers to each.

use std::ffi::c_void;

use treefold::Operation;
#[cfg(feature = "cuda")]
use treefold::cuda::may_have_arrays;
use treefold_c::boundary::guard;
use treefold_c::failure::{Failure, Status};
use treefold_c::raw::Bytes;

use super::collectives::{self, Input};
#[cfg(feature = "cuda")]
use super::device;
use super::started;
use crate::handle;
use crate::plan::treefold_plan;
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
        unsafe { collectives::run_dots_here(&plan, &pairs, (result, m)) }
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
        unsafe { started::start_dots_here(&plan, name, &pairs, run) }
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

//! Calls with arrays in the memory of GPUs, which users of an MPI library that knows CUDA expect to be taken like any others.
//!
//! What a GPU can fold it folds, and a few values of it go on in ordinary memory. Any other array is copied there, and the call is made on
//! the copy. A result on a GPU is made in ordinary memory, and copied.
//!
//! Nobody has such arrays before the process has loaded CUDA's driver. Nothing here loads it: a plan looks for it in its first call. A call
//! comes here as long as there is a plan that has not looked, and from then on if there is a driver.

mod arrays;

use std::ffi::{c_int, c_void};

use treefold::Operation;
use treefold::cuda::device_of;
use treefold_c::failure::Failure;
use treefold_c::raw::Bytes;

use self::arrays::{Source, Target, folded};
use super::collectives::{self, Input, Output};
use super::started;
use crate::plan::{Shaped, treefold_plan};
use crate::run::{Run, treefold_run};

/// The GPUs that have the arrays of a call; `None` where none does.
fn seek<const N: usize>(plan: &Shaped, pointers: [*const c_void; N]) -> Option<[Option<usize>; N]> {
    plan.gpu.look();
    found(pointers)
}

fn found<const N: usize>(pointers: [*const c_void; N]) -> Option<[Option<usize>; N]> {
    let found = pointers.map(device_of);
    found.iter().any(Option::is_some).then_some(found)
}

/// [`entry::run`](super::entry::run) on arrays that may be on a GPU.
///
/// # Safety
/// As there.
#[cold]
pub(super) unsafe fn run(
    plan: &Shaped,
    operation: Operation,
    local: Input,
    result: Output,
    is_mine: *mut c_int,
) -> Result<bool, Failure> {
    let Some([local_at, result_at]) = seek(plan, [local.0, result.0.cast_const()]) else {
        // SAFETY: the caller's promise is this function's.
        return unsafe { collectives::run_here(plan, operation, local, result, is_mine) };
    };
    let bytes = plan.items.bytes;
    let prepare = || {
        let (_, m) = collectives::check(plan, operation, local, result, is_mine)?;
        let target = Target::of(result_at, (result.0, m), bytes)?;
        // SAFETY: the caller promises n elements.
        let folded = unsafe { folded(plan, operation, local_at, local) }?;
        let read_at = local_at.filter(|_| folded.is_none());
        // SAFETY: the caller promises n elements.
        let source = unsafe { Source::of(read_at, local, bytes) }?;
        Ok((folded, source, target))
    };
    let prepared: Result<_, Failure> = prepare();
    let (folded, mut source, mut target) = prepared.inspect_err(|_| plan.refuse(operation))?;
    let output = target.output();
    let is_there = match folded {
        Some(items) => {
            let array = Bytes::of("result", output.0, output.1, bytes)?;
            // SAFETY: the caller promises m elements, which nobody else uses, or they are the target's.
            let result = unsafe { array.write(output.0) };
            let is_there = plan.run_on_device(operation, items, result)?;
            // SAFETY: the caller promises an int, or NULL.
            unsafe { collectives::tell(is_mine, is_there) }?;
            is_there
        }
        None => {
            let input = source.input();
            // SAFETY: what is not the caller's array is as long as that.
            unsafe { collectives::run_here(plan, operation, input, output, is_mine) }?
        }
    };
    // SAFETY: the caller promises m elements, which nobody else uses.
    unsafe { target.deliver(is_there) }?;
    Ok(is_there)
}

/// [`entry::run_pairs`](super::entry::run_pairs) on arrays that may be on a GPU.
///
/// # Safety
/// As there.
#[cold]
pub(super) unsafe fn run_pairs(
    plan: &Shaped,
    operation: Operation,
    pairs: [Input; 2],
    result: Output,
    is_mine: *mut c_int,
) -> Result<bool, Failure> {
    let [x, y] = pairs;
    let Some([x_at, y_at, result_at]) = seek(plan, [x.0, y.0, result.0.cast_const()]) else {
        // SAFETY: the caller's promise is this function's.
        return unsafe { collectives::run_pairs_here(plan, operation, pairs, result, is_mine) };
    };
    let bytes = plan.items.bytes;
    let prepare = || {
        let (_, m) = collectives::check_pairs(plan, operation, pairs, result, is_mine)?;
        // SAFETY: the caller promises n elements.
        let x = unsafe { Source::of(x_at, x, bytes) }?;
        // SAFETY: the caller promises k elements.
        let y = unsafe { Source::of(y_at, y, bytes) }?;
        Ok((x, y, Target::of(result_at, (result.0, m), bytes)?))
    };
    let prepared: Result<_, Failure> = prepare();
    let (mut x, mut y, mut target) = prepared.inspect_err(|_| plan.refuse(operation))?;
    let (pairs, output) = ([x.input(), y.input()], target.output());
    // SAFETY: what is not the caller's array is as long as that.
    let run = unsafe { collectives::run_pairs_here(plan, operation, pairs, output, is_mine) };
    let is_there = run?;
    // SAFETY: the caller promises m elements, which nobody else uses.
    unsafe { target.deliver(is_there) }?;
    Ok(is_there)
}

/// [`entry::broadcast`](super::entry::broadcast) of a row that may be on a GPU.
///
/// # Safety
/// As there.
#[cold]
pub(super) unsafe fn broadcast(plan: &Shaped, row: Output) -> Result<(), Failure> {
    let Some([at]) = seek(plan, [row.0.cast_const()]) else {
        // SAFETY: the caller's promise is this function's.
        return unsafe { collectives::broadcast_here(plan, row) };
    };
    let prepare = || {
        Bytes::of("row", row.0, row.1, plan.items.bytes)?;
        let mut target = Target::of(at, row, plan.items.bytes)?;
        // SAFETY: the caller promises m elements.
        unsafe { target.fill() }?;
        Ok(target)
    };
    let prepared: Result<_, Failure> = prepare();
    let mut target = prepared.inspect_err(|_| plan.refuse(Operation::Broadcast))?;
    // SAFETY: what is not the caller's row is as long as that.
    unsafe { collectives::broadcast_here(plan, target.output()) }?;
    // SAFETY: the caller promises m elements, which nobody else uses.
    unsafe { target.deliver(true) }
}

/// [`entry::start`](super::entry::start) on items that may be on a GPU.
///
/// # Safety
/// As there.
#[cold]
pub(super) unsafe fn start(
    plan: &Shaped,
    name: *const treefold_plan,
    operation: Operation,
    local: Input,
    run: *mut *mut treefold_run,
) -> Result<(), Failure> {
    let Some([at]) = seek(plan, [local.0]) else {
        // SAFETY: the caller's promise is this function's.
        return unsafe { started::start_here(plan, name, operation, local, run) };
    };
    let prepare = || {
        started::check_start(plan, run, "local", local)?;
        // SAFETY: the caller promises n elements.
        let folded = unsafe { folded(plan, operation, at, local) }?;
        let read_at = at.filter(|_| folded.is_none());
        // SAFETY: the caller promises n elements.
        let source = unsafe { Source::of(read_at, local, plan.items.bytes) }?;
        Ok((folded, source))
    };
    let prepared: Result<_, Failure> = prepare();
    let (folded, mut source) = prepared.inspect_err(|_| plan.refuse_to_start(operation))?;
    match folded {
        Some(items) => {
            let started = plan.start_on_device(name, operation, items)?;
            // SAFETY: the caller promises room for a handle.
            unsafe { started::write_run(run, started) }
        }
        // SAFETY: what is not the caller's array is as long as that.
        None => unsafe { started::start_here(plan, name, operation, source.input(), run) },
    }
}

/// [`entry::start_pairs`](super::entry::start_pairs) on arrays that may be on a GPU.
///
/// # Safety
/// As there.
#[cold]
pub(super) unsafe fn start_pairs(
    plan: &Shaped,
    name: *const treefold_plan,
    operation: Operation,
    pairs: [Input; 2],
    run: *mut *mut treefold_run,
) -> Result<(), Failure> {
    let [x, y] = pairs;
    let Some([x_at, y_at]) = seek(plan, [x.0, y.0]) else {
        // SAFETY: the caller's promise is this function's.
        return unsafe { started::start_pairs_here(plan, name, operation, pairs, run) };
    };
    let prepare = || {
        started::check_start(plan, run, "x", x)?;
        started::check_start(plan, run, "y", y)?;
        // SAFETY: the caller promises n elements.
        let x = unsafe { Source::of(x_at, x, plan.items.bytes) }?;
        // SAFETY: the caller promises k elements.
        let y = unsafe { Source::of(y_at, y, plan.items.bytes) }?;
        Ok((x, y))
    };
    let prepared: Result<_, Failure> = prepare();
    let (mut x, mut y) = prepared.inspect_err(|_| plan.refuse_to_start(operation))?;
    let pairs = [x.input(), y.input()];
    // SAFETY: what is not the caller's array is as long as that.
    unsafe { started::start_pairs_here(plan, name, operation, pairs, run) }
}

/// [`collectives::run_dots_here`] on arrays that may be on a GPU.
///
/// # Safety
/// As there.
#[cold]
pub(super) unsafe fn run_dots(
    plan: &Shaped,
    pairs: &[[Input; 2]],
    result: Output,
) -> Result<(), Failure> {
    plan.gpu.look();
    let prepare = || {
        collectives::check_dots(plan, pairs, result)?;
        // SAFETY: the caller promises the elements.
        let sources = unsafe { sources(plan, pairs) }?;
        let at = device_of(result.0.cast_const());
        Ok((sources, Target::of(at, result, plan.items.bytes)?))
    };
    let prepared: Result<_, Failure> = prepare();
    let (mut sources, mut target) = prepared.inspect_err(|_| plan.refuse(Operation::Allreduce))?;
    let pairs = inputs(&mut sources);
    // SAFETY: what is not the caller's array is as long as that.
    unsafe { collectives::run_dots_here(plan, &pairs, target.output()) }?;
    // SAFETY: the caller promises m elements, which nobody else uses.
    unsafe { target.deliver(true) }
}

/// [`started::start_dots_here`] on arrays that may be on a GPU.
///
/// # Safety
/// As there.
#[cold]
pub(super) unsafe fn start_dots(
    plan: &Shaped,
    name: *const treefold_plan,
    pairs: &[[Input; 2]],
    run: *mut *mut treefold_run,
) -> Result<(), Failure> {
    plan.gpu.look();
    let prepare = || {
        started::check_dot_starts(plan, pairs, run)?;
        // SAFETY: the caller promises the elements.
        unsafe { sources(plan, pairs) }
    };
    let prepared: Result<_, Failure> = prepare();
    let mut sources = prepared.inspect_err(|_| plan.refuse_to_start(Operation::Allreduce))?;
    let pairs = inputs(&mut sources);
    // SAFETY: what is not the caller's array is as long as that.
    unsafe { started::start_dots_here(plan, name, &pairs, run) }
}

/// # Safety
/// Each array is so many elements of the plan's type.
unsafe fn sources(plan: &Shaped, pairs: &[[Input; 2]]) -> Result<Vec<[Source; 2]>, Failure> {
    // SAFETY: the caller's promise is this closure's.
    let source = |array: Input| unsafe { Source::of(device_of(array.0), array, plan.items.bytes) };
    let pair = |&[x, y]: &[Input; 2]| Ok([source(x)?, source(y)?]);
    pairs.iter().map(pair).collect()
}

fn inputs(sources: &mut [[Source; 2]]) -> Vec<[Input; 2]> {
    let pair = |[x, y]: &mut [Source; 2]| [x.input(), y.input()];
    sources.iter_mut().map(pair).collect()
}

/// [`started::wait_here`] for a result that may go to a GPU: its plan has looked for the driver when the run was started.
///
/// # Safety
/// As there.
#[cold]
pub(super) unsafe fn wait(run: &Run, result: Output, is_mine: *mut c_int) -> Result<bool, Failure> {
    let Some([at]) = found([result.0.cast_const()]) else {
        // SAFETY: the caller's promise is this function's.
        return unsafe { started::wait_here(run, result, is_mine) };
    };
    let prepare = || {
        let (_, m) = started::check_result(run, result, is_mine)?;
        Target::of(at, (result.0, m), run.items.bytes)
    };
    let mut target = match prepare() {
        Ok(target) => target,
        Err(failure) => {
            run.wait_without_arrays()?;
            return Err(failure);
        }
    };
    // SAFETY: what is not the caller's array is as long as that.
    let is_there = unsafe { started::wait_here(run, target.output(), is_mine) }?;
    // SAFETY: the caller promises m elements, which nobody else uses.
    unsafe { target.deliver(is_there) }?;
    Ok(is_there)
}

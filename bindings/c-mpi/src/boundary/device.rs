//! Calls with arrays in GPU memory, which a program passes as it would to a CUDA-aware MPI library.
//!
//! If the GPU can fold an array, it does so, and only a few values are copied to host memory. Any other array is copied to host memory and
//! reduced there. A result for GPU memory is computed in host memory and then copied.
//!
//! A program can have such arrays only after it has loaded the CUDA driver. This library never loads the driver: the first call on each
//! plan looks for it. Until all plans have looked, every call runs through this module; later, calls do so only if the driver was found.

mod copies;

use std::ffi::{c_int, c_void};
use std::ptr;

use treefold::Operation;
use treefold::cuda::device_of;
use treefold_c::failure::Failure;
use treefold_c::raw::Bytes;

use self::copies::{Source, Target, folded};
use super::arrays::{Arrays, Input, Output, places, start_places, tell};
use super::entry;
use crate::plan::device::OnDevice;
use crate::plan::{Shaped, treefold_plan};
use crate::run::{Run, treefold_run};

/// Whether any of the arrays may be on a GPU.
fn may_be_there(arrays: Arrays, result: *mut c_void) -> bool {
    let is_there = |array: Input| device_of(array.0).is_some();
    let is_read = match arrays {
        Arrays::Items(local) => is_there(local),
        Arrays::Pair(pair) => pair.into_iter().any(is_there),
        Arrays::Pairs(..) => true,
        Arrays::ByKey(..) | Arrays::State(_) => false,
    };
    is_read || is_there((result, 0))
}

/// The input of a call: arrays in host memory, which may be copies, or an array that a GPU folds.
struct Moved {
    from: Arrays,
    sources: Vec<Source>,
    lists: [Vec<*const c_void>; 2],
    folded: Option<OnDevice>,
}

impl Moved {
    /// # Safety
    /// The arrays are as [`Arrays`] describes them.
    unsafe fn of(
        plan: &Shaped,
        operation: Operation,
        arrays: Arrays,
        written: &[Bytes; 2],
    ) -> Result<Self, Failure> {
        let bytes = plan.items.bytes;
        // SAFETY: the caller promises what the callee requires.
        let inputs = unsafe { arrays.inputs(bytes, written) }?;
        let folded = match arrays {
            // SAFETY: the caller promises that there are n elements.
            Arrays::Items(local) => unsafe { folded(plan, operation, local) }?,
            _ => None,
        };
        // SAFETY: the caller promises that the arrays have these lengths.
        let source = |array: &Input| unsafe { Source::of(*array, bytes) };
        let sources: Result<_, Failure> = match folded {
            Some(_) => Ok(Vec::new()),
            None => inputs.iter().map(source).collect(),
        };
        Ok(Self {
            from: arrays,
            sources: sources?,
            lists: Default::default(),
            folded,
        })
    }

    /// The arrays in host memory.
    fn arrays(&mut self) -> Arrays {
        let mut inputs = self.sources.iter_mut().map(Source::input);
        let mut next = || inputs.next().expect("each array has a source");
        match self.from {
            Arrays::Items(_) => Arrays::Items(next()),
            Arrays::Pair(_) => Arrays::Pair([next(), next()]),
            Arrays::Pairs(_, k, n) => {
                let [x, y] = &mut self.lists;
                for _ in 0..k {
                    x.push(next().0);
                    y.push(next().0);
                }
                Arrays::Pairs([x.as_ptr(), y.as_ptr()], k, n)
            }
            Arrays::ByKey(..) | Arrays::State(_) => self.from,
        }
    }
}

/// Like [`entry::run`], but on arrays that may be on a GPU.
///
/// # Safety
/// The same as for [`entry::run`].
#[cold]
pub(super) unsafe fn run(
    plan: &Shaped,
    operation: Operation,
    arrays: Arrays,
    result: Output,
    is_mine: *mut c_int,
) -> Result<bool, Failure> {
    plan.gpu.look();
    if !may_be_there(arrays, result.0) {
        // SAFETY: the caller promises what the callee requires.
        return unsafe { entry::run_here(plan, operation, arrays, result, is_mine) };
    }
    let prepare = || {
        let written = places(plan, operation, result, is_mine)?;
        let mut target = Target::of(result, plan.items.bytes)?;
        if operation == Operation::Broadcast {
            // SAFETY: the caller promises that there are m elements.
            unsafe { target.fill() }?;
        }
        // SAFETY: the caller promises what the callee requires.
        Ok((
            unsafe { Moved::of(plan, operation, arrays, &written) }?,
            target,
        ))
    };
    let prepared: Result<_, Failure> = prepare();
    let (mut moved, mut target) = prepared.inspect_err(|_| plan.refuse(operation))?;
    let output = target.output();
    let is_there = match moved.folded {
        Some(items) => {
            let written = places(plan, operation, output, is_mine)?;
            // SAFETY: `output` has m elements that no other code uses: the caller promises them, or they are the target's own.
            let result = unsafe { written[0].write(output.0) };
            let is_there = plan.run_on_device(operation, items, result)?;
            // SAFETY: the caller promises that the pointer points to an int or is NULL.
            unsafe { tell(is_mine, is_there) }?;
            is_there
        }
        None => {
            let arrays = moved.arrays();
            // SAFETY: the caller promises that the arrays have these lengths, and a copy has the length of the array that it replaces.
            unsafe { entry::run_here(plan, operation, arrays, output, is_mine) }?
        }
    };
    // SAFETY: the caller promises that there are m elements, which no other code uses.
    unsafe { target.deliver(is_there) }?;
    Ok(is_there)
}

/// Like [`entry::start`], but on items that may be on a GPU. Only the wait writes the result.
///
/// # Safety
/// The same as for [`entry::start`].
#[cold]
pub(super) unsafe fn start(
    plan: &Shaped,
    name: *const treefold_plan,
    operation: Operation,
    arrays: Arrays,
    result: Output,
    run: *mut *mut treefold_run,
) -> Result<(), Failure> {
    plan.gpu.look();
    if !may_be_there(arrays, ptr::null_mut()) {
        // SAFETY: the caller promises what the callee requires.
        return unsafe { entry::start_here(plan, name, operation, arrays, result, run) };
    }
    let prepare = || {
        let written = start_places(plan, operation, result, run)?;
        // SAFETY: the caller promises what the callee requires.
        unsafe { Moved::of(plan, operation, arrays, &written) }
    };
    let mut moved = prepare().inspect_err(|_| plan.refuse_to_start(operation))?;
    match moved.folded {
        Some(items) => {
            let started = plan.start_on_device(name, operation, items, result)?;
            // SAFETY: the caller promises that there is room for a handle.
            unsafe { entry::write_run(run, started) }
        }
        None => {
            let arrays = moved.arrays();
            // SAFETY: the caller promises that the arrays have these lengths, and a copy has the length of the array that it replaces.
            unsafe { entry::start_here(plan, name, operation, arrays, result, run) }
        }
    }
}

/// Like [`entry::wait`], but for a result that may go to a GPU. The run's plan looked for the driver when the run was started.
///
/// # Safety
/// The same as for [`entry::wait`].
#[cold]
pub(super) unsafe fn wait(run: &Run, result: Output, is_mine: *mut c_int) -> Result<(), Failure> {
    let checked = entry::check_result(run, result, is_mine);
    let target = checked.and_then(|_| Target::of(result, run.items.bytes));
    let mut target = run.or_end(target)?;
    // SAFETY: the caller promises that the array has this length, and a copy has the length of the array that it replaces.
    let is_there = unsafe { entry::wait_here(run, target.output(), is_mine) }?;
    // SAFETY: the caller promises that there are m elements, which no other code uses.
    unsafe { target.deliver(is_there) }
}

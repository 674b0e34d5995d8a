//! Runs a reduction with treefold or, in a check, with both treefold and the MPI library.

use std::any::Any;
use std::ffi::c_int;
use std::panic::{self, AssertUnwindSafe};
use std::slice;
use std::time::Instant;

use crate::boundary::calls::arguments::CallBuffers;
use crate::boundary::calls::count::{count_site, count_taken, elapsed_ns};
use crate::boundary::calls::state::{Inner, State};
use crate::boundary::library::loaded::{Communicator, SUCCESS};
use crate::boundary::process::control::DefaultEnvironment;
use crate::boundary::process::inside::Inside;
use crate::boundary::process::site::site;
use crate::engine::Buffers;
use crate::settings::{Mode, Settings};
use crate::statistics::Counts;
use crate::task::Task;

/// Runs a task, and returns the error code for the program. `library` makes the same call to the MPI library.
///
/// # Safety
/// The buffer that is read has the task's width, the buffer that is written has the task's length, and the buffers do not overlap. A buffer
/// for both has the larger of these sizes.
pub(crate) unsafe fn perform(
    task: &Task,
    places: CallBuffers,
    state: &State,
    comm: Communicator,
    library: &dyn Fn() -> c_int,
) -> c_int {
    let settings = Settings::get();
    if settings.mode == Mode::Check {
        // SAFETY: the caller promises buffers of these sizes.
        return unsafe { check(task, places, state, comm, library) };
    }
    let begin = settings.stats.as_ref().map(|_| Instant::now());
    let (width, length) = (task.width_bytes(), task.length_bytes());
    let buffers = match places {
        CallBuffers::Apart(send, recv) => Buffers::Apart {
            // SAFETY: the caller promises a buffer of this width.
            local: unsafe { slice::from_raw_parts(send.cast(), width) },
            // SAFETY: the caller promises a buffer of this length, which does not overlap `local`.
            result: unsafe { slice::from_raw_parts_mut(recv.cast(), length) },
        },
        CallBuffers::Read(send) => Buffers::Apart {
            // SAFETY: the caller promises a buffer of this width.
            local: unsafe { slice::from_raw_parts(send.cast(), width) },
            result: &mut [],
        },
        CallBuffers::InPlace(buffer) => {
            // SAFETY: the caller promises a buffer of this width, since the result is at most as long as the contribution.
            let buffer = unsafe { slice::from_raw_parts_mut(buffer.cast(), width) };
            Buffers::InPlace(buffer)
        }
    };
    let (outcome, differs) = compute(task, buffers, state, comm);
    if let Some(begin) = begin {
        let counts = Counts {
            treefold_ns: elapsed_ns(begin),
            environments: differs.into(),
            ..Counts::default()
        };
        count_taken(task, counts);
    }
    code_of(outcome, comm)
}

/// Converts an outcome to the code for the program. An error first goes through the communicator's error handler.
#[inline]
pub(crate) fn code_of(outcome: Result<(), String>, comm: Communicator) -> c_int {
    match outcome {
        Ok(()) => SUCCESS,
        Err(message) => comm.raise(&message),
    }
}

/// Reduces with both treefold and the MPI library, and gives the program the MPI library's result.
///
/// # Safety
/// As for [`perform`].
unsafe fn check(
    task: &Task,
    places: CallBuffers,
    state: &State,
    comm: Communicator,
    library: &dyn Fn() -> c_int,
) -> c_int {
    let (input, output) = match places {
        CallBuffers::Apart(send, recv) => (send, Some(recv)),
        CallBuffers::Read(send) => (send, None),
        CallBuffers::InPlace(buffer) => (buffer.cast_const(), Some(buffer)),
    };
    let mut own = vec![0_u8; output.map_or(0, |_| task.length_bytes())];
    // SAFETY: the caller promises a buffer of the task's width.
    let local = unsafe { slice::from_raw_parts(input.cast::<u8>(), task.width_bytes()) };
    let begin = Instant::now();
    let result = &mut own[..];
    let (outcome, differs) = compute(task, Buffers::Apart { local, result }, state, comm);
    let mut counts = Counts {
        treefold_ns: elapsed_ns(begin),
        environments: differs.into(),
        failed: outcome.is_err().into(),
        ..Counts::default()
    };
    let call = state.digests.begin(comm.0, task);
    let begin = Instant::now();
    let code = library();
    counts.library_ns = elapsed_ns(begin);
    if let Some(output) = output.filter(|_| code == SUCCESS) {
        // SAFETY: the caller promises the buffer. The library has written it, and nothing else refers to it.
        let output = unsafe { slice::from_raw_parts(output.cast::<u8>(), task.length_bytes()) };
        if outcome.is_ok() {
            counts.compare(task, output, &own);
        }
        if counts.differing > 0 {
            count_site(task.name(), site().as_deref());
        }
        if let Some(call) = call {
            state.digests.end(call, task.element, output);
        }
    }
    count_taken(task, counts);
    code
}

/// Runs a task with the engine. Also returns whether the thread's floating-point environment differs from the default.
fn compute(
    task: &Task,
    buffers: Buffers<'_>,
    state: &State,
    comm: Communicator,
) -> (Result<(), String>, bool) {
    let run = |inner: &mut Inner| state.engine(inner, comm)?.reduce(task, buffers);
    let (outcome, differs) = guarded(state, run);
    (outcome.flatten(), differs)
}

/// Runs a closure on a communicator's state in the default floating-point environment. Also returns whether the thread's own
/// environment differs from the default. A panic makes this call and all later calls fail.
#[inline]
pub(crate) fn guarded<R>(
    state: &State,
    run: impl FnOnce(&mut Inner) -> R,
) -> (Result<R, String>, bool) {
    let _inside = Inside::enter();
    let environment = DefaultEnvironment::enter();
    let mut inner = state.lock();
    let run = AssertUnwindSafe(|| run(&mut inner));
    let outcome = panic::catch_unwind(run).map_err(|payload| {
        let message = format!("the reduction panicked: {}", text_of(&*payload));
        inner.fail(&message);
        message
    });
    (outcome, environment.differs())
}

fn text_of(payload: &(dyn Any + Send)) -> &str {
    let literal = payload.downcast_ref::<&str>().copied();
    let text = || payload.downcast_ref::<String>().map(String::as_str);
    literal.or_else(text).unwrap_or("no message")
}

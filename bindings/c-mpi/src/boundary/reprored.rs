//! The functions of `binary_tree_summation.h`, in the header's order. Here their names have a prefix; `libtreefold_reprored` exports them
//! under the header's names.

use std::cell::{Cell, RefCell};
use std::ffi::{c_char, c_int};
use std::process;
use std::rc::Rc;
use std::slice;

use treefold::World;
use treefold_c::boundary::guard;
use treefold_c::failure::{Code, Failure};

use super::library;
use crate::handle;
use crate::reprored::{self, Context};

pub use crate::reprored::ReductionContext;

/// Runs the body of a function. An error ends the program, since the interface cannot return it.
fn or_abort<R>(call: &str, body: impl FnOnce() -> Result<R, Failure>) -> R {
    let mut result = None;
    let status = guard(|| {
        result = Some(body()?);
        Ok(())
    });
    let reason = match result {
        Some(result) => return result,
        None => treefold_c::boundary::last_error(),
    };
    debug_assert_ne!(status, Code::Ok as i32, "a successful call has a result");
    let rank = library::world_rank();
    let rank = rank.map_or_else(String::new, |rank| format!("rank {rank}: "));
    treefold::mpi::abort(1, &format!("{rank}{call}: {reason}"));
    process::abort()
}

thread_local! {
    /// The communicator of contexts that are created without one: MPI_COMM_WORLD, unless the program has chosen another one.
    static DEFAULT: Cell<Option<usize>> = const { Cell::new(None) };
    /// The duplicate of MPI_COMM_WORLD. It is kept, because programs create many contexts and each duplication would take time.
    static WORLD: RefCell<Option<World>> = const { RefCell::new(None) };
}

/// The ranks of a communicator that the program passes as a number, or all ranks if the program passes no number. Collective.
///
/// # Safety
/// The number is the handle of one of the program's communicators.
unsafe fn world_of(communicator: Option<usize>) -> Result<World, Failure> {
    if let Some(number) = communicator {
        // SAFETY: the caller promises that the handle is a communicator.
        return unsafe { library::duplicate_number(number) }.map(|comm| comm.world);
    }
    let known = WORLD.try_with(|known| known.borrow().clone());
    if let Some(world) = known.ok().flatten() {
        return Ok(world);
    }
    let world = library::duplicate_world()?.world;
    // A thread that is about to end has no thread-local storage any more.
    let _ = WORLD.try_with(|known| *known.borrow_mut() = Some(world.clone()));
    Ok(world)
}

/// Creates a context. Collective.
///
/// # Safety
/// The number is the handle of one of the program's communicators.
unsafe fn new_context(
    call: &str,
    (start, count): (c_int, c_int),
    communicator: Option<usize>,
) -> *mut ReductionContext {
    or_abort(call, || {
        // SAFETY: the caller promises that the handle is a communicator.
        let world = unsafe { world_of(communicator) }?;
        handle::name(Rc::new(Context::new(&world, start, count)?))
    })
}

/// Sets the communicator of contexts that are created later.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_reprored_set_default_reduction_context_communicator(
    communicator: usize,
) {
    DEFAULT.set(Some(communicator));
}

/// Creates a context on the default communicator. Collective.
///
/// # Safety
/// If the program has set a default communicator, it is still a communicator.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_reprored_new_reduction_context(
    global_start_idx: c_int,
    local_summands: c_int,
) -> *mut ReductionContext {
    let numbers = (global_start_idx, local_summands);
    // SAFETY: the caller promises that the handle is a communicator.
    unsafe { new_context("new_reduction_context", numbers, DEFAULT.get()) }
}

/// Creates a context on a communicator. Collective.
///
/// # Safety
/// `communicator` is the handle of one of the program's communicators.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_reprored_new_reduction_context_comm(
    global_start_idx: c_int,
    local_summands: c_int,
    communicator: usize,
) -> *mut ReductionContext {
    let numbers = (global_start_idx, local_summands);
    // SAFETY: the caller promises that the handle is a communicator.
    unsafe { new_context("new_reduction_context_comm", numbers, Some(communicator)) }
}

/// Creates a context on a communicator. Collective.
///
/// # Safety
/// `communicator` is the handle of one of the program's communicators.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn treefold_reprored_new_reduction_context_comm_k(
    global_start_idx: c_int,
    local_summands: c_int,
    communicator: usize,
    _k: c_int,
) -> *mut ReductionContext {
    let numbers = (global_start_idx, local_summands);
    // SAFETY: the caller promises that the handle is a communicator.
    unsafe { new_context("new_reduction_context_comm_k", numbers, Some(communicator)) }
}

/// Sets one of this rank's numbers.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_reprored_store_summand(
    context: *mut ReductionContext,
    local_idx: u64,
    value: f64,
) {
    or_abort("store_summand", || {
        let context = handle::object(context)?;
        let numbers = &context.buffer().0;
        let index = usize::try_from(local_idx).ok();
        let number = index.and_then(|index| numbers.get(index)).ok_or_else(|| {
            let count = numbers.len();
            Failure::argument(
                "local_idx",
                format_args!("{local_idx} is not less than {count}"),
            )
        })?;
        number.set(value);
        Ok(())
    });
}

/// Returns the sum of all ranks' numbers. Collective.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_reprored_reproducible_reduce(context: *mut ReductionContext) -> f64 {
    or_abort("reproducible_reduce", || {
        let context = handle::object(context)?;
        let buffer = context.buffer();
        // SAFETY: the buffer lives as long as `context`, and no thread writes to it: the program has promised to write only between calls,
        // and this thread is in a call.
        let numbers = unsafe { slice::from_raw_parts(buffer.pointer(), buffer.0.len()) };
        context.reduce(numbers)
    })
}

/// Returns the address of this rank's numbers.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_reprored_get_reduction_buffer(
    context: *mut ReductionContext,
) -> *mut f64 {
    or_abort("get_reduction_buffer", || {
        Ok(handle::object(context)?.buffer().pointer())
    })
}

/// Destroys a context; NULL is not an error.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_reprored_free_reduction_context(context: *mut ReductionContext) {
    if !context.is_null() {
        or_abort("free_reduction_context", || handle::end(context).map(drop));
    }
}

/// Returns the name of the order in which sums are computed.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_reprored_get_reproducible_reduction_mode() -> *const c_char {
    c"TREEFOLD".as_ptr()
}

/// Returns how many reductions this process has run.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_reprored_get_reproducible_reduction_counter() -> u64 {
    reprored::reductions()
}

/// Waits for a debugger if `wait` is true.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_reprored_attach_debugger(wait: bool) {
    if wait {
        reprored::await_debugger();
    }
}

/// Waits for a debugger on the rank that the environment variable DEBUG_MPI_RANK names.
#[unsafe(no_mangle)]
pub extern "C" fn treefold_reprored_attach_debugger_env() {
    if reprored::debugged_rank().is_some_and(|rank| library::world_rank() == Some(rank)) {
        reprored::await_debugger();
    }
}

//! The threads of this process that reduce together.

use std::process;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::{Code, Failure};

/// Threads, and the process that started them. A child of it, made by `fork`, has none of them, and must start its own.
struct Pool {
    process: u32,
    threads: ThreadPool,
}

/// The pool that was built last. No lock guards it: one that another thread held during a `fork` would never be free in the child.
static POOL: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

/// The threads of this process: as many as rayon takes by default, which `RAYON_NUM_THREADS` sets. The first call starts them.
///
/// # Errors
/// They cannot be started.
pub(crate) fn threads() -> Result<&'static ThreadPool, Failure> {
    let process = process::id();
    let known = POOL.load(Ordering::Acquire);
    // SAFETY: it is null, or was a `Box` that `start` has published and nobody frees.
    match unsafe { known.as_ref() } {
        Some(pool) if pool.process == process => Ok(&pool.threads),
        _ => start(process, known),
    }
}

/// Starts the threads of this process in place of those that are known, unless another thread is faster.
#[cold]
fn start(process: u32, known: *mut Pool) -> Result<&'static ThreadPool, Failure> {
    let built = ThreadPoolBuilder::new().build();
    let threads = built.map_err(|error| {
        let message = format!("the threads of the pool cannot be started: {error}");
        Failure::new(Code::Memory, message)
    })?;
    let own = Box::into_raw(Box::new(Pool { process, threads }));
    // A pool of the parent's is forgotten: there are no threads here that could be ended.
    let published = POOL.compare_exchange(known, own, Ordering::AcqRel, Ordering::Acquire);
    let pool = published.map_or_else(
        |faster| {
            // SAFETY: it is the `Box` made above, which nobody else has seen.
            drop(unsafe { Box::from_raw(own) });
            faster
        },
        |_| own,
    );
    // SAFETY: not null, as it was just made or has replaced `known`, and nobody frees what is published.
    Ok(unsafe { &(*pool).threads })
}

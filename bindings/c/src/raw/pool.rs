//! The thread pools of this process: one for each requested number of threads.

use std::process;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::{Code, Failure};

/// The threads of a pool, and the process that started them. A child made by `fork` has none of these threads, and must start its own.
struct Pool {
    process: u32,
    /// The requested number of threads; 0 for one per core.
    asked: usize,
    threads: ThreadPool,
    /// The pool that was built before this one.
    before: *mut Pool,
}

/// The pool that was built last. No lock guards it, since a lock that another thread holds during a `fork` is never released in the child.
static LAST: AtomicPtr<Pool> = AtomicPtr::new(ptr::null_mut());

/// The pool of `asked` threads. 0 means rayon's default number, which `RAYON_NUM_THREADS` sets. The first call starts the threads.
///
/// # Errors
/// The threads cannot be started.
pub(crate) fn threads(asked: usize) -> Result<&'static ThreadPool, Failure> {
    let last = LAST.load(Ordering::Acquire);
    find(last, asked).map_or_else(|| start(last, asked), Ok)
}

/// The pool of `asked` threads, if this process has started it.
fn find(last: *mut Pool, asked: usize) -> Option<&'static ThreadPool> {
    let process = process::id();
    let mut place = last;
    // SAFETY: each pointer is null, or was a `Box` that `start` has published and that is never freed.
    while let Some(pool) = unsafe { place.as_ref() } {
        if (pool.process, pool.asked) == (process, asked) {
            return Some(&pool.threads);
        }
        place = pool.before;
    }
    None
}

/// Starts a pool, unless another thread has already published one of this size.
#[cold]
fn start(last: *mut Pool, asked: usize) -> Result<&'static ThreadPool, Failure> {
    let built = ThreadPoolBuilder::new().num_threads(asked).build();
    let threads = built.map_err(|error| {
        let message = format!("the threads of the pool could not be started: {error}");
        Failure::new(Code::Memory, message)
    })?;
    let mut own = Box::new(Pool {
        process: process::id(),
        asked,
        threads,
        before: last,
    });
    loop {
        let place = Box::into_raw(own);
        // SAFETY: `place` is the `Box` made above, which no other thread has seen.
        let before = unsafe { (*place).before };
        match LAST.compare_exchange(before, place, Ordering::AcqRel, Ordering::Acquire) {
            // SAFETY: `place` is not null, and a published pool is never freed.
            Ok(_) => return Ok(unsafe { &(*place).threads }),
            Err(faster) => {
                // SAFETY: as above, since `place` was not published.
                own = unsafe { Box::from_raw(place) };
                if let Some(threads) = find(faster, asked) {
                    return Ok(threads);
                }
                own.before = faster;
            }
        }
    }
}

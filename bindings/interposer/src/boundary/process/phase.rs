//! The phase of this process: whether a call was seen, and whether MPI_Finalize has begun.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
static HAS_INIT: AtomicBool = AtomicBool::new(false);
static IS_OVER: AtomicBool = AtomicBool::new(false);

#[inline]
pub(crate) fn is_over() -> bool {
    IS_OVER.load(Ordering::Relaxed)
}

/// Whether a call was seen. If so, the end of MPI will be detected.
#[inline]
pub(crate) fn is_registered() -> bool {
    IS_REGISTERED.load(Ordering::Acquire)
}

/// Records that a call was seen. Returns whether an earlier call was seen.
pub(crate) fn set_registered() -> bool {
    IS_REGISTERED.swap(true, Ordering::AcqRel)
}

/// Records that MPI_Finalize has begun.
pub(crate) fn set_over() {
    IS_OVER.store(true, Ordering::Relaxed);
}

/// Records that the program initialised MPI through this library.
pub(crate) fn set_init() {
    HAS_INIT.store(true, Ordering::Relaxed);
}

/// Whether the program initialised MPI through this library.
pub(crate) fn has_init() -> bool {
    HAS_INIT.load(Ordering::Relaxed)
}

//! The phase of this process: whether this library has seen a call, and whether MPI_Finalize has begun.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
static HAS_INIT: AtomicBool = AtomicBool::new(false);
static IS_OVER: AtomicBool = AtomicBool::new(false);

#[inline]
pub(crate) fn is_over() -> bool {
    IS_OVER.load(Ordering::Relaxed)
}

/// Whether this library has seen a call. If so, it will detect MPI_Finalize.
#[inline]
pub(crate) fn is_registered() -> bool {
    IS_REGISTERED.load(Ordering::Acquire)
}

/// Records that this library has seen a call. Returns whether it had seen an earlier call.
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

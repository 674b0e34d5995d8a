//! How far this process has come: whether a call was seen, and whether MPI_Finalize has begun.

use std::sync::atomic::{AtomicBool, Ordering};

static IS_REGISTERED: AtomicBool = AtomicBool::new(false);
static HAS_INIT: AtomicBool = AtomicBool::new(false);
static IS_OVER: AtomicBool = AtomicBool::new(false);

/// Whether MPI_Finalize has begun.
#[inline]
pub(crate) fn is_over() -> bool {
    IS_OVER.load(Ordering::Relaxed)
}

/// Whether MPI was asked to tell the end: a call was seen.
#[inline]
pub(crate) fn is_registered() -> bool {
    IS_REGISTERED.load(Ordering::Acquire)
}

/// A call was seen; says whether one was seen before.
pub(crate) fn set_registered() -> bool {
    IS_REGISTERED.swap(true, Ordering::AcqRel)
}

/// MPI_Finalize has begun.
pub(crate) fn set_over() {
    IS_OVER.store(true, Ordering::Relaxed);
}

/// The program has initialised MPI by a function of this library's.
pub(crate) fn set_init() {
    HAS_INIT.store(true, Ordering::Relaxed);
}

/// Whether it has.
pub(crate) fn has_init() -> bool {
    HAS_INIT.load(Ordering::Relaxed)
}

//! Whether a thread is inside a treefold reduction, whose own MPI calls go to the MPI library.

use std::cell::Cell;

thread_local! {
    /// Whether this thread is inside a treefold reduction.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// While this value lives, the thread is inside a treefold reduction.
pub(crate) struct Inside;

impl Inside {
    #[inline]
    pub(crate) fn enter() -> Self {
        IS_INSIDE.set(true);
        Self
    }
}

impl Drop for Inside {
    #[inline]
    fn drop(&mut self) {
        IS_INSIDE.set(false);
    }
}

/// Whether this thread is inside a treefold reduction.
#[inline]
pub(crate) fn is_inside() -> bool {
    IS_INSIDE.get()
}

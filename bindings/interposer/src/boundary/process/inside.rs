//! Whether a thread is in a reduction of treefold's: its own calls of MPI are the library's.

use std::cell::Cell;

thread_local! {
    /// Whether this thread is in a reduction of treefold's.
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// As long as it lives, this thread is in one.
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

/// Whether this thread is in one.
#[inline]
pub(crate) fn is_inside() -> bool {
    IS_INSIDE.get()
}

//! The functions of `treefold.h`. Only this module and [`raw`](crate::raw) dereference pointers.
//!
//! A C program promises what `treefold.h` requires: a pointer with a length is valid for that number of elements during the call, and no
//! other thread writes to these elements meanwhile. The functions return an error for violations that they can detect: NULL, a length
//! beyond the address space, a misaligned address, and arrays that overlap.

#![expect(
    unsafe_code,
    reason = "C programs pass pointers; each block says what the caller promises"
)]

#[cfg(feature = "local")]
pub mod accumulators;
#[cfg(feature = "local")]
pub mod aggregates;
mod arrays;
#[cfg(feature = "local")]
pub mod exact;
mod held;
pub mod keyed;
pub mod library;
#[cfg(feature = "local")]
mod placed;
#[cfg(feature = "local")]
pub mod team;
#[cfg(feature = "local")]
pub mod tree;

use std::panic::{self, AssertUnwindSafe};

use crate::failure::{self, Code, Failure, Status};

pub use crate::accumulator::treefold_accumulator;
pub use crate::keyed::treefold_keyed;
pub use arrays::{KeysInput, keys_of};

/// Runs the body of a C function, stores its error for `treefold_last_error`, and catches panics.
#[inline]
pub fn guard(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    // After a panic, no half-changed object is used again: a plan is spent, and other objects can only be destroyed, as `treefold.h` says.
    match panic::catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => Code::Ok as Status,
        Ok(Err(failure)) => keep(&failure),
        Err(payload) => keep(&Failure::of_panic(payload.as_ref())),
    }
}

/// Keeps a failure as this thread's last error, and returns its code.
#[cold]
fn keep(failure: &Failure) -> Status {
    let (rank, message) = failure.in_c();
    failure::keep(rank, &message);
    failure.code as Status
}

/// The message of this thread's last failure.
pub fn last_error() -> String {
    failure::last_text()
}

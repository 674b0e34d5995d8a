//! The functions of `treefold.h`: they follow pointers, as only [`raw`](crate::raw) does beside them.
//!
//! What a C program promises is written in `treefold.h`: a pointer with a length is valid for so many elements during the call, and no
//! other thread writes to them meanwhile. What can be seen of a broken promise is an error: NULL, a length beyond the address
//! space, an address that no such element can have, arrays that overlap.

#![expect(
    unsafe_code,
    reason = "C programs pass pointers; each block says what their promise is"
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

/// Runs what a function does: keeps its error for `treefold_last_error`, and stops panics.
#[inline]
pub fn guard(body: impl FnOnce() -> Result<(), Failure>) -> Status {
    // Nothing that the body has touched is left half changed: a plan whose run panicked is spent, and all else is made anew.
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

/// What this thread's last failure said.
pub fn last_error() -> String {
    failure::last_text()
}

//! What crate `treefold-c-mpi` does with the states by key that a program holds.

use std::any::Any;

use crate::failure::Failure;
use crate::handle;
use crate::keyed::treefold_keyed;

/// Lets `body` change the state of a handle, which is a `Keyed<Sum<f64>>` or the like. If it fails, it leaves the state as it was.
///
/// # Errors
/// The handle names no state; another thread uses it; or those of `body`.
pub fn change<R>(
    keyed: *const treefold_keyed,
    body: impl FnOnce(&mut dyn Any) -> Result<R, Failure>,
) -> Result<R, Failure> {
    handle::change(keyed, |held| body(held.as_mut()))
}

/// A state that a plan or a run does not take.
pub fn of_another_type() -> Failure {
    Failure::argument(
        "keyed",
        "it is of another type, or holds something else, than the plan",
    )
}

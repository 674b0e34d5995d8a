//! What crate `treefold-c-mpi` does with the states by key that a program holds.

use std::any::Any;

use crate::failure::Failure;
use crate::handle;
use crate::keyed::treefold_keyed;

/// Lets `body` change the state of a handle, which is a `KeyedSums` or the like. If it fails, it leaves the state as it was.
///
/// # Errors
/// The handle names no state, or one of another kind; another thread uses it; or those of `body`.
pub fn change<A: Any, R>(
    keyed: *const treefold_keyed,
    body: impl FnOnce(&mut A) -> Result<R, Failure>,
) -> Result<R, Failure> {
    handle::change(keyed, |held| {
        let any: &mut dyn Any = held.as_mut();
        let state = any.downcast_mut::<A>();
        body(state.ok_or_else(|| {
            Failure::argument("keyed", "it is of another type or figure than the plan")
        })?)
    })
}

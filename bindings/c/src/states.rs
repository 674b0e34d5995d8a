//! Access to a program's states by key for crate `treefold-c-mpi`.

use std::any::Any;

use crate::failure::{Code, Failure};
use crate::handle;
use crate::keyed::treefold_keyed;

/// Calls `body` with the state that a handle names, such as a `Keyed<Sum<f64>>`. If `body` fails, it must leave the state unchanged.
///
/// # Errors
/// The handle names no state, another thread is using the state, or `body` fails.
pub fn change<R>(
    keyed: *const treefold_keyed,
    body: impl FnOnce(&mut dyn Any) -> Result<R, Failure>,
) -> Result<R, Failure> {
    handle::change(keyed, |held| {
        if held.width() > 1 {
            let message = format!(
                "`keyed` is {}: plans do not accept states of rows",
                held.name()
            );
            return Err(Failure::new(Code::Unsupported, message));
        }
        body(held.as_mut())
    })
}

/// The failure for a state that a plan does not accept.
pub fn of_another_type() -> Failure {
    Failure::argument(
        "keyed",
        "it must have the plan's type and hold the sums of the plan's statistic",
    )
}

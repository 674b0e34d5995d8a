//! A plan in a program, whatever its type.

use reduce::Operation;

use super::flight::Polls;
use super::outcome::Outcome;

/// What a program does with a plan, whatever its type.
pub(super) trait Slot {
    /// A blocking call. `surplus` more elements are passed than planned.
    fn call(&mut self, operation: Operation, step: usize, surplus: usize) -> Outcome;

    /// A blocking allreduce in which this rank takes the items of the step for products.
    fn call_of_products(&mut self, _step: usize) -> Outcome {
        unreachable!("the plan is of no items")
    }

    /// Starts a run, on the items of the step. A run that is still in flight is given up.
    fn start(&mut self, operation: Operation, step: usize, surplus: usize) -> Outcome;

    /// Tests the run in flight, if there is one.
    fn test(&self) -> Outcome;

    /// Waits for the run in flight, if there is one.
    fn wait(&mut self, polls: Polls) -> Outcome;

    /// Gives the run in flight up, if there is one.
    fn give_up(&mut self);
}

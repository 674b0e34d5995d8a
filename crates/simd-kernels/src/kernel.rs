//! A computation that is written once and compiled for every instruction set.

use crate::vector::{Combine, Proven, Vector};

/// What the doors of the instruction sets compile: `run`, inlined into a function that has the set's instructions.
pub(crate) trait Kernel<T> {
    /// What it computes.
    type Output;

    /// The result for so little input that setting `run` up would cost more than it saves; `None` of more input.
    fn few<O: Combine<T>>(&mut self) -> Option<Self::Output> {
        None
    }

    /// The result, in registers `V`. Every implementation is `#[inline(always)]`: code that is not inlined does not have
    /// the set's instructions.
    fn run<V: Vector<Element = T>, O: Combine<T>>(self, proven: Proven<V>) -> Self::Output;
}

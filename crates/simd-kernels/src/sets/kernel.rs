//! A computation that is written once and compiled for each instruction set.

use crate::sets::vector::{Combine, Proven, Vector};

/// The entry points of the instruction sets compile `compute`, inlined into a function with the instructions of the set.
pub(crate) trait Kernel<T> {
    /// The result.
    type Output;

    /// The result for short input, for which the set-up of `compute` would cost more than it saves; `None` for longer input.
    fn few<O: Combine<T>>(&mut self) -> Option<Self::Output> {
        None
    }

    /// The result, computed in registers `V`. Every implementation must be `#[inline(always)]`: code that is not inlined is
    /// compiled without the instructions of the set.
    fn compute<V: Vector<Element = T>, O: Combine<T>>(self, proven: Proven<V>) -> Self::Output;
}

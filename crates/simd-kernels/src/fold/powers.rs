//! Represents powers of two by types, so that the compiler unrolls a recursion over halves.

use core::marker::PhantomData;

/// A power of two.
pub(crate) trait PowerOfTwo {
    /// The binary logarithm of the power.
    const LOG2: u32;
}

/// The power of two 1.
pub(crate) struct One;

/// Twice the power of two `P`.
pub(crate) struct Twice<P>(PhantomData<P>);

pub(crate) type Two = Twice<One>;
pub(crate) type Four = Twice<Two>;
pub(crate) type Eight = Twice<Four>;
pub(crate) type Sixteen = Twice<Eight>;
pub(crate) type ThirtyTwo = Twice<Sixteen>;

impl PowerOfTwo for One {
    const LOG2: u32 = 0;
}

impl<P: PowerOfTwo> PowerOfTwo for Twice<P> {
    const LOG2: u32 = P::LOG2 + 1;
}

//! Defines kernels: computations that are written once and compiled for each instruction set.

use crate::sets::vector::{Combine, Proven, Vector};

/// A computation. The entry point of each instruction set inlines `compute` into a function that is compiled with the set's instructions.
pub(crate) trait Kernel<T> {
    /// The type of the result.
    type Output;

    /// The sets for which the kernel is compiled.
    const FOR: For = For::ALL;

    /// The result for short inputs, where setting up `compute` would cost more than it saves; `None` for longer inputs.
    fn few<O: Combine<T>>(&mut self) -> Option<Self::Output> {
        None
    }

    /// The result, computed in registers `V`. Every implementation must be `#[inline(always)]`, because code that is not inlined is
    /// compiled without the instructions of the set.
    fn compute<V: Vector<Element = T>, O: Combine<T>>(self, proven: Proven<V>) -> Self::Output;
}

/// The sets for which a kernel is compiled, because it was measured to be faster there. At other sets, the code of a narrower set runs.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(dead_code, reason = "other architectures have one vector set")
)]
pub(crate) struct For {
    /// Plain Rust. Without it, the kernel must not be run at [`Level::SCALAR`](crate::Level::SCALAR).
    pub(crate) scalar: bool,
    /// SSE2's registers of two doubles. Without them, plain Rust runs, four doubles at a time.
    pub(crate) two_doubles: bool,
    /// AVX-512's registers of 64 bytes. Without them, the code of AVX2 runs.
    pub(crate) long_registers: bool,
}

impl For {
    pub(crate) const ALL: Self = Self {
        scalar: true,
        two_doubles: true,
        long_registers: true,
    };
}

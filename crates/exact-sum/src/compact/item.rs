//! Numbers that states take.

use crate::number::fixed::integer;

/// A double, or an integer that is taken as it is.
pub trait CompactItem: Copy + sealed::Sealed {}

pub(crate) mod sealed {
    /// What other crates cannot call.
    pub trait Sealed: Copy {
        const IS_INTEGER: bool;

        /// An integer and the exponent of its unit; of what is not finite, anything.
        fn parts(self) -> (i64, i32);

        /// It as a double, if it is not finite.
        fn special(self) -> Option<f64>;
    }
}

impl CompactItem for f64 {}

impl sealed::Sealed for f64 {
    const IS_INTEGER: bool = false;

    #[inline(always)]
    fn parts(self) -> (i64, i32) {
        integer(self)
    }

    #[inline(always)]
    fn special(self) -> Option<f64> {
        (!self.is_finite()).then_some(self)
    }
}

impl CompactItem for i64 {}

impl sealed::Sealed for i64 {
    const IS_INTEGER: bool = true;

    #[inline(always)]
    fn parts(self) -> (i64, i32) {
        (self, 0)
    }

    #[inline(always)]
    fn special(self) -> Option<f64> {
        None
    }
}

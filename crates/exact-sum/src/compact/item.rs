//! Defines the items of compact states: doubles and integers.

use crate::number::fixed::integer;

/// A double or an integer. Integers are not converted to doubles. Add only doubles, or only integers, to a column of a state.
pub trait CompactItem: Copy + sealed::ItemParts {}

pub(crate) mod sealed {
    /// Methods that other crates cannot call.
    pub trait ItemParts: Copy {
        /// Whether the item is an integer.
        fn is_integer(self) -> bool;

        /// The integer and the exponent of the item integer * 2^exponent. Both are arbitrary if the item is not finite.
        fn parts(self) -> (i64, i32);

        /// The item as a double, if it is not finite.
        fn special(self) -> Option<f64>;
    }
}

impl CompactItem for f64 {}

impl sealed::ItemParts for f64 {
    #[inline(always)]
    fn is_integer(self) -> bool {
        false
    }

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

impl sealed::ItemParts for i64 {
    #[inline(always)]
    fn is_integer(self) -> bool {
        true
    }

    #[inline(always)]
    fn parts(self) -> (i64, i32) {
        (self, 0)
    }

    #[inline(always)]
    fn special(self) -> Option<f64> {
        None
    }
}

/// An item of a column whose type is known only at run time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CompactNumber {
    /// A double.
    Double(f64),
    /// An integer.
    Integer(i64),
}

impl CompactItem for CompactNumber {}

impl sealed::ItemParts for CompactNumber {
    #[inline(always)]
    fn is_integer(self) -> bool {
        matches!(self, Self::Integer(_))
    }

    #[inline(always)]
    fn parts(self) -> (i64, i32) {
        match self {
            Self::Double(item) => item.parts(),
            Self::Integer(item) => item.parts(),
        }
    }

    #[inline(always)]
    fn special(self) -> Option<f64> {
        match self {
            Self::Double(item) => item.special(),
            Self::Integer(_) => None,
        }
    }
}

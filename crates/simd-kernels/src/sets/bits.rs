//! Defines operations on the bits of floats.

/// A float whose bits can be combined.
pub(crate) trait Bits: Copy {
    fn or(self, other: Self) -> Self;
    fn xor(self, other: Self) -> Self;
    /// The difference of the bits as integers, wrapping.
    fn less(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    /// All bits set if the float is zero, otherwise none.
    fn is_zero(self) -> Self;
    /// The absolute value.
    fn magnitude(self) -> Self;
}

macro_rules! bits {
    ($($float:ident),+) => {$(
        impl Bits for $float {
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                Self::from_bits(self.to_bits() | other.to_bits())
            }

            #[inline(always)]
            fn xor(self, other: Self) -> Self {
                Self::from_bits(self.to_bits() ^ other.to_bits())
            }

            #[inline(always)]
            fn less(self, other: Self) -> Self {
                Self::from_bits(self.to_bits().wrapping_sub(other.to_bits()))
            }

            #[inline(always)]
            fn and(self, other: Self) -> Self {
                Self::from_bits(self.to_bits() & other.to_bits())
            }

            #[inline(always)]
            fn is_zero(self) -> Self {
                Self::from_bits(if self == 0.0 { !0 } else { 0 })
            }

            #[inline(always)]
            fn magnitude(self) -> Self {
                self.abs()
            }
        }
    )+};
}

bits!(f32, f64);

//! Implements the operations that are the same for the registers of SSE2 and AVX2.

/// Defines the lane-by-lane methods of a [`Vector`](crate::sets::vector::Vector), given the names of their intrinsics.
macro_rules! lane_by_lane {
    (
        $feature:tt, $float:ty, $load:ident, $store:ident, $add:ident, $multiply:ident,
        $min:ident, $max:ident, $and:ident, $or:ident, $xor:ident, $and_not:ident, $set1:ident, $subtract:ident,
        $subtract_bits:ident, $equal:expr, $unordered:expr
    ) => {
        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn load(from: *const $float) -> Self {
            // SAFETY: the caller guarantees that as many elements as a register holds may be read from `from`.
            unsafe { $load(from) }
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn store(self, to: *mut $float) {
            // SAFETY: the caller guarantees that as many elements as a register holds may be written to `to`.
            unsafe { $store(to, self) }
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn add(self, other: Self) -> Self {
            $add(self, other)
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn multiply(self, other: Self) -> Self {
            $multiply(self, other)
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn minimum(self, other: Self) -> Self {
            // MINPS returns its second operand for NaNs and for zeros of different sign, so one order can lose a NaN or a -0.
            // The OR of both orders keeps them.
            $or($min(self, other), $min(other, self))
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn maximum(self, other: Self) -> Self {
            // The AND of both orders keeps +0 but can lose a NaN. The mask of unordered lanes, all ones, is a NaN and restores it.
            let and = $and($max(self, other), $max(other, self));
            $or(and, $unordered(self, other))
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn absolute(self) -> Self {
            // -0.0 has only the sign bit set.
            $and_not($set1(-0.0), self)
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn subtract(self, other: Self) -> Self {
            $subtract(self, other)
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn or(self, other: Self) -> Self {
            $or(self, other)
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn or_different(self, a: Self, b: Self) -> Self {
            $or(self, $xor(a, b))
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn subtract_bits(self, other: Self) -> Self {
            $subtract_bits(self, other)
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn and(self, other: Self) -> Self {
            $and(self, other)
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn are_zero(self) -> Self {
            $equal(self, $set1(0.0))
        }
    };
}
pub(crate) use lane_by_lane;

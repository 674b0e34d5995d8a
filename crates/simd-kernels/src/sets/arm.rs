//! NEON, which has 128-bit registers of two doubles or four floats.
//!
//! FADDP adds neighbours in two registers, which is one level of the tree, so a sum in tree order takes as many additions as any other sum.

#![expect(
    unsafe_code,
    reason = "vector instructions require target features, and loads take pointers"
)]

use core::arch::aarch64::*;
use core::arch::asm;

use crate::sets::instruction_set::{subtree_sums8, vector_level};
use crate::sets::vector::Vector;

vector_level!(
    Neon,
    "neon",
    ["neon"],
    is_aarch64_feature_detected,
    float64x2_t,
    float32x4_t
);

subtree_sums8!(Neon, "neon", f64, subtree_sums8_f64, subtree_sum8_f64);
subtree_sums8!(Neon, "neon", f32, subtree_sums8_f32, subtree_sum8_f32);

/// ```text
/// x0 x1   x2 x3   x4 x5   x6 x7        four registers
/// level 1   x01 x23   x45 x67
/// level 2   x0123 x4567
/// level 3   x01234567
/// ```
#[target_feature(enable = "neon")]
#[inline]
fn subtree_sum8_f64(leaves: &[f64; 8]) -> f64 {
    let (pairs, _) = leaves.as_chunks::<2>();
    let left = add_pairs_f64(load2(&pairs[0]), load2(&pairs[1]));
    let right = add_pairs_f64(load2(&pairs[2]), load2(&pairs[3]));
    vpaddd_f64(add_pairs_f64(left, right))
}

/// ```text
/// x0 x1 x2 x3   x4 x5 x6 x7            two registers
/// level 1   x01 x23 x45 x67
/// level 2   x0123 x4567 ..
/// level 3   x01234567
/// ```
#[target_feature(enable = "neon")]
#[inline]
fn subtree_sum8_f32(leaves: &[f32; 8]) -> f32 {
    let (quads, _) = leaves.as_chunks::<4>();
    let level1 = add_pairs_f32(load4(&quads[0]), load4(&quads[1]));
    let level2 = add_pairs_f32(level1, level1);
    vpadds_f32(vget_low_f32(level2))
}

#[target_feature(enable = "neon")]
#[inline]
fn load2(pair: &[f64; 2]) -> float64x2_t {
    // SAFETY: the pointer comes from a reference to two doubles, whose own alignment suffices.
    unsafe { vld1q_f64(pair.as_ptr()) }
}

#[target_feature(enable = "neon")]
#[inline]
fn load4(quad: &[f32; 4]) -> float32x4_t {
    // SAFETY: the pointer comes from a reference to four floats, whose own alignment suffices.
    unsafe { vld1q_f32(quad.as_ptr()) }
}

/// (a0 + a1, b0 + b1).
///
/// This is inline assembly, because the compiler treats the intrinsic as an addition of even and odd lanes. If the operands are in memory,
/// the compiler loads even and odd lanes with LD2, which has no form with an offset and is slower than two plain loads on most processors.
#[target_feature(enable = "neon")]
#[inline]
fn add_pairs_f64(a: float64x2_t, b: float64x2_t) -> float64x2_t {
    let sums;
    // SAFETY: FADDP is part of NEON; it reads two registers, writes one, and has no other effect.
    unsafe {
        asm!("faddp {:v}.2d, {:v}.2d, {:v}.2d", lateout(vreg) sums, in(vreg) a, in(vreg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    sums
}

/// (a0 + a1, a2 + a3, b0 + b1, b2 + b3), in assembly for the reason given at [`add_pairs_f64`].
#[target_feature(enable = "neon")]
#[inline]
fn add_pairs_f32(a: float32x4_t, b: float32x4_t) -> float32x4_t {
    let sums;
    // SAFETY: FADDP is part of NEON; it reads two registers, writes one, and has no other effect.
    unsafe {
        asm!("faddp {:v}.4s, {:v}.4s, {:v}.4s", lateout(vreg) sums, in(vreg) a, in(vreg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    sums
}

/// Implements [`Vector`] for a register, given the names of its intrinsics.
macro_rules! vector {
    (
        $vector:ty, $float:ty, $lanes:literal, $load:ident, $store:ident, $add:ident, $multiply:ident, $min:ident, $max:ident,
        $abs:ident, $subtract:ident, $bits:ident, $from_bits:ident, $or:ident, $xor:ident, $less:ident, $and:ident, $is_zero:ident, $add_pairs:ident, $min_pairs:ident,
        $max_pairs:ident, $even:ident, $odd:ident, $($fused:item),*
    ) => {
        // SAFETY: all methods use only NEON.
        unsafe impl Vector for $vector {
            type Element = $float;
            const LANES: usize = $lanes;

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn load(from: *const $float) -> Self {
                // SAFETY: the caller guarantees that as many elements as a register holds may be read from `from`.
                unsafe { $load(from) }
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn store(self, to: *mut $float) {
                // SAFETY: the caller guarantees that as many elements as a register holds may be written to `to`.
                unsafe { $store(to, self) }
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn add(self, other: Self) -> Self {
                $add(self, other)
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn multiply(self, other: Self) -> Self {
                $multiply(self, other)
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn minimum(self, other: Self) -> Self {
                // FMIN, not FMINNM: FMIN returns NaN if an operand is NaN, and -0 for zeros of different sign (Arm ARM, FPMin).
                $min(self, other)
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn maximum(self, other: Self) -> Self {
                // FMAX, which returns NaN if an operand is NaN, and +0 for zeros of different sign (Arm ARM, FPMax).
                $max(self, other)
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn absolute(self) -> Self {
                $abs(self)
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn subtract(self, other: Self) -> Self {
                $subtract(self, other)
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn or(self, other: Self) -> Self {
                $from_bits($or($bits(self), $bits(other)))
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn or_different(self, a: Self, b: Self) -> Self {
                let different = $xor($bits(a), $bits(b));
                $from_bits($or($bits(self), different))
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn subtract_bits(self, other: Self) -> Self {
                $from_bits($less($bits(self), $bits(other)))
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn and(self, other: Self) -> Self {
                $from_bits($and($bits(self), $bits(other)))
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn are_zero(self) -> Self {
                $from_bits($is_zero(self))
            }

            $($fused)*

            /// The even and the odd lanes of (a, b).
            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn neighbours1(a: Self, b: Self) -> (Self, Self) {
                ($even(a, b), $odd(a, b))
            }

            /// The even and the odd lanes of (a, b).
            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn neighbours2(a: Self, b: Self) -> (Self, Self) {
                ($even(a, b), $odd(a, b))
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn add_pairs(a: Self, b: Self) -> Option<Self> {
                Some($add_pairs(a, b))
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn minimum_pairs(a: Self, b: Self) -> Option<Self> {
                Some($min_pairs(a, b))
            }

            #[target_feature(enable = "neon")]
            #[inline]
            unsafe fn maximum_pairs(a: Self, b: Self) -> Option<Self> {
                Some($max_pairs(a, b))
            }
        }
    };
}

vector!(
    float64x2_t,
    f64,
    2,
    vld1q_f64,
    vst1q_f64,
    vaddq_f64,
    vmulq_f64,
    vminq_f64,
    vmaxq_f64,
    vabsq_f64,
    vsubq_f64,
    vreinterpretq_u64_f64,
    vreinterpretq_f64_u64,
    vorrq_u64,
    veorq_u64,
    vsubq_u64,
    vandq_u64,
    vceqzq_f64,
    add_pairs_f64,
    vpminq_f64,
    vpmaxq_f64,
    vuzp1q_f64,
    vuzp2q_f64,
    #[target_feature(enable = "neon")]
    #[inline]
    unsafe fn multiply_subtract(a: Self, b: Self, c: Self) -> Option<Self> {
        Some(vfmaq_f64(vnegq_f64(c), a, b))
    },
    #[target_feature(enable = "neon")]
    #[inline]
    unsafe fn multiply_add(a: Self, b: Self, c: Self) -> Option<Self> {
        Some(vfmaq_f64(c, a, b))
    }
);

vector!(
    float32x4_t,
    f32,
    4,
    vld1q_f32,
    vst1q_f32,
    vaddq_f32,
    vmulq_f32,
    vminq_f32,
    vmaxq_f32,
    vabsq_f32,
    vsubq_f32,
    vreinterpretq_u32_f32,
    vreinterpretq_f32_u32,
    vorrq_u32,
    veorq_u32,
    vsubq_u32,
    vandq_u32,
    vceqzq_f32,
    add_pairs_f32,
    vpminq_f32,
    vpmaxq_f32,
    vuzp1q_f32,
    vuzp2q_f32,
);

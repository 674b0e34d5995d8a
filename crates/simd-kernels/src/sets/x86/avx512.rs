//! AVX-512F, which has 512-bit registers of eight doubles or sixteen floats.

#![expect(
    unsafe_code,
    reason = "AVX-512 is detected at run time, and loads take pointers"
)]

use core::arch::x86_64::*;

use crate::sets::instruction_set::vector_level;
use crate::sets::vector::Vector;

vector_level!(
    Avx512,
    "avx512f",
    ["avx512f"],
    is_x86_feature_detected,
    __m512d,
    __m512
);

/// A register of the 128-bit lanes (a1, b0, a3, b2).
#[target_feature(enable = "avx512f")]
#[inline]
fn exchanged_lanes_pd(a: __m512d, b: __m512d) -> __m512d {
    _mm512_permutex2var_pd(a, _mm512_setr_epi64(2, 3, 8, 9, 6, 7, 12, 13), b)
}

// SAFETY: all methods use only AVX-512F.
unsafe impl Vector for __m512d {
    type Element = f64;
    const LANES: usize = 8;

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn load(from: *const f64) -> Self {
        // SAFETY: the caller guarantees that eight doubles may be read.
        unsafe { _mm512_loadu_pd(from) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn store(self, to: *mut f64) {
        // SAFETY: the caller guarantees that eight doubles may be written.
        unsafe { _mm512_storeu_pd(to, self) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn add(self, other: Self) -> Self {
        _mm512_add_pd(self, other)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn multiply(self, other: Self) -> Self {
        _mm512_mul_pd(self, other)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn minimum(self, other: Self) -> Self {
        // One order of the operands can lose a NaN or a -0; the OR of both orders keeps them.
        let either = _mm512_castpd_si512(_mm512_min_pd(self, other));
        let or = _mm512_or_si512(either, _mm512_castpd_si512(_mm512_min_pd(other, self)));
        _mm512_castsi512_pd(or)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn maximum(self, other: Self) -> Self {
        // The AND of both orders keeps +0 but can lose a NaN, which the mask restores.
        let either = _mm512_castpd_si512(_mm512_max_pd(self, other));
        let and = _mm512_and_si512(either, _mm512_castpd_si512(_mm512_max_pd(other, self)));
        let unordered = _mm512_cmp_pd_mask::<_CMP_UNORD_Q>(self, other);
        _mm512_mask_blend_pd(
            unordered,
            _mm512_castsi512_pd(and),
            _mm512_set1_pd(f64::NAN),
        )
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn absolute(self) -> Self {
        _mm512_abs_pd(self)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn subtract(self, other: Self) -> Self {
        _mm512_sub_pd(self, other)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn or(self, other: Self) -> Self {
        let or = _mm512_or_si512(_mm512_castpd_si512(self), _mm512_castpd_si512(other));
        _mm512_castsi512_pd(or)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn or_different(self, a: Self, b: Self) -> Self {
        let [bits, a, b] = [self, a, b].map(|lanes| _mm512_castpd_si512(lanes));
        // The truth table of x | (y ^ z).
        _mm512_castsi512_pd(_mm512_ternarylogic_epi64::<0b1111_0110>(bits, a, b))
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn subtract_bits(self, other: Self) -> Self {
        let [a, b] = [self, other].map(|lanes| _mm512_castpd_si512(lanes));
        _mm512_castsi512_pd(_mm512_sub_epi64(a, b))
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn and(self, other: Self) -> Self {
        let [a, b] = [self, other].map(|lanes| _mm512_castpd_si512(lanes));
        _mm512_castsi512_pd(_mm512_and_si512(a, b))
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn are_zero(self) -> Self {
        let zeros = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(self, _mm512_setzero_pd());
        _mm512_castsi512_pd(_mm512_maskz_set1_epi64(zeros, -1))
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn least_bits(a: Self, b: Self) -> Option<Self> {
        let [a, b] = [a, b].map(|lanes| _mm512_castpd_si512(lanes));
        Some(_mm512_castsi512_pd(_mm512_min_epi64(a, b)))
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn multiply_subtract(a: Self, b: Self, c: Self) -> Option<Self> {
        Some(_mm512_fmsub_pd(a, b, c))
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn multiply_add(a: Self, b: Self, c: Self) -> Option<Self> {
        Some(_mm512_fmadd_pd(a, b, c))
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn subtract_by_product(self, other: Self, one: Self) -> Self {
        _mm512_fmsub_pd(self, one, other)
    }

    /// The lanes come from `a` and `b` alternately. Two unpack instructions would read `b` from memory twice.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn neighbours1(a: Self, b: Self) -> (Self, Self) {
        (
            _mm512_mask_blend_pd(0b1010_1010, a, b),
            _mm512_shuffle_pd::<0b0101_0101>(a, b),
        )
    }

    /// The 128-bit lanes come from (a, b, a, b). Blends do not use the processor's ports for shuffles.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn neighbours2(a: Self, b: Self) -> (Self, Self) {
        (
            _mm512_mask_blend_pd(0b1100_1100, a, b),
            exchanged_lanes_pd(a, b),
        )
    }

    /// The 128-bit lanes come from (a, a, b, b). Siblings are two 128-bit lanes apart.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn neighbours3(a: Self, b: Self) -> (Self, Self) {
        (
            _mm512_mask_blend_pd(0b1111_0000, a, b),
            _mm512_shuffle_f64x2::<0b01_00_11_10>(a, b),
        )
    }
}

// SAFETY: all methods use only AVX-512F.
unsafe impl Vector for __m512 {
    type Element = f32;
    const LANES: usize = 16;

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn load(from: *const f32) -> Self {
        // SAFETY: the caller guarantees that sixteen floats may be read.
        unsafe { _mm512_loadu_ps(from) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn store(self, to: *mut f32) {
        // SAFETY: the caller guarantees that sixteen floats may be written.
        unsafe { _mm512_storeu_ps(to, self) }
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn add(self, other: Self) -> Self {
        _mm512_add_ps(self, other)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn multiply(self, other: Self) -> Self {
        _mm512_mul_ps(self, other)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn minimum(self, other: Self) -> Self {
        let either = _mm512_castps_si512(_mm512_min_ps(self, other));
        let or = _mm512_or_si512(either, _mm512_castps_si512(_mm512_min_ps(other, self)));
        _mm512_castsi512_ps(or)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn maximum(self, other: Self) -> Self {
        let either = _mm512_castps_si512(_mm512_max_ps(self, other));
        let and = _mm512_and_si512(either, _mm512_castps_si512(_mm512_max_ps(other, self)));
        let unordered = _mm512_cmp_ps_mask::<_CMP_UNORD_Q>(self, other);
        _mm512_mask_blend_ps(
            unordered,
            _mm512_castsi512_ps(and),
            _mm512_set1_ps(f32::NAN),
        )
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn absolute(self) -> Self {
        _mm512_abs_ps(self)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn subtract(self, other: Self) -> Self {
        _mm512_sub_ps(self, other)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn or(self, other: Self) -> Self {
        let or = _mm512_or_si512(_mm512_castps_si512(self), _mm512_castps_si512(other));
        _mm512_castsi512_ps(or)
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn or_different(self, a: Self, b: Self) -> Self {
        let [bits, a, b] = [self, a, b].map(|lanes| _mm512_castps_si512(lanes));
        // The truth table of x | (y ^ z).
        _mm512_castsi512_ps(_mm512_ternarylogic_epi64::<0b1111_0110>(bits, a, b))
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn subtract_bits(self, other: Self) -> Self {
        let [a, b] = [self, other].map(|lanes| _mm512_castps_si512(lanes));
        _mm512_castsi512_ps(_mm512_sub_epi32(a, b))
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn and(self, other: Self) -> Self {
        let [a, b] = [self, other].map(|lanes| _mm512_castps_si512(lanes));
        _mm512_castsi512_ps(_mm512_and_si512(a, b))
    }

    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn are_zero(self) -> Self {
        let zeros = _mm512_cmp_ps_mask::<_CMP_EQ_OQ>(self, _mm512_setzero_ps());
        _mm512_castsi512_ps(_mm512_maskz_set1_epi32(zeros, -1))
    }

    /// When the results are combined, each 128-bit part holds (a01, a23, b01, b23).
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn neighbours1(a: Self, b: Self) -> (Self, Self) {
        let even = _mm512_shuffle_ps::<0b10_00_10_00>(a, b);
        (even, _mm512_shuffle_ps::<0b11_01_11_01>(a, b))
    }

    /// When the results are combined, each 128-bit part holds a lane for each of four leaf registers.
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn neighbours2(a: Self, b: Self) -> (Self, Self) {
        let even = _mm512_shuffle_ps::<0b10_00_10_00>(a, b);
        (even, _mm512_shuffle_ps::<0b11_01_11_01>(a, b))
    }

    /// The 128-bit lanes of the results come from (a, b, a, b).
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn neighbours3(a: Self, b: Self) -> (Self, Self) {
        let blend = _mm512_mask_blend_ps(0xF0F0, a, b);
        let exchanged = exchanged_lanes_pd(_mm512_castps_pd(a), _mm512_castps_pd(b));
        (blend, _mm512_castpd_ps(exchanged))
    }

    /// The 128-bit lanes of the results come from (a, a, b, b).
    #[target_feature(enable = "avx512f")]
    #[inline]
    unsafe fn neighbours4(a: Self, b: Self) -> (Self, Self) {
        let blend = _mm512_mask_blend_ps(0xFF00, a, b);
        (blend, _mm512_shuffle_f32x4::<0b01_00_11_10>(a, b))
    }
}

//! SSE2, which has 128-bit registers of two doubles or four floats. Every x86-64 processor has SSE2.

#![expect(
    unsafe_code,
    reason = "vector instructions require target features, and loads take pointers"
)]

use core::arch::x86_64::*;

use crate::sets::instruction_set::{subtree_sums8, vector_level};
use crate::sets::vector::Vector;
use crate::sets::x86::avx2::Avx2;
use crate::sets::x86::lanes::lane_by_lane;

vector_level!(
    Sse2,
    "sse2",
    ["sse2"],
    is_x86_feature_detected,
    __m128d,
    __m128
);

impl From<Avx2> for Sse2 {
    /// AVX2 is an extension of SSE2 (Intel SDM, vol. 1, 14.3).
    fn from(_: Avx2) -> Self {
        Self(())
    }
}

subtree_sums8!(Sse2, "sse2", f64, subtree_sums8_f64, subtree_sum8_f64);
subtree_sums8!(Sse2, "sse2", f32, subtree_sums8_f32, subtree_sum8_f32);

/// ```text
/// x0 x1   x2 x3   x4 x5   x6 x7        four registers
/// level 1   x01 x23   x45 x67
/// level 2   x0123 x4567
/// level 3   x01234567
/// ```
#[target_feature(enable = "sse2")]
#[inline]
fn subtree_sum8_f64(leaves: &[f64; 8]) -> f64 {
    let (pairs, _) = leaves.as_chunks::<2>();
    let [a, b, c, d] = [
        load2(&pairs[0]),
        load2(&pairs[1]),
        load2(&pairs[2]),
        load2(&pairs[3]),
    ];
    let level2 = add_neighbours_pd(add_neighbours_pd(a, b), add_neighbours_pd(c, d));
    _mm_cvtsd_f64(_mm_add_sd(level2, _mm_unpackhi_pd(level2, level2)))
}

/// (a0 + a1, b0 + b1).
#[target_feature(enable = "sse2")]
#[inline]
fn add_neighbours_pd(a: __m128d, b: __m128d) -> __m128d {
    _mm_add_pd(_mm_unpacklo_pd(a, b), _mm_unpackhi_pd(a, b))
}

/// ```text
/// x0 x1 x2 x3   x4 x5 x6 x7            two registers
/// level 1   x01 x23 x45 x67
/// level 2   x0123 x4567 ..
/// level 3   x01234567
/// ```
#[target_feature(enable = "sse2")]
#[inline]
fn subtree_sum8_f32(leaves: &[f32; 8]) -> f32 {
    let (quads, _) = leaves.as_chunks::<4>();
    let level1 = add_neighbours_ps(load4(&quads[0]), load4(&quads[1]));
    let level2 = add_neighbours_ps(level1, level1);
    let right = _mm_shuffle_ps::<0b01_01_01_01>(level2, level2);
    _mm_cvtss_f32(_mm_add_ss(level2, right))
}

/// (a0 + a1, a2 + a3, b0 + b1, b2 + b3).
#[target_feature(enable = "sse2")]
#[inline]
fn add_neighbours_ps(a: __m128, b: __m128) -> __m128 {
    let even = _mm_shuffle_ps::<0b10_00_10_00>(a, b);
    let odd = _mm_shuffle_ps::<0b11_01_11_01>(a, b);
    _mm_add_ps(even, odd)
}

#[target_feature(enable = "sse2")]
#[inline]
fn load2(pair: &[f64; 2]) -> __m128d {
    // SAFETY: the pointer comes from a reference to two doubles; no alignment is required.
    unsafe { _mm_loadu_pd(pair.as_ptr()) }
}

#[target_feature(enable = "sse2")]
#[inline]
fn load4(quad: &[f32; 4]) -> __m128 {
    // SAFETY: the pointer comes from a reference to four floats; no alignment is required.
    unsafe { _mm_loadu_ps(quad.as_ptr()) }
}

#[target_feature(enable = "sse2")]
#[inline]
fn subtract_bits_pd(a: __m128d, b: __m128d) -> __m128d {
    let [a, b] = [a, b].map(|lanes| _mm_castpd_si128(lanes));
    _mm_castsi128_pd(_mm_sub_epi64(a, b))
}

#[target_feature(enable = "sse2")]
#[inline]
fn subtract_bits_ps(a: __m128, b: __m128) -> __m128 {
    let [a, b] = [a, b].map(|lanes| _mm_castps_si128(lanes));
    _mm_castsi128_ps(_mm_sub_epi32(a, b))
}

// SAFETY: all methods use only SSE2.
unsafe impl Vector for __m128d {
    type Element = f64;
    const LANES: usize = 2;
    const PREFETCHES: bool = false;

    lane_by_lane!(
        "sse2",
        f64,
        _mm_loadu_pd,
        _mm_storeu_pd,
        _mm_add_pd,
        _mm_mul_pd,
        _mm_min_pd,
        _mm_max_pd,
        _mm_and_pd,
        _mm_or_pd,
        _mm_xor_pd,
        _mm_andnot_pd,
        _mm_set1_pd,
        _mm_sub_pd,
        subtract_bits_pd,
        _mm_cmpeq_pd,
        _mm_cmpunord_pd
    );

    /// Each result holds a lane of `a` and a lane of `b`.
    #[target_feature(enable = "sse2")]
    #[inline]
    unsafe fn neighbours1(a: Self, b: Self) -> (Self, Self) {
        (_mm_unpacklo_pd(a, b), _mm_unpackhi_pd(a, b))
    }
}

// SAFETY: all methods use only SSE2.
unsafe impl Vector for __m128 {
    type Element = f32;
    const LANES: usize = 4;
    const PREFETCHES: bool = false;

    lane_by_lane!(
        "sse2",
        f32,
        _mm_loadu_ps,
        _mm_storeu_ps,
        _mm_add_ps,
        _mm_mul_ps,
        _mm_min_ps,
        _mm_max_ps,
        _mm_and_ps,
        _mm_or_ps,
        _mm_xor_ps,
        _mm_andnot_ps,
        _mm_set1_ps,
        _mm_sub_ps,
        subtract_bits_ps,
        _mm_cmpeq_ps,
        _mm_cmpunord_ps
    );

    /// When the results are combined, the lanes are (a01, a23, b01, b23).
    #[target_feature(enable = "sse2")]
    #[inline]
    unsafe fn neighbours1(a: Self, b: Self) -> (Self, Self) {
        let even = _mm_shuffle_ps::<0b10_00_10_00>(a, b);
        (even, _mm_shuffle_ps::<0b11_01_11_01>(a, b))
    }

    /// When the results are combined, there is one lane for each register of leaves.
    #[target_feature(enable = "sse2")]
    #[inline]
    unsafe fn neighbours2(a: Self, b: Self) -> (Self, Self) {
        let even = _mm_shuffle_ps::<0b10_00_10_00>(a, b);
        (even, _mm_shuffle_ps::<0b11_01_11_01>(a, b))
    }
}

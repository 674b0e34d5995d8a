//! AVX2 with FMA, which has 256-bit registers of four doubles or eight floats.

#![expect(
    unsafe_code,
    reason = "AVX2 is detected at run time, and loads take pointers"
)]

use core::arch::asm;
use core::arch::x86_64::*;

use crate::sets::instruction_set::{subtree_sums8, vector_level};
use crate::sets::vector::Vector;
use crate::sets::x86::avx512::Avx512;
use crate::sets::x86::lanes::lane_by_lane;

vector_level!(
    Avx2,
    "avx2,fma",
    ["avx2", "fma"],
    is_x86_feature_detected,
    __m256d,
    __m256
);

impl From<Avx512> for Avx2 {
    /// AVX-512F is an extension of AVX2 and FMA (Intel SDM, vol. 1, 15.3).
    fn from(_: Avx512) -> Self {
        Self(())
    }
}

subtree_sums8!(Avx2, "avx2", f64, subtree_sums8_f64, subtree_sum8_f64);
subtree_sums8!(Avx2, "avx2", f32, subtree_sums8_f32, subtree_sum8_f32);

/// Algorithm 4 of the thesis (whose line 7 must read `_mm_cvtsd_f64`).
///
/// ```text
/// a, b      x0    x1    x2    x3   |  x4    x5    x6    x7
/// level 1   x01   x45 | x23   x67      horizontal adds stay within 128 bits,
/// level 2   x0123 x4567                so the halves are added next
/// level 3   x01234567
/// ```
#[target_feature(enable = "avx2")]
#[inline]
fn subtree_sum8_f64(leaves: &[f64; 8]) -> f64 {
    let [low, high] = halves(leaves);
    // SAFETY: the pointer comes from a reference to four doubles; no alignment is required.
    let a = unsafe { _mm256_loadu_pd(low.as_ptr()) };
    // SAFETY: as above.
    let b = unsafe { _mm256_loadu_pd(high.as_ptr()) };
    let level1 = _mm256_hadd_pd(a, b);
    let upper = _mm256_extractf128_pd::<1>(level1);
    let lower = _mm256_castpd256_pd128(level1);
    let level2 = _mm_add_pd(lower, upper);
    let level3 = _mm_hadd_pd(level2, level2);
    _mm_cvtsd_f64(level3)
}

/// Algorithm 4 for floats, which fit into one register.
///
/// ```text
/// a         x0 x1 x2 x3 | x4 x5 x6 x7
/// level 1   x01 x23  ..   x45 x67          lower half, upper half
/// level 2   x0123  ..     x4567  ..
/// level 3   x01234567
/// ```
#[target_feature(enable = "avx2")]
#[inline]
fn subtree_sum8_f32(leaves: &[f32; 8]) -> f32 {
    // SAFETY: the pointer comes from a reference to eight floats; no alignment is required.
    let a = unsafe { _mm256_loadu_ps(leaves.as_ptr()) };
    let level1 = _mm256_hadd_ps(a, a);
    let upper = _mm256_extractf128_ps::<1>(level1);
    let lower = _mm256_castps256_ps128(level1);
    let level2 = _mm_hadd_ps(lower, upper);
    let level3 = _mm_add_ss(level2, _mm_movehl_ps(level2, level2));
    _mm_cvtss_f32(level3)
}

fn halves(leaves: &[f64; 8]) -> [&[f64; 4]; 2] {
    let (quarters, _) = leaves.as_chunks::<4>();
    [&quarters[0], &quarters[1]]
}

/// (a0, b1, a2, b3).
///
/// This is inline assembly, because the compiler would combine a blend, a shuffle and an addition into a horizontal addition. A horizontal
/// addition takes two shuffles, and shuffles limit the kernel's speed.
#[target_feature(enable = "avx2")]
#[inline]
fn alternate_pd(a: __m256d, b: __m256d) -> __m256d {
    let blended;
    // SAFETY: VBLENDPD is part of AVX; it reads two registers, writes one, and has no other effect.
    unsafe {
        asm!("vblendpd {}, {}, {}, 0xA", lateout(ymm_reg) blended, in(ymm_reg) a, in(ymm_reg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    blended
}

/// (a0, b1, a2, b3, a4, b5, a6, b7), in assembly for the reason given at [`alternate_pd`].
#[target_feature(enable = "avx2")]
#[inline]
fn alternate_ps(a: __m256, b: __m256) -> __m256 {
    let blended;
    // SAFETY: VBLENDPS is part of AVX; it reads two registers, writes one, and has no other effect.
    unsafe {
        asm!("vblendps {}, {}, {}, 0xAA", lateout(ymm_reg) blended, in(ymm_reg) a, in(ymm_reg) b,
            options(pure, nomem, nostack, preserves_flags));
    }
    blended
}

#[target_feature(enable = "avx2")]
#[inline]
fn subtract_bits_pd(a: __m256d, b: __m256d) -> __m256d {
    let [a, b] = [a, b].map(|lanes| _mm256_castpd_si256(lanes));
    _mm256_castsi256_pd(_mm256_sub_epi64(a, b))
}

#[target_feature(enable = "avx2")]
#[inline]
fn subtract_bits_ps(a: __m256, b: __m256) -> __m256 {
    let [a, b] = [a, b].map(|lanes| _mm256_castps_si256(lanes));
    _mm256_castsi256_ps(_mm256_sub_epi32(a, b))
}

// SAFETY: all methods use only AVX2 and FMA.
unsafe impl Vector for __m256d {
    type Element = f64;
    const LANES: usize = 4;
    const COMBINES_HALVES: bool = true;

    lane_by_lane!(
        "avx2",
        f64,
        _mm256_loadu_pd,
        _mm256_storeu_pd,
        _mm256_add_pd,
        _mm256_mul_pd,
        _mm256_min_pd,
        _mm256_max_pd,
        _mm256_and_pd,
        _mm256_or_pd,
        _mm256_xor_pd,
        _mm256_andnot_pd,
        _mm256_set1_pd,
        _mm256_sub_pd,
        subtract_bits_pd,
        _mm256_cmp_pd::<_CMP_EQ_OQ>,
        _mm256_cmp_pd::<_CMP_UNORD_Q>
    );

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn multiply_subtract(a: Self, b: Self, c: Self) -> Option<Self> {
        Some(_mm256_fmsub_pd(a, b, c))
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn multiply_add(a: Self, b: Self, c: Self) -> Option<Self> {
        Some(_mm256_fmadd_pd(a, b, c))
    }

    #[target_feature(enable = "avx2,fma")]
    #[inline]
    unsafe fn subtract_by_product(self, other: Self, one: Self) -> Self {
        _mm256_fmsub_pd(self, one, other)
    }

    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn least_bits(a: Self, b: Self) -> Option<Self> {
        let [a, b] = [a, b].map(|lanes| _mm256_castpd_si256(lanes));
        Some(_mm256_castsi256_pd(_mm256_min_epi32(a, b)))
    }

    /// Each 128-bit part of the results holds a lane of `a` and a lane of `b`.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn neighbours1(a: Self, b: Self) -> (Self, Self) {
        (alternate_pd(a, b), _mm256_shuffle_pd::<0b0101>(a, b))
    }

    /// The halves of the results come from (a, b). Blends do not use the processor's ports for shuffles.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn neighbours2(a: Self, b: Self) -> (Self, Self) {
        let exchanged = _mm256_permute2f128_pd::<0x21>(a, b);
        (_mm256_blend_pd::<0b1100>(a, b), exchanged)
    }
}

// SAFETY: all methods use only AVX2.
unsafe impl Vector for __m256 {
    type Element = f32;
    const LANES: usize = 8;
    const COMBINES_HALVES: bool = true;

    lane_by_lane!(
        "avx2",
        f32,
        _mm256_loadu_ps,
        _mm256_storeu_ps,
        _mm256_add_ps,
        _mm256_mul_ps,
        _mm256_min_ps,
        _mm256_max_ps,
        _mm256_and_ps,
        _mm256_or_ps,
        _mm256_xor_ps,
        _mm256_andnot_ps,
        _mm256_set1_ps,
        _mm256_sub_ps,
        subtract_bits_ps,
        _mm256_cmp_ps::<_CMP_EQ_OQ>,
        _mm256_cmp_ps::<_CMP_UNORD_Q>
    );

    /// When the results are combined, each 128-bit part holds (a01, b01, a23, b23).
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn neighbours1(a: Self, b: Self) -> (Self, Self) {
        let exchanged = _mm256_permute_ps::<0b10_11_00_01>(alternate_ps(b, a));
        (alternate_ps(a, b), exchanged)
    }

    /// When the results are combined, each 128-bit part holds a lane for each of four leaf registers.
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn neighbours2(a: Self, b: Self) -> (Self, Self) {
        let exchanged = _mm256_shuffle_ps::<0b01_00_11_10>(a, b);
        (_mm256_blend_ps::<0b1100_1100>(a, b), exchanged)
    }

    /// The halves of the results come from (a, b).
    #[target_feature(enable = "avx2")]
    #[inline]
    unsafe fn neighbours3(a: Self, b: Self) -> (Self, Self) {
        let exchanged = _mm256_permute2f128_ps::<0x21>(a, b);
        (_mm256_blend_ps::<0b1111_0000>(a, b), exchanged)
    }
}

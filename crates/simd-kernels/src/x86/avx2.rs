//! AVX2: 256-bit registers, four doubles or eight floats.

#![expect(
    unsafe_code,
    reason = "AVX2 is detected at run time, and loads take pointers"
)]

use core::arch::x86_64::{
    _mm_add_pd, _mm_add_ss, _mm_cvtsd_f64, _mm_cvtss_f32, _mm_hadd_pd, _mm_hadd_ps, _mm_movehl_ps,
    _mm256_castpd256_pd128, _mm256_castps256_ps128, _mm256_extractf128_pd, _mm256_extractf128_ps,
    _mm256_hadd_pd, _mm256_hadd_ps, _mm256_loadu_pd, _mm256_loadu_ps,
};

use crate::unordered::{self, Variant};

/// The proof that this processor has AVX2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Avx2(());

impl Avx2 {
    #[cfg(feature = "std")]
    pub(crate) fn detect() -> Option<Self> {
        std::arch::is_x86_feature_detected!("avx2").then_some(Self(()))
    }

    #[cfg(not(feature = "std"))]
    pub(crate) fn detect() -> Option<Self> {
        cfg!(target_feature = "avx2").then_some(Self(()))
    }

    #[inline]
    pub(crate) fn subtree_sums8_f64(self, subtrees: &[[f64; 8]], sums: &mut [f64]) {
        // SAFETY: `self` is made only where AVX2 is detected.
        unsafe { subtree_sums8_f64(subtrees, sums) }
    }

    #[inline]
    pub(crate) fn subtree_sums8_f32(self, subtrees: &[[f32; 8]], sums: &mut [f32]) {
        // SAFETY: `self` is made only where AVX2 is detected.
        unsafe { subtree_sums8_f32(subtrees, sums) }
    }

    #[inline]
    pub(crate) fn unordered_sum_f64(self, variant: Variant, leaves: &[f64]) -> f64 {
        // SAFETY: `self` is made only where AVX2 is detected.
        unsafe { unordered_sum_f64(variant, leaves) }
    }

    #[inline]
    pub(crate) fn unordered_sum_f32(self, variant: Variant, leaves: &[f32]) -> f32 {
        // SAFETY: `self` is made only where AVX2 is detected.
        unsafe { unordered_sum_f32(variant, leaves) }
    }
}

#[target_feature(enable = "avx2")]
fn subtree_sums8_f64(subtrees: &[[f64; 8]], sums: &mut [f64]) {
    for (sum, subtree) in sums.iter_mut().zip(subtrees) {
        *sum = subtree_sum8_f64(subtree);
    }
}

#[target_feature(enable = "avx2")]
fn subtree_sums8_f32(subtrees: &[[f32; 8]], sums: &mut [f32]) {
    for (sum, subtree) in sums.iter_mut().zip(subtrees) {
        *sum = subtree_sum8_f32(subtree);
    }
}

/// Algorithm 4 of the thesis (whose line 7 must read `_mm_cvtsd_f64`).
///
/// ```text
/// a, b      x0    x1    x2    x3   |  x4    x5    x6    x7
/// level 1   x01   x45 | x23   x67      horizontal adds work within 128 bits,
/// level 2   x0123 x4567                so the halves are added next
/// level 3   x01234567
/// ```
#[target_feature(enable = "avx2")]
#[inline]
fn subtree_sum8_f64(leaves: &[f64; 8]) -> f64 {
    let [low, high] = halves(leaves);
    // SAFETY: the pointer comes from a reference to four doubles; no alignment is asked for.
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

/// Algorithm 4 with floats, which fit one register.
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
    // SAFETY: the pointer comes from a reference to eight floats; no alignment is asked for.
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

#[target_feature(enable = "avx2")]
fn unordered_sum_f64(variant: Variant, leaves: &[f64]) -> f64 {
    unordered::sum_in_lanes::<f64, 4>(variant, leaves)
}

#[target_feature(enable = "avx2")]
fn unordered_sum_f32(variant: Variant, leaves: &[f32]) -> f32 {
    unordered::sum_in_lanes::<f32, 8>(variant, leaves)
}

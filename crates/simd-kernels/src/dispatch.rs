//! From a [`Level`] to its code: the one place that chooses.

use core::fmt::Debug;
use core::ops::Add;

use crate::level::{Level, Set};
use crate::scalar;
use crate::unordered::{self, Variant};

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// A float that there are kernels for: `f32` and `f64`.
pub trait Float:
    sealed::Sealed + Copy + Debug + Add<Output = Self> + Send + Sync + 'static
{
    /// +0.0.
    #[doc(hidden)]
    const ZERO: Self;

    /// The sums of subtrees of 8 leaves, one for each.
    #[doc(hidden)]
    fn subtree_sums8(level: Level, subtrees: &[[Self; 8]], sums: &mut [Self]);

    /// The sum in whatever order `variant` is fast at.
    #[doc(hidden)]
    fn unordered_sum(level: Level, variant: Variant, leaves: &[Self]) -> Self;
}

impl Float for f64 {
    const ZERO: Self = 0.0;

    #[inline]
    fn subtree_sums8(level: Level, subtrees: &[[Self; 8]], sums: &mut [Self]) {
        assert_eq!(subtrees.len(), sums.len());
        match level.set() {
            Set::Scalar => scalar::subtree_sums8(subtrees, sums),
            #[cfg(target_arch = "x86_64")]
            Set::Sse2(sse2) => sse2.subtree_sums8_f64(subtrees, sums),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(avx2) => avx2.subtree_sums8_f64(subtrees, sums),
        }
    }

    fn unordered_sum(level: Level, variant: Variant, leaves: &[Self]) -> Self {
        match level.set() {
            Set::Scalar => unordered::sum_in_lanes::<Self, 1>(variant, leaves),
            #[cfg(target_arch = "x86_64")]
            Set::Sse2(sse2) => sse2.unordered_sum_f64(variant, leaves),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(avx2) => avx2.unordered_sum_f64(variant, leaves),
        }
    }
}

impl Float for f32 {
    const ZERO: Self = 0.0;

    #[inline]
    fn subtree_sums8(level: Level, subtrees: &[[Self; 8]], sums: &mut [Self]) {
        assert_eq!(subtrees.len(), sums.len());
        match level.set() {
            Set::Scalar => scalar::subtree_sums8(subtrees, sums),
            #[cfg(target_arch = "x86_64")]
            Set::Sse2(sse2) => sse2.subtree_sums8_f32(subtrees, sums),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(avx2) => avx2.subtree_sums8_f32(subtrees, sums),
        }
    }

    fn unordered_sum(level: Level, variant: Variant, leaves: &[Self]) -> Self {
        match level.set() {
            Set::Scalar => unordered::sum_in_lanes::<Self, 1>(variant, leaves),
            #[cfg(target_arch = "x86_64")]
            Set::Sse2(sse2) => sse2.unordered_sum_f32(variant, leaves),
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(avx2) => avx2.unordered_sum_f32(variant, leaves),
        }
    }
}

/// The sum of a subtree of 8 leaves: ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7)).
///
/// Algorithm 4 of the thesis at level `avx2`; the other levels give the same bits.
///
/// ```
/// use simd_kernels::{Level, subtree_sum8};
///
/// let leaves = [1.0, 1e16, 3.0, -1e16, 5.0, 6.0, 7.0, 8.0];
/// for level in Level::available() {
///     assert_eq!(subtree_sum8(level, &leaves), (1e16 + (3.0 - 1e16)) + ((5.0 + 6.0) + (7.0 + 8.0)));
/// }
/// ```
pub fn subtree_sum8<T: Float>(level: Level, leaves: &[T; 8]) -> T {
    let mut sums = [T::ZERO];
    T::subtree_sums8(level, core::slice::from_ref(leaves), &mut sums);
    sums[0]
}

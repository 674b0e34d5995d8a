//! From a [`Level`] to its code: the one place that chooses.

use core::fmt::Debug;
use core::ops::Add;

use crate::fold::{SHORT_LEAVES, tree_fold};
use crate::level::{Level, Set};
use crate::scalar::{self, Four};
use crate::stream;
use crate::unordered::{self, Variant};
use crate::vector::{self, Combine, Proven};
#[cfg(target_arch = "x86_64")]
use crate::x86::Avx2;

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// What has vector instructions. All are commutative, and round once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// left + right
    Sum,
    /// left * right
    Product,
    /// IEEE 754-2019's minimum: NaN propagates, -0 is below +0.
    Minimum,
    /// IEEE 754-2019's maximum: NaN propagates, -0 is below +0.
    Maximum,
}

/// A float that there are kernels for: `f32` and `f64`.
pub trait Float:
    sealed::Sealed + Copy + Debug + Default + Add<Output = Self> + Send + Sync + 'static
{
    /// +0.0.
    #[doc(hidden)]
    const ZERO: Self;

    /// The fold of the leaves, in tree order.
    #[doc(hidden)]
    fn fold(level: Level, operation: Operation, leaves: &[Self]) -> Option<Self>;

    /// The sums of subtrees of 8 leaves, one for each.
    #[doc(hidden)]
    fn subtree_sums8(level: Level, subtrees: &[[Self; 8]], sums: &mut [Self]);

    /// The sum in whatever order `variant` is fast at.
    #[doc(hidden)]
    fn unordered_sum(level: Level, variant: Variant, leaves: &[Self]) -> Self;
}

/// The two float types differ in names alone.
macro_rules! float {
    ($float:ident, $fold:ident, $subtree_sums8:ident, $unordered_sum:ident) => {
        impl Float for $float {
            const ZERO: Self = 0.0;

            #[inline]
            fn fold(level: Level, operation: Operation, leaves: &[Self]) -> Option<Self> {
                #[inline]
                fn by<C: Combine<$float>>(
                    level: Level,
                    combine: C,
                    leaves: &[$float],
                ) -> Option<$float> {
                    if leaves.len() < SHORT_LEAVES {
                        return tree_fold(leaves, C::single);
                    }
                    Some(match level.set() {
                        Set::Scalar => {
                            stream::fold(Proven::<Four<$float>>::plain(), combine, leaves)
                        }
                        #[cfg(target_arch = "x86_64")]
                        Set::Sse2(sse2) => sse2.$fold(combine, leaves),
                        #[cfg(target_arch = "x86_64")]
                        Set::Avx2(avx2) => avx2.$fold(combine, leaves),
                        #[cfg(target_arch = "x86_64")]
                        Set::Avx512(avx512) => avx512.$fold(combine, leaves),
                    })
                }
                match operation {
                    Operation::Sum => by(level, vector::Add, leaves),
                    Operation::Product => by(level, vector::Multiply, leaves),
                    Operation::Minimum => by(level, vector::Minimum, leaves),
                    Operation::Maximum => by(level, vector::Maximum, leaves),
                }
            }

            #[inline]
            fn subtree_sums8(level: Level, subtrees: &[[Self; 8]], sums: &mut [Self]) {
                assert_eq!(subtrees.len(), sums.len());
                match level.set() {
                    Set::Scalar => scalar::subtree_sums8(subtrees, sums),
                    #[cfg(target_arch = "x86_64")]
                    Set::Sse2(sse2) => sse2.$subtree_sums8(subtrees, sums),
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx2(avx2) => avx2.$subtree_sums8(subtrees, sums),
                    // Algorithm 4 has eight leaves: half a wider register would idle.
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx512(avx512) => Avx2::from(avx512).$subtree_sums8(subtrees, sums),
                }
            }

            fn unordered_sum(level: Level, variant: Variant, leaves: &[Self]) -> Self {
                match level.set() {
                    Set::Scalar => unordered::sum_in_lanes::<Self, 1>(variant, leaves),
                    #[cfg(target_arch = "x86_64")]
                    Set::Sse2(sse2) => sse2.$unordered_sum(variant, leaves),
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx2(avx2) => avx2.$unordered_sum(variant, leaves),
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx512(avx512) => avx512.$unordered_sum(variant, leaves),
                }
            }
        }
    };
}

float!(f64, fold_f64, subtree_sums8_f64, unordered_sum_f64);
float!(f32, fold_f32, subtree_sums8_f32, unordered_sum_f32);

/// The sum of a subtree of 8 leaves: ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7)).
///
/// Algorithm 4 of the thesis from level `avx2` on; the other levels give the same bits.
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

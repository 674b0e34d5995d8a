//! Selects the code for a [`Level`]. No other module does.

use core::fmt::Debug;
use core::ops::{Add, Mul};

use crate::fused::SumAndAbsoluteSum;
use crate::kernel::Kernel;
use crate::level::{Level, Set};
use crate::scalar::{self, Four};
use crate::vector::{self, Combine, Proven};
#[cfg(target_arch = "x86_64")]
use crate::x86::Avx2;

/// A bound of [`Float`] that other crates cannot name: it closes the set of types, and leads to their code.
mod sealed {
    use super::{Kernel, Level, Operation};

    #[expect(
        private_bounds,
        private_interfaces,
        reason = "other crates cannot name the trait, so they cannot call its functions"
    )]
    pub trait Sealed: Sized {
        /// Runs the kernel with an operation at a level.
        fn run<K: Kernel<Self>>(level: Level, operation: Operation, kernel: K) -> K::Output;

        /// The same for sums, without compiling the other operations.
        fn run_sum<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output;
    }
}

/// The operations with vector instructions. All are commutative and round once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// left + right
    Sum,
    /// left * right
    Product,
    /// IEEE 754-2019 `minimum`: NaN propagates, -0 is less than +0.
    Minimum,
    /// IEEE 754-2019 `maximum`: NaN propagates, -0 is less than +0.
    Maximum,
}

/// The float types with kernels: `f32` and `f64`.
pub trait Float:
    sealed::Sealed
    + Copy
    + Debug
    + Default
    + Add<Output = Self>
    + Mul<Output = Self>
    + Send
    + Sync
    + 'static
{
    /// +0.0.
    #[doc(hidden)]
    const ZERO: Self;

    #[doc(hidden)]
    const INFINITY: Self;

    #[doc(hidden)]
    fn is_not_a_number(self) -> bool;

    /// Whether the sign bit is set.
    #[doc(hidden)]
    fn has_sign(self) -> bool;

    /// The sum of the leaves and the sum of their absolute values.
    #[doc(hidden)]
    fn sum_and_absolute_sum(level: Level, leaves: &[Self]) -> Option<(Self, Self)>;

    /// The sum of each subtree of 8 leaves.
    #[doc(hidden)]
    fn subtree_sums8(level: Level, subtrees: &[[Self; 8]], sums: &mut [Self]);
}

/// The implementations for the two float types differ only in names.
macro_rules! float {
    ($float:ident, $run:ident, $subtree_sums8:ident) => {
        #[expect(private_bounds, private_interfaces, reason = "as the trait's")]
        impl sealed::Sealed for $float {
            #[inline]
            fn run<K: Kernel<Self>>(level: Level, operation: Operation, kernel: K) -> K::Output {
                match operation {
                    Operation::Sum => $run::<vector::Add, K>(level, kernel),
                    Operation::Product => $run::<vector::Multiply, K>(level, kernel),
                    Operation::Minimum => $run::<vector::Minimum, K>(level, kernel),
                    Operation::Maximum => $run::<vector::Maximum, K>(level, kernel),
                }
            }

            #[inline]
            fn run_sum<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output {
                $run::<vector::Add, K>(level, kernel)
            }
        }

        #[inline]
        fn $run<O: Combine<$float>, K: Kernel<$float>>(level: Level, mut kernel: K) -> K::Output {
            if let Some(output) = kernel.few::<O>() {
                return output;
            }
            match level.set() {
                Set::Scalar => kernel.run::<_, O>(Proven::<Four<$float>>::plain()),
                #[cfg(target_arch = "aarch64")]
                Set::Neon(neon) => neon.$run::<O, K>(kernel),
                #[cfg(target_arch = "x86_64")]
                Set::Sse2(sse2) => sse2.$run::<O, K>(kernel),
                #[cfg(target_arch = "x86_64")]
                Set::Avx2(avx2) => avx2.$run::<O, K>(kernel),
                #[cfg(target_arch = "x86_64")]
                Set::Avx512(avx512) => avx512.$run::<O, K>(kernel),
            }
        }

        impl Float for $float {
            const ZERO: Self = 0.0;
            const INFINITY: Self = $float::INFINITY;

            #[inline(always)]
            fn is_not_a_number(self) -> bool {
                self.is_nan()
            }

            #[inline(always)]
            fn has_sign(self) -> bool {
                self.is_sign_negative()
            }

            #[inline]
            fn sum_and_absolute_sum(level: Level, leaves: &[Self]) -> Option<(Self, Self)> {
                $run::<vector::Add, _>(level, SumAndAbsoluteSum(leaves))
            }

            #[inline]
            fn subtree_sums8(level: Level, subtrees: &[[Self; 8]], sums: &mut [Self]) {
                assert_eq!(subtrees.len(), sums.len());
                match level.set() {
                    Set::Scalar => scalar::subtree_sums8(subtrees, sums),
                    #[cfg(target_arch = "aarch64")]
                    Set::Neon(neon) => neon.$subtree_sums8(subtrees, sums),
                    #[cfg(target_arch = "x86_64")]
                    Set::Sse2(sse2) => sse2.$subtree_sums8(subtrees, sums),
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx2(avx2) => avx2.$subtree_sums8(subtrees, sums),
                    // Algorithm 4 reads eight leaves, which do not fill a wider register.
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx512(avx512) => Avx2::from(avx512).$subtree_sums8(subtrees, sums),
                }
            }
        }
    };
}

float!(f64, run_f64, subtree_sums8_f64);
float!(f32, run_f32, subtree_sums8_f32);

/// Runs a kernel that uses no operation, or sums.
#[inline]
pub(crate) fn run_kernel<T: Float, K: Kernel<T>>(level: Level, kernel: K) -> K::Output {
    T::run_sum(level, kernel)
}

/// The sum of a subtree of 8 leaves: ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7)).
///
/// Levels `avx2` and `avx512` run Algorithm 4 of the thesis. The other levels give the same bits.
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

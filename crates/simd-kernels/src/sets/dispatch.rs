//! Selects the code for a [`Level`]. No other module selects code by level.

use core::fmt::Debug;
use core::ops;

use crate::sets::bits::Bits;
use crate::sets::compiled::Compiled;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::scalar::{self, FourLanes};
use crate::sets::set::Set;
use crate::sets::vector::{Add, Combine, Proven, Vector};
#[cfg(target_arch = "x86_64")]
use crate::sets::x86::Avx2;

/// A supertrait of [`Float`] that other crates cannot name, so that they cannot implement it.
mod sealed {
    use super::{Bits, Combine, Kernel, Level};

    #[expect(
        private_bounds,
        private_interfaces,
        reason = "other crates cannot name the trait, so they cannot call its functions"
    )]
    pub trait Sealed: Bits {
        /// Runs the kernel with an operation at a level.
        fn compute<O: Combine<Self>, K: Kernel<Self>>(level: Level, kernel: K) -> K::Output;

        /// Runs the kernel with sums at a level.
        fn compute_sum<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output;

        /// The sum of each subtree of 8 leaves.
        fn subtree_sums8(level: Level, subtrees: &[[Self; 8]], sums: &mut [Self]);
    }
}

/// The float types with kernels: `f32` and `f64`.
pub trait Float:
    sealed::Sealed
    + Compiled
    + Copy
    + Debug
    + Default
    + ops::Add<Output = Self>
    + ops::Mul<Output = Self>
    + Send
    + Sync
    + 'static
{
    /// +0.0.
    #[doc(hidden)]
    const ZERO: Self;

    /// -0.0, the neutral element of addition.
    #[doc(hidden)]
    const NEGATIVE_ZERO: Self;

    #[doc(hidden)]
    const INFINITY: Self;

    #[doc(hidden)]
    fn is_not_a_number(self) -> bool;

    /// Whether the sign bit is set.
    #[doc(hidden)]
    fn has_sign(self) -> bool;
}

/// Runs a kernel in plain Rust. This function is not inlined, so that calls at other levels do not load its code.
#[inline(never)]
fn plain<T, O: Combine<T>, K: Kernel<T>>(kernel: K) -> K::Output
where
    FourLanes<T>: Vector<Element = T>,
{
    kernel.compute::<_, O>(Proven::<FourLanes<T>>::plain())
}

/// Implements the traits for both float types, which differ only in names.
macro_rules! float {
    ($float:ident, $compute:ident, $subtree_sums8:ident) => {
        #[expect(private_bounds, private_interfaces, reason = "the trait is sealed")]
        impl sealed::Sealed for $float {
            #[inline]
            fn compute<O: Combine<Self>, K: Kernel<Self>>(level: Level, kernel: K) -> K::Output {
                $compute::<O, K>(level, kernel)
            }

            #[inline]
            fn compute_sum<K: Kernel<Self>>(level: Level, kernel: K) -> K::Output {
                $compute::<Add, K>(level, kernel)
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
                    // Algorithm 4 uses registers of 256 bits.
                    #[cfg(target_arch = "x86_64")]
                    Set::Avx512(avx512) => Avx2::from(avx512).$subtree_sums8(subtrees, sums),
                }
            }
        }

        #[inline]
        fn $compute<O: Combine<$float>, K: Kernel<$float>>(
            level: Level,
            mut kernel: K,
        ) -> K::Output {
            if let Some(output) = kernel.few::<O>() {
                return output;
            }
            // The compiler turns minima and maxima in plain Rust into slower code than SSE2's instructions.
            #[cfg(target_arch = "x86_64")]
            let is_for_sse2 =
                const { K::FOR.two_doubles || O::COMPARES || size_of::<$float>() < 8 };
            // With the widest set first and few cases, the compiler emits comparisons rather than a jump table.
            match level.set() {
                #[cfg(target_arch = "x86_64")]
                Set::Avx512(avx512) if const { K::FOR.long_registers } => {
                    avx512.$compute::<O, K>(kernel)
                }
                #[cfg(target_arch = "x86_64")]
                Set::Avx512(avx512) => Avx2::from(avx512).$compute::<O, K>(kernel),
                #[cfg(target_arch = "x86_64")]
                Set::Avx2(avx2) => avx2.$compute::<O, K>(kernel),
                #[cfg(target_arch = "x86_64")]
                Set::Sse2(sse2) if is_for_sse2 => sse2.$compute::<O, K>(kernel),
                #[cfg(target_arch = "aarch64")]
                Set::Neon(neon) => neon.$compute::<O, K>(kernel),
                Set::Scalar if const { !K::FOR.scalar } => {
                    unreachable!("this kernel has no plain Rust; its caller must check the level")
                }
                _ => plain::<$float, O, K>(kernel),
            }
        }

        impl Float for $float {
            const ZERO: Self = 0.0;
            const NEGATIVE_ZERO: Self = -0.0;
            const INFINITY: Self = $float::INFINITY;

            #[inline(always)]
            fn is_not_a_number(self) -> bool {
                self.is_nan()
            }

            #[inline(always)]
            fn has_sign(self) -> bool {
                self.is_sign_negative()
            }
        }
    };
}

float!(f64, compute_f64, subtree_sums8_f64);
float!(f32, compute_f32, subtree_sums8_f32);

/// Runs a kernel that uses sums, or no operation.
#[inline]
pub(crate) fn compute<T: Float, K: Kernel<T>>(level: Level, kernel: K) -> K::Output {
    T::compute_sum(level, kernel)
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

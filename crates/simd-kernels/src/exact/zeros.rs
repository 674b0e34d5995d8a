//! Detects zeros of both signs, in any floating-point environment.

use core::hint::black_box;

use crate::sets::compiled::Compiled;
use crate::sets::dispatch::compute;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// Whether an item is 0.0 or -0.0, even if the floating-point environment treats subnormal numbers as zero. Without `black_box` the compiler
/// would turn the test of bits into a comparison of floats.
#[must_use]
#[inline]
pub fn is_zero(item: f64) -> bool {
    black_box(item.to_bits()) << 1 == 0
}

/// The number of -0.0 among items 0, 2, 4, … and among items 1, 3, 5, ….
///
/// ```
/// use simd_kernels::{Level, count_negative_zeros};
///
/// assert_eq!(count_negative_zeros(Level::best(), &[-0.0, -0.0, 0.0, 1.0, -0.0]), [2, 1]);
/// ```
#[must_use]
#[inline]
pub fn count_negative_zeros<T: Compiled>(level: Level, items: &[T]) -> [u64; 2] {
    T::count_negative_zeros_kernel(level, items)
}

pub(crate) fn count_negative_zeros_kernel<T: Copy + Into<f64>>(
    level: Level,
    items: &[T],
) -> [u64; 2] {
    compute(level, Count(items))
}

struct Count<'i, T>(&'i [T]);

/// 1 for a negative zero, else 0. This is a function because a closure would be compiled without the level's instructions.
#[inline(always)]
fn is_one(item: impl Into<f64>) -> u64 {
    u64::from(item.into().to_bits() == (-0.0_f64).to_bits())
}

// A plain loop, which the compiler vectorizes.
impl<T: Copy + Into<f64>> Kernel<f64> for Count<'_, T> {
    type Output = [u64; 2];

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) -> [u64; 2] {
        let mut counts = [0; 2];
        let (pairs, last) = self.0.as_chunks();
        for &[even, odd] in pairs {
            counts[0] += is_one(even);
            counts[1] += is_one(odd);
        }
        for &item in last {
            counts[0] += is_one(item);
        }
        counts
    }
}

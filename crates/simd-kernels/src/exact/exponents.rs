//! Finds the smallest and the largest exponent of items.

use crate::sets::dispatch::compute;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// The smallest and the largest exponent of some numbers. Zeros are ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exponents {
    /// The smallest exponent; -1023 for subnormal numbers.
    pub lowest: i32,
    /// The largest exponent; -1023 for subnormal numbers, and 1024 for infinities and NaNs.
    pub highest: i32,
    /// Whether some of the numbers are zero.
    pub has_zeros: bool,
}

impl Exponents {
    /// The exponents of items; `None` if all are zero.
    ///
    /// ```
    /// use simd_kernels::{Exponents, Level};
    ///
    /// let exponents = Exponents::of(Level::best(), &[0.0, -1.5, 0.3]);
    /// assert_eq!(exponents, Some(Exponents { lowest: -2, highest: 0, has_zeros: true }));
    /// ```
    #[must_use]
    pub fn of(level: Level, items: &[f64]) -> Option<Self> {
        compute(level, OfItems(items))
    }

    /// The exponents of the rounded products x0 * y0, x1 * y1, …; `None` if all are zero.
    ///
    /// # Panics
    /// The slices differ in length.
    #[must_use]
    pub fn of_products(level: Level, x: &[f64], y: &[f64]) -> Option<Self> {
        assert_eq!(x.len(), y.len(), "the slices differ in length");
        compute(level, OfProducts(x, y))
    }
}

struct OfItems<'i>(&'i [f64]);

struct OfProducts<'i>(&'i [f64], &'i [f64]);

// Plain loops, which the compiler vectorizes.
impl Kernel<f64> for OfItems<'_> {
    type Output = Option<Exponents>;

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) -> Self::Output {
        let mut seen = Seen::NOTHING;
        for &item in self.0 {
            seen.add(item);
        }
        seen.exponents()
    }
}

impl Kernel<f64> for OfProducts<'_> {
    type Output = Option<Exponents>;

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) -> Self::Output {
        let mut seen = Seen::NOTHING;
        for (x, y) in self.0.iter().zip(self.1) {
            seen.add(x * y);
        }
        seen.exponents()
    }
}

/// The bits of the least and the greatest magnitudes seen.
struct Seen {
    largest: u64,
    smallest: u64,
    /// The bits of the smallest nonzero magnitude, minus 1. A zero's bits minus 1 wrap to the largest integer.
    smallest_other: u64,
}

impl Seen {
    const NOTHING: Self = Self {
        largest: 0,
        smallest: u64::MAX,
        smallest_other: u64::MAX,
    };

    #[inline(always)]
    fn add(&mut self, item: f64) {
        let bits = item.to_bits() & !(1 << 63);
        self.largest = self.largest.max(bits);
        self.smallest = self.smallest.min(bits);
        self.smallest_other = self.smallest_other.min(bits.wrapping_sub(1));
    }

    #[inline(always)]
    fn exponents(self) -> Option<Exponents> {
        let exponent = |bits: u64| (bits >> 52) as i32 - 1023;
        (self.largest != 0).then(|| Exponents {
            lowest: exponent(self.smallest_other + 1),
            highest: exponent(self.largest),
            has_zeros: self.smallest == 0,
        })
    }
}

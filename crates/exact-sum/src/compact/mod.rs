//! Sums that are small, and own no memory as long as their items fit: for databases, which keep one for each of many groups, and forget some.

mod digits;
mod integers;
mod moments;
mod number;

use simd_kernels::{Level, Quiet};

use crate::number::blocks::Pace;
use crate::number::counters::{LimitError, items_of_both};
use crate::number::destination::Destination;
use crate::number::fixed::{DoubleProducts, Doubles, integer};
use crate::number::float::sealed::Sealed;
use crate::number::round::quotient;
pub(crate) use digits::Digits;
use digits::{Narrow, Wide};
pub use integers::IntegerSum;
pub(crate) use integers::Long;
pub use moments::CompactMoments;
use number::{Kinds, Number};

/// Fewer items are added one by one.
const FEW_ITEMS: usize = 24;

/// An exact sum in 32 bytes.
///
/// Its items fit 128 bits if they are within a factor of 2^23 of the first one, or some more. Otherwise it owns some 600 bytes more.
/// It begins at +0.0, as sums by key do: that of negative zeros is +0.0.
///
/// ```
/// use exact_sum::CompactSum;
///
/// let mut sum = CompactSum::new();
/// assert_eq!(sum.value(), None);
/// [1e300, 0.1, -1e300].map(|item| sum.add(item));
/// assert_eq!(sum.value(), Some(0.1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct CompactSum {
    number: Number<Narrow, Doubles>,
}

impl CompactSum {
    /// The sum of no items.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            number: Number::EMPTY,
        }
    }

    /// Adds an item.
    #[inline]
    pub fn add(&mut self, item: f64) {
        self.number.kinds.add(Kinds::ANY);
        let (significand, unit) = integer(item);
        if !self.number.add_item(significand, unit) {
            self.add_apart(item);
        }
    }

    /// Adds an item that does not fit the digits.
    #[cold]
    fn add_apart(&mut self, item: f64) {
        if item.is_finite() {
            let (significand, unit) = integer(item);
            self.number.add_integer(significand.into(), unit);
        } else {
            self.number.kinds.add(Kinds::of_special(item));
        }
    }

    /// Adds items: many take less time than one by one.
    pub fn add_all(&mut self, items: &[f64]) {
        match Quiet::now() {
            Some(quiet) if items.len() >= FEW_ITEMS => {
                self.number.kinds.add(Kinds::ANY);
                let mut pace = Pace::START;
                pace.add_items(Level::best(), items, quiet, self);
                quiet.forget_since();
            }
            _ => items.iter().for_each(|item| self.add(*item)),
        }
    }

    /// Adds another sum's items.
    ///
    /// # Errors
    /// Either sum has no more room, which takes more than 2^63 items. It stays as it was.
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.number.merge(&other.number)
    }

    /// The sum, rounded once to nearest; `None` if there are no items.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        if self.number.kinds.is_none() {
            return None;
        }
        match self.number.only_digits() {
            Some(digits) if self.number.kinds == Kinds::ANY => {
                let is_quiet = Quiet::now().is_some();
                let unit = self.number.unit.into();
                Some(f64::of_integer(digits.integer(), unit, is_quiet))
            }
            _ => Some(self.number.value()),
        }
    }

    /// The sum divided by a number of items that is not 0, rounded once.
    fn mean_of(&self, items: u64) -> f64 {
        let mean = |(is_negative, sum)| f64::signed((is_negative, quotient(sum, items)));
        let finite = || self.number.magnitude().map_or(0.0, mean);
        self.number.kinds.special().unwrap_or_else(finite)
    }
}

impl Destination for CompactSum {
    const COUNTS_ZEROS: bool = false;

    #[inline]
    fn add_parts(&mut self, [even, odd]: [i64; 2], unit: i32) {
        let parts = i128::from(even) + i128::from(odd);
        self.number.add_integer(parts, unit);
    }

    fn add_item(&mut self, _index: usize, item: f64) {
        self.add(item);
    }

    fn count_negative_zeros(&mut self, _counts: [u64; 2]) {}
}

/// An exact sum and the number of its items, in 40 bytes.
///
/// ```
/// use exact_sum::CompactMean;
///
/// let mut mean = CompactMean::new();
/// mean.add_all(&[1.7e308; 3]);
/// assert_eq!(mean.value(), Some(1.7e308));
/// ```
#[derive(Clone, Debug, Default)]
pub struct CompactMean {
    sum: CompactSum,
    items: u64,
}

impl CompactMean {
    /// The mean of no items.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            sum: CompactSum::new(),
            items: 0,
        }
    }

    /// Adds an item.
    #[inline]
    pub fn add(&mut self, item: f64) {
        self.items += 1;
        self.sum.add(item);
    }

    /// Adds items.
    pub fn add_all(&mut self, items: &[f64]) {
        self.items += items.len() as u64;
        self.sum.add_all(items);
    }

    /// Adds another mean's items.
    ///
    /// # Errors
    /// There would be more than 2^63 - 1 items. The mean stays as it was.
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        let items = items_of_both(self.items, other.items)?;
        self.sum.merge(&other.sum)?;
        self.items = items;
        Ok(())
    }

    /// The mean, rounded once to nearest; `None` if there are no items.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.items > 0).then(|| self.sum.mean_of(self.items))
    }
}

/// An exact sum of products in 48 bytes. As [`CompactSum`], it owns some 1,100 bytes more if products do not fit 256 bits.
///
/// ```
/// use exact_sum::CompactProducts;
///
/// let mut dot = CompactProducts::new();
/// [(1e200, 1e100), (3.0, 4.0), (1e200, -1e100)].map(|(x, y)| dot.add(x, y));
/// assert_eq!(dot.value(), Some(12.0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct CompactProducts {
    number: Number<Wide, DoubleProducts>,
}

impl CompactProducts {
    /// The sum of no products.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            number: Number::EMPTY,
        }
    }

    /// Adds x * y.
    #[inline]
    pub fn add(&mut self, x: f64, y: f64) {
        self.number.kinds.add(Kinds::ANY);
        if !x.is_finite() || !y.is_finite() {
            return self.add_special(x, y);
        }
        let (product, unit) = product(x, y);
        if !self.number.add_item(product, unit) {
            self.add_apart(product, unit);
        }
    }

    #[cold]
    fn add_apart(&mut self, product: i128, unit: i32) {
        self.number.add_integer(product, unit);
    }

    /// Infinity times zero is NaN; otherwise the signs tell.
    #[cold]
    fn add_special(&mut self, x: f64, y: f64) {
        let sign = |factor: f64| match factor {
            _ if factor.is_nan() => f64::NAN,
            0.0 => 0.0,
            _ => 1.0_f64.copysign(factor),
        };
        let signs = sign(x) * sign(y);
        let special = if signs == 0.0 { f64::NAN } else { signs / 0.0 };
        self.number.kinds.add(Kinds::of_special(special));
    }

    /// Adds the square of an integer.
    fn add_square(&mut self, integer: i64) {
        self.number.kinds.add(Kinds::ANY);
        let square = i128::from(integer) * i128::from(integer);
        self.number.add_whole(square);
    }

    /// Adds another sum's products.
    ///
    /// # Errors
    /// Either sum has no more room, which takes more than 2^63 products. It stays as it was.
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.number.merge(&other.number)
    }

    /// The sum, rounded once to nearest; `None` if there are no products.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (!self.number.kinds.is_none()).then(|| self.number.value())
    }
}

/// The product of two finite numbers, as an integer of 106 bits in units of 2^unit.
#[inline(always)]
fn product(x: f64, y: f64) -> (i128, i32) {
    let [(x, x_unit), (y, y_unit)] = [integer(x), integer(y)];
    (i128::from(x) * i128::from(y), x_unit + y_unit)
}

#[cfg(test)]
mod tests {
    use super::{CompactMean, CompactMoments, CompactProducts, CompactSum, IntegerSum};

    #[test]
    fn databases_keep_so_many_bytes_for_a_group() {
        assert_eq!(size_of::<CompactSum>(), 32);
        assert_eq!(size_of::<IntegerSum>(), 32);
        assert_eq!(size_of::<CompactMean>(), 40);
        assert_eq!(size_of::<CompactProducts>(), 48);
        assert_eq!(size_of::<CompactMoments>(), 88);
        assert_eq!(align_of::<CompactMoments>(), 8);
    }
}

//! Dot products.

use super::number::Number;
use super::short::Short;
use super::sum::count;
use super::{CompactBytes, CompactItem, CompactRows, CompactState};
use crate::bytes::{self, BytesError, Kind};
use crate::number::counters::{LimitError, RemoveError};
use crate::number::fixed::DoubleProducts;
use crate::number::scaled::{over_tens, quotient};
use crate::number::wide::Wide;
use crate::statistic::{Options, Statistic};

/// A sum of products. Only [`CompactProducts`] also counts the products.
pub(super) type ProductNumber = Number<Wide<4>, DoubleProducts>;

/// An exact sum of products in 48 bytes. If products do not fit 256 bits, it owns some 1,100 bytes more.
///
/// ```
/// use exact_sum::CompactProducts;
///
/// let mut dot = CompactProducts::new();
/// [(1e200, 1e100), (3.0, 4.0), (1e200, -1e100)].map(|(x, y)| dot.add(x, y));
/// assert_eq!(dot.value(), Some(12.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompactProducts {
    pub(super) number: ProductNumber,
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
    pub fn add(&mut self, x: impl CompactItem, y: impl CompactItem) {
        self.number.count(1);
        if x.special().is_none() && y.special().is_none() {
            self.number.add_product(x, y);
        } else {
            self.count_special([(x.parts(), x.special()), (y.parts(), y.special())]);
        }
    }

    /// Counts the product of two factors, one or both of them not finite: infinity times zero is NaN, otherwise the signs decide.
    #[cold]
    fn count_special(&mut self, factors: [((i64, i32), Option<f64>); 2]) {
        let sign = |((integer, _), special): ((i64, i32), Option<f64>)| match special {
            Some(special) if special.is_nan() => 0,
            Some(special) if special < 0.0 => -1,
            Some(_) => 1,
            None => integer.signum(),
        };
        let [x, y] = factors.map(sign);
        self.number.count_special(match x * y {
            0 => f64::NAN,
            1 => f64::INFINITY,
            _ => f64::NEG_INFINITY,
        });
    }

    /// The sum, rounded once to nearest; `None` if there are no products.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        (self.number.items() > 0).then(|| self.number.value())
    }
}

impl Short<Wide<4>> {
    /// This number plus the product of two finite numbers, if there is room.
    #[inline(always)]
    pub(super) fn plus_product(self, x: impl CompactItem, y: impl CompactItem) -> Option<Self> {
        let [(integer, unit), (other, other_unit)] = [x.parts(), y.parts()];
        let product = i128::from(integer) * i128::from(other);
        match (x.is_integer(), y.is_integer()) {
            (false, false) => self.plus_item(product, unit + other_unit),
            (true, true) => self.plus_whole(product),
            // The product of an integer and a double has more bits than `plus_item` takes.
            _ => None,
        }
    }
}

impl ProductNumber {
    /// Adds the product of two finite numbers.
    #[inline(always)]
    pub(super) fn add_product(&mut self, x: impl CompactItem, y: impl CompactItem) {
        if !self.set(self.digits_and_unit().plus_product(x, y)) {
            self.add_apart(x, y);
        }
    }

    #[cold]
    fn add_apart(&mut self, x: impl CompactItem, y: impl CompactItem) {
        let [(integer, unit), (other, other_unit)] = [x.parts(), y.parts()];
        let product = i128::from(integer) * i128::from(other);
        if x.is_integer() && y.is_integer() {
            self.add_whole(product);
        } else {
            self.add_integer(product, unit + other_unit);
        }
    }
}

impl CompactState for CompactProducts {
    fn items(&self) -> u64 {
        self.number.items()
    }

    fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.number.merge(&other.number)
    }

    fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        self.number.unmerge(&other.number)
    }

    fn value_of(&self, statistic: Statistic, _: Options, scales: [i32; 2]) -> Option<f64> {
        let of_decimals = || {
            let sum = [self.number.scaled(), 1.into()];
            let [sum, divisor] = over_tens(sum, scales[0] + scales[1]);
            quotient(&sum, &divisor)
        };
        match (statistic, scales) {
            (Statistic::Count, _) => Some(count(self.items())),
            (Statistic::Dot, [0, 0]) => self.value(),
            (Statistic::Dot, _) => Some(self.number.special().unwrap_or_else(of_decimals)),
            _ => None,
        }
    }

    fn has_specials(&self) -> bool {
        self.number.special::<f64>().is_some()
    }
}

impl<X: CompactItem, Y: CompactItem> CompactRows<(X, Y)> for CompactProducts {
    #[inline]
    fn add_row(&mut self, (x, y): (X, Y)) {
        self.add(x, y);
    }
}

impl CompactBytes for CompactProducts {
    fn to_bytes(&self) -> Vec<u8> {
        bytes::write::<f64, DoubleProducts, 1>(Kind::ProductSum, [&self.number.total()])
    }

    fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let [total] = bytes::read::<f64, DoubleProducts, 1>(Kind::ProductSum, bytes)?;
        let number = Number::of_total(&total);
        Ok(Self { number })
    }
}

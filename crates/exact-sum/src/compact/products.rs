//! Implements the state for dot products.

use super::short::{Short, Value};
use super::state::{Asked, Compact, Figures, Numbers, numbers};
use super::sum::decimal;
use super::{CompactItem, CompactState};
use crate::number::counters::Counters;
use crate::number::fixed::{DoubleProducts, Fixed};
use crate::number::float::sealed::Conversions as _;
use crate::number::total::Total;
use crate::slots::product_sum::ProductSum;
use crate::statistic::{Held, Statistic};

/// An exact sum of products in 48 bytes. If the products do not fit in 256 bits, the sum owns about 1,100 bytes more.
///
/// ```
/// use exact_sum::CompactProducts;
///
/// let mut dot = CompactProducts::new();
/// [(1e200, 1e100), (3.0, 4.0), (1e200, -1e100)].map(|(x, y)| dot.add(x, y));
/// assert_eq!(dot.value(), Some(12.0));
/// ```
pub type CompactProducts = Compact<ProductNumbers>;

numbers!(ProductNumbers, LongProducts, 1, products 4 DoubleProducts);

impl ProductNumbers {
    #[inline(always)]
    fn plus(self, x: impl CompactItem, y: impl CompactItem) -> Option<Self> {
        if x.special().is_some() || y.special().is_some() {
            return None;
        }
        let products = self.products.plus_product(x, y)?;
        Some(Self { products })
    }
}

impl CompactProducts {
    /// Adds x * y.
    #[inline]
    pub fn add(&mut self, x: impl CompactItem, y: impl CompactItem) {
        self.add_or(self.numbers.plus(x, y), |state| state.add_apart(x, y));
    }

    #[cold]
    fn add_apart(&mut self, x: impl CompactItem, y: impl CompactItem) {
        match special_product(x, y) {
            Some(special) => self.long().counters[0].merge(special),
            None => self.add_values(&[product(x, y).value()]),
        }
    }

    /// The sum, rounded once to nearest; `None` if there are no products.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        self.statistic(Statistic::Dot, Statistic::Dot.defaults())
    }
}

/// A product of two finite items.
pub(super) struct Product {
    parts: [(i128, i32); 1],
    is_whole: bool,
}

impl Product {
    pub(super) fn value(&self) -> Value<'_> {
        (&self.parts, self.is_whole)
    }
}

#[inline(always)]
pub(super) fn product(x: impl CompactItem, y: impl CompactItem) -> Product {
    let [(integer, unit), (other, other_unit)] = [x.parts(), y.parts()];
    Product {
        parts: [(i128::from(integer) * i128::from(other), unit + other_unit)],
        is_whole: x.is_integer() && y.is_integer(),
    }
}

/// The counters of a product, if a factor is not finite.
pub(super) fn special_product(x: impl CompactItem, y: impl CompactItem) -> Option<Counters> {
    if x.special().is_none() && y.special().is_none() {
        return None;
    }
    // Only the sign of a finite factor matters.
    let sign = |(integer, _): (i64, i32)| f64::of_integer(integer.signum().into(), 0, false);
    let x = x.special().unwrap_or_else(|| sign(x.parts()));
    let y = y.special().unwrap_or_else(|| sign(y.parts()));
    let product = Total::<DoubleProducts>::of_product(x, y);
    Some(product.counters.of_specials())
}

impl Short<4> {
    /// This number plus the product of two finite numbers, if there is room.
    #[inline(always)]
    pub(super) fn plus_product(self, x: impl CompactItem, y: impl CompactItem) -> Option<Self> {
        let Product { parts, is_whole } = product(x, y);
        let [(product, unit)] = parts;
        match (x.is_integer(), y.is_integer()) {
            (false, false) => self.plus_item(product, unit),
            _ if is_whole => self.plus_whole(product),
            // The product of an integer and a double may have more bits than `plus_item` accepts.
            _ => None,
        }
    }
}

impl Figures for ProductNumbers {
    type Slot = ProductSum<f64>;

    const HELD: Held = Held::Products;

    fn slot(long: &LongProducts) -> ProductSum<f64> {
        ProductSum::of_total(Total {
            fixed: long.products,
            counters: long.counters[0],
        })
    }

    fn of_slot(slot: &ProductSum<f64>) -> LongProducts {
        LongProducts {
            counters: [slot.total.counters],
            products: slot.total.fixed,
        }
    }

    fn quick(&self, statistic: Statistic, _: u64) -> Option<f64> {
        let magnitude = || self.products.magnitude();
        (statistic == Statistic::Dot).then(|| magnitude().map_or(0.0, f64::signed))
    }

    fn value(slot: &ProductSum<f64>, (statistic, _, [x, y]): Asked) -> Option<f64> {
        (statistic == Statistic::Dot).then(|| decimal(&slot.total, 1, x + y))
    }
}

//! Columns that hold sums of floats: sums of items, of products and of higher powers.

mod columns;

use std::marker::PhantomData;

use simd_kernels::Quiet;

use super::Columns as _;
use super::counts::Counts;
use super::higher::HigherPowers;
use super::totals::Totals;
use crate::keyed::columns::layout::{Layout, Quantity};
use crate::keyed::message::entry::WrongEntries;
use crate::number::float::Float;
use crate::number::total::Total;
use crate::slots::product_sum::ProductSum;
use crate::slots::sum::Sum;
use crate::statistic::Statistic;

/// The columns of one kind of slot. In messages, a key's count comes first, and its higher powers last.
#[derive(Clone, Debug)]
pub struct Sums<T: Float> {
    layout: Layout,
    counts: Option<Counts>,
    sums: Vec<Totals>,
    powers: Option<HigherPowers>,
    item: PhantomData<T>,
}

impl Quantity {
    fn is_of_items(self) -> bool {
        matches!(self, Self::X | Self::Y)
    }

    /// The factors of a product, given the two columns of items. For a sum of items, returns one of the columns twice.
    fn factors<I: Copy>(self, [x, y]: [I; 2]) -> [I; 2] {
        match self {
            Self::Y | Self::YY => [y, y],
            Self::XY => [x, y],
            _ => [x, x],
        }
    }
}

impl Layout {
    /// The number of the first part of a message that belongs to a sum.
    fn first_sum(self) -> usize {
        self.is_counted.into()
    }

    /// The number of the first part of a message that belongs to the higher powers.
    fn first_power(self) -> usize {
        self.first_sum() + self.sums.len()
    }

    /// Checks that a message has a part of this number.
    fn check(self, part: usize) -> Result<(), WrongEntries> {
        let powers = if self.has_powers {
            HigherPowers::PARTS
        } else {
            0
        };
        let is_part = part < self.first_power() + powers;
        is_part
            .then_some(())
            .ok_or(WrongEntries("the number of a part is out of range"))
    }

    fn index(self, quantity: Quantity) -> usize {
        let index = self.sums.iter().position(|own| *own == quantity);
        index.expect("the slot has the quantity")
    }
}

impl<T: Float> Sums<T> {
    /// Each key's sum of items, or of rounded products.
    #[inline]
    pub(crate) fn totals(&self, quantity: Quantity) -> &Totals {
        &self.sums[self.layout.index(quantity)]
    }

    /// Each key's sum of items, or of rounded products. Callers may add products whose rounding errors are zero.
    #[inline]
    pub(crate) fn totals_mut(&mut self, quantity: Quantity) -> &mut Totals {
        &mut self.sums[self.layout.index(quantity)]
    }

    pub(crate) fn powers(&self) -> &HigherPowers {
        self.powers.as_ref().expect("the slot has higher powers")
    }

    /// The number of items of each key.
    pub(crate) fn counts_mut(&mut self) -> &mut [u64] {
        let counts = self.counts.as_mut();
        &mut counts.expect("the slot counts items").0
    }

    /// The first sum of each key.
    #[inline]
    pub(crate) fn first_mut(&mut self) -> &mut Totals {
        &mut self.sums[0]
    }

    /// The number of a key's items; 0 if they are not counted.
    #[inline]
    fn count(&self, key: usize) -> u64 {
        self.counts().map_or(0, |counts| counts[key])
    }

    /// A key's sum of items.
    pub(crate) fn sum(&self, quantity: Quantity, key: usize) -> Sum<T> {
        self.totals(quantity).sum_of(key, self.count(key))
    }

    /// A key's sum of products, without the number of products.
    pub(crate) fn product_total(&self, quantity: Quantity, key: usize) -> Total<T::Products> {
        let index = self.layout.index(quantity);
        let mut total = self.sums[index].total(key);
        total.merge(&self.sums[index + 1].total(key));
        // Sums by key start at +0.0, so a sum of negative zeros is +0.0.
        total.counters.negative_zeros = 0;
        total
    }

    /// A key's sum of products. Products of two columns are not counted.
    pub(crate) fn product_sum(&self, quantity: Quantity, key: usize) -> ProductSum<T> {
        let mut total = self.product_total(quantity, key);
        if quantity != Quantity::XY {
            total.counters.items = self.count(key).cast_signed();
        }
        ProductSum::of_total(total)
    }

    /// The sum or the mean of a key's items, rounded once.
    #[inline]
    pub(crate) fn sum_or_mean(&self, key: usize, statistic: Statistic) -> Option<T> {
        let sums = self.totals(Quantity::X);
        match statistic {
            Statistic::Sum => Some(sums.rounded(key, Quiet::now().is_some())),
            Statistic::Mean => Some(sums.mean(key, self.count(key))),
            _ => None,
        }
    }
}

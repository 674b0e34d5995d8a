//! Weighted means.

use super::{CompactItem, CompactProducts, CompactRows, CompactState, CompactSum};
use crate::number::counters::{LimitError, RemoveError};
use crate::number::scaled::{over_tens, quotient};
use crate::slots::weighted::quotient_of_special;
use crate::statistic::{Options, Statistic};

/// A weighted mean: the sum of items times their weights, and the sum of the weights, in 80 bytes.
///
/// ```
/// use exact_sum::{CompactState, CompactWeightedMean, Statistic};
///
/// let mut mean = CompactWeightedMean::new();
/// [(1e200, 1e200), (1.0, 0.5), (-1e200, 1e200)].map(|(item, weight)| mean.add(item, weight));
/// [(2.0, -1e200), (9.0, -1e200)].map(|(item, weight)| mean.add(item, weight));
/// let average = Statistic::WeightedMean;
/// assert_eq!(mean.statistic(average, average.defaults()), Some(-22e200));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompactWeightedMean {
    products: CompactProducts,
    weights: CompactSum,
}

impl CompactWeightedMean {
    /// The weighted mean of no items.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            products: CompactProducts::new(),
            weights: CompactSum::new(),
        }
    }

    /// Adds an item with its weight.
    #[inline]
    pub fn add(&mut self, item: impl CompactItem, weight: impl CompactItem) {
        self.products.add(item, weight);
        self.weights.add(weight);
    }
}

impl CompactState for CompactWeightedMean {
    fn items(&self) -> u64 {
        self.weights.items()
    }

    fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        // There are as many products as weights, so only the first merge can fail.
        self.products.merge(&other.products)?;
        self.weights.merge(&other.weights)
    }

    fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        let mut left = self.clone();
        left.products.unmerge(&other.products)?;
        left.weights.unmerge(&other.weights)?;
        *self = left;
        Ok(())
    }

    fn value_of(&self, statistic: Statistic, options: Options, scales: [i32; 2]) -> Option<f64> {
        if statistic != Statistic::WeightedMean {
            let count = || self.weights.value_of(statistic, options, scales);
            return (statistic == Statistic::Count).then(count).flatten();
        }
        let [products, weights] = [self.products.value()?, self.weights.value()?];
        if self.has_specials() {
            return Some(quotient_of_special(products, weights));
        }
        let quotients = [self.products.number.scaled(), self.weights.number.scaled()];
        // The scale of the weights cancels, since it is in both the numerator and the denominator.
        let [above, below] = over_tens(quotients, scales[0]);
        Some(quotient(&above, &below))
    }

    fn has_specials(&self) -> bool {
        self.products.has_specials() || self.weights.has_specials()
    }
}

impl<X: CompactItem, Y: CompactItem> CompactRows<(X, Y)> for CompactWeightedMean {
    #[inline]
    fn add_row(&mut self, (item, weight): (X, Y)) {
        self.add(item, weight);
    }
}

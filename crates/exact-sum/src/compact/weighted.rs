//! Implements the state for weighted means.

use super::CompactItem;
use super::products::{product, special_product};
use super::short::{Short, Value};
use super::state::{Asked, Compact, Figures, Numbers, numbers};
use crate::number::counters::Counters;
use crate::number::fixed::{DoubleProducts, Doubles, Fixed};
use crate::number::scaled::{Scaled, over_tens, quotient};
use crate::number::total::Total;
use crate::slots::product_sum::ProductSum;
use crate::slots::sum::Sum;
use crate::slots::weighted::{WeightedMean, quotient_of_special};
use crate::statistic::Held;

/// A weighted mean: the sum of items times their weights, and the sum of the weights, in 64 bytes.
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
pub type CompactWeightedMean = Compact<WeightedNumbers>;

numbers!(WeightedNumbers, LongWeighted, 2, products 4 DoubleProducts, weights 2 Doubles);

impl WeightedNumbers {
    #[inline(always)]
    fn plus(self, item: impl CompactItem, weight: impl CompactItem) -> Option<Self> {
        let (integer, unit) = weight.parts();
        let is_finite = item.special().is_none();
        Some(Self {
            weights: self.weights.plus_item(integer.into(), unit)?,
            products: self.products.plus_product(item, weight)?,
        })
        .filter(|_| is_finite)
    }
}

impl CompactWeightedMean {
    /// Adds an item with its weight.
    #[inline]
    pub fn add(&mut self, item: impl CompactItem, weight: impl CompactItem) {
        self.add_or(self.numbers.plus(item, weight), |state| {
            state.add_apart(item, weight)
        });
    }

    #[cold]
    fn add_apart(&mut self, item: impl CompactItem, weight: impl CompactItem) {
        const NONE: Value<'_> = (&[], false);
        let (integer, unit) = weight.parts();
        let product = product(item, weight);
        let mut values = [
            product.value(),
            (&[(integer.into(), unit)][..], weight.is_integer()),
        ];
        if let Some(special) = special_product(item, weight) {
            self.long().counters[0].merge(special);
            values[0] = NONE;
        }
        if let Some(special) = weight.special() {
            self.long().counters[1].count_special(special);
            values[1] = NONE;
        }
        self.add_values(&values);
    }
}

impl Figures for WeightedNumbers {
    type Slot = WeightedMean<f64>;

    const HELD: Held = Held::Weighted;

    fn slot(long: &LongWeighted) -> WeightedMean<f64> {
        let [products, weights] = long.counters;
        WeightedMean {
            products: ProductSum::of_total(Total {
                fixed: long.products,
                counters: products,
            }),
            weights: Sum::of_total(Total {
                fixed: long.weights,
                counters: weights,
            }),
        }
    }

    fn of_slot(slot: &WeightedMean<f64>) -> LongWeighted {
        let [products, weights] = [&slot.products.total.counters, &slot.weights.total.counters];
        LongWeighted {
            counters: [*products, *weights],
            products: slot.products.total.fixed,
            weights: slot.weights.total.fixed,
        }
    }

    fn value(slot: &WeightedMean<f64>, (_, _, [scale, _]): Asked) -> Option<f64> {
        let (products, weights) = (&slot.products.total, &slot.weights.total);
        if (products.special::<f64>().or(weights.special())).is_some() {
            return Some(quotient_of_special(products.value(), weights.value()));
        }
        let sums = [Scaled::of(&products.fixed), Scaled::of(&weights.fixed)];
        // The scale of the weights cancels, since it is in both the numerator and the denominator.
        let [above, below] = over_tens(sums, scale);
        Some(quotient(&above, &below))
    }
}

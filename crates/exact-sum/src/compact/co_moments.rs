//! Implements the state for covariances, correlations and regression lines.

use super::CompactItem;
use super::products::product;
use super::short::{Short, Value};
use super::state::{Asked, Compact, Figures, Numbers, numbers};
use crate::number::counters::Counters;
use crate::number::fixed::{DoubleProducts, Doubles, Fixed};
use crate::number::total::Total;
use crate::slots::Slot as _;
use crate::slots::co_moments::{CoMoments, PairSums};
use crate::slots::moments::Moments;
use crate::slots::product_sum::ProductSum;
use crate::statistic::Held;

/// The moments of two columns, and the sum of the products of their items, in 152 bytes.
///
/// ```
/// use exact_sum::{CompactCoMoments, CompactState, Statistic};
///
/// let mut both = CompactCoMoments::new();
/// [(1e9, 2.0), (1e9 + 1.0, 4.0), (1e9 + 2.0, 6.0)].map(|(x, y)| both.add(x, y));
/// let slope = Statistic::Slope;
/// assert_eq!(both.statistic(slope, slope.defaults()), Some(2.0));
/// ```
pub type CompactCoMoments = Compact<PairNumbers>;

numbers!(
    PairNumbers,
    LongPairs,
    2,
    x 2 Doubles,
    xx 4 DoubleProducts,
    y 2 Doubles,
    yy 4 DoubleProducts,
    xy 4 DoubleProducts
);

impl PairNumbers {
    #[inline(always)]
    fn plus(self, x: impl CompactItem, y: impl CompactItem) -> Option<Self> {
        let [(x_integer, x_unit), (y_integer, y_unit)] = [x.parts(), y.parts()];
        Some(Self {
            x: self.x.plus_item(x_integer.into(), x_unit)?,
            xx: self.xx.plus_product(x, x)?,
            y: self.y.plus_item(y_integer.into(), y_unit)?,
            yy: self.yy.plus_product(y, y)?,
            xy: self.xy.plus_product(x, y)?,
        })
    }
}

impl CompactCoMoments {
    /// Adds a pair.
    #[inline]
    pub fn add(&mut self, x: impl CompactItem, y: impl CompactItem) {
        self.add_or(self.numbers.plus(x, y), |state| state.add_apart(x, y));
    }

    #[cold]
    fn add_apart(&mut self, x: impl CompactItem, y: impl CompactItem) {
        const NONE: Value<'_> = (&[], false);
        let [(x_integer, x_unit), (y_integer, y_unit)] = [x.parts(), y.parts()];
        let [xx, yy, xy] = [product(x, x), product(y, y), product(x, y)];
        let mut values = [
            (&[(x_integer.into(), x_unit)][..], x.is_integer()),
            xx.value(),
            (&[(y_integer.into(), y_unit)], y.is_integer()),
            yy.value(),
            xy.value(),
        ];
        for (column, special) in [x.special(), y.special()].into_iter().enumerate() {
            if let Some(special) = special {
                self.long().counters[column].count_special(special);
                values[2 * column..][..2].fill(NONE);
                values[4] = NONE;
            }
        }
        self.add_values(&values);
    }
}

impl Figures for PairNumbers {
    type Slot = CoMoments<f64>;

    const HELD: Held = Held::CoMoments;

    fn slot(long: &LongPairs) -> CoMoments<f64> {
        let [x, y] = long.counters;
        let column =
            |fixed, counters, squares| Moments::of_parts(Total { fixed, counters }, squares);
        CoMoments {
            x: column(long.x, x, long.xx),
            y: column(long.y, y, long.yy),
            products: ProductSum::of_total(Total {
                fixed: long.xy,
                counters: Counters::NONE,
            }),
        }
    }

    fn of_slot(slot: &CoMoments<f64>) -> LongPairs {
        let CoMoments { x, y, products } = slot;
        LongPairs {
            counters: [x, y].map(|column| column.sum.total.counters),
            x: x.sum.total.fixed,
            xx: x.squares.total.fixed,
            y: y.sum.total.fixed,
            yy: y.squares.total.fixed,
            xy: products.total.fixed,
        }
    }

    fn value(slot: &CoMoments<f64>, (statistic, options, scales): Asked) -> Option<f64> {
        if scales == [0; 2] {
            return slot.statistic(statistic, options);
        }
        let value = |sums: PairSums| sums.with_tens(scales).statistic(statistic, options);
        slot.sums().map_or(Some(f64::NAN), value)
    }
}

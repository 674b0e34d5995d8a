//! Implements the state for variances and standard deviations.

use super::CompactItem;
use super::products::product;
use super::short::{Short, Value};
use super::state::{Asked, Compact, Figures, Numbers, numbers};
use super::sum::{quick, sum_or_mean};
use crate::number::counters::Counters;
use crate::number::fixed::{DoubleProducts, Doubles, Fixed};
use crate::number::round::root;
use crate::number::total::Total;
use crate::slots::Slot as _;
use crate::slots::moments::{Moments, Spread};
use crate::statistic::{Held, Options, Statistic};

/// The number, the sum and the sum of the squares of items, in 64 bytes. The mean, the variance and the standard deviation are computed
/// from these numbers, each rounded once.
///
/// ```
/// use exact_sum::{CompactMoments, CompactState, Options, Statistic};
///
/// let mut moments = CompactMoments::new();
/// [1e8 + 4.0, 1e8 + 7.0, 1e8 + 13.0, 1e8 + 16.0].map(|item| moments.add(item));
/// let sample = Options { ddof: 1.0, bias: true };
/// assert_eq!(moments.statistic(Statistic::Variance, sample), Some(30.0));
/// ```
pub type CompactMoments = Compact<MomentNumbers>;

numbers!(MomentNumbers, LongMoments, 1, sum 2 Doubles, squares 4 DoubleProducts);

impl MomentNumbers {
    /// These moments with an item added, if there is room. There is no room for items that are not finite.
    #[inline(always)]
    fn plus(self, item: impl CompactItem) -> Option<Self> {
        let (integer, unit) = item.parts();
        Some(Self {
            sum: self.sum.plus_item(integer.into(), unit)?,
            squares: self.squares.plus_product(item, item)?,
        })
    }
}

impl CompactMoments {
    /// Adds an item.
    #[inline]
    pub fn add(&mut self, item: impl CompactItem) {
        self.add_or(self.numbers.plus(item), |state| state.add_apart(item));
    }

    #[cold]
    fn add_apart(&mut self, item: impl CompactItem) {
        let (integer, unit) = item.parts();
        match item.special() {
            Some(special) => self.long().counters[0].count_special(special),
            None => self.add_values(&[
                (&[(integer.into(), unit)], item.is_integer()),
                product(item, item).value(),
            ]),
        }
    }
}

impl Figures for MomentNumbers {
    type Slot = Moments<f64>;

    const HELD: Held = Held::Moments;

    fn slot(long: &LongMoments) -> Moments<f64> {
        let sum = Total {
            fixed: long.sum,
            counters: long.counters[0],
        };
        Moments::of_parts(sum, long.squares)
    }

    fn of_slot(slot: &Moments<f64>) -> LongMoments {
        LongMoments {
            counters: [slot.sum.total.counters],
            sum: slot.sum.total.fixed,
            squares: slot.squares.total.fixed,
        }
    }

    fn quick(&self, statistic: Statistic, items: u64) -> Option<f64> {
        quick(self.sum, statistic, items)
    }

    fn value(slot: &Moments<f64>, (statistic, options, [scale, _]): Asked) -> Option<f64> {
        moment(slot, statistic, options, scale)
    }
}

/// A statistic of moments whose items are in units of 10^-`scale`.
pub(super) fn moment(
    moments: &Moments<f64>,
    statistic: Statistic,
    options: Options,
    scale: i32,
) -> Option<f64> {
    let change = match (statistic, scale) {
        (Statistic::Variance | Statistic::StandardDeviation, 0) => {
            return moments.statistic(statistic, options);
        }
        (Statistic::Variance, _) => |magnitude| magnitude,
        (Statistic::StandardDeviation, _) => root,
        _ => return sum_or_mean(moments.sum(), statistic, scale),
    };
    let spread = moments.finite().map(|[sum, squares]| {
        Spread::of_numbers(&[sum], squares, moments.items(), options.ddof, scale)
    });
    Some(spread.map_or(f64::NAN, |spread| spread.value(change)))
}

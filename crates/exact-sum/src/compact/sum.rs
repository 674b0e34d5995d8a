//! Implements the state for sums and means.

use simd_kernels::{Level, Quiet};

use super::short::{Short, Value};
use super::state::{Asked, Compact, Figures, Numbers, numbers};
use super::{CompactItem, CompactState};
use crate::number::blocks::BlockHistory;
use crate::number::counters::Counters;
use crate::number::destination::Destination;
use crate::number::fixed::{Doubles, Fixed, FixedFormat};
use crate::number::float::Float;
use crate::number::float::sealed::Conversions as _;
use crate::number::scaled::{Scaled, over_tens, quotient};
use crate::number::total::{Total, short_mean};
use crate::slots::sum::Sum;
use crate::statistic::{Held, Statistic};

/// Fewer items than this are added one by one.
const FEW_ITEMS: usize = 24;

/// An exact sum, and the number of its items, in 32 bytes.
///
/// Items fit in 128 bits if they differ from the first item by a factor of at most 2^23, or sometimes somewhat more. If items do not fit,
/// the sum owns about 600 bytes more. The sum starts at +0.0, as sums by key do, so the sum of negative zeros is +0.0.
///
/// ```
/// use exact_sum::CompactSum;
///
/// let mut sum = CompactSum::new();
/// assert_eq!(sum.value(), None);
/// [1e300, 0.1, -1e300].map(|item| sum.add(item));
/// assert_eq!(sum.value(), Some(0.1));
/// ```
pub type CompactSum = Compact<SumNumbers>;

numbers!(SumNumbers, LongSum, 1, sum 2 Doubles);

impl SumNumbers {
    #[inline(always)]
    fn plus(self, item: impl CompactItem) -> Option<Self> {
        let (integer, unit) = item.parts();
        let sum = self.sum.plus_item(integer.into(), unit)?;
        Some(Self { sum })
    }
}

impl CompactSum {
    /// Adds an item.
    #[inline]
    pub fn add(&mut self, item: impl CompactItem) {
        self.add_or(self.numbers.plus(item), |state| state.add_apart(item));
    }

    /// Adds an item that does not fit the short integer in its present unit.
    #[cold]
    fn add_apart(&mut self, item: impl CompactItem) {
        let (integer, unit) = item.parts();
        match item.special() {
            Some(special) => self.long().counters[0].count_special(special),
            None => self.add_values(&[(&[(integer.into(), unit)], item.is_integer())]),
        }
    }

    /// Adds an integer of up to 128 bits.
    pub fn add_integer(&mut self, item: i128) {
        self.count(1);
        self.add_values(&[(&[(item, 0)], true)]);
    }

    /// The sum, if it is an integer of 128 bits.
    #[must_use]
    pub fn integer(&self) -> Option<i128> {
        if self.has_specials() {
            return None;
        }
        let Scaled { integer, unit } = Scaled::of(&self.slot().total.fixed);
        let places = unit.unsigned_abs();
        let whole = if unit < 0 {
            let whole = &integer >> places;
            (&whole << places == integer).then_some(whole)
        } else {
            Some(integer << places)
        };
        whole.and_then(|whole| i128::try_from(whole).ok())
    }

    /// Adds items. This is faster than adding them one by one.
    pub fn add_all(&mut self, items: &[f64]) {
        let quiet = (items.len() >= FEW_ITEMS).then(Quiet::now).flatten();
        match quiet {
            Some(quiet) => {
                self.count(items.len() as u64);
                let mut history = BlockHistory::START;
                history.add_items(Level::best(), items, quiet, &mut Uncounted(self));
                quiet.forget_since();
            }
            None => items.iter().for_each(|item| self.add(*item)),
        }
    }

    /// The sum, rounded once to nearest; `None` if there are no items.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        self.statistic(Statistic::Sum, Statistic::Sum.defaults())
    }

    /// The sum as another type, rounded once.
    #[must_use]
    pub fn value_as<T: Float>(&self) -> Option<T> {
        (self.items() > 0).then(|| self.slot().total.value())
    }
}

impl Figures for SumNumbers {
    type Slot = Sum<f64>;

    const HELD: Held = Held::Sum;

    fn slot(long: &LongSum) -> Sum<f64> {
        Sum::of_total(Total {
            fixed: long.sum,
            counters: long.counters[0],
        })
    }

    fn of_slot(slot: &Sum<f64>) -> LongSum {
        LongSum {
            counters: [slot.total.counters],
            sum: slot.total.fixed,
        }
    }

    fn quick(&self, statistic: Statistic, items: u64) -> Option<f64> {
        quick(self.sum, statistic, items)
    }

    fn value(slot: &Sum<f64>, (statistic, _, [scale, _]): Asked) -> Option<f64> {
        sum_or_mean(slot, statistic, scale)
    }
}

/// The sum or the mean of items, computed directly from the short integer.
pub(super) fn quick(sum: Short<2>, statistic: Statistic, items: u64) -> Option<f64> {
    let (integer, unit) = sum.integer();
    match statistic {
        Statistic::Sum => Some(f64::of_integer(integer, unit, Quiet::now().is_some())),
        Statistic::Mean => Some(short_mean(integer, unit, items)),
        _ => None,
    }
}

/// The sum or the mean of items that are in units of 10^-`scale`.
pub(super) fn sum_or_mean(sum: &Sum<f64>, statistic: Statistic, scale: i32) -> Option<f64> {
    match statistic {
        Statistic::Sum => Some(decimal(&sum.total, 1, scale)),
        Statistic::Mean => Some(decimal(&sum.total, sum.items(), scale)),
        _ => None,
    }
}

/// A sum divided by a number of items and by 10^`tens`, rounded once.
pub(super) fn decimal<F: FixedFormat>(total: &Total<F>, items: u64, tens: i32) -> f64 {
    let finite = || {
        let [sum, divisor] = over_tens([Scaled::of(&total.fixed), items.into()], tens);
        quotient(&sum, &divisor)
    };
    total.special().unwrap_or_else(finite)
}

/// A sum that does not count the items added to it, as they have already been counted.
struct Uncounted<'s>(&'s mut CompactSum);

impl Destination for Uncounted<'_> {
    const COUNTS_ZEROS: bool = false;

    #[inline]
    fn add_parts(&mut self, [even, odd]: [i64; 2], unit: i32) {
        let parts = i128::from(even) + i128::from(odd);
        self.0.add_values(&[(&[(parts, unit)], false)]);
    }

    #[inline]
    fn add_item(&mut self, _index: usize, item: f64) {
        match self.0.numbers.plus(item) {
            Some(numbers) => self.0.numbers = numbers,
            None => self.0.add_apart(item),
        }
    }

    fn count_negative_zeros(&mut self, _counts: [u64; 2]) {}
}

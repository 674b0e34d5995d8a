//! Sums and means.

use simd_kernels::{Level, Quiet};

use super::digits::NarrowDigits;
use super::item::sealed::ItemParts as _;
use super::number::Number;
use super::{CompactBytes, CompactItem, CompactRows, CompactState};
use crate::bytes::{self, BytesError, Kind};
use crate::number::blocks::BlockHistory;
use crate::number::counters::{LimitError, RemoveError};
use crate::number::destination::Destination;
use crate::number::fixed::Doubles;
use crate::number::float::Float;
use crate::number::float::sealed::Conversions;
use crate::number::round;
use crate::number::scaled::{Scaled, over_tens, quotient};
use crate::statistic::{Options, Statistic};

/// Fewer items than this are added one by one.
const FEW_ITEMS: usize = 24;

/// An exact sum, and the number of its items, in 32 bytes.
///
/// Items fit in 128 bits if they are within a factor of 2^23, or somewhat more, of the first one. Otherwise the sum owns some 600
/// bytes more. It starts at +0.0, as sums by key do, so the sum of negative zeros is +0.0.
///
/// ```
/// use exact_sum::CompactSum;
///
/// let mut sum = CompactSum::new();
/// assert_eq!(sum.value(), None);
/// [1e300, 0.1, -1e300].map(|item| sum.add(item));
/// assert_eq!(sum.value(), Some(0.1));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompactSum {
    pub(super) number: Number<NarrowDigits, Doubles>,
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
    pub fn add(&mut self, item: impl CompactItem) {
        self.number.count(1);
        let (integer, unit) = item.parts();
        if !self.number.add_item(integer, unit) {
            self.add_apart(item);
        }
    }

    /// Adds an item that does not fit the digits.
    #[cold]
    fn add_apart(&mut self, item: impl CompactItem) {
        let (integer, unit) = item.parts();
        match item.special() {
            Some(special) => self.number.count_special(special),
            None if item.is_integer() => self.number.add_whole(integer.into()),
            None => self.number.add_integer(integer.into(), unit),
        }
    }

    /// Adds an integer of up to 128 bits.
    pub fn add_integer(&mut self, item: i128) {
        self.number.count(1);
        self.number.add_whole(item);
    }

    /// The sum, if it is an integer of 128 bits.
    #[must_use]
    pub fn integer(&self) -> Option<i128> {
        if self.has_specials() {
            return None;
        }
        let Scaled { integer, unit } = self.number.scaled();
        let places = unit.unsigned_abs();
        let whole = if unit < 0 {
            let whole = &integer >> places;
            (&whole << places == integer).then_some(whole)
        } else {
            Some(integer << places)
        };
        whole.and_then(|whole| i128::try_from(whole).ok())
    }

    /// Adds items, faster than one by one.
    pub fn add_all(&mut self, items: &[f64]) {
        let quiet = (items.len() >= FEW_ITEMS).then(Quiet::now).flatten();
        match quiet {
            Some(quiet) => {
                self.number.count(items.len() as u64);
                let mut history = BlockHistory::START;
                let numbers = &mut Uncounted(&mut self.number);
                history.add_items(Level::best(), items, quiet, numbers);
                quiet.forget_since();
            }
            None => items.iter().for_each(|item| self.add(*item)),
        }
    }

    /// The sum, rounded once to nearest; `None` if there are no items.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        if self.number.items() == 0 {
            return None;
        }
        Some(match self.number.only_digits() {
            Some(digits) => {
                let is_quiet = Quiet::now().is_some();
                f64::of_integer(digits.integer(), self.number.unit(), is_quiet)
            }
            None => self.number.value(),
        })
    }

    /// The sum as another type, rounded once.
    #[must_use]
    pub fn value_as<T: Float>(&self) -> Option<T> {
        (self.items() > 0).then(|| self.number.value())
    }

    /// The mean, rounded once. There must be items.
    fn mean(&self) -> f64 {
        let items = self.items();
        let mean = |(is_negative, sum)| f64::signed((is_negative, round::quotient(sum, items)));
        let finite = || self.number.magnitude().map_or(0.0, mean);
        self.number.special().unwrap_or_else(finite)
    }
}

impl CompactState for CompactSum {
    fn items(&self) -> u64 {
        self.number.items()
    }

    fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.number.merge(&other.number)
    }

    fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        self.number.unmerge(&other.number)
    }

    fn value_of(&self, statistic: Statistic, _: Options, [scale, _]: [i32; 2]) -> Option<f64> {
        let special = self.number.special();
        let over = |items: u64| {
            let [sum, divisor] = over_tens([self.number.scaled(), items.into()], scale);
            quotient(&sum, &divisor)
        };
        match statistic {
            Statistic::Count => Some(count(self.items())),
            Statistic::Sum if scale == 0 => self.value(),
            Statistic::Mean if scale == 0 => Some(self.mean()),
            Statistic::Sum => Some(special.unwrap_or_else(|| over(1))),
            Statistic::Mean => Some(special.unwrap_or_else(|| over(self.items()))),
            _ => None,
        }
    }

    fn has_specials(&self) -> bool {
        self.number.special::<f64>().is_some()
    }
}

/// A number of items as a double.
pub(super) fn count(items: u64) -> f64 {
    f64::of_integer(items.into(), 0, false)
}

impl<N: CompactItem> CompactRows<N> for CompactSum {
    #[inline]
    fn add_row(&mut self, row: N) {
        self.add(row);
    }
}

impl CompactBytes for CompactSum {
    fn to_bytes(&self) -> Vec<u8> {
        bytes::write::<f64, Doubles, 1>(Kind::Sum, [&self.number.total()])
    }

    fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let [total] = bytes::read::<f64, Doubles, 1>(Kind::Sum, bytes)?;
        let number = Number::of_total(&total);
        Ok(Self { number })
    }
}

/// A sum whose items have already been counted when they are added.
struct Uncounted<'n>(&'n mut Number<NarrowDigits, Doubles>);

impl Destination for Uncounted<'_> {
    const COUNTS_ZEROS: bool = false;

    #[inline]
    fn add_parts(&mut self, [even, odd]: [i64; 2], unit: i32) {
        let parts = i128::from(even) + i128::from(odd);
        self.0.add_integer(parts, unit);
    }

    #[inline]
    fn add_item(&mut self, _index: usize, item: f64) {
        let (integer, unit) = item.parts();
        if item.is_finite() {
            if !self.0.add_item(integer, unit) {
                self.0.add_integer(integer.into(), unit);
            }
        } else {
            self.0.count_special(item);
        }
    }

    fn count_negative_zeros(&mut self, _counts: [u64; 2]) {}
}

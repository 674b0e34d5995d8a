//! Variances and standard deviations.

use super::digits::NarrowDigits;
use super::number::Number;
use super::products::ProductNumber;
use super::short::Short;
use super::{CompactBytes, CompactItem, CompactRows, CompactState, CompactSum};
use crate::bytes::BytesError;
use crate::number::counters::{LimitError, RemoveError};
use crate::number::round::root;
use crate::number::scaled::Scaled;
use crate::number::wide::Wide;
use crate::slots::Slot as _;
use crate::slots::moments::{Moments, Spread};
use crate::statistic::{Options, Statistic};

/// The number, the sum and the sum of the squares of items, in 80 bytes. From these follow the mean, the variance and the standard
/// deviation, each rounded once.
///
/// ```
/// use exact_sum::{CompactMoments, CompactState, Options, Statistic};
///
/// let mut moments = CompactMoments::new();
/// [1e8 + 4.0, 1e8 + 7.0, 1e8 + 13.0, 1e8 + 16.0].map(|item| moments.add(item));
/// let sample = Options { ddof: 1.0, bias: true };
/// assert_eq!(moments.statistic(Statistic::Variance, sample), Some(30.0));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CompactMoments {
    pub(super) sum: CompactSum,
    pub(super) squares: ProductNumber,
}

/// The sum and the sum of the squares of items, in 52 bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedMoments {
    sum: Short<NarrowDigits>,
    squares: Short<Wide<4>>,
}

impl PackedMoments {
    pub(super) const EMPTY: Self = Self {
        sum: Short::EMPTY,
        squares: Short::EMPTY,
    };

    /// As [`Unpacked::sums`](super::packed::Unpacked::sums).
    #[inline(always)]
    pub(super) fn sums(self, other: Self, is_less: bool) -> Option<Self> {
        Some(Self {
            sum: self.sum.plus(other.sum, is_less)?,
            squares: self.squares.plus(other.squares, is_less)?,
        })
    }

    /// These moments and an item's, if there is room. There is none for items that are not finite.
    #[inline(always)]
    pub(super) fn plus(self, item: impl CompactItem) -> Option<Self> {
        let (integer, unit) = item.parts();
        Some(Self {
            sum: self.sum.plus_item(integer, unit)?,
            squares: self.squares.plus_product(item, item)?,
        })
    }
}

impl CompactMoments {
    /// The moments of no items.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            sum: CompactSum::new(),
            squares: Number::EMPTY,
        }
    }

    /// Adds an item.
    #[inline]
    pub fn add(&mut self, item: impl CompactItem) {
        self.sum.add(item);
        if item.special().is_none() {
            self.squares.add_product(item, item);
        }
    }

    pub(super) fn packed(&self) -> Option<PackedMoments> {
        Some(PackedMoments {
            sum: self.sum.number.short()?,
            squares: self.squares.short()?,
        })
    }

    pub(super) fn of_packed(numbers: PackedMoments, items: u64) -> Self {
        let number = Number::of_short(numbers.sum, items);
        Self {
            sum: CompactSum { number },
            squares: Number::of_short(numbers.squares, 0),
        }
    }

    /// The sums of the items and of their squares, if all are finite.
    pub(super) fn scaled(&self) -> Option<[Scaled; 2]> {
        let is_finite = !self.has_specials();
        is_finite.then(|| [self.sum.number.scaled(), self.squares.scaled()])
    }

    pub(super) fn moments(&self) -> Moments<f64> {
        Moments::of_parts(self.sum.number.total(), self.squares.total().fixed)
    }

    pub(super) fn of_moments(moments: &Moments<f64>) -> Self {
        let sum = CompactSum {
            number: Number::of_total(&moments.sum.total),
        };
        let squares = Number::of_fixed(moments.squares.total.fixed);
        Self { sum, squares }
    }
}

impl CompactState for CompactMoments {
    fn items(&self) -> u64 {
        self.sum.items()
    }

    fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        // If there is room for the items, there is room for their squares.
        self.sum.merge(&other.sum)?;
        self.squares.merge(&other.squares)
    }

    fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        // Squares are not counted, so their removal cannot fail.
        self.sum.unmerge(&other.sum)?;
        self.squares.unmerge(&other.squares)
    }

    fn value_of(&self, statistic: Statistic, options: Options, scales: [i32; 2]) -> Option<f64> {
        let change = match (statistic, scales[0]) {
            (Statistic::Variance | Statistic::StandardDeviation, 0) => {
                return self.moments().statistic(statistic, options);
            }
            (Statistic::Variance, _) => |magnitude| magnitude,
            (Statistic::StandardDeviation, _) => root,
            _ => return self.sum.value_of(statistic, options, scales),
        };
        let spread = |[sum, squares]: [Scaled; 2]| {
            let items = self.items();
            Spread::of_numbers(&[sum], squares, items, options.ddof, scales[0]).value(change)
        };
        Some(self.scaled().map_or(f64::NAN, spread))
    }

    fn has_specials(&self) -> bool {
        self.sum.has_specials()
    }
}

impl<N: CompactItem> CompactRows<N> for CompactMoments {
    #[inline]
    fn add_row(&mut self, row: N) {
        self.add(row);
    }
}

impl CompactBytes for CompactMoments {
    fn to_bytes(&self) -> Vec<u8> {
        self.moments().to_bytes()
    }

    fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        Moments::of_bytes(bytes).map(|moments| Self::of_moments(&moments))
    }
}

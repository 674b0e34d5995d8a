//! Covariances, correlations and regression lines.

use super::moments::PackedMoments;
use super::number::Number;
use super::packed::{Packed, Unpacked};
use super::products::ProductNumber;
use super::short::Short;
use super::{CompactBytes, CompactItem, CompactMoments, CompactRows, CompactState};
use crate::bytes::BytesError;
use crate::number::counters::{LimitError, RemoveError};
use crate::number::wide::Wide;
use crate::slots::Slot as _;
use crate::slots::co_moments::{CoMoments, PairSums};
use crate::statistic::{Held, Options, Statistic};

/// The moments of two columns, and the sum of their products, in 160 bytes.
///
/// ```
/// use exact_sum::{CompactCoMoments, CompactState, Statistic};
///
/// let mut both = CompactCoMoments::new();
/// [(1e9, 2.0), (1e9 + 1.0, 4.0), (1e9 + 2.0, 6.0)].map(|(x, y)| both.add(x, y));
/// let slope = Statistic::Slope;
/// assert_eq!(both.statistic(slope, slope.defaults()), Some(2.0));
/// ```
pub type CompactCoMoments = Packed<PairNumbers>;

/// The numbers of [`CompactCoMoments`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairNumbers {
    x: CompactMoments,
    y: CompactMoments,
    products: ProductNumber,
}

/// These numbers, packed.
#[derive(Clone, Copy, Debug)]
pub struct PackedPairs {
    x: PackedMoments,
    y: PackedMoments,
    products: Short<Wide<4>>,
}

impl CompactCoMoments {
    /// Adds a pair.
    #[inline]
    pub fn add(&mut self, x: impl CompactItem, y: impl CompactItem) {
        self.add_or(self.numbers.plus(x, y), |state| state.add(x, y));
    }
}

impl PackedPairs {
    #[inline(always)]
    fn plus(self, x: impl CompactItem, y: impl CompactItem) -> Option<Self> {
        Some(Self {
            x: self.x.plus(x)?,
            y: self.y.plus(y)?,
            products: self.products.plus_product(x, y)?,
        })
    }
}

impl Unpacked for PairNumbers {
    type Packed = PackedPairs;

    const EMPTY: PackedPairs = PackedPairs {
        x: PackedMoments::EMPTY,
        y: PackedMoments::EMPTY,
        products: Short::EMPTY,
    };

    fn sums(own: PackedPairs, other: PackedPairs, is_less: bool) -> Option<PackedPairs> {
        Some(PackedPairs {
            x: own.x.sums(other.x, is_less)?,
            y: own.y.sums(other.y, is_less)?,
            products: own.products.plus(other.products, is_less)?,
        })
    }

    fn packed(&self) -> Option<PackedPairs> {
        Some(PackedPairs {
            x: self.x.packed()?,
            y: self.y.packed()?,
            products: self.products.short()?,
        })
    }

    fn of_packed(numbers: PackedPairs, items: u64) -> Self {
        Self {
            x: CompactMoments::of_packed(numbers.x, items),
            y: CompactMoments::of_packed(numbers.y, items),
            products: Number::of_short(numbers.products, 0),
        }
    }
}

impl PairNumbers {
    fn add(&mut self, x: impl CompactItem, y: impl CompactItem) {
        self.x.add(x);
        self.y.add(y);
        if x.special().is_none() && y.special().is_none() {
            self.products.add_product(x, y);
        }
    }

    fn co_moments(&self) -> CoMoments<f64> {
        let mut both = CoMoments::new();
        (both.x, both.y) = (self.x.moments(), self.y.moments());
        both.products.total = self.products.total();
        both
    }
}

impl CompactState for PairNumbers {
    fn items(&self) -> u64 {
        self.x.items()
    }

    fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        // Both columns have the same number of items, so only the first merge can fail.
        self.x.merge(&other.x)?;
        self.y.merge(&other.y)?;
        self.products.merge(&other.products)
    }

    fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        // Removal may succeed in one column and fail in the other.
        let mut left = self.clone();
        left.x.unmerge(&other.x)?;
        left.y.unmerge(&other.y)?;
        left.products.unmerge(&other.products)?;
        *self = left;
        Ok(())
    }

    fn value_of(&self, statistic: Statistic, options: Options, scales: [i32; 2]) -> Option<f64> {
        if statistic == Statistic::Count {
            return self.x.value_of(statistic, options, scales);
        }
        if statistic.held() != Held::CoMoments {
            return None;
        }
        if scales == [0; 2] {
            return self.co_moments().statistic(statistic, options);
        }
        let (Some(x), Some(y)) = (self.x.scaled(), self.y.scaled()) else {
            return Some(f64::NAN);
        };
        let sums = PairSums::new(self.items(), [x, y], self.products.scaled());
        sums.with_tens(scales).statistic(statistic, options)
    }

    fn has_specials(&self) -> bool {
        self.x.has_specials() || self.y.has_specials()
    }
}

impl<X: CompactItem, Y: CompactItem> CompactRows<(X, Y)> for CompactCoMoments {
    #[inline]
    fn add_row(&mut self, (x, y): (X, Y)) {
        self.add(x, y);
    }
}

impl CompactBytes for PairNumbers {
    fn to_bytes(&self) -> Vec<u8> {
        self.co_moments().to_bytes()
    }

    fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let both = CoMoments::of_bytes(bytes)?;
        Ok(Self {
            x: CompactMoments::of_moments(&both.x),
            y: CompactMoments::of_moments(&both.y),
            products: Number::of_fixed(both.products.total.fixed),
        })
    }
}

//! Variances and standard deviations.

use super::{CompactMean, CompactProducts, Kinds};
use crate::number::counters::LimitError;
use crate::number::fixed::Magnitude;
use crate::number::round::root;
use crate::slots::moments::Spread;

/// The number, the sum and the sum of the squares of items, in 88 bytes: their variance and standard deviation, each rounded once.
///
/// ```
/// use exact_sum::CompactMoments;
///
/// let mut moments = CompactMoments::new();
/// [1e8 + 4.0, 1e8 + 7.0, 1e8 + 13.0, 1e8 + 16.0].map(|item| moments.add(item));
/// assert_eq!(moments.variance(1), Some(30.0));
/// ```
#[derive(Clone, Debug, Default)]
pub struct CompactMoments {
    mean: CompactMean,
    squares: CompactProducts,
}

impl CompactMoments {
    /// Those of no items.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            mean: CompactMean::new(),
            squares: CompactProducts::new(),
        }
    }

    /// Adds an item.
    #[inline]
    pub fn add(&mut self, item: f64) {
        self.mean.add(item);
        self.squares.add(item, item);
    }

    /// Adds an integer, which may have more bits than a double.
    pub fn add_integer(&mut self, item: i64) {
        self.mean.items += 1;
        let sum = &mut self.mean.sum.number;
        sum.kinds.add(Kinds::ANY);
        sum.add_whole(item.into());
        self.squares.add_square(item);
    }

    /// Adds other ones' items.
    ///
    /// # Errors
    /// There would be more than 2^63 - 1 items. The moments stay as they were.
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        // So many items' squares have room.
        self.mean.merge(&other.mean)?;
        self.squares.merge(&other.squares)
    }

    /// The variance: the sum of the squares of what items differ from their exact mean, divided by the number of items less `ddof`. It is NaN if an
    /// item is not finite, and `None` if there are not more than `ddof` items.
    #[must_use]
    pub fn variance(&self, ddof: u32) -> Option<f64> {
        self.spread(ddof, |magnitude| magnitude)
    }

    /// The square root of the exact variance.
    #[must_use]
    pub fn standard_deviation(&self, ddof: u32) -> Option<f64> {
        self.spread(ddof, root)
    }

    fn spread(&self, ddof: u32, change: impl Fn(Magnitude) -> Magnitude) -> Option<f64> {
        let items = self.mean.items;
        let sum = &self.mean.sum.number;
        if items <= ddof.into() {
            return None;
        }
        if sum.kinds.special().is_some() {
            return Some(f64::NAN);
        }
        let squares = self.squares.number.scaled();
        let spread = Spread::of_numbers(&[sum.scaled()], squares, items, ddof.into());
        Some(spread.value(change))
    }
}

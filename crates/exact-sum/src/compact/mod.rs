//! Small states that own no heap memory as long as their sums fit in a few words. Databases keep a state for each of many groups, and may
//! discard states without running their destructors.

mod any;
mod co_moments;
mod integers;
mod item;
mod moments;
mod powers;
mod products;
mod short;
mod state;
mod sum;
mod weighted;

use std::fmt::Debug;

pub use any::CompactAny;
pub use co_moments::CompactCoMoments;
pub use integers::IntegerSum;
pub use item::{CompactItem, CompactNumber};
pub use moments::CompactMoments;
pub use powers::CompactPowers;
pub use products::CompactProducts;
pub use sum::CompactSum;
pub use weighted::CompactWeightedMean;

use crate::bytes::BytesError;
use crate::number::counters::{LimitError, RemoveError};
use crate::slots::accumulator::Accumulator as _;
use crate::slots::co_moments::CoMoments;
use crate::slots::moments::Moments;
use crate::slots::powers::Powers;
use crate::slots::product_sum::ProductSum;
use crate::slots::sum::Sum;
use crate::statistic::{Options, Statistic};

/// A state that a database keeps for a group. Every state has the count of its rows.
///
/// | state | bytes | other statistics |
/// |---|---|---|
/// | [`CompactSum`] | 32 | sum, mean |
/// | [`CompactProducts`] | 48 | dot product |
/// | [`CompactMoments`] | 64 | sum, mean, variance, standard deviation |
/// | [`CompactWeightedMean`] | 64 | weighted mean |
/// | [`CompactPowers`] | 160 | sum, mean, variance, standard deviation, skewness, kurtosis |
/// | [`CompactCoMoments`] | 152 | covariance, correlation, regression line of two columns |
///
/// Each sum in a state has room for values that differ from the first value by at most a certain factor, 2^23 for a sum of items. If values
/// do not fit, if items are not finite, or if there are 2^32 rows or more, the state owns more memory: 600 bytes for each sum of items,
/// 1,100 for each sum of products or squares, 1,700 for cubes and 2,200 for fourth powers. Negative zeros count as +0.0.
///
/// ```
/// use exact_sum::{CompactRows, CompactState, CompactSum, Statistic};
///
/// let mut month = CompactSum::new();
/// [1e300, 0.1, -1e300].map(|item| month.add(item));
/// let mut day = CompactSum::new();
/// day.add(0.1);
/// month.unmerge(&day)?;
/// month.remove(1e300)?;
/// assert_eq!(month.statistic(Statistic::Mean, Statistic::Mean.defaults()), Some(-1e300));
/// # Ok::<(), exact_sum::RemoveError>(())
/// ```
pub trait CompactState: Clone + Debug + Default + PartialEq {
    /// The number of rows.
    fn items(&self) -> u64;

    /// Adds the rows of `other`.
    ///
    /// # Errors
    /// There would be more than 2^63 - 1 rows. A failed call changes nothing.
    fn merge(&mut self, other: &Self) -> Result<(), LimitError>;

    /// Removes the rows of `other`.
    ///
    /// # Errors
    /// `other` has more rows, NaNs or infinities than this state. A failed call changes nothing.
    fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError>;

    /// A statistic, rounded once. As in SQL, the result is `None` (NULL) if there are too few rows or a denominator is zero. It is also
    /// `None` if the state does not have the statistic. Without rows, only the count is not `None`.
    fn statistic(&self, statistic: Statistic, options: Options) -> Option<f64> {
        self.statistic_of_decimals(statistic, options, [0; 2])
    }

    /// Like [`statistic`](Self::statistic), but for decimals: integers that were added to column i are in units of 10^-`scales[i]`.
    fn statistic_of_decimals(
        &self,
        statistic: Statistic,
        options: Options,
        scales: [u8; 2],
    ) -> Option<f64> {
        let items = self.items();
        let least = match statistic {
            Statistic::Count => 0,
            Statistic::Variance | Statistic::StandardDeviation | Statistic::Covariance => {
                if !is_more(items, options.ddof) {
                    return None;
                }
                1
            }
            _ => statistic.least_items(options).max(1),
        };
        let value = || self.value_of(statistic, options, scales.map(i32::from));
        let value = (items >= least).then(value).flatten()?;
        (!value.is_nan() || self.has_specials()).then_some(value)
    }

    /// A statistic of a state with enough rows; NaN if a denominator is zero.
    #[doc(hidden)]
    fn value_of(&self, statistic: Statistic, options: Options, scales: [i32; 2]) -> Option<f64>;

    /// Whether any item is not finite.
    #[doc(hidden)]
    fn has_specials(&self) -> bool;
}

/// A state to which rows of type `R` can be added, and from which they can be removed again.
pub trait CompactRows<R>: CompactState {
    /// Adds a row.
    fn add_row(&mut self, row: R);

    /// Removes a row that was added.
    ///
    /// # Errors
    /// Those of [`CompactState::unmerge`].
    fn remove(&mut self, row: R) -> Result<(), RemoveError> {
        let mut removed = Self::default();
        removed.add_row(row);
        self.unmerge(&removed)
    }
}

/// States that can be written as bytes, for files and other programs. The formats are those of [`Sum`](crate::Sum),
/// [`ProductSum`](crate::ProductSum), [`Moments`](crate::Moments), [`CoMoments`](crate::CoMoments) and [`Powers`](crate::Powers) of
/// doubles.
pub trait CompactBytes: CompactState {
    /// The state as bytes. Equal states have equal bytes.
    fn to_bytes(&self) -> Vec<u8>;

    /// The state that bytes hold.
    ///
    /// # Errors
    /// The bytes hold no state of this kind.
    fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError>;

    /// Adds the rows of a state that is given as bytes.
    ///
    /// # Errors
    /// Those of [`of_bytes`](Self::of_bytes), or there would be more than 2^63 - 1 rows. A failed call changes nothing.
    fn merge_bytes(&mut self, bytes: &[u8]) -> Result<(), BytesError> {
        Ok(self.merge(&Self::of_bytes(bytes)?)?)
    }
}

/// Implements [`CompactRows`] for states of one column, and for states of two columns.
macro_rules! rows {
    ($($one:ident)+, $($two:ident)+) => {
        $(impl<T: CompactItem> CompactRows<T> for $one {
            #[inline]
            fn add_row(&mut self, item: T) {
                self.add(item);
            }
        })+

        $(impl<X: CompactItem, Y: CompactItem> CompactRows<(X, Y)> for $two {
            #[inline]
            fn add_row(&mut self, (x, y): (X, Y)) {
                self.add(x, y);
            }
        })+
    };
}

rows!(
    CompactSum CompactMoments CompactPowers,
    CompactProducts CompactWeightedMean CompactCoMoments
);

/// Implements [`CompactBytes`] with the bytes of a state's slot.
macro_rules! bytes {
    ($($state:ident $slot:ident),+) => {$(
        impl CompactBytes for $state {
            fn to_bytes(&self) -> Vec<u8> {
                self.slot().to_bytes()
            }

            fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
                Ok(Self::of_slot(&$slot::of_bytes(bytes)?))
            }
        }
    )+};
}

bytes!(
    CompactSum Sum,
    CompactProducts ProductSum,
    CompactMoments Moments,
    CompactCoMoments CoMoments,
    CompactPowers Powers
);

/// Whether `items` is more than `ddof`.
#[expect(clippy::cast_precision_loss, reason = "counts up to 2^53 are exact")]
fn is_more(items: u64, ddof: f64) -> bool {
    items as f64 > ddof
}

#[cfg(test)]
mod tests {
    use super::{
        CompactCoMoments, CompactMoments, CompactPowers, CompactProducts, CompactRows as _,
        CompactState as _, CompactSum, CompactWeightedMean, IntegerSum,
    };

    #[test]
    fn databases_keep_so_many_bytes_for_a_group() {
        assert_eq!(size_of::<CompactSum>(), 32);
        assert_eq!(size_of::<IntegerSum>(), 32);
        assert_eq!(size_of::<CompactProducts>(), 48);
        assert_eq!(size_of::<CompactMoments>(), 64);
        assert_eq!(size_of::<CompactWeightedMean>(), 64);
        assert_eq!(size_of::<CompactPowers>(), 160);
        assert_eq!(size_of::<CompactCoMoments>(), 152);
        assert_eq!(align_of::<CompactPowers>(), 8);
    }

    /// Zeros and items of similar magnitude are added, merged and removed without allocating memory.
    #[test]
    fn items_near_each_other_need_no_more_memory() {
        let mut sum = CompactSum::new();
        let mut products = CompactProducts::new();
        let mut moments = CompactMoments::new();
        let mut powers = CompactPowers::new();
        let mut both = CompactCoMoments::new();
        let mut mean = CompactWeightedMean::new();
        for item in [0.0, 0.3, -5000.7, 0.0, 1e-3] {
            sum.add(item);
            products.add(item, 0.7);
            moments.add(item);
            powers.add(item);
            both.add(item, item + 1.0);
            mean.add(item, 0.7);
        }
        sum.merge(&sum.clone()).unwrap();
        moments.merge(&moments.clone()).unwrap();
        powers.remove(0.3).unwrap();
        assert!(sum.long.is_none() && products.long.is_none() && moments.long.is_none());
        assert!(powers.long.is_none() && both.long.is_none() && mean.long.is_none());
        sum.add(1e-300);
        assert!(sum.long.is_some());
        sum.remove(1e-300).unwrap();
        assert!(sum.long.is_none());
    }
}

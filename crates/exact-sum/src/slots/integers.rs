//! Computes sums, means and variances of integers.

use crate::compact::IntegerSum;
use crate::number::counters::LimitError;
use crate::number::float::sealed::Conversions as _;
use crate::number::round::root;
use crate::number::scaled::Scaled;
use crate::number::wide::Wide;
use crate::slots::Slot;
use crate::slots::accumulator::sealed::Sealed;
use crate::slots::items::Integers;
use crate::slots::moments::Spread;
use crate::statistic::{Options, Statistic};

/// The moments of integers of up to 64 bits: their number, their sum and the sum of their squares. The mean, the variance and the standard
/// deviation are computed exactly and rounded once to a double.
///
/// ```
/// use exact_sum::IntegerMoments;
///
/// let moments = IntegerMoments::of(&[i64::MAX, i64::MAX - 1, i64::MAX - 2]);
/// assert_eq!(moments.sum(), 3 * (i128::from(i64::MAX) - 1));
/// assert_eq!(moments.variance(1.0), 1.0);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IntegerMoments {
    pub(crate) sum: IntegerSum,
    pub(crate) squares: Wide<3>,
}

impl IntegerMoments {
    /// The moments of no items.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The moments of items.
    #[must_use]
    pub fn of(items: &[impl Into<i128> + Copy]) -> Self {
        let mut moments = Self::new();
        for item in items {
            moments.add_one(*item);
        }
        moments
    }

    /// Adds an item.
    ///
    /// # Panics
    /// The item's magnitude has more than 64 bits.
    #[inline]
    pub fn add_one(&mut self, item: impl Into<i128>) {
        let item = item.into();
        let magnitude = u64::try_from(item.unsigned_abs()).expect("items have 64 bits");
        self.sum.add_one(item);
        let square = u128::from(magnitude) * u128::from(magnitude);
        self.squares = self.squares.plus(Wide::of_halves((square, 0)));
    }

    /// Adds the items of `other`.
    ///
    /// # Errors
    /// There would be more than 2^63 - 1 items. A failed call changes nothing.
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.sum.merge(&other.sum)?;
        self.squares = self.squares.plus(other.squares);
        Ok(())
    }

    /// The number of items.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.sum.items()
    }

    /// The sum of the items.
    #[must_use]
    pub fn sum(&self) -> i128 {
        // A sum of more than 128 bits would need 2^63 items.
        self.sum.value().expect("items have 64 bits")
    }

    /// The mean; NaN if there are no items.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum.mean().unwrap_or(f64::NAN)
    }

    /// The variance: see [`Moments::variance`](crate::Moments::variance).
    #[must_use]
    pub fn variance(&self, ddof: f64) -> f64 {
        self.spread(ddof).value(|magnitude| magnitude)
    }

    /// The square root of the exact [`variance`](Self::variance), rounded once.
    #[must_use]
    pub fn standard_deviation(&self, ddof: f64) -> f64 {
        self.spread(ddof).value(root)
    }

    fn spread(&self, ddof: f64) -> Spread {
        if self.items() == 0 || ddof.is_nan() {
            return Spread::Special(f64::NAN);
        }
        let [sum, squares] = [self.sum.sum, self.squares].map(|integer| Scaled {
            integer: integer.big(),
            unit: 0,
        });
        Spread::of_numbers(&[sum], squares, self.items(), ddof, 0)
    }
}

impl Sealed for IntegerSum {}

impl Slot for IntegerSum {
    type Item = f64;
    type Items<'i> = Integers<'i>;

    fn statistic(&self, statistic: Statistic, _: Options) -> Option<f64> {
        match statistic {
            Statistic::Count => Some(f64::of_integer(self.items().into(), 0, false)),
            Statistic::Sum => Some(self.sum.magnitude(0).map_or(0.0, f64::signed)),
            Statistic::Mean => Some(self.mean().unwrap_or(f64::NAN)),
            _ => None,
        }
    }
}

impl Sealed for IntegerMoments {}

impl Slot for IntegerMoments {
    type Item = f64;
    type Items<'i> = Integers<'i>;

    fn statistic(&self, statistic: Statistic, options: Options) -> Option<f64> {
        match statistic {
            Statistic::Variance => Some(self.variance(options.ddof)),
            Statistic::StandardDeviation => Some(self.standard_deviation(options.ddof)),
            _ => self.sum.statistic(statistic, options),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Moments, mean};

    #[test]
    fn small_integers_are_as_floats() {
        let items: Vec<i32> = (0..500_i32).map(|item| item.pow(2) * 7 - 90_001).collect();
        let doubles: Vec<f64> = items.iter().copied().map(f64::from).collect();
        let (integers, moments) = (IntegerMoments::of(&items), Moments::of(&doubles));
        assert_eq!(integers.mean().to_bits(), mean(&doubles).to_bits());
        for ddof in [0.0, 1.0, 0.5, 600.0, f64::INFINITY, f64::NEG_INFINITY] {
            let pairs = [
                (integers.variance(ddof), moments.variance(ddof)),
                (
                    integers.standard_deviation(ddof),
                    moments.standard_deviation(ddof),
                ),
            ];
            for (own, expected) in pairs {
                assert_eq!(own.to_bits(), expected.to_bits(), "ddof {ddof}");
            }
        }
    }

    #[test]
    fn squares_overflow_128_bits() {
        let mut moments = IntegerMoments::of(&[u64::MAX; 3]);
        let others = IntegerMoments::of(&[u64::MAX; 2]);
        moments.merge(&others).expect("items are few");
        moments.add_one(i64::MIN);
        assert_eq!(moments.items(), 6);
        assert_eq!(moments.sum(), 5 * i128::from(u64::MAX) - (1 << 63));
        // For five items a and one item b, the variance is 5 (a - b)^2 / 36.
        let difference = u64::MAX as f64 + (1_u64 << 63) as f64;
        let expected = 5.0 * (difference * difference) / 36.0;
        assert!((moments.variance(0.0) / expected - 1.0).abs() < 1e-15);
        assert!(IntegerMoments::new().mean().is_nan());
        assert!(IntegerMoments::new().variance(0.0).is_nan());
    }
}

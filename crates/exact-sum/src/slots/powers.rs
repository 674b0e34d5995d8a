//! The first four powers of items, and what follows from them.

use num_bigint::BigInt;

use crate::number::counters::{LimitError, RemoveError};
use crate::number::fixed::{Fixed, integer};
use crate::number::float::Float;
use crate::number::scaled::{Scaled, quotient, signed_root};
use crate::slots::Slot;
use crate::slots::accumulator::sealed::Sealed;
use crate::slots::moments::Moments;
use crate::statistic::{Options, Statistic};

/// The number of items and the sums of their first four powers: their skewness and kurtosis, each exact until it is rounded once.
///
/// ```
/// use exact_sum::Powers;
///
/// let mut powers = Powers::of(&[5000.0, 0.01, -0.02, 0.015, 0.005, -0.01]);
/// powers.remove(&[5000.0])?;
/// assert_eq!(powers, Powers::of(&[0.01, -0.02, 0.015, 0.005, -0.01]));
/// assert_eq!(powers.skewness(true), -0.4060402882133138);
/// # Ok::<(), exact_sum::RemoveError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Powers<T: Float> {
    pub(crate) moments: Moments<T>,
    pub(crate) cubes: Fixed<T::Cubes>,
    pub(crate) fourths: Fixed<T::Fourths>,
}

impl<T: Float> Default for Powers<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Float> PartialEq for Powers<T> {
    fn eq(&self, other: &Self) -> bool {
        self.moments == other.moments && self.cubes == other.cubes && self.fourths == other.fourths
    }
}

impl<T: Float> Eq for Powers<T> {}

impl<T: Float> Powers<T> {
    /// Those of no items.
    #[must_use]
    pub fn new() -> Self {
        Self {
            moments: Moments::new(),
            cubes: Fixed::ZERO,
            fourths: Fixed::ZERO,
        }
    }

    /// Those of items.
    #[must_use]
    pub fn of(items: &[T]) -> Self {
        let mut powers = Self::new();
        powers.add(items);
        powers
    }

    /// Adds items.
    pub fn add(&mut self, items: &[T]) {
        self.moments.add(items);
        for item in items {
            let item = item.widened();
            if item.is_finite() {
                self.step_higher(item, 1);
            }
        }
    }

    /// Adds the cube and the fourth power of a finite item if `sign` is 1; takes them back if it is -1.
    pub(crate) fn step_higher(&mut self, item: f64, sign: i64) {
        const HALF_BITS: u32 = 53;
        let (value, unit) = integer(item);
        // A float as a double has bits below the smallest float, which are zero.
        let zeros = value.trailing_zeros() % u64::BITS;
        let (value, unit) = (i128::from(value >> zeros), unit + zeros.cast_signed());
        let square = value * value;
        let sign = i128::from(sign);
        let [lower, upper] = [square & ((1 << HALF_BITS) - 1), square >> HALF_BITS];
        let step = HALF_BITS.cast_signed();
        for (place, half) in (0..).zip([lower, upper]) {
            self.cubes
                .add_integer(sign * value * half, 3 * unit + place * step);
        }
        for (place, part) in (0..).zip([lower * lower, 2 * lower * upper, upper * upper]) {
            self.fourths
                .add_integer(sign * part, 4 * unit + place * step);
        }
    }

    /// Adds another one's items.
    ///
    /// # Errors
    /// As [`Moments::merge`].
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.moments.merge(&other.moments)?;
        self.cubes.merge(&other.cubes);
        self.fourths.merge(&other.fourths);
        Ok(())
    }

    /// Takes back what another one was given.
    ///
    /// # Errors
    /// As [`Moments::unmerge`].
    pub fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        self.moments.unmerge(&other.moments)?;
        self.cubes.unmerge(&other.cubes);
        self.fourths.unmerge(&other.fourths);
        Ok(())
    }

    /// Takes back items that were added.
    ///
    /// # Errors
    /// As [`Moments::remove`].
    pub fn remove(&mut self, items: &[T]) -> Result<(), RemoveError> {
        self.unmerge(&Self::of(items))
    }

    /// The number of items.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.moments.items()
    }

    /// The moments of the items: their mean, variance and standard deviation.
    #[must_use]
    pub fn moments(&self) -> &Moments<T> {
        &self.moments
    }

    /// The skewness: with a bias g1 = m3 / m2^(3/2), of central moments m that are divided by n; without one
    /// G1 = g1 √(n (n - 1)) / (n - 2). NaN where an item is not finite or all are alike, and of no items, without bias of less than 3.
    #[must_use]
    pub fn skewness(&self, bias: bool) -> T {
        let Some(raw) = self.raw(if bias { 1 } else { 3 }) else {
            return T::NAN;
        };
        let (second, third) = (raw.second(), raw.third());
        let (square, cube) = (third.by(&third), second.by(&second).by(&second));
        if bias {
            return signed_root(&third, &square, &cube);
        }
        let [one, two] = [&raw.n - 1, &raw.n - 2];
        signed_root(
            &third,
            &square.times(&(&raw.n * one)),
            &cube.times(&(&two * &two)),
        )
    }

    /// The excess kurtosis: with a bias g2 = m4 / m2^2 - 3, without one G2 = (n - 1) ((n + 1) g2 + 6) / ((n - 2) (n - 3)). NaN where an
    /// item is not finite or all are alike, and of no items, without bias of less than 4.
    #[must_use]
    pub fn kurtosis(&self, bias: bool) -> T {
        let Some(raw) = self.raw(if bias { 1 } else { 4 }) else {
            return T::NAN;
        };
        let second = raw.second();
        let square = second.by(&second);
        let excess = raw.fourth().less(&square.times(&3.into()));
        if bias {
            return quotient(&excess, &square);
        }
        let n = &raw.n;
        let numerator = excess.times(&(n + 1)).plus(&square.times(&6.into()));
        quotient(
            &numerator.times(&(n - 1)),
            &square.times(&((n - 2) * (n - 3))),
        )
    }

    /// The sums of powers, if all items are finite and there are enough.
    fn raw(&self, least: u64) -> Option<Raw> {
        if self.items() < least {
            return None;
        }
        let [first, second] = self.moments.finite()?;
        let [third, fourth] = [Scaled::of(&self.cubes), Scaled::of(&self.fourths)];
        Some(Raw {
            n: self.items().into(),
            sums: [first, second, third, fourth],
        })
    }
}

impl<T: Float> Sealed for Powers<T> {}

impl<T: Float> Slot for Powers<T> {
    type Item = T;

    fn statistic(&self, statistic: Statistic, options: Options) -> Option<T> {
        match statistic {
            Statistic::Skewness => Some(self.skewness(options.bias)),
            Statistic::Kurtosis => Some(self.kurtosis(options.bias)),
            _ => self.moments.statistic(statistic, options),
        }
    }
}

/// The number of items, and the sums S1, S2, S3 and S4 of their powers.
///
/// The functions return n^(k - 1) times the sum of the k-th powers of what items differ from their mean.
struct Raw {
    n: BigInt,
    sums: [Scaled; 4],
}

impl Raw {
    /// n S2 - S1^2.
    fn second(&self) -> Scaled {
        let [s1, s2, ..] = &self.sums;
        s2.times(&self.n).less(&s1.by(s1))
    }

    /// n^2 S3 - 3 n S1 S2 + 2 S1^3.
    fn third(&self) -> Scaled {
        let (n, [s1, s2, s3, _]) = (&self.n, &self.sums);
        s3.times(&(n * n))
            .less(&s1.by(s2).times(&(3 * n)))
            .plus(&s1.by(s1).by(s1).times(&2.into()))
    }

    /// n^3 S4 - 4 n^2 S1 S3 + 6 n S1^2 S2 - 3 S1^4.
    fn fourth(&self) -> Scaled {
        let (n, [s1, s2, s3, s4]) = (&self.n, &self.sums);
        let square = s1.by(s1);
        s4.times(&(n * n * n))
            .less(&s1.by(s3).times(&(4 * n * n)))
            .plus(&square.by(s2).times(&(6 * n)))
            .less(&square.by(&square).times(&3.into()))
    }
}

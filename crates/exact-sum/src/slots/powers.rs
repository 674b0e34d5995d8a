//! Sums the first four powers of items, from which the skewness and the kurtosis are computed.

use num_bigint::BigInt;

use crate::bytes::{self, BytesError, Kind, Reader};
use crate::number::counters::{LimitError, RemoveError};
use crate::number::fixed::{Fixed, integer};
use crate::number::float::Float;
use crate::number::scaled::{Scaled, quotient, signed_root};
use crate::slots::Slot;
use crate::slots::accumulator::sealed::Sealed;
use crate::slots::moments::Moments;
use crate::statistic::{Options, Statistic};

/// The number of items and the sums of their first four powers. The skewness and the kurtosis are computed exactly and rounded once.
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
    /// The powers of no items.
    #[must_use]
    pub fn new() -> Self {
        Self {
            moments: Moments::new(),
            cubes: Fixed::ZERO,
            fourths: Fixed::ZERO,
        }
    }

    /// The powers of items.
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

    /// Adds the cube and the fourth power of a finite item if `sign` is 1; removes them if it is -1.
    pub(crate) fn step_higher(&mut self, item: f64, sign: i64) {
        let (value, unit) = integer(item);
        // Removes trailing zeros. If an `f32` was converted to a double, they may be below the format's range.
        let zeros = value.trailing_zeros() % u64::BITS;
        let (cubes, fourths) = higher_powers(value >> zeros, unit + zeros.cast_signed());
        let sign = i128::from(sign);
        for (part, unit) in cubes {
            self.cubes.add_integer(sign * part, unit);
        }
        for (part, unit) in fourths {
            self.fourths.add_integer(sign * part, unit);
        }
    }

    /// Adds the items of `other`.
    ///
    /// # Errors
    /// Those of [`Moments::merge`].
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.moments.merge(&other.moments)?;
        self.cubes.merge(&other.cubes);
        self.fourths.merge(&other.fourths);
        Ok(())
    }

    /// Removes the items of `other`.
    ///
    /// # Errors
    /// Those of [`Moments::unmerge`].
    pub fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        self.moments.unmerge(&other.moments)?;
        self.cubes.unmerge(&other.cubes);
        self.fourths.unmerge(&other.fourths);
        Ok(())
    }

    /// Removes items that were added.
    ///
    /// # Errors
    /// Those of [`Moments::remove`].
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

    /// The sums of powers, if there are items and all are finite.
    pub(super) fn sums(&self) -> Option<PowerSums> {
        let [first, second] = self.moments.finite()?;
        let higher = [Scaled::of(&self.cubes), Scaled::of(&self.fourths)];
        Some(PowerSums::new(self.items(), [first, second], higher))
    }

    /// The powers in the format of [`Accumulator::to_bytes`](crate::Accumulator::to_bytes), as kind 10: the sum of the items with its counts,
    /// then the sums of their squares, cubes and fourth powers, without counts.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = bytes::header::<T>(Kind::Powers);
        bytes::write_total(&self.moments.sum.total, &mut bytes);
        bytes::write_number(&self.moments.squares.total.fixed, &mut bytes);
        bytes::write_number(&self.cubes, &mut bytes);
        bytes::write_number(&self.fourths, &mut bytes);
        bytes
    }

    /// The powers that bytes hold.
    ///
    /// # Errors
    /// The bytes hold no powers of items of this type.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let mut reader = Reader::of::<T>(Kind::Powers, bytes)?;
        let mut powers = Self::new();
        powers.moments.sum.total = reader.total()?;
        powers.moments.read_squares(&mut reader)?;
        let counters = powers.moments.sum.total.counters;
        let (cubes, of_cubes) = reader.number()?;
        let (fourths, of_fourths) = reader.number()?;
        reader.end()?;
        bytes::check_counters(counters, of_cubes.max(of_fourths))?;
        (powers.cubes, powers.fourths) = (cubes, fourths);
        let moments = &powers.moments;
        let finite = PowerSums::new(
            moments.items() - counters.specials(),
            [
                Scaled::of(&moments.sum.total.fixed),
                Scaled::of(&moments.squares.total.fixed),
            ],
            [Scaled::of(&powers.cubes), Scaled::of(&powers.fourths)],
        );
        let is_possible = finite.is_possible();
        is_possible.then_some(powers).ok_or(BytesError::Corrupted {
            what: "no items have these sums of powers",
        })
    }
}

impl<T: Float> Sealed for Powers<T> {}

impl<T: Float> Slot for Powers<T> {
    type Item = T;
    type Items<'i> = &'i [T];

    fn statistic(&self, statistic: Statistic, options: Options) -> Option<T> {
        match statistic {
            Statistic::Skewness => Some(self.skewness(options.bias)),
            Statistic::Kurtosis => Some(self.kurtosis(options.bias)),
            _ => self.moments.statistic(statistic, options),
        }
    }
}

/// The parts of a power from the highest to the lowest: integers and the exponents of their units.
type Parts<const N: usize> = [(i128, i32); N];

/// The cube and the fourth power of value * 2^unit.
#[inline(always)]
pub(crate) fn higher_powers(value: i64, unit: i32) -> (Parts<2>, Parts<3>) {
    // The bits of the lower half of a square: a value has 63 bits and a sign.
    const HALF_BITS: u32 = 63;
    let value = i128::from(value);
    let square = value * value;
    let [lower, upper] = [square & ((1 << HALF_BITS) - 1), square >> HALF_BITS];
    let step = HALF_BITS.cast_signed();
    (
        [(value * upper, 3 * unit + step), (value * lower, 3 * unit)],
        [
            (upper * upper, 4 * unit + 2 * step),
            (2 * lower * upper, 4 * unit + step),
            (lower * lower, 4 * unit),
        ],
    )
}

/// The number of finite items, and the sums S1, S2, S3 and S4 of their powers.
pub(crate) struct PowerSums {
    n: BigInt,
    sums: [Scaled; 4],
}

impl PowerSums {
    pub(crate) fn new(items: u64, [s1, s2]: [Scaled; 2], [s3, s4]: [Scaled; 2]) -> Self {
        Self {
            n: items.into(),
            sums: [s1, s2, s3, s4],
        }
    }

    /// The skewness or the kurtosis, NaN if all items are equal; `None` for any other statistic.
    pub(crate) fn statistic<T: Float>(&self, statistic: Statistic, options: Options) -> Option<T> {
        match statistic {
            Statistic::Skewness => Some(self.skewness(options.bias)),
            Statistic::Kurtosis => Some(self.kurtosis(options.bias)),
            _ => None,
        }
    }

    /// Computes what [`Powers::skewness`] returns.
    fn skewness<T: Float>(&self, bias: bool) -> T {
        if !bias && self.n < BigInt::from(3) {
            return T::NAN;
        }
        let (second, third) = (self.second(), self.third());
        let (square, cube) = (third.by(&third), second.by(&second).by(&second));
        if bias {
            return signed_root(&third, &square, &cube);
        }
        let [one, two] = [&self.n - 1, &self.n - 2];
        signed_root(
            &third,
            &square.times(&(&self.n * one)),
            &cube.times(&(&two * &two)),
        )
    }

    /// Computes what [`Powers::kurtosis`] returns.
    fn kurtosis<T: Float>(&self, bias: bool) -> T {
        if !bias && self.n < BigInt::from(4) {
            return T::NAN;
        }
        let second = self.second();
        let square = second.by(&second);
        let excess = self.fourth().less(&square.times(&3.into()));
        if bias {
            return quotient(&excess, &square);
        }
        let n = &self.n;
        let numerator = excess.times(&(n + 1)).plus(&square.times(&6.into()));
        quotient(
            &numerator.times(&(n - 1)),
            &square.times(&((n - 2) * (n - 3))),
        )
    }

    /// Whether items can have these sums. Let A, B and C be the sums of the squares, cubes and fourth powers of the items' differences
    /// from their mean, scaled as below. A · C is at least A^3 + B^2, since a kurtosis is at least 1 more than the square of a skewness;
    /// and if A is zero, B and C are zero.
    fn is_possible(&self) -> bool {
        let (a, b, c) = (self.second(), self.third(), self.fourth());
        if a.is_positive() {
            let least = a.by(&a).by(&a).plus(&b.by(&b));
            !least.less(&a.by(&c)).is_positive()
        } else {
            [a, b, c].iter().all(|sum| sum.integer == BigInt::ZERO)
        }
    }

    // The next functions return, for k = 2, 3 and 4, n^(k - 1) times the sum of the k-th powers of the items' differences from their mean.

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

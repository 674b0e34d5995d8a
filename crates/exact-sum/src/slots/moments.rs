//! Computes means, variances and standard deviations, each rounded once.

use num_bigint::{BigInt, Sign};

use crate::bytes::{self, BytesError, Kind, Reader};
use crate::number::counters::{Counters, LimitError, RemoveError};
use crate::number::fixed::{Fixed, FixedFormat, Magnitude};
use crate::number::float::Float;
use crate::number::round::ratio;
use crate::number::scaled::{Scaled, over_tens};
use crate::number::total::{Total, check_counts};
use crate::slots::Slot;
use crate::slots::accumulator::sealed::Sealed;
use crate::slots::complex::ComplexSum;
use crate::slots::product_sum::ProductSum;
use crate::slots::sum::Sum;
use crate::statistic::{Options, Statistic};

/// Methods that [`Moments`] and [`ComplexMoments`] share.
macro_rules! moments {
    ($moments:ident, $sum:ident, $item:ty, $kind:expr) => {
        impl<T: Float> Eq for $moments<T> {}

        impl<T: Float> $moments<T> {
            /// The moments of no items.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            /// The moments of items.
            #[must_use]
            pub fn of(items: &[$item]) -> Self {
                let mut moments = Self::new();
                moments.add(items);
                moments
            }

            /// Adds the items of `other`.
            ///
            /// # Errors
            /// Those of [`Sum::merge`], with half the limit for complex items.
            pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
                check_counts(self.sum.totals(), other.sum.totals())?;
                self.squares.merge(&other.squares)?;
                self.sum.merge(&other.sum)
            }

            /// Removes the items of `other`.
            ///
            /// # Errors
            /// Those of [`Sum::unmerge`].
            pub fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
                self.sum.unmerge(&other.sum)?;
                let squares = self.squares.unmerge(&other.squares);
                squares.expect("there are as many squares as items");
                Ok(())
            }

            /// Removes items that were added.
            ///
            /// # Errors
            /// Those of [`Sum::remove`].
            pub fn remove(&mut self, items: &[$item]) -> Result<(), RemoveError> {
                self.unmerge(&Self::of(items))
            }

            /// The number of items.
            #[must_use]
            pub fn items(&self) -> u64 {
                self.sum.items()
            }

            /// The sum of the items.
            #[must_use]
            pub fn sum(&self) -> &$sum<T> {
                &self.sum
            }

            /// The sum of the squares of the items' magnitudes.
            #[must_use]
            pub fn squares(&self) -> &ProductSum<T> {
                &self.squares
            }

            /// The variance in exact integers, before it is rounded.
            pub(super) fn spread(&self, ddof: f64) -> Spread {
                Spread::of::<T>(&self.sum.totals(), &self.squares, self.items(), ddof)
            }

            /// The moments in the format of [`Accumulator::to_bytes`](crate::Accumulator::to_bytes), as kind 5, or 6 for complex items: the
            /// parts of the sum, then the sum of the squares.
            #[must_use]
            pub fn to_bytes(&self) -> Vec<u8> {
                let mut bytes = bytes::header::<T>($kind);
                for total in self.sum.totals() {
                    bytes::write_total(total, &mut bytes);
                }
                bytes::write_total(&self.squares.total, &mut bytes);
                bytes
            }

            /// The moments that bytes hold.
            ///
            /// # Errors
            /// The bytes hold no moments of this kind.
            pub fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
                let mut reader = Reader::of::<T>($kind, bytes)?;
                let mut moments = Self::new();
                for total in moments.sum.totals_mut() {
                    *total = reader.total()?;
                }
                moments.squares.total = reader.total()?;
                reader.end()?;
                moments.check()?;
                Ok(moments)
            }

            /// Checks that items can have this sum and this sum of squares.
            pub(crate) fn check(&self) -> Result<(), BytesError> {
                bytes::check_parts(&self.sum.totals())?;
                let totals = self.sum.totals();
                let sums: Vec<_> = totals.iter().map(|total| &total.fixed).collect();
                let specials = totals.iter().map(|total| total.counters.specials());
                let finite = self.items() - specials.min().unwrap_or(0);
                let are_of = self.squares.are_of(&totals)
                    && can_have(finite, &sums, &self.squares.total.fixed);
                are_of.then_some(()).ok_or(BytesError::Corrupted {
                    what: "no items have this sum and this sum of squares",
                })
            }
        }
    };
}

/// The number, the sum and the sum of the squares of items. Mean, variance and standard deviation are computed exactly and rounded once.
///
/// ```
/// use exact_sum::Moments;
///
/// let mut moments = Moments::of(&[1e8 + 4.0, 1e8 + 7.0, 1e8 + 13.0, 1e8 + 16.0, 1e300]);
/// moments.remove(&[1e300])?;
/// assert_eq!(moments.mean(), 1e8 + 10.0);
/// assert_eq!(moments.variance(1.0), 30.0);
/// # Ok::<(), exact_sum::RemoveError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Moments<T: Float> {
    pub(crate) sum: Sum<T>,
    pub(crate) squares: ProductSum<T>,
}

/// [`Moments`] of complex items, each a real and an imaginary part. Magnitudes are squared, so variances are real.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ComplexMoments<T: Float> {
    sum: ComplexSum<T>,
    squares: ProductSum<T>,
}

moments!(Moments, Sum, T, Kind::Moments);
moments!(ComplexMoments, ComplexSum, [T; 2], Kind::ComplexMoments);

impl<T: Float> Moments<T> {
    /// Adds items.
    pub fn add(&mut self, items: &[T]) {
        self.sum.add(items);
        self.squares.add_squares(items);
    }

    /// The mean, rounded once: see [`Sum::mean`].
    #[must_use]
    pub fn mean(&self) -> T {
        self.sum.mean()
    }

    /// The moments of items with this sum. `fixed` is the sum of the squares of the finite items.
    pub(crate) fn of_parts(sum: Total<T::Sums>, fixed: Fixed<T::Products>) -> Self {
        let counters = Counters {
            negative_zeros: 0,
            ..sum.counters.squared()
        };
        Self {
            sum: Sum::of_total(sum),
            squares: ProductSum::of_total(Total { fixed, counters }),
        }
    }

    /// Reads the sum of the items' squares, which has no counts. The sum of the items must have been read before.
    pub(crate) fn read_squares(&mut self, reader: &mut Reader<'_>) -> Result<(), BytesError> {
        let counters = self.sum.total.counters;
        let (fixed, items) = reader.number()?;
        bytes::check_counters(counters, items)?;
        *self = Self::of_parts(self.sum.total, fixed);
        self.check()
    }

    /// The sum and the sum of the squares, if there are items and all are finite.
    pub(crate) fn finite(&self) -> Option<[Scaled; 2]> {
        let squares = &self.squares.total;
        let is_finite = self.items() > 0 && squares.special::<T>().is_none();
        is_finite.then(|| {
            [
                Scaled::of(&self.sum.total.fixed),
                Scaled::of(&squares.fixed),
            ]
        })
    }
}

impl<T: Float> Sealed for Moments<T> {}

impl<T: Float> Slot for Moments<T> {
    type Item = T;
    type Items<'i> = &'i [T];

    fn statistic(&self, statistic: Statistic, options: Options) -> Option<T> {
        match statistic {
            Statistic::Mean => Some(self.mean()),
            Statistic::Variance => Some(self.variance(options.ddof)),
            Statistic::StandardDeviation => Some(self.standard_deviation(options.ddof)),
            _ => self.sum.statistic(statistic, options),
        }
    }
}

impl<T: Float> ComplexMoments<T> {
    /// Adds items.
    pub fn add(&mut self, items: &[[T; 2]]) {
        self.sum.add(items);
        self.squares.add_squares(items.as_flattened());
    }

    /// The two parts of the mean, each rounded once.
    #[must_use]
    pub fn mean(&self) -> [T; 2] {
        self.sum.mean()
    }
}

/// A variance before it is rounded.
pub(crate) enum Spread {
    /// Zero, infinity or NaN.
    Special(f64),
    Number(Magnitude),
}

impl Spread {
    /// The variance of items, from the sums of their parts: (n Q - |S|^2) / (n (n - ddof)) for n items, a sum S and a sum of
    /// squares Q.
    pub(crate) fn of<T: Float>(
        parts: &[&Total<T::Sums>],
        squares: &ProductSum<T>,
        items: u64,
        ddof: f64,
    ) -> Self {
        let total = &squares.total;
        if total.special::<T>().is_some() || items == 0 || ddof.is_nan() {
            return Self::Special(f64::NAN);
        }
        let parts: Vec<Scaled> = parts.iter().map(|part| Scaled::of(&part.fixed)).collect();
        Self::of_numbers(&parts, Scaled::of(&total.fixed), items, ddof, 0)
    }

    /// Does what [`of`](Self::of) does, for at least one item. All items must be finite and in units of 10^-`tens`; `ddof` must not be NaN.
    pub(crate) fn of_numbers(
        parts: &[Scaled],
        squares: Scaled,
        items: u64,
        ddof: f64,
        tens: i32,
    ) -> Self {
        let numerator = numerator(items, parts, squares);
        let differ = numerator.is_positive();
        let freedom = match ddof {
            f64::NEG_INFINITY => return Self::Special(0.0),
            f64::INFINITY => None,
            _ => positive(Scaled::from(items).less(&Scaled::from(ddof))),
        };
        match freedom {
            None if differ => Self::Special(f64::INFINITY),
            None => Self::Special(f64::NAN),
            Some(_) if !differ => Self::Special(0.0),
            Some(freedom) => {
                let denominator = freedom.times(&BigInt::from(items));
                let [numerator, denominator] = over_tens([numerator, denominator], 2 * tens);
                Self::Number(ratio(
                    numerator.integer.magnitude(),
                    denominator.integer.magnitude(),
                    numerator.unit - denominator.unit,
                ))
            }
        }
    }

    pub(crate) fn value<T: Float>(self, change: impl Fn(Magnitude) -> Magnitude) -> T {
        match self {
            Self::Special(value) => T::special(value),
            Self::Number(magnitude) => T::nearest(change(magnitude)),
        }
    }
}

/// The numerator of a variance, n Q - |S|^2.
fn numerator(items: u64, parts: &[Scaled], squares: Scaled) -> Scaled {
    let mut numerator = squares.times(&BigInt::from(items));
    for sum in parts {
        numerator = numerator.less(&sum.by(sum));
    }
    numerator
}

/// Whether n items can have a sum S, given in parts, and a sum of squares Q: |S|^2 must be at most n Q (Cauchy and Schwarz).
pub(crate) fn can_have<S: FixedFormat, Q: FixedFormat>(
    items: u64,
    parts: &[&Fixed<S>],
    squares: &Fixed<Q>,
) -> bool {
    let all = squares.magnitude();
    let is_clear = match parts {
        [part] => part.magnitude().map_or(all.is_none(), |(_, sum)| {
            all.is_some_and(|(is_negative, all)| !is_negative && is_less(items, sum, all))
        }),
        _ => false,
    };
    is_clear || {
        let parts: Vec<Scaled> = parts.iter().map(|part| Scaled::of(part)).collect();
        let numerator = numerator(items, &parts, Scaled::of(squares));
        numerator.integer.sign() != Sign::Minus
    }
}

/// Whether the 64 highest bits of both numbers already show that the square of `sum` is less than `items` times `squares`.
fn is_less(items: u64, sum: Magnitude, squares: Magnitude) -> bool {
    let above = (sum.bits >> 64) + 1;
    let (square, product) = (
        above.checked_mul(above),
        (squares.bits >> 64) * u128::from(items),
    );
    let places = 2 * (sum.exponent + 64) - (squares.exponent + 64);
    let distance = places.unsigned_abs();
    square.is_some_and(|square| {
        if places >= 0 {
            square <= product.checked_shr(distance).unwrap_or(0)
        } else {
            square.checked_shr(distance).unwrap_or(0) < product
        }
    })
}

/// A number, if it is more than 0.
fn positive(number: Scaled) -> Option<Scaled> {
    number.is_positive().then_some(number)
}

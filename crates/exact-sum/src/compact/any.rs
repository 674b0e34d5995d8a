//! Defines states whose kind is known only from their bytes.

use std::error::Error;

use super::{
    CompactBytes, CompactCoMoments, CompactMoments, CompactPowers, CompactProducts, CompactState,
    CompactSum,
};
use crate::bytes::{BytesError, Kind};
use crate::statistic::{Held, Options, Statistic};

/// A state of any kind that can be written as bytes, for state columns in databases.
///
/// ```
/// use exact_sum::{CompactAny, CompactBytes, CompactMoments, Options, Statistic};
///
/// let mut days = [[1e300, 0.5], [-1e300, 0.5]].map(|items| {
///     let mut day = CompactMoments::new();
///     items.map(|item| day.add(item));
///     day.to_bytes()
/// });
/// let mut month = CompactAny::of_bytes(&days[0])?;
/// month.merge(&CompactAny::of_bytes(&days[1])?)?;
/// assert_eq!(month.statistic(Statistic::Sum, Statistic::Sum.defaults()), Some(1.0));
/// # Ok::<(), exact_sum::BytesError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CompactAny {
    /// A sum.
    Sum(CompactSum),
    /// A sum of products.
    Products(CompactProducts),
    /// Moments.
    Moments(CompactMoments),
    /// Co-moments.
    CoMoments(CompactCoMoments),
    /// Sums of four powers.
    Powers(CompactPowers),
}

/// Evaluates an expression of the state, whatever its kind.
macro_rules! of_any {
    ($any:expr, $state:ident => $value:expr) => {
        match $any {
            CompactAny::Sum($state) => $value,
            CompactAny::Products($state) => $value,
            CompactAny::Moments($state) => $value,
            CompactAny::CoMoments($state) => $value,
            CompactAny::Powers($state) => $value,
        }
    };
}

/// Evaluates an expression of two states of the same kind; returns an error for states of different kinds.
macro_rules! of_two {
    ($any:expr, $other:expr, ($own:ident, $else:ident) => $value:expr) => {
        match ($any, $other) {
            (CompactAny::Sum($own), CompactAny::Sum($else)) => $value,
            (CompactAny::Products($own), CompactAny::Products($else)) => $value,
            (CompactAny::Moments($own), CompactAny::Moments($else)) => $value,
            (CompactAny::CoMoments($own), CompactAny::CoMoments($else)) => $value,
            (CompactAny::Powers($own), CompactAny::Powers($else)) => $value,
            (own, other) => {
                return Err(BytesError::Kind {
                    found: other.held().name().to_owned(),
                    expected: own.held().name().to_owned(),
                }
                .into());
            }
        }
    };
}

impl CompactAny {
    /// The state that bytes hold.
    ///
    /// # Errors
    /// The bytes hold no state of doubles.
    pub fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let mut state = Self::empty(Self::held_by_bytes(bytes)?).expect("these states have bytes");
        of_any!(&mut state, state => *state = CompactBytes::of_bytes(bytes)?);
        Ok(state)
    }

    /// The kind of state that the bytes hold, according to their header.
    ///
    /// # Errors
    /// The bytes do not begin like a state of doubles.
    pub fn held_by_bytes(bytes: &[u8]) -> Result<Held, BytesError> {
        Ok(match Kind::of_doubles(bytes)? {
            Kind::Sum => Held::Sum,
            Kind::ProductSum => Held::Products,
            Kind::Moments => Held::Moments,
            Kind::CoMoments => Held::CoMoments,
            Kind::Powers => Held::Powers,
            kind => {
                return Err(BytesError::Kind {
                    found: kind.name().to_owned(),
                    expected: "a state of doubles".to_owned(),
                });
            }
        })
    }

    /// The state of no rows; `None` if states of this kind cannot be written as bytes.
    #[must_use]
    pub fn empty(held: Held) -> Option<Self> {
        match held {
            Held::Sum => Some(Self::Sum(CompactSum::new())),
            Held::Products => Some(Self::Products(CompactProducts::new())),
            Held::Moments => Some(Self::Moments(CompactMoments::new())),
            Held::CoMoments => Some(Self::CoMoments(CompactCoMoments::new())),
            Held::Powers => Some(Self::Powers(CompactPowers::new())),
            _ => None,
        }
    }

    /// The state as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        of_any!(self, state => state.to_bytes())
    }

    /// The kind of state.
    #[must_use]
    pub fn held(&self) -> Held {
        match self {
            Self::Sum(_) => Held::Sum,
            Self::Products(_) => Held::Products,
            Self::Moments(_) => Held::Moments,
            Self::CoMoments(_) => Held::CoMoments,
            Self::Powers(_) => Held::Powers,
        }
    }

    /// The number of rows.
    #[must_use]
    pub fn items(&self) -> u64 {
        of_any!(self, state => state.items())
    }

    /// Adds rows of doubles: `x`, and also `y` if the state has two columns.
    ///
    /// # Panics
    /// The state has two columns, and `x` and `y` differ in length.
    pub fn add_all(&mut self, x: &[f64], y: &[f64]) {
        let rows = || {
            assert_eq!(x.len(), y.len(), "the columns differ in length");
            x.iter().copied().zip(y.iter().copied())
        };
        match self {
            Self::Sum(state) => state.add_all(x),
            Self::Moments(state) => x.iter().for_each(|x| state.add(*x)),
            Self::Powers(state) => x.iter().for_each(|x| state.add(*x)),
            Self::Products(state) => rows().for_each(|(x, y)| state.add(x, y)),
            Self::CoMoments(state) => rows().for_each(|(x, y)| state.add(x, y)),
        }
    }

    /// Adds the rows of `other`.
    ///
    /// # Errors
    /// `other` is of another kind, or there would be more than 2^63 - 1 rows. A failed call changes nothing.
    pub fn merge(&mut self, other: &Self) -> Result<(), BytesError> {
        Ok(of_two!(self, other, (own, other) => own.merge(other))?)
    }

    /// Removes the rows of `other`.
    ///
    /// # Errors
    /// `other` is of another kind, or has more rows, NaNs or infinities than `self`; the error's text says which. A failed call changes
    /// nothing.
    pub fn unmerge(&mut self, other: &Self) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(of_two!(self, other, (own, other) => own.unmerge(other))?)
    }

    /// Computes a statistic, as [`CompactState::statistic`] does.
    #[must_use]
    pub fn statistic(&self, statistic: Statistic, options: Options) -> Option<f64> {
        of_any!(self, state => state.statistic(statistic, options))
    }
}

//! The states of aggregate functions: adding rows, reading statistics, and conversion to bytes.

use std::any::Any;
use std::fmt::Display;

use bytemuck::NoUninit;
use treefold::exact::{
    BytesError, CompactAny, CompactBytes, CompactCoMoments, CompactMoments, CompactNumber,
    CompactPowers, CompactProducts, CompactState, CompactSum, CompactWeightedMean, Held,
    LimitError, Statistic,
};

use crate::element::ElementType;
use crate::failure::{Code, Failure};
use crate::keyed::{Change, of_bytes_error};
use crate::raw::put;
use crate::statistic::{Asked, Question};

/// Items of one column.
#[derive(Clone, Copy)]
pub(crate) enum Column<'a> {
    F32(&'a [f32]),
    F64(&'a [f64]),
    I64(&'a [i64]),
}

impl Column<'_> {
    /// One item. A float becomes the double of the same value.
    fn item(self, index: usize) -> CompactNumber {
        match self {
            Self::F32(items) => CompactNumber::Double(items[index].into()),
            Self::F64(items) => CompactNumber::Double(items[index]),
            Self::I64(items) => CompactNumber::Integer(items[index]),
        }
    }

    fn len(self) -> usize {
        match self {
            Self::F32(items) => items.len(),
            Self::F64(items) => items.len(),
            Self::I64(items) => items.len(),
        }
    }

    fn items(self) -> impl Iterator<Item = CompactNumber> {
        (0..self.len()).map(move |index| self.item(index))
    }
}

/// Rows to add to a state or to remove from it. A state of one column ignores `y`.
pub(crate) struct Rows<'a> {
    pub(crate) x: Column<'a>,
    pub(crate) y: Column<'a>,
}

/// The type of one kind of state. A `dyn` [`Aggregate`] is a state of any kind.
pub(crate) trait Compact: CompactState + 'static {
    const HELD: Held;

    fn add_rows(&mut self, rows: &Rows<'_>);

    /// The state as bytes; `None` if this kind has no byte format.
    fn bytes(&self) -> Option<Vec<u8>>;

    /// The state that bytes describe; `None` if this kind has no byte format.
    fn of(bytes: &[u8]) -> Option<Result<Self, BytesError>>;

    /// The state as a sum, if it is one.
    fn as_sum(&self) -> Option<&CompactSum> {
        (self as &dyn Any).downcast_ref()
    }
}

macro_rules! compact {
    ($($state:ident: $held:ident, $adding:ident, $bytes:ident;)+) => {$(
        impl Compact for $state {
            const HELD: Held = Held::$held;

            fn add_rows(&mut self, rows: &Rows<'_>) {
                compact!($adding self, rows);
            }

            compact!($bytes);
        }
    )+};
    (all $self:ident, $rows:ident) => {
        match $rows.x {
            Column::F64(items) => $self.add_all(items),
            items => items.items().for_each(|item| $self.add(item)),
        }
    };
    (items $self:ident, $rows:ident) => {
        match $rows.x {
            Column::F64(items) => items.iter().for_each(|item| $self.add(*item)),
            items => items.items().for_each(|item| $self.add(item)),
        }
    };
    (pairs $self:ident, $rows:ident) => {
        match ($rows.x, $rows.y) {
            (Column::F64(x), Column::F64(y)) => x.iter().zip(y).for_each(|(x, y)| $self.add(*x, *y)),
            (x, y) => x.items().zip(y.items()).for_each(|(x, y)| $self.add(x, y)),
        }
    };
    (bytes) => {
        fn bytes(&self) -> Option<Vec<u8>> {
            Some(CompactBytes::to_bytes(self))
        }

        fn of(bytes: &[u8]) -> Option<Result<Self, BytesError>> {
            Some(Self::of_bytes(bytes))
        }
    };
    (none) => {
        fn bytes(&self) -> Option<Vec<u8>> {
            None
        }

        fn of(_: &[u8]) -> Option<Result<Self, BytesError>> {
            None
        }
    };
}

compact! {
    CompactSum: Sum, all, bytes;
    CompactProducts: Products, pairs, bytes;
    CompactMoments: Moments, items, bytes;
    CompactWeightedMean: Weighted, pairs, none;
    CompactPowers: Powers, items, bytes;
    CompactCoMoments: CoMoments, pairs, bytes;
}

/// A state of any kind.
pub(crate) trait Aggregate: Any {
    fn held(&self) -> Held;

    /// # Errors
    /// There would be more than 2^63 - 1 rows. After this error, as after all others, the state is unchanged.
    fn add(&mut self, rows: &Rows<'_>) -> Result<(), Failure>;

    /// # Errors
    /// The state has fewer rows, or fewer rows with a NaN or an infinity, than are to be removed.
    fn remove(&mut self, rows: &Rows<'_>) -> Result<(), Failure>;

    /// Adds the rows of `other`, or removes them.
    ///
    /// # Errors
    /// `other` holds other sums, there would be too many rows, or more rows are to be removed than there are.
    fn change_by(&mut self, change: Change, other: &dyn Aggregate) -> Result<(), Failure>;

    /// Writes a statistic. Returns false if the result is NULL in SQL, like the mean of no rows.
    ///
    /// # Errors
    /// The state does not have the statistic, or cannot convert it to this type.
    fn write(
        &self,
        question: Question,
        element_type: ElementType,
        value: &mut [u8],
    ) -> Result<bool, Failure>;

    /// # Errors
    /// States of this kind have no byte format.
    fn to_bytes(&self) -> Result<Vec<u8>, Failure>;

    /// # Errors
    /// The bytes do not describe a state of this kind.
    fn become_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure>;

    fn clear(&mut self);
}

impl<S: Compact> Aggregate for S {
    fn held(&self) -> Held {
        S::HELD
    }

    fn add(&mut self, rows: &Rows<'_>) -> Result<(), Failure> {
        let items = self.items().saturating_add(rows.x.len() as u64);
        if items > i64::MAX.cast_unsigned() {
            return Err(wrong(LimitError::Items));
        }
        self.add_rows(rows);
        Ok(())
    }

    fn remove(&mut self, rows: &Rows<'_>) -> Result<(), Failure> {
        let mut removed = S::default();
        removed.add_rows(rows);
        self.unmerge(&removed).map_err(wrong)
    }

    fn change_by(&mut self, change: Change, other: &dyn Aggregate) -> Result<(), Failure> {
        let Some(other) = (other as &dyn Any).downcast_ref::<S>() else {
            let [found, expected] = [other.held(), S::HELD].map(Held::name);
            return Err(wrong(format_args!("the state is {found}, not {expected}")));
        };
        match change {
            Change::Add => self.merge(other).map_err(wrong),
            Change::Remove => self.unmerge(other).map_err(wrong),
        }
    }

    fn write(
        &self,
        question: Question,
        element_type: ElementType,
        value: &mut [u8],
    ) -> Result<bool, Failure> {
        let Asked::Of(statistic) = question.asked else {
            return Err(question.asked.missing("aggregates"));
        };
        S::HELD
            .check(statistic)
            .map_err(|error| Failure::new(Code::Unsupported, error.to_string()))?;
        match (element_type, statistic, self.as_sum()) {
            (ElementType::F64, ..) => {
                Ok(put_some(self.statistic(statistic, question.options), value))
            }
            (ElementType::I64, Statistic::Count, _) => {
                // There are at most 2^63 - 1 items.
                put(self.items().cast_signed(), value);
                Ok(true)
            }
            (ElementType::F32, Statistic::Sum, Some(sum)) => {
                Ok(put_some(sum.value_as::<f32>(), value))
            }
            (ElementType::I64, Statistic::Sum, Some(sum)) if self.items() > 0 => {
                let integer = sum.integer().and_then(|sum| i64::try_from(sum).ok());
                let integer = integer.ok_or_else(|| wrong("the sum is not a 64-bit integer"))?;
                put(integer, value);
                Ok(true)
            }
            (ElementType::I64, Statistic::Sum, Some(_)) => Ok(false),
            _ => {
                let message = format!(
                    "`type`: {} is not available as TREEFOLD_{element_type:?}",
                    question.asked.name()
                );
                Err(Failure::new(Code::Unsupported, message))
            }
        }
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        self.bytes().ok_or_else(has_no_bytes)
    }

    fn become_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let read = S::of(bytes).ok_or_else(has_no_bytes)?;
        *self = read.map_err(|error| wrong_bytes(&error))?;
        Ok(())
    }

    fn clear(&mut self) {
        *self = S::default();
    }
}

fn put_some(number: Option<impl NoUninit>, value: &mut [u8]) -> bool {
    number.is_some_and(|number| {
        put(number, value);
        true
    })
}

/// The failure for a type code that a column cannot have.
#[cold]
pub(crate) fn is_no_column(name: &str, code: i32) -> Failure {
    match ElementType::of_argument(name, code) {
        Err(failure) => failure,
        Ok(other) => {
            let message = format!(
                "`{name}`: it must be TREEFOLD_F32, F64 or I64 here, not TREEFOLD_{other:?}"
            );
            Failure::new(Code::Unsupported, message)
        }
    }
}

#[cold]
fn has_no_bytes() -> Failure {
    Failure::new(
        Code::Unsupported,
        "states for TREEFOLD_EXACT_WEIGHTED_MEAN have no byte format",
    )
}

/// Converts an error. Users of SQL read the message, so it names no argument of C.
#[cold]
fn wrong(error: impl Display) -> Failure {
    Failure::new(Code::Argument, error.to_string())
}

#[cold]
fn wrong_bytes(error: &BytesError) -> Failure {
    Failure::new(of_bytes_error(error).code, error.to_string())
}

/// A statistic for which the state must be created that reads these bytes.
///
/// # Errors
/// The bytes do not begin like those of a state.
pub(crate) fn statistic_of_bytes(bytes: &[u8]) -> Result<Statistic, Failure> {
    let held = CompactAny::held_by_bytes(bytes).map_err(|error| wrong_bytes(&error))?;
    Ok(match held {
        Held::Products => Statistic::Dot,
        Held::Moments => Statistic::Variance,
        Held::Powers => Statistic::Kurtosis,
        Held::CoMoments => Statistic::Covariance,
        _ => Statistic::Sum,
    })
}

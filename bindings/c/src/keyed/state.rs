//! Exact sums and what follows from them by key, that a program holds.

use std::any::Any;

use treefold::FoldError;
use treefold::exact::{
    KeyedAccumulator, KeyedColumns, KeyedExtrema, KeyedMoments, KeyedProducts, KeyedSums,
    KeyedWeightedMeans, LimitError,
};

use super::integers::Integers;
use super::kind::{Kind, Real, Removal};
use super::{Keys, has_room, of_limit, of_removal, with_keys};
use crate::accumulator::{Change, MOMENTS, OF_MOMENTS, OF_SUM, of_bytes_error};
use crate::by_integer;
use crate::element::ElementType;
use crate::failure::{self, Code, Failure};
use crate::handle::{Copied, handle};
use crate::raw::elements;
use crate::statistic::Statistic;

handle!(
    /// The handle of sums by key.
    pub treefold_keyed,
    Box<dyn KeyedState>,
    2,
    "keyed"
);

/// The code of sums.
const SUM: i32 = 1;

/// Those of what only states by key have.
const DOT: i32 = 3;
const WEIGHTED_MEAN: i32 = 6;
const EXTREMA: i32 = 7;

/// A state of each of the keys 0 to K - 1, or of those that have come.
pub(crate) trait KeyedState: Any + Send + Sync {
    /// The type of the program's items.
    fn element_type(&self) -> ElementType;

    /// The number of keys.
    fn groups(&self) -> usize;

    /// How many items a row has, and results a key.
    fn width(&self) -> usize {
        1
    }

    /// Adds or removes items, of one array or of two.
    ///
    /// # Errors
    /// It takes the other number of arrays; there are not as many keys as items; a key is out of range; an address is not aligned; or fewer
    /// items are there than are removed.
    fn change(&mut self, change: Change, keys: Keys<'_>, arrays: &[&[u8]]) -> Result<(), Failure>;

    /// Adds other ones, key by key.
    ///
    /// # Errors
    /// They are of another kind, or for another number of keys.
    fn merge(&mut self, other: &dyn KeyedState) -> Result<(), Failure>;

    /// Whether another one is equal.
    ///
    /// # Errors
    /// It is of another kind.
    fn equals(&self, other: &dyn KeyedState) -> Result<bool, Failure>;

    /// The number of items of each key.
    ///
    /// # Errors
    /// They are not counted.
    fn counts(&self) -> Result<&[u64], Failure> {
        Err(self.does_not_count())
    }

    /// Writes a statistic of each key, of type [`Statistic::element_type`].
    ///
    /// # Errors
    /// There is no such statistic, an address is not aligned, or a result does not fit its type.
    fn write(&self, statistic: Statistic, result: &mut [u8]) -> Result<(), Failure>;

    /// The type of keys that are not 0 to K - 1.
    fn key_type(&self) -> Option<ElementType> {
        None
    }

    /// Writes the keys in ascending order.
    ///
    /// # Errors
    /// They are 0 to K - 1, or an address is not aligned.
    fn write_keys(&self, _: &mut [u8]) -> Result<(), Failure> {
        let message = format!("the keys of {} are their numbers", self.name());
        Err(Failure::new(Code::Unsupported, message))
    }

    /// # Errors
    /// It has none.
    fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        Err(self.has_no_bytes())
    }

    /// Becomes what bytes stand for.
    ///
    /// # Errors
    /// They are not those of a state of this kind.
    fn become_bytes(&mut self, _: &[u8]) -> Result<(), Failure> {
        Err(self.has_no_bytes())
    }

    /// A copy.
    ///
    /// # Errors
    /// There is no memory for it.
    fn boxed(&self) -> Result<Box<dyn KeyedState>, Failure>;

    /// What it is, for errors.
    fn name(&self) -> String;

    #[cold]
    fn does_not_count(&self) -> Failure {
        let message = format!("{} do not count items: {OF_MOMENTS} does", self.name());
        Failure::new(Code::Unsupported, message)
    }

    #[cold]
    fn has_no_bytes(&self) -> Failure {
        let name = self.name();
        let message = format!("{name} have no bytes: {OF_SUM} and {OF_MOMENTS} of reals have");
        Failure::new(Code::Unsupported, message)
    }

    #[cold]
    fn takes(&self, what: &str) -> Failure {
        Failure::new(Code::Unsupported, format!("{} take {what}", self.name()))
    }

    #[cold]
    fn takes_nothing_back(&self) -> Failure {
        let message = format!("{} take nothing back", self.name());
        Failure::new(Code::Unsupported, message)
    }

    #[cold]
    fn lacks(&self, statistic: Statistic) -> Failure {
        let instead = match statistic {
            Statistic::Value => OF_SUM,
            Statistic::Minimum | Statistic::Maximum => "TREEFOLD_EXACT_EXTREMA",
            Statistic::Mean | Statistic::Variance(_) | Statistic::StandardDeviation(_) => {
                OF_MOMENTS
            }
        };
        statistic.missing(&self.name(), instead)
    }
}

impl Copied for Box<dyn KeyedState> {
    fn copied(&self) -> Result<Self, Failure> {
        self.boxed()
    }
}

/// A state of no items for so many keys.
///
/// # Errors
/// There is no such state, or no memory for it.
pub(crate) fn of_codes(
    element_type: ElementType,
    figure: i32,
    keys: usize,
) -> Result<Box<dyn KeyedState>, Failure> {
    use ElementType::{F32, F64};
    if ![SUM, DOT, MOMENTS, WEIGHTED_MEAN, EXTREMA].contains(&figure) {
        let reason = format_args!("there are no exact figures {figure} by key");
        return Err(Failure::argument("figure", reason));
    }
    match (element_type, figure) {
        (F32, _) => of_reals::<f32>(figure, keys),
        (F64, _) => of_reals::<f64>(figure, keys),
        (_, SUM) => by_integer!(
            element_type,
            I => empty(keys, 1, Integers::<I>::new),
            else Err(only_reals())
        ),
        _ => Err(only_reals()),
    }
}

fn of_reals<T: Real>(figure: i32, keys: usize) -> Result<Box<dyn KeyedState>, Failure> {
    match figure {
        SUM => empty(keys, 1, |keys| Ok(KeyedSums::<T>::new(keys))),
        DOT => empty(keys, 1, |keys| Ok(KeyedProducts::<T>::new(keys))),
        WEIGHTED_MEAN => empty(keys, 1, |keys| Ok(KeyedWeightedMeans::<T>::new(keys))),
        EXTREMA => empty(keys, 1, KeyedExtrema::<T>::new),
        _ => empty(keys, 1, KeyedMoments::<T>::new),
    }
}

/// Sums of no rows of so many items, for so many keys.
///
/// # Errors
/// Their items are not real, they have none, or there is no memory.
pub(crate) fn of_rows(
    element_type: ElementType,
    keys: usize,
    width: usize,
) -> Result<Box<dyn KeyedState>, Failure> {
    if width == 0 {
        return Err(Failure::argument("width", "a row has items"));
    }
    match element_type {
        ElementType::F32 => empty(keys, width, |keys| KeyedColumns::<f32>::new(keys, width)),
        ElementType::F64 => empty(keys, width, |keys| KeyedColumns::<f64>::new(keys, width)),
        _ => Err(only_reals()),
    }
}

fn only_reals() -> Failure {
    let message =
        "sums by key are of real numbers, or of integers without a statistic but the mean";
    Failure::new(Code::Unsupported, message)
}

fn empty<S: Kind>(
    keys: usize,
    width: usize,
    make: impl FnOnce(usize) -> Result<S, LimitError>,
) -> Result<Box<dyn KeyedState>, Failure> {
    Ok(Box::new(made(keys, width, make)?))
}

fn made<S: Kind>(
    keys: usize,
    width: usize,
    make: impl FnOnce(usize) -> Result<S, LimitError>,
) -> Result<S, Failure> {
    has_room(keys.saturating_mul(width), S::KEY_BYTES)?;
    make(keys).map_err(|error| of_limit("keys", error))
}

/// States that plans by key reduce. They are made of items in this crate, so that no other one compiles that for each type of keys.
pub trait Collected: Sized {
    /// Adds items up by keys 0 to `keys` - 1.
    ///
    /// # Errors
    /// As those of `treefold_keyed_create` and `treefold_keyed_add`.
    fn collected(keys: usize, of_items: Keys<'_>, items: &[u8]) -> Result<Self, Failure>;
}

macro_rules! collected {
    ($($state:ty),+) => {$(
        impl Collected for $state {
            fn collected(keys: usize, of_items: Keys<'_>, items: &[u8]) -> Result<Self, Failure> {
                let mut state: Self = made(keys, 1, KeyedAccumulator::of_keys)?;
                KeyedState::change(&mut state, Change::Add, of_items, &[items])?;
                Ok(state)
            }
        }
    )+};
}

collected!(
    KeyedSums<f32>,
    KeyedSums<f64>,
    KeyedMoments<f32>,
    KeyedMoments<f64>
);

/// Another state, if it is of this kind.
pub(super) fn same_kind<'o, S: KeyedState>(
    own: &S,
    other: &'o dyn KeyedState,
) -> Result<&'o S, Failure> {
    let any: &dyn Any = other;
    any.downcast_ref::<S>().ok_or_else(|| {
        let reason = format_args!("it is {}, not {}", other.name(), own.name());
        Failure::argument("other", reason)
    })
}

/// Adds items to a state, or removes them.
pub(super) fn change<S: Kind>(
    state: &mut S,
    change: Change,
    keys: Keys<'_>,
    [x, y]: [&[S::Item]; 2],
) -> Result<(), Failure> {
    let width = state.width();
    if !x.len().is_multiple_of(width) {
        let (values, width) = (x.len() as u64, width as u64);
        return Err(FoldError::NotRows { values, width }.into());
    }
    if S::TAKES_PAIRS && x.len() != y.len() {
        return Err(failure::lengths(x.len(), y.len()));
    }
    let array = array_name::<S>();
    let of_items = keys.without_signs(state.groups())?;
    with_keys!(of_items.key_type, K => {
        let of_items = of_items.of::<K>()?;
        match change {
            Change::Add => {
                let added = state.take(of_items, x, y);
                added.map_err(|error| keys.of_keys(error, array, width))
            }
            Change::Remove => match state.take_back(of_items, x, y) {
                Ok(()) => Ok(()),
                Err(Removal::Refused(error)) => Err(of_removal(keys, &error, array, width)),
                Err(Removal::Never) => Err(state.takes_nothing_back()),
            },
        }
    })
}

/// What the first array of items is called.
fn array_name<S: Kind>() -> &'static str {
    ["items", "x"][usize::from(S::TAKES_PAIRS)]
}

impl<S: Kind> KeyedState for S {
    fn element_type(&self) -> ElementType {
        S::TYPE
    }

    fn groups(&self) -> usize {
        Kind::groups(self)
    }

    fn width(&self) -> usize {
        Kind::width(self)
    }

    fn change(&mut self, change: Change, keys: Keys<'_>, arrays: &[&[u8]]) -> Result<(), Failure> {
        let arrays = match (arrays, S::TAKES_PAIRS) {
            ([x], false) => [elements("items", x)?, &[]],
            ([x, y], true) => [elements("x", x)?, elements("y", y)?],
            _ => return Err(self.takes(["items", "products"][usize::from(S::TAKES_PAIRS)])),
        };
        self::change(self, change, keys, arrays)
    }

    fn merge(&mut self, other: &dyn KeyedState) -> Result<(), Failure> {
        let other = same_kind(self, other)?;
        let found = [other, self].map(|state| [Kind::groups(state), Kind::width(state)]);
        for (what, [found, expected]) in [
            ("keys", found.map(|[keys, _]| keys)),
            ("columns", found.map(|[_, columns]| columns)),
        ] {
            if found != expected {
                let message = format!("`other` has {found} {what}, but `keyed` has {expected}");
                return Err(Failure::new(Code::Length, message));
            }
        }
        self.join(other).map_err(|error| of_limit("other", error))
    }

    fn equals(&self, other: &dyn KeyedState) -> Result<bool, Failure> {
        Ok(self == same_kind(self, other)?)
    }

    fn counts(&self) -> Result<&[u64], Failure> {
        self.counted().ok_or_else(|| self.does_not_count())
    }

    fn write(&self, statistic: Statistic, result: &mut [u8]) -> Result<(), Failure> {
        // Some are computed before they are written.
        has_room(result.len(), 1)?;
        if self.statistic(statistic, result)? {
            Ok(())
        } else {
            Err(self.lacks(statistic))
        }
    }

    fn to_bytes(&self) -> Result<Vec<u8>, Failure> {
        self.bytes().ok_or_else(|| self.has_no_bytes())
    }

    fn become_bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        // A key has nine bytes at least.
        has_room(bytes.len() / 9, S::KEY_BYTES)?;
        let state = S::of(bytes).ok_or_else(|| self.has_no_bytes())?;
        *self = state.map_err(|error| of_bytes_error(&error))?;
        Ok(())
    }

    fn boxed(&self) -> Result<Box<dyn KeyedState>, Failure> {
        has_room(self.memory(), 1)?;
        Ok(Box::new(self.clone()))
    }

    fn name(&self) -> String {
        format!("{} of TREEFOLD_{:?}", S::NAME, S::TYPE)
    }
}

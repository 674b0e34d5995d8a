//! The states by key that codes of the program stand for.

use std::any::Any;

use super::Keys;
use super::integers::Integers;
use super::kind::Kind;
use super::state::{KeyedState, empty};
use crate::accumulator::Change;
use crate::element::ElementType;
use crate::failure::{Code, Failure};

/// The codes of figures, and the slots that keys have for them. `$slot` is the slot of real numbers of a type.
#[macro_export]
macro_rules! by_slot {
    ($figure:expr, $real:ty, $slot:ident => $body:expr, else $other:expr) => {
        match $figure {
            1 => $crate::with_type!(treefold::exact::Sum<$real>, $slot, $body),
            3 => $crate::with_type!(treefold::exact::ProductSum<$real>, $slot, $body),
            5 => $crate::with_type!(treefold::exact::Moments<$real>, $slot, $body),
            6 => $crate::with_type!(treefold::exact::WeightedMean<$real>, $slot, $body),
            7 => $crate::with_type!(treefold::exact::Extrema<$real>, $slot, $body),
            8 => $crate::with_type!(treefold::exact::CoMoments<$real>, $slot, $body),
            9 => $crate::with_type!(treefold::exact::Powers<$real>, $slot, $body),
            _ => $other,
        }
    };
}

/// That of sums.
const SUM: i32 = 1;

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
    check_figure(figure)?;
    match element_type {
        F32 | F64 => of_reals(element_type, figure, keys, 1),
        _ if figure == SUM && element_type.is_integer() => {
            Ok(Box::new(Integers::new(element_type, keys)?))
        }
        _ => Err(only_reals()),
    }
}

fn of_reals(
    element_type: ElementType,
    figure: i32,
    keys: usize,
    width: usize,
) -> Result<Box<dyn KeyedState>, Failure> {
    match element_type {
        ElementType::F32 => {
            by_slot!(figure, f32, S => boxed::<S>(keys, width), else no_figure(figure))
        }
        _ => by_slot!(figure, f64, S => boxed::<S>(keys, width), else no_figure(figure)),
    }
}

fn boxed<S: Kind>(keys: usize, width: usize) -> Result<Box<dyn KeyedState>, Failure> {
    Ok(Box::new(empty::<S>(keys, width)?))
}

/// Whether there is such a figure by key.
///
/// # Errors
/// There is none.
pub fn check_figure(figure: i32) -> Result<(), Failure> {
    by_slot!(figure, f64, _S => Ok(()), else no_figure(figure))
}

/// # Errors
/// There is no such figure by key.
pub fn no_figure<T>(figure: i32) -> Result<T, Failure> {
    let reason = format_args!("there are no exact figures {figure} by key");
    Err(Failure::argument("figure", reason))
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
        ElementType::F32 | ElementType::F64 => of_reals(element_type, SUM, keys, width),
        _ => Err(only_reals()),
    }
}

fn only_reals() -> Failure {
    let message =
        "sums by key are of real numbers, or of integers without a statistic but the mean";
    Failure::new(Code::Unsupported, message)
}

/// Items of real numbers added up by keys 0 to `keys` - 1, as plans by key reduce them. They are made of items in this crate, so that no
/// other one compiles that for each type of keys.
///
/// # Errors
/// As those of `treefold_keyed_create` and `treefold_keyed_add`.
pub fn collected(
    element_type: ElementType,
    figure: i32,
    keys: usize,
    of_items: Keys<'_>,
    items: &[u8],
) -> Result<Box<dyn Any>, Failure> {
    let mut state = of_codes(element_type, figure, keys)?;
    state.change(Change::Add, of_items, &[items])?;
    Ok(state)
}

//! Creates states by key from a program's codes for the type and the statistic.

use std::any::Any;

use treefold::exact::{Held, IntegerMoments, IntegerSum, Statistic};

use super::Keys;
use super::integers::Integers;
use super::kind::SlotKind;
use super::state::{Change, State, empty};
use crate::element::ElementType;
use crate::failure::{Code, Failure};
use crate::statistic::Asked;

/// Evaluates `$body`, in which `$slot` is the type of the slot that stores a [`Held`](treefold::exact::Held) of `$real`.
#[macro_export]
macro_rules! by_slot {
    ($held:expr, $real:ty, $slot:ident => $body:expr) => {{
        use treefold::exact::Held;
        match $held {
            Held::Sum => $crate::with_type!(treefold::exact::Sum<$real>, $slot, $body),
            Held::Products => $crate::with_type!(treefold::exact::ProductSum<$real>, $slot, $body),
            Held::Moments => $crate::with_type!(treefold::exact::Moments<$real>, $slot, $body),
            Held::Weighted => {
                $crate::with_type!(treefold::exact::WeightedMean<$real>, $slot, $body)
            }
            Held::Extrema => $crate::with_type!(treefold::exact::Extrema<$real>, $slot, $body),
            Held::CoMoments => $crate::with_type!(treefold::exact::CoMoments<$real>, $slot, $body),
            Held::Powers => $crate::with_type!(treefold::exact::Powers<$real>, $slot, $body),
            _ => unreachable!("every kind of sum has a slot"),
        }
    }};
}

/// Creates an empty state for `keys` keys, with rows of `width` items.
///
/// # Errors
/// There is no state for these codes, or not enough memory.
pub(crate) fn of_codes(
    element_type: ElementType,
    asked: Asked,
    keys: usize,
    width: usize,
) -> Result<Box<dyn State>, Failure> {
    if width == 0 {
        return Err(Failure::argument("width", "it must be at least 1"));
    }
    match (element_type, asked.of_reals()) {
        (ElementType::F32 | ElementType::F64, _) => {
            of_reals(element_type, asked.held(), keys, width)
        }
        (ElementType::C32 | ElementType::C64, _) => {
            Err(unsupported("complex numbers have no statistics by key"))
        }
        _ if width > 1 => Err(unsupported("rows must consist of TREEFOLD_F32 or F64")),
        (_, Statistic::Count | Statistic::Sum | Statistic::Mean) => {
            Ok(Box::new(Integers::<IntegerSum>::new(element_type, keys)?))
        }
        (_, Statistic::Variance | Statistic::StandardDeviation) => {
            Ok(Box::new(Integers::<IntegerMoments>::new(
                element_type,
                keys,
            )?))
        }
        _ => Err(asked.missing("integers by key")),
    }
}

fn of_reals(
    element_type: ElementType,
    held: Held,
    keys: usize,
    width: usize,
) -> Result<Box<dyn State>, Failure> {
    match element_type {
        ElementType::F32 => by_slot!(held, f32, S => boxed::<S>(keys, width)),
        _ => by_slot!(held, f64, S => boxed::<S>(keys, width)),
    }
}

fn boxed<S: SlotKind>(keys: usize, width: usize) -> Result<Box<dyn State>, Failure> {
    Ok(Box::new(empty::<S>(keys, width)?))
}

fn unsupported(message: &str) -> Failure {
    Failure::new(Code::Unsupported, message)
}

/// Creates the state of a plan by key: real items are added by the keys 0 to `keys` - 1. Keys are passed as bytes, so that only this crate
/// compiles code for each type of keys.
///
/// # Errors
/// Those of `treefold_keyed_create` and `treefold_keyed_add`.
pub fn collected(
    element_type: ElementType,
    held: Held,
    keys: usize,
    of_items: Keys<'_>,
    items: &[u8],
) -> Result<Box<dyn Any>, Failure> {
    let mut state = of_reals(element_type, held, keys, 1)?;
    state.change(Change::Add, of_items, &[items])?;
    Ok(state)
}

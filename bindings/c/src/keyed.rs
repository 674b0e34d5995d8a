//! Exact sums and moments by key, and those of windows, on bytes that are keys of a type which only the program's codes tell.

mod state;

use treefold::exact::{Float, Key, KeyError, KeyedMoments, RemoveKeyedError, Rolling, by_key, par};

pub(crate) use self::state::of_codes;
pub use self::state::treefold_keyed;
use crate::accumulator::Statistic;
use crate::boundary::elements;
use crate::element::ElementType;
use crate::failure::{Code, Failure};
use crate::local::By;

/// An expression for the type of keys.
#[macro_export]
macro_rules! with_keys {
    ($key_type:expr, $key:ident => $body:expr) => {{
        use $crate::element::ElementType::{I8, I16, I32, I64, U8, U16, U32, U64};
        use $crate::with_type;
        match $key_type {
            I8 => with_type!(i8, $key, $body),
            I16 => with_type!(i16, $key, $body),
            I32 => with_type!(i32, $key, $body),
            I64 => with_type!(i64, $key, $body),
            U8 => with_type!(u8, $key, $body),
            U16 => with_type!(u16, $key, $body),
            U32 => with_type!(u32, $key, $body),
            U64 => with_type!(u64, $key, $body),
            _ => Err($crate::failure::Failure::argument(
                "key_type",
                "keys are integers",
            )),
        }
    }};
}

use crate::with_keys;

/// Keys as bytes, with their type.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'k> {
    /// What they are.
    pub key_type: ElementType,
    /// The keys.
    pub bytes: &'k [u8],
}

impl<'k> Keys<'k> {
    /// The keys.
    ///
    /// # Errors
    /// Their address is not a multiple of the type's alignment.
    pub fn of<K: Key + bytemuck::AnyBitPattern>(self) -> Result<&'k [K], Failure> {
        elements("keys", self.bytes)
    }
}

/// The bytes that the exact sum of a key takes at first.
const SUM_BYTES: usize = 16;

/// The same for moments: two sums of squares, and a number.
const MOMENTS_BYTES: usize = 3 * SUM_BYTES + size_of::<u64>();

/// The exact sums of the items of each key.
pub(crate) fn sums<T: Float>(
    by: By,
    keys: Keys<'_>,
    items: &[T],
    result: &mut [T],
) -> Result<(), Failure> {
    // Threads have sums of their own, which take no more than as many sums as there are items and keys.
    let most = match by {
        By::Caller => result.len(),
        By::Pool => result.len().saturating_add(items.len()),
    };
    has_room(most, SUM_BYTES)?;
    let sums = with_keys!(keys.key_type, K => {
        let keys = keys.of::<K>()?;
        let sums = by.reduce(items.len(), |by| match by {
            By::Caller => by_key(keys, items, result.len()),
            By::Pool => par::by_key(keys, items, result.len()),
        })?;
        sums.map_err(|error| of_keys(&error))
    })?;
    result.copy_from_slice(&sums);
    Ok(())
}

/// A statistic of the items of each key.
pub(crate) fn statistics<T: Float>(
    statistic: Statistic,
    keys: Keys<'_>,
    items: &[T],
    result: &mut [T],
) -> Result<(), Failure> {
    has_room(result.len(), MOMENTS_BYTES)?;
    let mut moments = KeyedMoments::new(result.len());
    with_keys!(keys.key_type, K => {
        let added = moments.add(keys.of::<K>()?, items);
        added.map_err(|error| of_keys(&error))
    })?;
    write_statistics(&moments, statistic, result);
    Ok(())
}

/// Writes a mean, variance or standard deviation of each key. There are as many.
fn write_statistics<T: Float>(moments: &KeyedMoments<T>, statistic: Statistic, result: &mut [T]) {
    for (key, value) in result.iter_mut().enumerate() {
        *value = match statistic {
            Statistic::Value => unreachable!("sums have a function of their own"),
            Statistic::Mean => moments.mean(key),
            Statistic::Variance(ddof) => moments.variance(key, ddof),
            Statistic::StandardDeviation(ddof) => moments.standard_deviation(key, ddof),
        };
    }
}

/// The exact sums or means of the windows that end at each item.
pub(crate) fn rolling<T: Float>(
    statistic: Statistic,
    items: &[T],
    [window, least_items]: [usize; 2],
    result: &mut [T],
) -> Result<(), Failure> {
    if result.len() != items.len() {
        let (found, expected) = (result.len(), items.len());
        let message = format!("`result` has {found} elements, but `items` has {expected}");
        return Err(Failure::new(Code::Length, message));
    }
    if window == 0 {
        return Err(Failure::argument("window", "a window has items"));
    }
    has_room(items.len(), size_of::<T>())?;
    let windows = Rolling::of_items(window).least_items(least_items);
    let values = match statistic {
        Statistic::Mean => windows.means(items),
        _ => windows.sums(items),
    };
    result.copy_from_slice(&values);
    Ok(())
}

/// Whether there is memory for as many elements of so many bytes.
///
/// Rust's own functions end the program where there is not.
///
/// # Errors
/// There is not.
pub fn has_room(elements: usize, element_bytes: usize) -> Result<(), Failure> {
    let mut room = Vec::<u8>::new();
    let bytes = elements.saturating_mul(element_bytes);
    room.try_reserve_exact(bytes).map_err(|_| {
        let message = format!("there is no memory for {elements} exact results");
        Failure::new(Code::Memory, message)
    })
}

/// What is wrong with keys.
fn of_keys(error: &KeyError) -> Failure {
    match error {
        KeyError::Lengths { keys, items } => Failure::new(
            Code::Length,
            format!("`keys` has {keys} elements, but `items` has {items}"),
        ),
        other => Failure::argument("keys", other),
    }
}

/// Why items cannot be removed.
fn of_removal(error: &RemoveKeyedError) -> Failure {
    match error {
        RemoveKeyedError::Key(error) => of_keys(error),
        other => Failure::argument("items", other),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use super::{Keys, has_room, sums};
    use crate::element::ElementType;
    use crate::failure::Code;
    use crate::local::By;

    #[test]
    fn keys_have_a_type_of_integers() {
        let mut result = [0.0; 2];
        for key_type in ElementType::ALL {
            let bytes = &[1; 8][..crate::local::element_bytes(key_type).min(8)];
            // One key of as many bytes, each of which is 1: 1 only of one byte.
            let keys = Keys { key_type, bytes };
            let error = sums(By::Caller, keys, &[2.5], &mut result).err();
            let error = error.map(|error| (error.code, error.message.clone()));
            match key_type {
                ElementType::I8 | ElementType::U8 => assert_eq!(error, None),
                ElementType::F32 | ElementType::F64 | ElementType::C32 | ElementType::C64 => {
                    let message = "`key_type`: keys are integers".to_owned();
                    assert_eq!(error, Some((Code::Argument, message)));
                }
                _ => assert!(error.unwrap().1.starts_with("`keys`: item 0 has key ")),
            }
        }
        assert_eq!(result.map(f64::to_bits), [0.0, 2.5_f64].map(f64::to_bits));
    }

    #[test]
    fn too_many_results_are_no_abort() {
        assert!(has_room(1000, 56).is_ok());
        for keys in [usize::MAX, usize::MAX / 16, 1 << 50] {
            assert_eq!(has_room(keys, 16).unwrap_err().code, Code::Memory);
        }
    }
}

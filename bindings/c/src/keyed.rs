//! Exact statistics by key and of windows. Keys are passed as bytes; the program's type code says how to read them.

mod codes;
mod hashed;
mod integers;
mod kind;
mod state;
mod windows;

use std::borrow::Cow;

use treefold::FoldError;
use treefold::exact::{
    Float, Key, KeyError, LimitError, RemoveKeyedError, Statistic, by_key, par, sum_rows,
};

pub use self::codes::collected;
pub(crate) use self::codes::of_codes;
pub(crate) use self::hashed::of_codes as hashed_of_codes;
use self::kind::SUM_BYTES;
pub use self::state::treefold_keyed;
pub(crate) use self::state::{Change, State, of_bytes_error, same_kind};
pub(crate) use self::windows::{Extent, Window, rolling};
use crate::element::ElementType;
use crate::failure::{Code, Failure};
use crate::local::By;
use crate::raw::{elements, elements_mut};
use crate::statistic::{Asked, Question};
use crate::{by_real, local};

/// Evaluates `$body`, in which `$key` is the Rust type of the keys that [`Keys::without_signs`] has returned.
macro_rules! with_keys {
    ($key_type:expr, $key:ident => $body:expr) => {
        match $key_type {
            $crate::element::ElementType::U8 => $crate::with_type!(u8, $key, $body),
            $crate::element::ElementType::U16 => $crate::with_type!(u16, $key, $body),
            $crate::element::ElementType::U32 => $crate::with_type!(u32, $key, $body),
            $crate::element::ElementType::U64 => $crate::with_type!(u64, $key, $body),
            _ => unreachable!("keys have lost their signs"),
        }
    };
}

pub(crate) use with_keys;

use crate::by_integer;

/// Keys as bytes, with their type.
#[derive(Clone, Copy, Debug)]
pub struct Keys<'k> {
    /// The type of the keys.
    pub key_type: ElementType,
    /// The keys.
    pub bytes: &'k [u8],
}

impl<'k> Keys<'k> {
    /// No keys, as for an accumulator.
    pub(crate) const NONE: Self = Self {
        key_type: ElementType::U8,
        bytes: &[],
    };

    /// The keys.
    ///
    /// # Errors
    /// Their address is not a multiple of the type's alignment.
    pub(crate) fn of<K: Key + bytemuck::AnyBitPattern>(self) -> Result<&'k [K], Failure> {
        elements("keys", self.bytes)
    }

    /// The same keys with an unsigned type, since sums by key are compiled only for unsigned keys. A negative key becomes a number that
    /// exceeds the number of sums, so it is still an error; [`of_keys`](Self::of_keys) restores the key in the message.
    ///
    /// # Errors
    /// The keys are not integers, their address is not a multiple of the type's alignment, or there are so many sums that a negative key
    /// would become a valid key.
    fn without_signs(self, sums: usize) -> Result<Self, Failure> {
        let Some((bits, key_type)) = self.signed() else {
            return match self.key_type {
                ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => {
                    Ok(self)
                }
                _ => Err(no_keys()),
            };
        };
        if sums as u128 > 1 << (bits - 1) {
            let negative = by_integer!(
                self.key_type,
                K => {
                    let mut keys = self.of::<K>()?.iter().map(|&key| i128::from(key)).enumerate();
                    keys.find(|&(_, key)| key < 0)
                },
                else None
            );
            if let Some((item, key)) = negative {
                let error = KeyError::OutOfRange { item, key, sums };
                return Err(of_keys(&error, "items", 1));
            }
        }
        let bytes = self.bytes;
        Ok(Self { key_type, bytes })
    }

    /// For keys of a signed type, the number of its bits and the unsigned type of the same size.
    fn signed(self) -> Option<(u32, ElementType)> {
        match self.key_type {
            ElementType::I8 => Some((i8::BITS, ElementType::U8)),
            ElementType::I16 => Some((i16::BITS, ElementType::U16)),
            ElementType::I32 => Some((i32::BITS, ElementType::U32)),
            ElementType::I64 => Some((i64::BITS, ElementType::U64)),
            _ => None,
        }
    }

    /// The keys that [`without_signs`](Self::without_signs) returns, as 32-bit numbers. Greater keys become the greatest 32-bit number.
    /// They are still out of range, because there are always fewer sums than that.
    ///
    /// # Errors
    /// Those of [`of`](Self::of), and an error if there is no memory for the copy.
    fn short(self) -> Result<Cow<'k, [u32]>, Failure> {
        if self.key_type == ElementType::U32 {
            return self.of().map(Cow::Borrowed);
        }
        with_keys!(self.key_type, K => {
            let keys = self.of::<K>()?;
            has_room(keys.len(), size_of::<u32>())?;
            let short = keys.iter().map(|&key| u32::try_from(u128::from(key)).unwrap_or(u32::MAX));
            Ok(Cow::Owned(short.collect()))
        })
    }

    /// The key that the program passed for an item, with its bits read as an unsigned number.
    fn at(self, item: usize) -> i128 {
        let unsigned = self
            .signed()
            .map_or(self, |(_, key_type)| Self { key_type, ..self });
        with_keys!(unsigned.key_type, K => unsigned.of::<K>().map_or(0, |keys| keys[item].into()))
    }

    /// Converts an error about keys that `without_signs` has returned. The message then has the key that the program passed.
    fn of_keys(self, error: KeyError, array: &str, width: usize) -> Failure {
        let error = match error {
            KeyError::OutOfRange { item, sums, .. } => KeyError::OutOfRange {
                item,
                key: self.at(item),
                sums,
            },
            error => error,
        };
        match (error, self.signed()) {
            (KeyError::OutOfRange { item, key, sums }, Some((bits, _)))
                if key >= 1 << (bits - 1) =>
            {
                let key = key - (1 << bits);
                of_keys(&KeyError::OutOfRange { item, key, sums }, array, width)
            }
            (error, _) => of_keys(&error, array, width),
        }
    }
}

/// Writes the exact sum of each key's items to `result`.
fn sums<T: Float>(keys: Keys<'_>, items: &[T], result: &mut [T]) -> Result<(), Failure> {
    let of_items = keys.without_signs(result.len())?;
    let sums = with_keys!(of_items.key_type, K => {
        let of_items = of_items.of::<K>()?;
        local::reduce(items.len(), |by| {
            // Every thread has its own sums. All threads together have at most one sum for each item and one for each key.
            let most = match by {
                By::Caller => result.len(),
                By::Pool => result.len().saturating_add(items.len()),
            };
            has_room(most, SUM_BYTES)?;
            let sums = match by {
                By::Caller => by_key(of_items, items, result.len()),
                By::Pool => par::by_key(of_items, items, result.len()),
            };
            sums.map_err(|error| keys.of_keys(error, "x", 1))
        })
    })?;
    result.copy_from_slice(&sums);
    Ok(())
}

/// Writes a statistic of each key's rows, or of all rows if there are no keys. A row is `width` elements of an array, or a pair from two
/// arrays. `result` has `m` elements: `width` for each key.
pub(crate) fn of_arrays(
    element_type: ElementType,
    question: Question,
    keys: Option<Keys<'_>>,
    arrays: &[&[u8]],
    width: usize,
    (result, m): (&mut [u8], usize),
) -> Result<(), Failure> {
    let are_rows = |count: usize| width > 0 && count.is_multiple_of(width);
    let items = arrays[0].len() / local::element_bytes(element_type);
    for count in [items, m] {
        if !are_rows(count) {
            let (values, width) = (count as u64, width as u64);
            return Err(FoldError::NotRows { values, width }.into());
        }
    }
    let is_sum = question.asked == Asked::Of(Statistic::Sum);
    match keys {
        None if m != width => {
            let (width, found) = (width as u64, m as u64);
            return Err(FoldError::ResultLength { width, found }.into());
        }
        None if is_sum && !element_type.is_integer() => {
            return by_real!(element_type, T => {
                has_room(width, size_of::<treefold::exact::Sum<T>>())?;
                let items = elements::<T>("items", arrays[0])?;
                Ok(sum_rows(items, width, elements_mut("result", result)?)?)
            });
        }
        Some(keys) if is_sum && width == 1 && !element_type.is_integer() => {
            return by_real!(element_type, T => {
                sums::<T>(keys, elements("x", arrays[0])?, elements_mut("result", result)?)
            });
        }
        _ => {}
    }
    let mut state = of_codes(element_type, question.asked, m / width, width)?;
    match keys {
        Some(keys) => state.change(Change::Add, keys, arrays)?,
        None => add_to_one(
            state.as_mut(),
            arrays,
            width * local::element_bytes(element_type),
        )?,
    }
    state.write(question, result)
}

/// Adds rows to a state that has only one key. All arrays have the same length.
fn add_to_one(state: &mut dyn State, arrays: &[&[u8]], row_bytes: usize) -> Result<(), Failure> {
    let zeros = [0; 4096];
    let (bytes, length) = (zeros.len() * row_bytes, arrays[0].len());
    for begin in (0..length).step_by(bytes) {
        let end = length.min(begin + bytes);
        let parts: Vec<&[u8]> = arrays.iter().map(|array| &array[begin..end]).collect();
        let keys = Keys {
            key_type: ElementType::U8,
            bytes: &zeros[..(end - begin) / row_bytes],
        };
        state.change(Change::Add, keys, &parts)?;
    }
    Ok(())
}

#[cold]
fn no_keys() -> Failure {
    Failure::argument("key_type", "keys must be integers")
}

/// Checks that there is memory for `elements` elements of `element_bytes` bytes.
///
/// Without this check, Rust's allocation would end the program when memory is short.
///
/// # Errors
/// There is not enough memory.
pub(crate) fn has_room(elements: usize, element_bytes: usize) -> Result<(), Failure> {
    let mut room = Vec::<u8>::new();
    let bytes = elements.saturating_mul(element_bytes);
    room.try_reserve_exact(bytes).map_err(|_| {
        let message = format!("there is no memory for {bytes} bytes of exact results");
        Failure::new(Code::Memory, message)
    })
}

/// The failure for invalid keys of an array of items, or of rows of `width` items.
fn of_keys(error: &KeyError, array: &str, width: usize) -> Failure {
    match error {
        KeyError::Lengths { keys, items } => {
            let rows = ["elements", "rows"][usize::from(width > 1)];
            let message = format!("`keys` has {keys} elements, but `{array}` has {items} {rows}");
            Failure::new(Code::Length, message)
        }
        KeyError::Limit(error) => of_limit(array, *error),
        other => Failure::argument("keys", other),
    }
}

/// The failure for an array whose items exceed a limit of the sums.
pub(crate) fn of_limit(array: &str, error: LimitError) -> Failure {
    match error {
        LimitError::Memory { .. } => Failure::new(Code::Memory, error.to_string()),
        _ => Failure::argument(array, error),
    }
}

/// The failure for items that cannot be removed.
fn of_removal(keys: Keys<'_>, error: &RemoveKeyedError, array: &str, width: usize) -> Failure {
    match error {
        RemoveKeyedError::Key(error) => keys.of_keys(*error, array, width),
        RemoveKeyedError::Fewer { key, error } if width > 1 => {
            let (key, column) = (key / width, key % width);
            let reason = format_args!("key {key}, column {column}: {error}");
            Failure::argument(array, reason)
        }
        RemoveKeyedError::Never => Failure::new(Code::Unsupported, error.to_string()),
        other => Failure::argument(array, other),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use super::{Keys, has_room, sums};
    use crate::element::ElementType;
    use crate::failure::Code;

    #[test]
    fn keys_have_a_type_of_integers() {
        let mut result = [0.0; 2];
        for key_type in ElementType::ALL {
            let bytes = &[1; 8][..crate::local::element_bytes(key_type).min(8)];
            // One key whose bytes are all 1: its value is 1 only if its type has one byte.
            let keys = Keys { key_type, bytes };
            let error = sums(keys, &[2.5], &mut result).err();
            let error = error.map(|error| (error.code, error.message.clone()));
            match key_type {
                ElementType::I8 | ElementType::U8 => assert_eq!(error, None),
                ElementType::F32 | ElementType::F64 | ElementType::C32 | ElementType::C64 => {
                    let message = "`key_type`: keys must be integers".to_owned();
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

    /// Negative keys are invalid, even if their bits as an unsigned number are a valid key.
    #[test]
    fn negative_keys_are_named() {
        let said = |key_type, bytes: &[u8], sums_count| {
            let mut result = vec![0.0; sums_count];
            let keys = Keys { key_type, bytes };
            let added = sums(keys, &[1.0, 2.0], &mut result);
            added
                .map(|()| result)
                .map_err(|failure| failure.message.clone())
        };
        let few = said(ElementType::I32, bytemuck::cast_slice(&[1, -7]), 3);
        assert!(few.unwrap_err().contains("item 1 has key -7"));
        let many = said(ElementType::I8, bytemuck::cast_slice(&[5_i8, -1]), 300);
        assert!(many.unwrap_err().contains("item 1 has key -1"));
        let all = said(ElementType::I8, bytemuck::cast_slice(&[5_i8, 127]), 300).unwrap();
        assert_eq!(
            [all[5], all[127]].map(f64::to_bits),
            [1.0_f64, 2.0].map(f64::to_bits)
        );
        let great = said(ElementType::U64, bytemuck::cast_slice(&[0, u64::MAX]), 3);
        assert!(great.unwrap_err().contains("key 18446744073709551615"));
    }
}

//! Defines keys, and the errors about invalid keys.

use std::error::Error;
use std::fmt;

use crate::number::counters::LimitError;

/// The integer types that keys can have. A key is the number of a sum.
pub trait Key: Copy + Send + Sync + sealed::KeyIndex {}

pub(crate) mod sealed {
    /// Methods that other crates can neither call nor implement.
    pub trait KeyIndex: Copy {
        /// The key as an index; a large index if the key is negative.
        fn place(self) -> usize;

        fn number(self) -> i128;

        /// Whether every key is at least 0 and less than `sums`.
        fn are_below(keys: &[Self], sums: usize) -> bool;
    }
}

macro_rules! keys {
    ($($key:ident $signed:ident)*) => {$(
        impl Key for $key {}

        impl sealed::KeyIndex for $key {
            #[inline(always)]
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                trivial_numeric_casts,
                reason = "no key is longer than an index, and a negative key becomes a large index"
            )]
            fn place(self) -> usize {
                if size_of::<Self>() <= size_of::<usize>() {
                    // This function is called for each item, so it checks nothing.
                    self as usize
                } else {
                    usize::try_from(self).unwrap_or(usize::MAX)
                }
            }

            fn number(self) -> i128 {
                self.try_into().unwrap_or(i128::MAX)
            }

            #[inline]
            #[allow(clippy::cast_possible_wrap, trivial_numeric_casts, reason = "the sign is checked")]
            fn are_below(keys: &[Self], sums: usize) -> bool {
                let Some(last) = sums.checked_sub(1) else {
                    return keys.is_empty();
                };
                let short = <$signed>::try_from(last);
                if <$key>::MIN == 0 && short.is_err() {
                    return keys.iter().fold(true, |below, key| below & (key.place() <= last));
                }
                let last = short.unwrap_or(<$signed>::MAX);
                // Keys are valid if neither a key nor its distance to the last valid key is negative. There is no branch per key.
                let signs = keys.iter().fold(0, |signs, &key| {
                    let key = key as $signed;
                    signs | key | last.wrapping_sub(key)
                });
                signs >= 0
            }
        }
    )*};
}

keys!(u8 i8 u16 i16 u32 i32 u64 i64 usize isize i8 i8 i16 i16 i32 i32 i64 i64 isize isize);

/// Why items cannot be added to the sums of their keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// There are not as many keys as items.
    Lengths {
        /// The number of keys.
        keys: usize,
        /// The number of items.
        items: usize,
    },
    /// A key is negative, or not less than the number of sums.
    OutOfRange {
        /// The number of the item, counted from 0.
        item: usize,
        /// The item's key.
        key: i128,
        /// The number of sums.
        sums: usize,
    },
    /// Sums would exceed their limits.
    Limit(LimitError),
}

impl From<LimitError> for KeyError {
    fn from(error: LimitError) -> Self {
        Self::Limit(error)
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lengths { keys, items } => {
                let ending = |count: usize| if count == 1 { "" } else { "s" };
                let (of_keys, of_items) = (ending(*keys), ending(*items));
                write!(f, "{keys} key{of_keys} for {items} item{of_items}")
            }
            Self::OutOfRange { item, key, sums: 0 } => {
                write!(f, "item {item} has key {key}, but there are no sums")
            }
            Self::OutOfRange { item, key, sums } => {
                write!(
                    f,
                    "item {item} has key {key}; keys must be 0 to {}",
                    sums - 1
                )
            }
            Self::Limit(error) => error.fmt(f),
        }
    }
}

impl Error for KeyError {}

/// Checks that there are as many keys as items.
pub(crate) fn check_lengths<K>(keys: &[K], items: usize) -> Result<(), KeyError> {
    if keys.len() == items {
        Ok(())
    } else {
        Err(KeyError::Lengths {
            keys: keys.len(),
            items,
        })
    }
}

/// Checks that each key of a block has a sum. The block's first item has the number `first`.
#[inline]
pub(crate) fn check_block<K: Key>(keys: &[K], first: usize, sums: usize) -> Result<(), KeyError> {
    if K::are_below(keys, sums) {
        return Ok(());
    }
    let is_wrong = |key: &K| key.place() >= sums;
    let at = keys.iter().position(is_wrong).expect("one key is wrong");
    Err(KeyError::OutOfRange {
        item: first + at,
        key: keys[at].number(),
        sums,
    })
}

/// Checks that there are as many keys as items, and that each key has a sum.
pub(crate) fn check<K: Key>(keys: &[K], items: usize, sums: usize) -> Result<(), KeyError> {
    /// The number of keys of a block.
    const KEYS: usize = 256;
    check_lengths(keys, items)?;
    let mut blocks = keys.chunks(KEYS).enumerate();
    blocks.try_for_each(|(block, keys)| check_block(keys, block * KEYS, sums))
}

//! Keys, and what may be wrong with them.

use std::error::Error;
use std::fmt;

/// The types of keys that number sums: integers.
pub trait Key: Copy + Send + Sync + sealed::Sealed {}

pub(crate) mod sealed {
    /// What other crates cannot call, and cannot implement.
    pub trait Sealed: Copy {
        /// The key as an index: a large one, if it is none.
        fn place(self) -> usize;

        fn number(self) -> i128;
    }
}

macro_rules! keys {
    ($($key:ident)*) => {$(
        impl Key for $key {}

        impl sealed::Sealed for $key {
            #[inline(always)]
            fn place(self) -> usize {
                usize::try_from(self).unwrap_or(usize::MAX)
            }

            fn number(self) -> i128 {
                self.try_into().unwrap_or(i128::MAX)
            }
        }
    )*};
}

keys!(u8 u16 u32 u64 usize i8 i16 i32 i64 isize);

/// Keys that cannot be. No sum has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// There are not as many keys as items.
    Lengths {
        /// The keys.
        keys: usize,
        /// The items.
        items: usize,
    },
    /// A key is negative, or not less than the number of sums.
    OutOfRange {
        /// The number of the item, from 0 on.
        item: usize,
        /// Its key.
        key: i128,
        /// The number of sums.
        sums: usize,
    },
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lengths { keys, items } => write!(f, "{keys} keys for {items} items"),
            Self::OutOfRange { item, key, sums: 0 } => {
                write!(f, "item {item} has key {key}, and there is no sum")
            }
            Self::OutOfRange { item, key, sums } => {
                write!(
                    f,
                    "item {item} has key {key}, and keys are 0 to {}",
                    sums - 1
                )
            }
        }
    }
}

impl Error for KeyError {}

/// Whether items have keys, and each is that of a sum.
pub(crate) fn check<K: Key>(keys: &[K], items: usize, sums: usize) -> Result<(), KeyError> {
    /// So many keys are looked at without a branch.
    const BLOCK_KEYS: usize = 256;
    if keys.len() != items {
        return Err(KeyError::Lengths {
            keys: keys.len(),
            items,
        });
    }
    for (block, keys) in keys.chunks(BLOCK_KEYS).enumerate() {
        let is_wrong = |key: &K| key.place() >= sums;
        if !keys.iter().fold(false, |wrong, key| wrong | is_wrong(key)) {
            continue;
        }
        if let Some(at) = keys.iter().position(is_wrong) {
            return Err(KeyError::OutOfRange {
                item: block * BLOCK_KEYS + at,
                key: keys[at].number(),
                sums,
            });
        }
    }
    Ok(())
}

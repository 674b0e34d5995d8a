//! The operators: those of `treefold.h` by their codes, and the caller's function.

use std::fmt;

use treefold::Operator;

use crate::boundary::Function;
use crate::failure::{Code, Failure};

/// The operators of `treefold.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "treefold.h describes them")]
pub enum Builtin {
    Sum,
    Product,
    Min,
    Max,
}

impl Builtin {
    /// The operator of a code; they count from 1.
    ///
    /// # Errors
    /// There is no such code.
    pub fn of_code(code: i32) -> Result<Self, Failure> {
        match code {
            1 => Ok(Self::Sum),
            2 => Ok(Self::Product),
            3 => Ok(Self::Min),
            4 => Ok(Self::Max),
            _ => {
                let reason = format_args!("there is no operator {code}");
                Err(Failure::argument("op", reason))
            }
        }
    }
}

/// One of crate `treefold`'s operators, chosen when the program runs: plans by all operators on a type share their code.
pub type Chosen<T> = &'static (dyn Operator<T> + Sync);

/// The longest item of a caller's operator, in bytes.
pub const ITEM_BYTES_MAX: usize = 512;

/// The bytes of a word, in which items of a caller's operator are kept.
pub const WORD_BYTES: usize = size_of::<u64>();

/// The words of an item, for each number of bytes: the least of these that hold it. Others would each take code of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are numbers")]
pub enum Words {
    W1,
    W2,
    W3,
    W4,
    W6,
    W8,
    W12,
    W16,
    W24,
    W32,
    W64,
}

impl Words {
    /// Of an item of so many bytes.
    ///
    /// # Errors
    /// Items cannot be so long.
    pub fn of_item(item_bytes: usize) -> Result<Self, Failure> {
        if item_bytes == 0 || !item_bytes.is_multiple_of(4) || item_bytes > ITEM_BYTES_MAX {
            let reason =
                format_args!("{item_bytes} is not a multiple of 4 from 4 to {ITEM_BYTES_MAX}");
            return Err(Failure::argument("item_bytes", reason));
        }
        Ok(match item_bytes.div_ceil(WORD_BYTES) {
            1 => Self::W1,
            2 => Self::W2,
            3 => Self::W3,
            4 => Self::W4,
            5..=6 => Self::W6,
            7..=8 => Self::W8,
            9..=12 => Self::W12,
            13..=16 => Self::W16,
            17..=24 => Self::W24,
            25..=32 => Self::W32,
            _ => Self::W64,
        })
    }
}

/// An expression for the number of [`Words`] as a constant.
#[macro_export]
macro_rules! by_words {
    ($words:expr, $count:ident => $body:expr) => {
        match $words {
            $crate::operator::Words::W1 => $crate::with_words!(1, $count, $body),
            $crate::operator::Words::W2 => $crate::with_words!(2, $count, $body),
            $crate::operator::Words::W3 => $crate::with_words!(3, $count, $body),
            $crate::operator::Words::W4 => $crate::with_words!(4, $count, $body),
            $crate::operator::Words::W6 => $crate::with_words!(6, $count, $body),
            $crate::operator::Words::W8 => $crate::with_words!(8, $count, $body),
            $crate::operator::Words::W12 => $crate::with_words!(12, $count, $body),
            $crate::operator::Words::W16 => $crate::with_words!(16, $count, $body),
            $crate::operator::Words::W24 => $crate::with_words!(24, $count, $body),
            $crate::operator::Words::W32 => $crate::with_words!(32, $count, $body),
            $crate::operator::Words::W64 => $crate::with_words!(64, $count, $body),
        }
    };
}

/// One branch of [`by_words!`].
#[doc(hidden)]
#[macro_export]
macro_rules! with_words {
    ($number:literal, $count:ident, $body:expr) => {{
        const $count: usize = $number;
        $body
    }};
}

/// An operator of the caller's, on items that are kept in whole words. What an item does not fill is zero.
pub struct UserOperator {
    name: String,
    function: Function,
    /// The item that stands for nothing.
    empty: Option<Vec<u8>>,
}

impl fmt::Debug for UserOperator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "UserOperator({})", self.name)
    }
}

impl UserOperator {
    /// An operator of a function on items of so many bytes. `empty` is one item.
    pub fn new(name: &str, item_bytes: usize, function: Function, empty: Option<Vec<u8>>) -> Self {
        Self {
            // Items of other lengths may be kept in as many words.
            name: format!("{name} on {item_bytes} bytes"),
            function,
            empty,
        }
    }
}

impl<const WORDS: usize> Operator<[u64; WORDS]> for UserOperator {
    fn name(&self) -> &str {
        &self.name
    }

    fn combine(&self, left: [u64; WORDS], right: [u64; WORDS]) -> [u64; WORDS] {
        self.function.combine(&left, &right)
    }

    fn empty(&self) -> Option<[u64; WORDS]> {
        self.empty.as_deref().map(padded)
    }
}

/// An item in whole words.
pub fn padded<const WORDS: usize>(item: &[u8]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(item.chunks(WORD_BYTES)) {
        let mut whole = [0; WORD_BYTES];
        whole[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_ne_bytes(whole);
    }
    words
}

/// Copies as much of an item as it has bytes.
pub fn unpadded<const WORDS: usize>(words: &[u64; WORDS], item: &mut [u8]) {
    for (word, bytes) in words.iter().zip(item.chunks_mut(WORD_BYTES)) {
        bytes.copy_from_slice(&word.to_ne_bytes()[..bytes.len()]);
    }
}

/// Items in whole words, if there is memory for them.
///
/// # Errors
/// There is none.
pub fn padded_items<const WORDS: usize>(
    items: &[u8],
    item_bytes: usize,
) -> Result<Vec<[u64; WORDS]>, Failure> {
    let mut padded_items = Vec::new();
    let count = items.len() / item_bytes;
    let room = padded_items.try_reserve_exact(count);
    room.map_err(|_| {
        let message = format!("there is no memory for a copy of {count} items");
        Failure::new(Code::Memory, message)
    })?;
    padded_items.extend(items.chunks_exact(item_bytes).map(padded::<WORDS>));
    Ok(padded_items)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use super::{ITEM_BYTES_MAX, WORD_BYTES, Words, padded, unpadded};

    #[test]
    fn every_item_has_words() {
        for bytes in 0..=ITEM_BYTES_MAX + 8 {
            let words = Words::of_item(bytes);
            let fits = bytes > 0 && bytes % 4 == 0 && bytes <= ITEM_BYTES_MAX;
            assert_eq!(words.is_ok(), fits, "{bytes}");
            if let Ok(words) = words {
                let words = by_words!(words, COUNT => COUNT);
                assert!(words * WORD_BYTES >= bytes, "{bytes}: {words}");
            }
        }
    }

    #[test]
    fn items_survive_padding() {
        let item: Vec<u8> = (1..=20).collect();
        let words = padded::<3>(&item);
        assert_eq!(words[2] >> 32, 0, "what is not filled is zero");
        let mut back = [0; 20];
        unpadded(&words, &mut back);
        assert_eq!(back[..], item);
        let whole = Words::of_item(24).unwrap();
        assert_eq!(whole, Words::W3);
    }
}

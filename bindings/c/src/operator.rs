//! Operators: the built-in ones, which have codes in `treefold.h`, and a caller's function.

use std::borrow::Cow;

use treefold::Operator;
use treefold::operator::WordsOperator;

use crate::failure::{Code, Failure};
use crate::raw::{Function, WORD_BYTES};

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
    /// The operator with this code. The first code is 1.
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
                let reason =
                    format_args!("it must be TREEFOLD_SUM, PRODUCT, MIN or MAX, not {code}");
                Err(Failure::argument("op", reason))
            }
        }
    }
}

/// An operator of crate `treefold`, chosen at run time, so that plans for all operators on a type share the same code.
pub type Chosen<T> = &'static (dyn Operator<T> + Sync);

/// Makes an operator from a caller's function. `empty` is the result for no items.
pub fn of_function(name: String, function: Function, empty: Option<&[u8]>) -> WordsOperator {
    let empty = empty.map(|item| {
        let mut words = vec![0; function.words()];
        bytemuck::cast_slice_mut(&mut words)[..item.len()].copy_from_slice(item);
        words
    });
    WordsOperator::new(name, function.words(), empty, move |left, right, into| {
        function.combine(left, right, into);
    })
}

/// Returns items in whole words, as operators require: in place if they are aligned and have a multiple of 8 bytes, otherwise as a copy.
///
/// # Errors
/// There is no memory for a copy.
pub fn in_words(items: &[u8], item_bytes: usize) -> Result<Cow<'_, [u64]>, Failure> {
    if item_bytes.is_multiple_of(WORD_BYTES)
        && let Ok(words) = bytemuck::try_cast_slice(items)
    {
        return Ok(Cow::Borrowed(words));
    }
    let kept = item_bytes.next_multiple_of(WORD_BYTES);
    let count = items.len() / item_bytes;
    let mut words = Vec::new();
    let room = words.try_reserve_exact(count * kept / WORD_BYTES);
    room.map_err(|_| {
        let message = format!("there is no memory for a copy of {count} items");
        Failure::new(Code::Memory, message)
    })?;
    words.resize(count * kept / WORD_BYTES, 0);
    let padded = bytemuck::cast_slice_mut::<u64, u8>(&mut words).chunks_exact_mut(kept);
    for (padded, item) in padded.zip(items.chunks_exact(item_bytes)) {
        padded[..item_bytes].copy_from_slice(item);
    }
    Ok(Cow::Owned(words))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use std::borrow::Cow;

    use super::in_words;
    use crate::raw::{ITEM_BYTES_MAX, words_of_item};

    #[test]
    fn every_item_has_words() {
        for bytes in 0..=ITEM_BYTES_MAX + 8 {
            let words = words_of_item(bytes).ok();
            let fits = bytes > 0 && bytes % 4 == 0 && bytes <= ITEM_BYTES_MAX;
            assert_eq!(words, fits.then_some(bytes.div_ceil(8)), "{bytes}");
        }
    }

    #[test]
    fn items_are_padded_where_they_must_be() {
        let items: Vec<u8> = (1..=40).collect();
        let words = in_words(&items, 20).unwrap();
        let bytes: &[u8] = bytemuck::cast_slice(&words);
        assert_eq!((&bytes[..20], &bytes[24..44]), (&items[..20], &items[20..]));
        assert_eq!((bytes.len(), &bytes[20..24]), (48, &[0; 4][..]));
        let aligned = [7_u64; 6];
        let items: &[u8] = bytemuck::cast_slice(&aligned);
        assert!(matches!(in_words(items, 24), Ok(Cow::Borrowed(words)) if words == aligned));
        assert!(matches!(in_words(&items[8..32], 12), Ok(Cow::Owned(words)) if words.len() == 4));
    }
}

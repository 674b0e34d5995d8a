//! Converts items, which are passed as bytes, between the layout of a program's arrays and the layout of a plan.

use std::borrow::Cow;
use std::ops::Deref;

use treefold_c::failure::Failure;
use treefold_c::operator::in_words;
use treefold_c::raw::{WORD_BYTES, check_aligned};

/// The layout of a plan's items in a program's arrays.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Items {
    /// The size of an item in an array, in bytes.
    pub(crate) bytes: usize,
    /// The size of an item in the plan, in bytes. An item of a user-defined operator takes whole words, even if it does not fill them.
    kept: usize,
    /// The alignment of arrays that are not copied.
    alignment: usize,
    are_copied: bool,
}

/// An array in the plan's layout: the program's own, or a copy.
pub(crate) enum Read<'a> {
    Lent(&'a [u8]),
    Copied(Vec<u64>),
}

impl Deref for Read<'_> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        match self {
            Self::Lent(array) => array,
            Self::Copied(words) => bytemuck::cast_slice(words),
        }
    }
}

impl Items {
    /// Elements of a type of `treefold.h`, used in place and aligned for the type.
    pub(crate) const fn of<T>() -> Self {
        Self {
            bytes: size_of::<T>(),
            kept: size_of::<T>(),
            alignment: align_of::<T>(),
            are_copied: false,
        }
    }

    /// Items of `bytes` bytes each for a user-defined operator. A plan keeps each item in whole words.
    pub(crate) const fn of_words(bytes: usize) -> Self {
        Self {
            bytes,
            kept: bytes.next_multiple_of(WORD_BYTES),
            alignment: WORD_BYTES,
            are_copied: true,
        }
    }

    /// Returns room for `count` items in the plan's layout, in `words`.
    pub(crate) fn room(self, count: usize, words: &mut Vec<u64>) -> &mut [u8] {
        let bytes = count * self.kept;
        words.resize(bytes.div_ceil(WORD_BYTES), 0);
        &mut bytemuck::cast_slice_mut(words)[..bytes]
    }

    /// The alignment that arrays must have.
    pub(crate) fn alignment(self) -> usize {
        if self.are_copied { 1 } else { self.alignment }
    }

    /// Whether the plan can use an array in place.
    #[inline]
    pub(crate) fn lies_right(self, array: &[u8]) -> bool {
        let is_aligned = array.is_empty() || self.are_aligned(array.as_ptr().addr());
        is_aligned && self.bytes == self.kept
    }

    /// Whether all addresses are aligned, given their bitwise OR.
    #[inline]
    fn are_aligned(self, bits: usize) -> bool {
        bits & (self.alignment - 1) == 0
    }

    /// Whether the plan can use arrays at these addresses in place.
    #[inline]
    pub(crate) fn lie_right(self, one: usize, other: usize) -> bool {
        self.are_aligned(one | other) && self.bytes == self.kept
    }

    /// Returns an array in the plan's layout: the array itself, or a copy.
    ///
    /// # Errors
    /// The array is misaligned for its type, or there is no memory for a copy.
    #[inline]
    pub(crate) fn read<'a>(self, name: &'static str, array: &'a [u8]) -> Result<Read<'a>, Failure> {
        if self.lies_right(array) {
            Ok(Read::Lent(array))
        } else {
            self.copy(name, array).map(Read::Copied)
        }
    }

    #[cold]
    fn copy(self, name: &'static str, array: &[u8]) -> Result<Vec<u64>, Failure> {
        if !self.are_copied {
            check_aligned(name, array, self.alignment)?;
        }
        in_words(array, self.bytes).map(Cow::into_owned)
    }

    /// Lets `body` write a result to an array, in place or through a copy.
    ///
    /// # Errors
    /// Those of [`read`](Self::read), in which case `body` is not called; or those of `body`.
    #[inline]
    pub(crate) fn into<R>(
        self,
        name: &'static str,
        array: &mut [u8],
        body: impl FnOnce(&mut [u8]) -> Result<R, Failure>,
    ) -> Result<R, Failure> {
        if self.lies_right(array) {
            return body(array);
        }
        let mut copy = self.copy(name, array)?;
        let kept: &mut [u8] = bytemuck::cast_slice_mut(&mut copy);
        let outcome = body(kept)?;
        let kept = kept.chunks_exact(self.kept);
        for (item, kept) in array.chunks_exact_mut(self.bytes).zip(kept) {
            item.copy_from_slice(&kept[..self.bytes]);
        }
        Ok(outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::Items;

    /// Items of 20 bytes take three words; half of the last word is zero.
    #[test]
    fn items_survive_words() {
        let items = Items::of_words(20);
        let array: Vec<u8> = (1..=40).collect();
        let read = items.read("x", &array).expect("there is memory");
        assert_eq!(read.len(), 48);
        assert_eq!((&read[..20], &read[20..24]), (&array[..20], &[0; 4][..]));
        let mut copy = vec![0; 40];
        let written = items.into("x", &mut copy, |kept| {
            kept.copy_from_slice(&read);
            Ok(())
        });
        assert!(written.is_ok());
        assert_eq!(copy, array);
        let aligned = [0_u64; 3];
        let whole = Items::of_words(24);
        assert!(whole.lies_right(bytemuck::cast_slice(&aligned)));
        let doubles = Items::of::<f64>();
        let bytes: &[u8] = bytemuck::cast_slice(&aligned);
        assert!(doubles.read("x", &bytes[..8]).is_ok());
        assert!(doubles.read("x", &bytes[1..9]).is_err());
    }
}

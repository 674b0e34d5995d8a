//! Defines the items that can be added to a slot.

use std::fmt;
use std::ops::Range;

/// Items that are added together: a slice; two slices of equal length; or a slice of integers of some type.
pub trait Items: Copy + fmt::Debug {
    /// The number of items.
    ///
    /// # Panics
    /// Two slices differ in length.
    fn count(self) -> usize;

    /// The items of a range.
    #[must_use]
    fn part(self, range: Range<usize>) -> Self;
}

impl<T: fmt::Debug> Items for &[T] {
    fn count(self) -> usize {
        self.len()
    }

    fn part(self, range: Range<usize>) -> Self {
        &self[range]
    }
}

impl<T: fmt::Debug> Items for [&[T]; 2] {
    fn count(self) -> usize {
        let [x, y] = self;
        assert_eq!(x.len(), y.len(), "the slices differ in length");
        x.len()
    }

    fn part(self, range: Range<usize>) -> Self {
        self.map(|items| &items[range.clone()])
    }
}

/// A slice of integers of one type.
///
/// ```
/// use exact_sum::{IntegerSum, Keyed};
///
/// let mut sums = Keyed::<IntegerSum>::new(2)?;
/// sums.add(&[0, 1, 0_u8], (&[i64::MAX, 7, i64::MAX]).into())?;
/// sums.add(&[1_u8], (&[u8::MAX]).into())?;
/// assert_eq!(sums.get(0).value(), Some(2 * i128::from(i64::MAX)));
/// assert_eq!(sums.get(1).mean(), Some(131.0));
/// # Ok::<(), exact_sum::KeyError>(())
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
#[expect(missing_docs, reason = "each is named after its type")]
pub enum Integers<'i> {
    I8(&'i [i8]),
    I16(&'i [i16]),
    I32(&'i [i32]),
    I64(&'i [i64]),
    I128(&'i [i128]),
    U8(&'i [u8]),
    U16(&'i [u16]),
    U32(&'i [u32]),
    U64(&'i [u64]),
}

/// Evaluates an expression of the items, whatever their type.
macro_rules! with_integers {
    ($integers:expr, $items:ident => $body:expr) => {
        match $integers {
            Integers::I8($items) => $body,
            Integers::I16($items) => $body,
            Integers::I32($items) => $body,
            Integers::I64($items) => $body,
            Integers::I128($items) => $body,
            Integers::U8($items) => $body,
            Integers::U16($items) => $body,
            Integers::U32($items) => $body,
            Integers::U64($items) => $body,
        }
    };
}

pub(crate) use with_integers;

macro_rules! of_slices {
    ($($variant:ident $integer:ident),+) => {
        $(
            impl<'i> From<&'i [$integer]> for Integers<'i> {
                fn from(items: &'i [$integer]) -> Self {
                    Self::$variant(items)
                }
            }

            impl<'i, const N: usize> From<&'i [$integer; N]> for Integers<'i> {
                fn from(items: &'i [$integer; N]) -> Self {
                    Self::$variant(items)
                }
            }
        )+

        impl Items for Integers<'_> {
            fn count(self) -> usize {
                with_integers!(self, items => items.len())
            }

            fn part(self, range: Range<usize>) -> Self {
                match self {
                    $(Self::$variant(items) => Self::$variant(&items[range]),)+
                }
            }
        }
    };
}

of_slices!(I8 i8, I16 i16, I32 i32, I64 i64, I128 i128, U8 u8, U16 u16, U32 u32, U64 u64);

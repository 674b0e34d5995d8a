//! Counts all items of a sum, and its NaNs, infinities and negative zeros.

use std::error::Error;
use std::fmt;

/// A call tried to remove more items from a sum than the sum holds. The sum has not changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoveError {
    /// The name of the kind of item, in singular and plural.
    what: [&'static str; 2],
    held: u64,
    removed: u64,
}

impl fmt::Display for RemoveError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            what,
            held,
            removed,
        } = self;
        let what = what[usize::from(*removed != 1)];
        write!(f, "cannot remove {removed} {what}: the sum holds {held}")
    }
}

impl Error for RemoveError {}

/// Sums would exceed a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LimitError {
    /// A sum, or the sums of all keys together, would have more than 2^63 - 1 items.
    Items,
    /// There is no memory for the sums of all keys.
    Memory {
        /// The number of bytes that the sums would take.
        bytes: u128,
    },
}

impl fmt::Display for LimitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Items => f.write_str("a sum can have at most 2^63 - 1 items"),
            Self::Memory { bytes } => write!(f, "there is no memory for {bytes} bytes of sums"),
        }
    }
}

impl Error for LimitError {}

/// Checks that there is memory for this many elements. Without this check, `vec!` would abort the program if there were too little memory.
pub(crate) fn check_memory<T>(elements: usize) -> Result<(), LimitError> {
    let reserved = Vec::<T>::new().try_reserve_exact(elements);
    reserved.map_err(|_| no_memory::<T>(elements))
}

/// Makes room for `elements` elements in total.
pub(crate) fn reserve<T>(vec: &mut Vec<T>, elements: usize) -> Result<(), LimitError> {
    let reserved = vec.try_reserve(elements.saturating_sub(vec.len()));
    reserved.map_err(|_| no_memory::<T>(elements))
}

fn no_memory<T>(elements: usize) -> LimitError {
    LimitError::Memory {
        bytes: elements as u128 * size_of::<T>() as u128,
    }
}

/// The number of items of two sums together.
pub(crate) fn items_of_both(own: u64, other: u64) -> Result<u64, LimitError> {
    let items = own.checked_add(other);
    let items = items.filter(|items| *items <= i64::MAX.cast_unsigned());
    items.ok_or(LimitError::Items)
}

/// Checks that `removed` items can be removed from `held` items.
pub(crate) fn check_items(held: u64, removed: u64) -> Result<(), RemoveError> {
    let of_items = |items: u64| Counters {
        items: items.cast_signed(),
        ..Counters::default()
    };
    of_items(held).without(of_items(removed)).map(drop)
}

/// Counts of all items and of special ones. When sums are merged, their counts are added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of all items.
    pub(crate) items: i64,
    /// The number of items that are -0.0.
    pub(crate) negative_zeros: i64,
    pub(crate) nans: i64,
    pub(crate) infinities: i64,
    pub(crate) negative_infinities: i64,
}

impl Counters {
    /// The number of counters.
    pub(crate) const INTEGERS: usize = 5;

    /// The counters of no items.
    pub(crate) const NONE: Self = Self {
        items: 0,
        negative_zeros: 0,
        nans: 0,
        infinities: 0,
        negative_infinities: 0,
    };

    pub(crate) fn integers(self) -> [i64; Self::INTEGERS] {
        let Self {
            items,
            negative_zeros,
            nans,
            infinities,
            negative_infinities,
        } = self;
        [items, negative_zeros, nans, infinities, negative_infinities]
    }

    pub(crate) fn of_integers(integers: [i64; Self::INTEGERS]) -> Self {
        let [items, negative_zeros, nans, infinities, negative_infinities] = integers;
        Self {
            items,
            negative_zeros,
            nans,
            infinities,
            negative_infinities,
        }
    }

    pub(crate) fn words(self) -> [u64; Self::INTEGERS] {
        self.integers().map(i64::cast_unsigned)
    }

    pub(crate) fn of_words(words: [u64; Self::INTEGERS]) -> Self {
        Self::of_integers(words.map(u64::cast_signed))
    }

    /// Adds counters as words. A count that is too large stays too large, whatever is added.
    pub(crate) fn merge_words(words: &mut [u64], other: &[u64]) {
        for (word, other) in words.iter_mut().zip(other) {
            *word = word.saturating_add(*other);
        }
    }

    /// The counters of both sums together.
    pub(crate) fn with(self, other: Self) -> Result<Self, LimitError> {
        let mut words = self.words();
        for (own, other) in words.iter_mut().zip(other.words()) {
            *own = items_of_both(*own, other)?;
        }
        Ok(Self::of_words(words))
    }

    /// Counts items that are about to be added.
    ///
    /// # Panics
    /// There would be more than 2^63 - 1 items.
    #[inline]
    pub(crate) fn count(&mut self, items: usize) {
        let sum = self.items.checked_add(items as i64);
        self.items = sum.expect("a sum can have at most 2^63 - 1 items");
    }

    pub(crate) fn merge(&mut self, other: Self) {
        let mut integers = self.integers();
        for (own, other) in integers.iter_mut().zip(other.integers()) {
            *own = own.wrapping_add(other);
        }
        *self = Self::of_integers(integers);
    }

    /// Subtracts counters that are known to be included in these.
    pub(crate) fn subtract(&mut self, other: Self) {
        let mut integers = self.integers();
        for (own, other) in integers.iter_mut().zip(other.integers()) {
            *own = own.wrapping_sub(other);
        }
        *self = Self::of_integers(integers);
    }

    /// The counters that are left when others are removed.
    pub(crate) fn without(self, removed: Self) -> Result<Self, RemoveError> {
        const NAMES: [[&str; 2]; Counters::INTEGERS] = [
            ["item", "items"],
            ["negative zero", "negative zeros"],
            ["NaN", "NaNs"],
            ["infinity", "infinities"],
            ["negative infinity", "negative infinities"],
        ];
        let mut left = self.integers();
        for ((left, removed), what) in left.iter_mut().zip(removed.integers()).zip(NAMES) {
            if removed > *left {
                return Err(RemoveError {
                    what,
                    held: left.cast_unsigned(),
                    removed: removed.cast_unsigned(),
                });
            }
            *left -= removed;
        }
        Ok(Self::of_integers(left))
    }

    /// The number of items that are not finite.
    pub(crate) fn specials(self) -> u64 {
        let [_, _, specials @ ..] = self.words();
        specials.iter().fold(0, |sum, count| sum + count)
    }

    /// The counters of the items' squares, except that `negative_zeros` is kept.
    pub(crate) fn squared(self) -> Self {
        Self {
            infinities: self.infinities + self.negative_infinities,
            negative_infinities: 0,
            ..self
        }
    }

    /// The counters of one number, if it is not finite.
    pub(crate) fn of_special(item: f64) -> Self {
        let mut counters = Self::default();
        counters.count_special(item);
        counters
    }

    /// These counters, but only of items that are not finite.
    pub(crate) fn of_specials(self) -> Self {
        Self {
            items: 0,
            negative_zeros: 0,
            ..self
        }
    }

    /// Counts a number that is not finite.
    #[inline]
    pub(crate) fn count_special(&mut self, item: f64) {
        match item {
            f64::INFINITY => self.infinities += 1,
            f64::NEG_INFINITY => self.negative_infinities += 1,
            _ => self.nans += 1,
        }
    }
}

#[inline]
pub(crate) fn is_negative_zero(item: f64) -> bool {
    item.to_bits() == (-0.0_f64).to_bits()
}

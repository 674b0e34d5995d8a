//! What a sum of numbers does not hold.

use std::error::Error;
use std::fmt;

/// More was removed from a sum than had been added to it. The sum is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemoveError {
    what: &'static str,
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
        write!(f, "{removed} {what} cannot be removed of {held}")
    }
}

impl Error for RemoveError {}

/// Counters of items, each of which adds up when sums are merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// All items.
    pub(crate) items: i64,
    /// Those of them that are -0.0.
    pub(crate) negative_zeros: i64,
    pub(crate) nans: i64,
    pub(crate) infinities: i64,
    pub(crate) negative_infinities: i64,
}

impl Counters {
    /// The number of counters.
    pub(crate) const INTEGERS: usize = 5;

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

    /// Makes words stand for both.
    pub(crate) fn merge_words(words: &mut [u64], other: &[u64]) {
        for (word, other) in words.iter_mut().zip(other) {
            *word = word.wrapping_add(*other);
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        let mut integers = self.integers();
        for (own, other) in integers.iter_mut().zip(other.integers()) {
            *own = own.wrapping_add(other);
        }
        *self = Self::of_integers(integers);
    }

    /// Takes others back, of which it is known that they are there.
    pub(crate) fn subtract(&mut self, other: Self) {
        let mut integers = self.integers();
        for (own, other) in integers.iter_mut().zip(other.integers()) {
            *own = own.wrapping_sub(other);
        }
        *self = Self::of_integers(integers);
    }

    /// What is left when others are removed.
    pub(crate) fn without(self, removed: Self) -> Result<Self, RemoveError> {
        const NAMES: [&str; Counters::INTEGERS] = [
            "items",
            "negative zeros",
            "NaNs",
            "infinities",
            "negative infinities",
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

    /// Whether each kind of items is one of all items.
    pub(crate) fn are_consistent(self) -> bool {
        let [items, kinds @ ..] = self.integers();
        let left = kinds.iter().try_fold(items, |left, &kind| {
            let fits = (0..=left).contains(&kind);
            fits.then(|| left - kind)
        });
        left.is_some()
    }

    /// Those of a number that is not finite, alone.
    pub(crate) fn of_special(item: f64) -> Self {
        let mut counters = Self::default();
        counters.count_special(item);
        counters
    }

    /// Only those of what is not finite.
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

/// Whether an item is -0.0.
#[inline]
pub(crate) fn is_negative_zero(item: f64) -> bool {
    item.to_bits() == (-0.0_f64).to_bits()
}

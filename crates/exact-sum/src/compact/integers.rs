//! Sums of integers.

use crate::fixed::Magnitude;
use crate::float::sealed::Sealed;
use crate::round::quotient;

/// The sum of integers of up to 128 bits and their number, in 32 bytes. On the way to an end in range it does not overflow.
///
/// ```
/// use exact_sum::CompactIntegers;
///
/// let mut sum = CompactIntegers::new();
/// [i128::MAX, i128::MAX, -i128::MAX].map(|item| sum.add(item));
/// assert_eq!(sum.value(), Some(i128::MAX));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompactIntegers {
    /// In two's complement.
    words: [u64; 3],
    items: u64,
}

impl CompactIntegers {
    /// The sum of no items.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            words: [0; 3],
            items: 0,
        }
    }

    /// Adds an item.
    #[inline]
    pub fn add(&mut self, item: i128) {
        self.items += 1;
        let sign = (item >> 127).cast_unsigned();
        self.add_words(item.cast_unsigned(), lowest_word(sign));
    }

    #[inline]
    fn add_words(&mut self, lower: u128, highest: u64) {
        let (own_lower, own_highest) = self.parts();
        let (lower, carries) = own_lower.overflowing_add(lower);
        let highest = own_highest.wrapping_add(highest);
        let highest = highest.wrapping_add(carries.into());
        self.words = [lowest_word(lower), lowest_word(lower >> 64), highest];
    }

    /// The lower 128 bits, and those above.
    #[inline]
    fn parts(&self) -> (u128, u64) {
        let [lowest, lower, highest] = self.words;
        (u128::from(lower) << 64 | u128::from(lowest), highest)
    }

    /// Adds another sum's items.
    #[inline]
    pub fn merge(&mut self, other: &Self) {
        self.items += other.items;
        let (lower, highest) = other.parts();
        self.add_words(lower, highest);
    }

    /// The number of items.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// The sum; `None` if it has more than 128 bits.
    #[must_use]
    pub fn value(&self) -> Option<i128> {
        let (lower, highest) = self.parts();
        let sum = lower.cast_signed();
        let sign = (sum >> 127).cast_unsigned();
        (lowest_word(sign) == highest).then_some(sum)
    }

    /// The mean, rounded once to nearest; `None` if there are no items.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let (lower, highest) = self.parts();
        let is_negative = highest.cast_signed() < 0;
        let (lower, highest) = if is_negative {
            let (lower, carries) = (!lower).overflowing_add(1);
            (lower, (!highest).wrapping_add(carries.into()))
        } else {
            (lower, highest)
        };
        // So that the highest bit is set.
        let free = if highest == 0 {
            64 + lower.leading_zeros()
        } else {
            highest.leading_zeros()
        };
        let whole = u128::from(highest) << 64 | lower >> 64;
        let rest = lowest_word(lower);
        let bits = match free {
            0..64 => whole << free | u128::from(rest) >> (64 - free),
            _ => lower.checked_shl(free - 64).unwrap_or(0),
        };
        let sum = Magnitude {
            bits,
            exponent: 64 - free.cast_signed(),
            is_more: free < 64 && rest << free != 0,
        };
        let mean = || f64::signed((is_negative, quotient(sum, self.items)));
        (self.items > 0).then(|| if bits == 0 { 0.0 } else { mean() })
    }
}

#[expect(clippy::cast_possible_truncation, reason = "only that is asked for")]
fn lowest_word(integer: u128) -> u64 {
    integer as u64
}

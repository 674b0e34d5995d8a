//! What a sum of numbers does not hold.

/// Counters of items, each of which adds up when sums are merged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counters {
    /// All items.
    pub(crate) items: i64,
    /// More than 0 if there are items other than -0.0.
    pub(crate) others: i64,
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
            others,
            nans,
            infinities,
            negative_infinities,
        } = self;
        [items, others, nans, infinities, negative_infinities]
    }

    pub(crate) fn of_integers(integers: [i64; Self::INTEGERS]) -> Self {
        let [items, others, nans, infinities, negative_infinities] = integers;
        Self {
            items,
            others,
            nans,
            infinities,
            negative_infinities,
        }
    }

    /// The number of items, and a bit for each other counter, which says whether it is more than 0.
    pub(crate) const WORDS: usize = 2;

    pub(crate) fn words(self) -> [u64; Self::WORDS] {
        let [items, others @ ..] = self.integers();
        let bit = |(place, counter)| u64::from(counter != 0) << place;
        let bits = (0..).zip(others).map(bit);
        [items.cast_unsigned(), bits.fold(0, |bits, bit| bits | bit)]
    }

    pub(crate) fn of_words([items, bits]: [u64; Self::WORDS]) -> Self {
        let bit = |place: u32| (bits >> place & 1).cast_signed();
        Self::of_integers([items.cast_signed(), bit(0), bit(1), bit(2), bit(3)])
    }

    /// Makes words stand for both.
    pub(crate) fn merge_words(words: &mut [u64], other: &[u64]) {
        words[0] = words[0].wrapping_add(other[0]);
        words[1] |= other[1];
    }

    pub(crate) fn merge(&mut self, other: Self) {
        let mut integers = self.integers();
        for (own, other) in integers.iter_mut().zip(other.integers()) {
            *own = own.wrapping_add(other);
        }
        *self = Self::of_integers(integers);
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

/// 1 if some items are not -0.0.
#[inline]
pub(crate) fn others(mut items: impl Iterator<Item = f64>) -> i64 {
    i64::from(items.any(|item| item.to_bits() != (-0.0_f64).to_bits()))
}

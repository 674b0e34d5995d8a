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
    pub(crate) const WORDS: usize = 5;

    pub(crate) fn words(self) -> [i64; Self::WORDS] {
        let Self {
            items,
            others,
            nans,
            infinities,
            negative_infinities,
        } = self;
        [items, others, nans, infinities, negative_infinities]
    }

    pub(crate) fn of_words(words: [i64; Self::WORDS]) -> Self {
        let [items, others, nans, infinities, negative_infinities] = words;
        Self {
            items,
            others,
            nans,
            infinities,
            negative_infinities,
        }
    }

    pub(crate) fn merge(&mut self, other: Self) {
        let mut words = self.words();
        for (own, other) in words.iter_mut().zip(other.words()) {
            *own = own.wrapping_add(other);
        }
        *self = Self::of_words(words);
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

//! Keeps an exact sum for each key.

pub(crate) mod rows;

use std::ops::RangeInclusive;

use simd_kernels::{DecodeUnit, Level, Pair, Quiet};

use super::decoded::Decoded;
use super::tables::Tables;
use crate::bytes::shortest;
use crate::keyed::key::Key;
use crate::number::counters::{Counters, LimitError, items_of_both};
use crate::number::fixed::{DoubleProducts, Fixed, FixedFormat, each_word};
use crate::number::float::Float;
use crate::number::total::{Total, short_mean};
use crate::slots::sum::Sum;

/// The exponents for which tables have digits: those of doubles, and of sums of many doubles.
const EXPONENTS: RangeInclusive<i32> = -1074..=1024 + 63;

/// A sum for each key. Every key has an integer. Some keys also have counts of items that are not finite, or a sum of products beyond the
/// range of doubles.
#[derive(Clone, Debug)]
pub(crate) struct Totals {
    /// An upper bound on the number of items that any key has had. Integers and counts have room for this number of items.
    items: u64,
    tables: Tables,
    spilled: Spilled,
}

impl Totals {
    pub(crate) fn of_none(keys: usize) -> Self {
        Self {
            items: 0,
            tables: Tables::new(keys),
            spilled: Spilled::default(),
        }
    }

    /// Checks that `count` items may be added to any key, and that there is memory to add `items`.
    pub(crate) fn check_room(
        &self,
        count: u64,
        items: impl Iterator<Item = f64> + Clone,
    ) -> Result<(), LimitError> {
        items_of_both(self.items, count)?;
        self.tables.check_memory(items)
    }

    pub(crate) fn count(&mut self, items: u64) {
        self.items = self.items.saturating_add(items);
    }

    pub(crate) fn len(&self) -> usize {
        self.tables.keys()
    }

    /// Chooses units for these items, if there is no sum yet. Sums in the same units are merged faster.
    #[cfg(feature = "par")]
    pub(crate) fn prepare<T: Float>(&mut self, items: &[T]) {
        self.tables.prepare(items);
    }

    /// Adds a block of items that have few exponents and short significands, or subtracts them. For other items, returns false and adds
    /// nothing.
    #[inline]
    pub(crate) fn add_short<K: Key, T: Float>(
        &mut self,
        level: Level,
        keys: &[K],
        items: &[T],
        removes: bool,
        decoded: &mut Decoded,
    ) -> bool {
        let is_added = self.tables.add_short(level, keys, items, removes, decoded);
        if is_added {
            self.count(items.len() as u64);
        }
        is_added
    }

    /// Adds a block of at most [`DECODED_ITEMS`](simd_kernels::DECODED_ITEMS) items, or subtracts them. There must be as many keys as
    /// items, and each key must have a sum.
    #[inline]
    pub(crate) fn add<K: Key>(
        &mut self,
        level: Level,
        keys: &[K],
        items: &[f64],
        removes: bool,
        decoded: &mut Decoded,
    ) {
        self.count(items.len() as u64);
        if !self.tables.add(level, keys, items, removes, decoded) {
            self.spill_specials(keys, items, removes);
        }
    }

    /// Adds an item, or subtracts it.
    #[inline]
    pub(crate) fn change_one(&mut self, key: usize, item: f64, removes: bool) {
        self.count(1);
        if !self.tables.add_one(key, item, removes) {
            self.spilled.count(self.len(), key, item, removes);
        }
    }

    /// Counts items that are not finite.
    #[cold]
    fn spill_specials<K: Key>(&mut self, keys: &[K], items: &[f64], removes: bool) {
        for (key, &item) in keys.iter().zip(items) {
            if !item.is_finite() {
                self.spilled.count(self.len(), key.place(), item, removes);
            }
        }
    }

    /// Adds a number to a key's number, and counts of items that are not finite to the key's counts. `is_common` returns whether a word may have a
    /// table, given the word's exponent.
    pub(crate) fn add_number<F: FixedFormat>(
        &mut self,
        key: usize,
        number: &Fixed<F>,
        counters: Counters,
        is_common: impl Fn(i32) -> bool,
    ) {
        let mut all_words = number.words();
        let all_words = &mut all_words.as_mut()[..Fixed::<F>::WORDS];
        let (first, words) = shortest(all_words);
        let exponent = |word: usize| F::LOWEST + i32::try_from(64 * word).expect("words are few");
        let range = exponent(first)..=exponent(first + words.len());
        if let Some((last, others)) = words.split_last()
            && EXPONENTS.contains(range.start())
            && EXPONENTS.contains(range.end())
            && (first..=first + others.len()).all(|word| is_common(exponent(word)))
        {
            let integers = others.iter().map(|word| i128::from(*word));
            let integers = integers.chain([i128::from(last.cast_signed())]);
            for (word, integer) in integers.enumerate() {
                let unit = DecodeUnit::of_exponent(exponent(first + word));
                self.tables.add_integer(key, integer, unit);
            }
        } else if !words.is_empty() {
            let own = self.spilled.of(self.len(), key).number();
            each_word(all_words, F::LOWEST, |word, unit| {
                own.add_integer(word, unit);
            });
        }
        if counters != Counters::default() {
            self.spilled.of(self.len(), key).counters.merge(counters);
        }
    }

    /// Adds a sum that was read from bytes to a key's sum. The key has at most `items` items.
    pub(crate) fn add_read<F: FixedFormat>(
        &mut self,
        key: usize,
        total: &Total<F>,
        items: u64,
        is_common: impl Fn(i32) -> bool,
    ) {
        self.raise_items(items);
        self.add_number(key, &total.fixed, total.counters, is_common);
    }

    /// Adds a product by integer arithmetic, or subtracts it. The products of a block are counted separately.
    pub(crate) fn change_product(&mut self, key: usize, [x, y]: [f64; 2], removes: bool) {
        let mut product = Total::of_product(x, y);
        product.counters = product.counters.of_specials();
        let is_finite = product.counters == Counters::NONE;
        let own = self.spilled.of(self.len(), key);
        own.change(
            is_finite.then_some(&product.fixed),
            product.counters,
            removes,
        );
    }

    /// The mean of a key's items, rounded once.
    pub(crate) fn mean<T: Float>(&self, key: usize, items: u64) -> T {
        match self.short(key) {
            Some((integer, unit)) if items > 0 => short_mean(integer, unit, items),
            _ => self.long(key).mean_of(items),
        }
    }

    /// A key's sum, rounded once.
    pub(crate) fn rounded<T: Float>(&self, key: usize, is_quiet: bool) -> T {
        match self.short(key) {
            Some((integer, unit)) => T::of_integer(integer, unit, is_quiet),
            None => self.long(key).value(),
        }
    }

    /// The sums of the first `keys` keys, each rounded once.
    pub(crate) fn values<T: Float>(&self, keys: usize) -> Vec<T> {
        let is_quiet = Quiet::now().is_some();
        let mut values = Vec::with_capacity(keys);
        if let Some((pairs, unit)) = self.only_table() {
            T::append_rounded(pairs, unit, is_quiet, &mut values);
        } else {
            values.extend((0..keys).map(|key| self.rounded::<T>(key, is_quiet)));
        }
        values
    }

    /// The sum of a key's `items` items.
    pub(crate) fn sum_of<T: Float>(&self, key: usize, items: u64) -> Sum<T> {
        let mut total = self.total::<T::Sums>(key);
        total.counters.items = items.cast_signed();
        Sum::of_total(total)
    }

    /// A key's sum as an integer and the exponent of its unit, if the integer has at most 128 bits.
    #[inline]
    pub(crate) fn short(&self, key: usize) -> Option<(i128, i32)> {
        match self.spilled.find(key) {
            None => self.tables.short(key),
            Some(_) => None,
        }
    }

    /// The integers of all keys and their unit, if all are in one table and nothing is spilled.
    pub(crate) fn only_table(&self) -> Option<(&[Pair], DecodeUnit)> {
        let is_all = self.spilled.of_keys.is_empty();
        self.tables.only_table().filter(|_| is_all)
    }

    /// The counts of a key's items that are not finite.
    pub(crate) fn counters(&self, key: usize) -> Counters {
        self.spilled
            .find(key)
            .map_or(Counters::default(), |total| total.counters)
    }

    /// A key's whole sum. Its counters count only items that are not finite.
    pub(crate) fn total<F: FixedFormat>(&self, key: usize) -> Total<F> {
        let mut total = Total::ZERO;
        if let Some(spill) = self.spilled.find(key) {
            total.counters = spill.counters;
            if let Some(number) = &spill.number {
                let mut words = number.words();
                let words = &mut words.as_mut()[..Fixed::<DoubleProducts>::WORDS];
                each_word(words, DoubleProducts::LOWEST, |word, unit| {
                    total.fixed.add_integer(word, unit);
                });
            }
        }
        for (integer, unit) in self.tables.integers(key) {
            total.fixed.add_integer(integer, unit.exponent());
        }
        total
    }

    /// A key's whole sum, in a format that has room for the sums of every column.
    fn long(&self, key: usize) -> Total<DoubleProducts> {
        self.total(key)
    }
}

/// The numbers and counts that some keys have outside the tables.
#[derive(Clone, Debug, Default)]
struct Spilled {
    /// For each key, 1 plus its index in `of_keys`, or 0 if `of_keys` lacks the key. Empty as long as `of_keys` is empty.
    places: Vec<u32>,
    of_keys: Vec<Spill>,
}

/// The number and the counts that a key has outside the tables.
#[derive(Clone, Debug)]
struct Spill {
    key: u32,
    counters: Counters,
    number: Option<Box<Fixed<DoubleProducts>>>,
}

impl Spill {
    fn number(&mut self) -> &mut Fixed<DoubleProducts> {
        self.number.get_or_insert_with(|| Box::new(Fixed::ZERO))
    }

    /// Adds a number and counters, or subtracts them.
    fn change(
        &mut self,
        number: Option<&Fixed<DoubleProducts>>,
        counters: Counters,
        removes: bool,
    ) {
        match number {
            Some(number) if removes => self.number().unmerge(number),
            Some(number) => self.number().merge(number),
            None => {}
        }
        if removes {
            self.counters.subtract(counters);
        } else {
            self.counters.merge(counters);
        }
    }
}

impl Spilled {
    #[inline]
    fn find(&self, key: usize) -> Option<&Spill> {
        let place = *self.places.get(key)?;
        let index = place.checked_sub(1)?;
        Some(&self.of_keys[index as usize])
    }

    /// A key's [`Spill`], which is created if the key has none. `keys` is the number of all keys.
    #[inline]
    fn of(&mut self, keys: usize, key: usize) -> &mut Spill {
        if self.places.len() < keys {
            self.places.resize(keys, 0);
        }
        let place = &mut self.places[key];
        if *place == 0 {
            let short = |index: usize| u32::try_from(index).expect("fewer keys fit in memory");
            self.of_keys.push(Spill {
                key: short(key),
                counters: Counters::NONE,
                number: None,
            });
            *place = short(self.of_keys.len());
        }
        &mut self.of_keys[*place as usize - 1]
    }

    /// Counts an item that is not finite, or subtracts it.
    #[inline]
    fn count(&mut self, keys: usize, key: usize, item: f64, removes: bool) {
        let counters = &mut self.of(keys, key).counters;
        let counted = Counters::of_special(item);
        if removes {
            counters.subtract(counted);
        } else {
            counters.merge(counted);
        }
    }
}

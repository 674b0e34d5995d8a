//! Writes and reads sums by key for query engines, which exchange the sum of each group in the format of [`partial`](crate::partial).

use std::ops::Range;

use simd_kernels::{DECODED_ITEMS, Level, Quiet, is_zero};

use super::Keyed;
use super::columns::decoded::Decoded;
use super::columns::layout::Quantity;
use super::columns::totals::Totals;
use super::key::{Key, check_block, check_lengths};
use crate::bytes::BytesError;
use crate::bytes::partial::{Partial, check_moments, write, write_short};
use crate::number::counters::{LimitError, items_of_both};
use crate::number::fixed::{DoubleProducts, Doubles, FixedFormat};
use crate::number::total::Total;
use crate::slots::moments::Moments;
use crate::slots::product_sum::ProductSum;
use crate::slots::sum::Sum;

impl Keyed<Sum<f64>> {
    /// Calls `each` with every key in `keys` and with its sum in the format of [`partial`](crate::partial).
    ///
    /// ```
    /// use exact_sum::{Keyed, Sum};
    ///
    /// let mut sums = Keyed::<Sum<f64>>::new(1)?;
    /// sums.add(&[0, 0_u8], &[0.1, 0.2])?;
    /// let mut part = Vec::new();
    /// sums.partials(0..1, |_, bytes| part.extend(bytes));
    /// assert_eq!(part.len(), 16);
    ///
    /// let mut others = Keyed::<Sum<f64>>::new(9)?;
    /// others.add_partials(&[7, 7_u8], [&part[..], &part[..]])?;
    /// assert_eq!(others.value(7), 0.2 + 0.4);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// A key has no sum.
    pub fn partials(&self, keys: Range<usize>, mut each: impl FnMut(usize, &[u8])) {
        let is_quiet = Quiet::now().is_some();
        let mut bytes = Vec::new();
        for key in keys {
            bytes.clear();
            write_sum(self.columns.totals(Quantity::X), key, is_quiet, &mut bytes);
            each(key, &bytes);
        }
    }

    /// Adds each of `partials`, a sum in the format of [`partial`](crate::partial), to the sum of its key.
    ///
    /// # Panics
    /// There are not as many keys as sums, or a key has no sum.
    ///
    /// # Errors
    /// The bytes are not sums. A failed call changes no sum.
    pub fn add_partials<'b, K: Key>(
        &mut self,
        keys: &[K],
        partials: impl IntoIterator<Item = &'b [u8]>,
    ) -> Result<(), BytesError> {
        let (received, items) = Received::<Doubles>::of(keys, partials, self.keys())?;
        Ok(received.add_to(self.columns.totals_mut(Quantity::X), items)?)
    }
}

impl Keyed<ProductSum<f64>> {
    /// Calls `each` with every key in `keys` and with its sum in the format of [`partial`](crate::partial).
    ///
    /// # Panics
    /// A key has no sum.
    pub fn partials(&self, keys: Range<usize>, mut each: impl FnMut(usize, &[u8])) {
        let mut bytes = Vec::new();
        for key in keys {
            bytes.clear();
            write(&self.columns.product_total(Quantity::XY, key), &mut bytes);
            each(key, &bytes);
        }
    }

    /// Adds each of `partials`, a sum of products in the format of [`partial`](crate::partial), to the sum of its key.
    ///
    /// # Panics
    /// Those of [`Keyed::add_partials`].
    ///
    /// # Errors
    /// Those of [`Keyed::add_partials`].
    pub fn add_partials<'b, K: Key>(
        &mut self,
        keys: &[K],
        partials: impl IntoIterator<Item = &'b [u8]>,
    ) -> Result<(), BytesError> {
        let (received, items) = Received::<DoubleProducts>::of(keys, partials, self.keys())?;
        Ok(received.add_to(self.columns.totals_mut(Quantity::XY), items)?)
    }
}

impl Keyed<Moments<f64>> {
    /// Calls `each` with every key in `keys`, and with the sums of its items and of their squares in the format of
    /// [`partial`](crate::partial).
    ///
    /// # Panics
    /// A key is out of range.
    pub fn partials(&self, keys: Range<usize>, mut each: impl FnMut(usize, &[u8], &[u8])) {
        let is_quiet = Quiet::now().is_some();
        let mut sum = Vec::new();
        let mut squares = Vec::new();
        for key in keys {
            sum.clear();
            write_sum(self.columns.totals(Quantity::X), key, is_quiet, &mut sum);
            squares.clear();
            write(&self.columns.product_total(Quantity::XX, key), &mut squares);
            each(key, &sum, &squares);
        }
    }

    /// Adds moments to the moments of their keys. For each of `keys`, the caller gives the number of items, their sum and the sum of their
    /// squares. Both sums are in the format of [`partial`](crate::partial).
    ///
    /// # Panics
    /// Those of [`Keyed::add_partials`], or there are not as many counts as keys.
    ///
    /// # Errors
    /// Those of [`Keyed::add_partials`].
    pub fn add_partials<'b, K: Key>(
        &mut self,
        keys: &[K],
        counts: &[u64],
        sums: impl IntoIterator<Item = &'b [u8]>,
        squares: impl IntoIterator<Item = &'b [u8]>,
    ) -> Result<(), BytesError> {
        check_lengths(keys, counts.len()).unwrap_or_else(|error| panic!("{error}"));
        let items = counts.iter().copied().try_fold(0, items_of_both)?;
        let mut of_sums = Received::<Doubles>::none(keys, self.keys());
        let mut of_squares = Received::<DoubleProducts>::none(keys, self.keys());
        let (mut sums, mut squares) = (sums.into_iter(), squares.into_iter());
        for (key, &count) in keys.iter().zip(counts) {
            let sum = Partial::read(sums.next().expect(AS_MANY))?;
            let squares = Partial::read(squares.next().expect(AS_MANY))?;
            check_moments(count, &sum, &squares)?;
            of_sums.push(key.place(), sum);
            of_squares.push(key.place(), squares);
        }
        assert!(
            sums.next().is_none() && squares.next().is_none(),
            "{AS_MANY}"
        );
        let own_squares = self.columns.totals_mut(Quantity::XX);
        own_squares.check_room(items, of_squares.doubles())?;
        of_sums.add_to(self.columns.totals_mut(Quantity::X), items)?;
        of_squares.add_to(self.columns.totals_mut(Quantity::XX), items)?;
        let own_counts = self.columns.counts_mut();
        for (key, count) in keys.iter().zip(counts) {
            own_counts[key.place()] += count;
        }
        Ok(())
    }
}

fn write_sum(sums: &Totals, key: usize, is_quiet: bool, bytes: &mut Vec<u8>) {
    let short = sums.short(key);
    let written = short.and_then(|(integer, unit)| write_short(integer, unit, is_quiet, bytes));
    if written.is_none() {
        write(&sums.total::<Doubles>(key), bytes);
    }
}

/// Sums of keys, read from bytes.
struct Received<F: FixedFormat> {
    keys: Vec<usize>,
    doubles: Vec<f64>,
    long: Vec<(usize, Box<Total<F>>)>,
}

/// What callers guarantee when they add sums.
const AS_MANY: &str = "there are as many keys as sums";

impl<F: FixedFormat> Received<F> {
    /// No sums yet, with memory for one sum for each of `keys`. All keys must be less than `sums`.
    fn none<K: Key>(keys: &[K], sums: usize) -> Self {
        check_block(keys, 0, sums).unwrap_or_else(|error| panic!("{error}"));
        Self {
            keys: Vec::with_capacity(keys.len()),
            doubles: Vec::with_capacity(keys.len()),
            long: Vec::new(),
        }
    }

    /// Reads a sum for each of `keys`. Also returns the smallest number of items on all keys together that can have these sums.
    fn of<'b, K: Key>(
        keys: &[K],
        partials: impl IntoIterator<Item = &'b [u8]>,
        sums: usize,
    ) -> Result<(Self, u64), BytesError> {
        let mut received = Self::none(keys, sums);
        let mut partials = partials.into_iter();
        let mut items = 0;
        for key in keys {
            let partial = Partial::read(partials.next().expect(AS_MANY))?;
            let (specials, others) = partial.needs();
            items = items_of_both(items, specials.specials() + others)?;
            received.push(key.place(), partial);
        }
        assert!(partials.next().is_none(), "{AS_MANY}");
        Ok((received, items))
    }

    fn push(&mut self, key: usize, partial: Partial<F>) {
        match partial {
            Partial::Long(total, _) => self.long.push((key, total)),
            Partial::Doubles(doubles) => {
                for double in doubles.into_iter().filter(|double| !is_zero(*double)) {
                    self.keys.push(key);
                    self.doubles.push(double);
                }
            }
        }
    }

    fn doubles(&self) -> impl Iterator<Item = f64> + Clone {
        self.doubles.iter().copied()
    }

    /// Adds the sums, if there is room for them. None of their keys has more than `items` items.
    fn add_to(&self, totals: &mut Totals, items: u64) -> Result<(), LimitError> {
        totals.check_room(items, self.doubles())?;
        totals.count(items);
        let mut decoded = Decoded::none();
        let blocks = self.doubles.chunks(DECODED_ITEMS);
        for (keys, doubles) in self.keys.chunks(DECODED_ITEMS).zip(blocks) {
            totals.add(Level::best(), keys, doubles, false, &mut decoded);
        }
        for (key, total) in &self.long {
            totals.add_number(*key, &total.fixed, total.counters, |_| true);
        }
        Ok(())
    }
}

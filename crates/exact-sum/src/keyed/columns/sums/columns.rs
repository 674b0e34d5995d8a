//! Implements [`Columns`] for sums of floats.

use std::marker::PhantomData;

use simd_kernels::{Level, prefetch_after};

use super::Sums;
use crate::bytes::{BytesError, Reader, write_number};
use crate::keyed::bytes::{check_count, read_count, read_entry, write_entry};
use crate::keyed::columns::counts::Counts;
use crate::keyed::columns::decoded::{Decoded, FEW_ITEMS};
use crate::keyed::columns::higher::{HigherPowers, Power};
use crate::keyed::columns::layout::{Field, Layout, Quantity};
use crate::keyed::columns::totals::Totals;
use crate::keyed::columns::{Columns, Places, products};
use crate::keyed::key::Key;
use crate::keyed::message::entry::{Entry, WrongEntries, merge_entries};
use crate::keyed::message::terms::{Agreed, Terms};
use crate::keyed::remove::{RemoveKeyedError, check_counts, check_items, check_specials};
use crate::number::counters::{Counters, LimitError};
use crate::number::fixed::DoubleProducts;
use crate::number::float::Float;
use crate::number::total::Total;
use crate::slots::moments::can_have;

impl<T: Float> Columns for Sums<T> {
    /// Two columns of items. For a slot of one column, the same column twice.
    type Items<'i> = [&'i [T]; 2];

    fn new(layout: Layout, keys: usize) -> Result<Self, LimitError> {
        let counts = layout.is_counted.then(|| Counts::new(keys));
        let powers = layout.has_powers.then(|| HigherPowers::new(keys));
        Ok(Self {
            layout,
            counts: counts.transpose()?,
            sums: vec![Totals::of_none(keys); layout.sums.len()],
            powers: powers.transpose()?,
            item: PhantomData,
        })
    }

    fn reserve(&mut self, keys: usize) -> Result<(), LimitError> {
        let mut counts = self.counts.iter_mut();
        counts.try_for_each(|counts| counts.reserve(keys))?;
        let mut powers = self.powers.iter_mut();
        powers.try_for_each(|powers| powers.reserve(keys))?;
        self.sums.iter_mut().try_for_each(|sums| sums.reserve(keys))
    }

    fn grow(&mut self, keys: usize) {
        self.counts.iter_mut().for_each(|counts| counts.grow(keys));
        self.sums.iter_mut().for_each(|sums| sums.grow(keys));
        self.powers.iter_mut().for_each(|powers| powers.grow(keys));
    }

    fn forget_first(&mut self, keys: usize) {
        let counts = self.counts.iter_mut();
        counts.for_each(|counts| counts.forget_first(keys));
        self.sums
            .iter_mut()
            .for_each(|sums| sums.forget_first(keys));
        let powers = self.powers.iter_mut();
        powers.for_each(|powers| powers.forget_first(keys));
    }

    fn memory(&self) -> usize {
        let counts = self.counts.iter().map(Counts::memory);
        let powers = self.powers.iter().map(HigherPowers::memory);
        let all = self.sums.iter().map(Totals::memory).chain(counts);
        all.chain(powers).fold(0, |sum, bytes| sum + bytes)
    }

    fn check_room(&self, items: [&[T]; 2]) -> Result<(), LimitError> {
        for (index, quantity) in self.layout.sums.iter().enumerate() {
            let [x, y] = quantity.factors(items);
            match (quantity, &self.sums[index..]) {
                (Quantity::X | Quantity::Y, [sums, ..]) => {
                    let doubles = x.iter().map(|item| item.widened());
                    sums.check_room(x.len() as u64, doubles)?;
                }
                (Quantity::XX | Quantity::YY | Quantity::XY, [sums, errors, ..]) => {
                    products::check_room([sums, errors], [x, y])?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn check_held<K: Key>(&self, keys: &[K], items: [&[T]; 2]) -> Result<(), RemoveKeyedError> {
        if let Some(counts) = &self.counts {
            check_counts(keys, &counts.0)?;
        }
        for (quantity, sums) in self.layout.sums.iter().zip(&self.sums) {
            let [x, y] = quantity.factors(items);
            let held = |key| sums.counters(key);
            if quantity.is_of_items() {
                check_items(keys, x.iter().map(|item| item.widened()), &held)?;
            } else if *quantity == Quantity::XY && self.counts.is_none() {
                check_specials(products::specials(keys, [x, y]), &held)?;
            }
        }
        Ok(())
    }

    #[inline]
    fn change<K: Key>(
        &mut self,
        level: Level,
        keys: &[K],
        items: [&[T]; 2],
        removes: bool,
        decoded: &mut Decoded,
    ) {
        if let Some(counts) = &mut self.counts {
            counts.change(keys, removes);
        }
        for (index, quantity) in self.layout.sums.iter().enumerate() {
            let [x, y] = quantity.factors(items);
            match (quantity, &mut self.sums[index..]) {
                (Quantity::X | Quantity::Y, [sums, ..]) => {
                    change_items(sums, level, keys, x, removes, decoded);
                }
                (Quantity::XX | Quantity::YY | Quantity::XY, [sums, errors, ..]) => {
                    let mut x = T::as_doubles(x);
                    let mut y = (*quantity == Quantity::XY).then(|| T::as_doubles(y));
                    if let (Some(y), Some(_)) = (&mut y, &self.counts) {
                        // The sums of the two columns already count the items that are not finite.
                        products::clear_specials(&mut x, y);
                    }
                    let (sums, factors) = ([sums, errors], [&*x, y.as_deref().unwrap_or(&x)]);
                    products::change(sums, level, keys, factors, removes, decoded);
                }
                _ => {}
            }
        }
        if let Some(powers) = &mut self.powers {
            powers.change(keys, &T::as_doubles(items[0]), removes);
        }
    }

    fn counts(&self) -> Option<&[u64]> {
        self.counts.as_ref().map(|counts| &counts.0[..])
    }

    fn check_room_for(&self, other: &Self, _: Places<'_>) -> Result<(), LimitError> {
        let mut sums = self.sums.iter().zip(&other.sums);
        sums.try_for_each(|(own, other)| own.check_room_for(other))
    }

    fn check_held_of(&self, other: &Self, places: Places<'_>) -> Result<(), RemoveKeyedError> {
        let mut counts = self.counts.iter().zip(&other.counts);
        counts.try_for_each(|(own, other)| own.check_held_of(other, places))?;
        let mut sums = self.sums.iter().zip(&other.sums);
        sums.try_for_each(|(own, other)| own.check_held_of(other, places))
    }

    fn merge(&mut self, other: &Self, places: Places<'_>, removes: bool) {
        for (own, other) in self.counts.iter_mut().zip(&other.counts) {
            own.merge(other, places, removes);
        }
        for (own, other) in self.sums.iter_mut().zip(&other.sums) {
            own.merge(other, places, removes);
        }
        for (own, other) in self.powers.iter_mut().zip(&other.powers) {
            own.merge(other, places, removes);
        }
    }

    fn write_rows(
        &self,
        rows: &mut [i128],
        width: usize,
        terms: &mut [Terms],
        entries: &mut Vec<u64>,
    ) {
        if let Some(counts) = &self.counts {
            counts.write_rows(rows, width, terms);
        }
        for (part, sums) in (self.layout.first_sum()..).zip(&self.sums) {
            sums.write_rows(part, rows, width, terms, entries);
        }
        if let Some(powers) = &self.powers {
            powers.write_rows(self.layout.first_power(), rows, width, terms, entries);
        }
    }

    fn read_rows(layout: Layout, rows: &[i128], width: usize, agreed: &[Agreed]) -> Self {
        let part = |part: usize| rows.chunks_exact(width).map(move |row| row[part]);
        let parts = layout.first_sum()..layout.first_power();
        let powers = || HigherPowers::read_rows(layout.first_power(), rows, width, agreed);
        Self {
            layout,
            counts: layout.is_counted.then(|| Counts::of_integers(part(0))),
            sums: parts
                .map(|index| Totals::of_integers(part(index), agreed[index]))
                .collect(),
            powers: layout.has_powers.then(powers),
            item: PhantomData,
        }
    }

    fn write_key(&self, key: usize, word: u64, list: &mut Vec<u64>) {
        if let Some(counts) = &self.counts {
            counts.write_key(key, word, 0, list);
        }
        for (part, sums) in (self.layout.first_sum()..).zip(&self.sums) {
            sums.write_key(key, word, part, list);
        }
        if let Some(powers) = &self.powers {
            powers.write_key(key, word, self.layout.first_power(), list);
        }
    }

    fn add_entry(&mut self, entry: &Entry<'_>, key: usize) -> Result<(), WrongEntries> {
        let (part, layout) = (entry.part, self.layout);
        layout.check(part)?;
        match (&mut self.counts, &mut self.powers) {
            (Some(counts), _) if part == 0 => counts.add_entry(entry, key),
            (_, Some(powers)) if part >= layout.first_power() => {
                powers.add_entry(part - layout.first_power(), entry, key)
            }
            _ => self.sums[part - layout.first_sum()].add_entry(entry, key),
        }
    }

    fn merge_entries(
        layout: Layout,
        same: &[Entry<'_>],
        into: &mut Vec<u64>,
    ) -> Result<(), WrongEntries> {
        let part = same[0].part;
        layout.check(part)?;
        if part < layout.first_sum() {
            Counts::merge_entries(same, into)
        } else if part < layout.first_power() {
            merge_entries::<DoubleProducts>(same, into)
        } else {
            HigherPowers::merge_entries(part - layout.first_power(), same, into)
        }
    }

    fn items(&self) -> u64 {
        self.sums.iter().map(Totals::items).max().unwrap_or(0)
    }

    fn raise_items(&mut self, items: u64) {
        self.sums
            .iter_mut()
            .for_each(|sums| sums.raise_items(items));
    }

    fn fields(layout: Layout) -> Vec<Field> {
        let count = layout.is_counted.then_some(Field::Bytes(8));
        let powers = [Field::Number; 2];
        let powers = if layout.has_powers { &powers[..] } else { &[] };
        let sums = layout.sums.iter().filter_map(|quantity| match quantity {
            Quantity::Errors => None,
            // The field of the items' sum has the counts of NaNs and infinities.
            _ if layout.is_counted && !quantity.is_of_items() => Some(Field::Number),
            _ => Some(Field::Entry),
        });
        let fields = count.into_iter().chain(sums);
        fields.chain(powers.iter().copied()).collect()
    }

    fn write(&self, key: usize, bytes: &mut Vec<u8>) {
        if self.counts.is_some() {
            bytes.extend(self.count(key).to_le_bytes());
        }
        for (quantity, sums) in self.layout.sums.iter().zip(&self.sums) {
            match quantity {
                Quantity::X | Quantity::Y => write_entry(&sums.total::<T::Sums>(key), bytes),
                Quantity::Errors => {}
                Quantity::XX | Quantity::YY | Quantity::XY => {
                    let total = self.product_total(*quantity, key);
                    if self.counts.is_some() {
                        write_number(&total.fixed, bytes);
                    } else {
                        write_entry(&total, bytes);
                    }
                }
            }
        }
        if let Some(powers) = &self.powers {
            write_number(&powers.number::<T::Cubes>(key, Power::Cube), bytes);
            write_number(&powers.number::<T::Fourths>(key, Power::Fourth), bytes);
        }
    }

    fn read(
        &mut self,
        key: usize,
        reader: &mut Reader<'_>,
        is_common: &dyn Fn(usize, i32) -> bool,
    ) -> Result<(), BytesError> {
        let mut count = None;
        if let Some(counts) = &mut self.counts {
            counts.0[key] = read_count(reader)?;
            count = Some(counts.0[key]);
        }
        let mut items_sum = Total::<T::Sums>::ZERO;
        let mut field = self.layout.first_sum();
        for (quantity, sums) in self.layout.sums.iter().zip(&mut self.sums) {
            let is_common = |word: i32| is_common(field, word);
            match (quantity, count) {
                (Quantity::Errors, _) => continue,
                (Quantity::X | Quantity::Y, _) => {
                    let (sum, finite) = read_entry(reader)?;
                    let items = count.unwrap_or(finite + sum.counters.specials());
                    check_count(items, &sum, finite)?;
                    sums.add_read(key, &sum, items, is_common);
                    items_sum = sum;
                }
                (Quantity::XX | Quantity::YY | Quantity::XY, None) => {
                    let (sum, finite) = read_entry::<T::Products>(reader)?;
                    let items = finite + sum.counters.specials();
                    sums.add_read(key, &sum, items, is_common);
                }
                (Quantity::XX | Quantity::YY, Some(items)) => {
                    let (fixed, finite) = reader.number::<T::Products>()?;
                    check_count(items, &items_sum, finite)?;
                    let of_finite = items - items_sum.counters.specials();
                    if !can_have(of_finite, &[&items_sum.fixed], &fixed) {
                        return Err(BytesError::Corrupted {
                            what: "no items have this sum and this sum of squares",
                        });
                    }
                    let counters = items_sum.counters.squared();
                    sums.add_read(key, &Total { fixed, counters }, items, is_common);
                }
                (Quantity::XY, Some(items)) => {
                    let (fixed, finite) = reader.number::<T::Products>()?;
                    let counters = Counters::NONE;
                    let sum = Total { fixed, counters };
                    check_count(items, &sum, finite)?;
                    sums.add_read(key, &sum, items, is_common);
                }
            }
            field += 1;
        }
        if let Some(powers) = &mut self.powers {
            powers.add_number::<T::Cubes>(key, Power::Cube, &reader.number()?.0);
            powers.add_number::<T::Fourths>(key, Power::Fourth, &reader.number()?.0);
        }
        Ok(())
    }
}

/// Adds the items of a block, or subtracts them.
#[inline]
fn change_items<K: Key, T: Float>(
    sums: &mut Totals,
    level: Level,
    keys: &[K],
    items: &[T],
    removes: bool,
    decoded: &mut Decoded,
) {
    if items.len() < FEW_ITEMS {
        for (key, item) in keys.iter().zip(items) {
            sums.change_one(key.place(), item.widened(), removes);
        }
        return;
    }
    prefetch_after(items);
    if sums.add_short(level, keys, items, removes, decoded) {
        return;
    }
    let mut rest = keys;
    T::in_exact_doubles(items, |doubles| {
        let (keys, others) = rest.split_at(doubles.len());
        sums.add(level, keys, doubles, removes, decoded);
        rest = others;
    });
}

//! Moments for each key.

use simd_kernels::Level;

use crate::bytes::{BytesError, Kind, Reader, write_number};
use crate::keyed::bytes::{check_count, read_count, read_entry};
use crate::keyed::columns::counts::Counts;
use crate::keyed::columns::decoded::{Decoded, Rooms};
use crate::keyed::columns::products::{self, Products, widen};
use crate::keyed::columns::totals::Totals;
use crate::keyed::key::Key;
use crate::keyed::remove::{RemoveKeyedError, check_counts};
use crate::keyed::slot::Field;
use crate::keyed::slot::sealed::InColumns;
use crate::number::counters::LimitError;
use crate::number::fixed::Fixed;
use crate::number::float::Float;
use crate::number::total::Total;
use crate::slots::Slot;
use crate::slots::moments::{Moments, can_have};
use crate::slots::sum::Sum;
use crate::statistic::{Options, Statistic};

impl<T: Float> InColumns for Moments<T> {
    type Columns = (Counts, Totals<T::Sums>, Products<T>);
    type Row = [i128; 4];
    const VALUE: Statistic = Statistic::Mean;
    const KIND: Kind = Kind::KeyedMoments;
    const FIELDS: &'static [Field] = &[Field::Bytes(8), Field::Entry, Field::Number];

    fn name() -> String {
        format!("moments by key of {}", T::NAME)
    }

    fn check_room((_, sums, squares): &Self::Columns, items: &[T]) -> Result<(), LimitError> {
        Sum::<T>::check_room(sums, items)?;
        products::check_room(squares, [items; 2])
    }

    fn check_held<K: Key>(
        (counts, sums, _): &Self::Columns,
        keys: &[K],
        items: &[T],
    ) -> Result<(), RemoveKeyedError> {
        check_counts(keys, &counts.0)?;
        Sum::<T>::check_held(sums, keys, items)
    }

    fn change<K: Key>(
        (counts, sums, squares): &mut Self::Columns,
        level: Level,
        keys: &[K],
        items: &[T],
        removes: bool,
        decoded: &mut Decoded,
    ) {
        counts.change(keys, removes);
        change(sums, squares, level, keys, items, removes, decoded);
    }

    fn of_key((counts, sums, squares): &Self::Columns, key: usize) -> Self {
        let count = counts.0[key];
        Self {
            sum: sums.sum_of(key, count),
            squares: products::sum_of(squares, key, count),
        }
    }

    fn statistic_of(
        columns: &Self::Columns,
        key: usize,
        statistic: Statistic,
        options: Options,
    ) -> Option<T> {
        let (counts, sums, _) = columns;
        match statistic {
            Statistic::Sum => Sum::<T>::statistic_of(sums, key, statistic, options),
            Statistic::Mean => Some(sums.mean(key, counts.0[key])),
            _ => Self::of_key(columns, key).statistic(statistic, options),
        }
    }

    fn counts(columns: &Self::Columns) -> Option<&[u64]> {
        Some(&columns.0.0)
    }

    fn write((counts, sums, squares): &Self::Columns, key: usize, bytes: &mut Vec<u8>) {
        bytes.extend(counts.0[key].to_le_bytes());
        Sum::<T>::write(sums, key, bytes);
        write_number(&products::total::<T>(squares, key).fixed, bytes);
    }

    fn read(
        (counts, sums, squares): &mut Self::Columns,
        key: usize,
        reader: &mut Reader<'_>,
        is_common: &dyn Fn(usize, i32) -> bool,
    ) -> Result<(), BytesError> {
        counts.0[key] = read_count(reader)?;
        let count = counts.0[key];
        read::<T>(sums, squares, key, count, reader, &|field, word| {
            is_common(field + 1, word)
        })
    }
}

/// Adds items of a block and their squares, or removes them.
pub(super) fn change<K: Key, T: Float>(
    sums: &mut Totals<T::Sums>,
    squares: &mut Products<T>,
    level: Level,
    keys: &[K],
    items: &[T],
    removes: bool,
    decoded: &mut Decoded,
) {
    let mut doubles = Rooms::for_items(items.len());
    let [doubles] = doubles.first(items.len());
    widen(items, doubles);
    sums.add(level, keys, doubles, removes, decoded);
    let factors = [&*doubles; 2];
    products::change::<K, T>(squares, level, keys, factors, removes, decoded);
}

/// Reads the sum of a key's `count` items, and the sum of their squares.
pub(super) fn read<T: Float>(
    sums: &mut Totals<T::Sums>,
    squares: &mut Products<T>,
    key: usize,
    count: u64,
    reader: &mut Reader<'_>,
    is_common: &dyn Fn(usize, i32) -> bool,
) -> Result<(), BytesError> {
    let (sum, items) = read_entry::<T::Sums>(reader)?;
    let (squared, of_squares): (Fixed<T::Products>, u64) = reader.number()?;
    check_count(count, &sum, items.max(of_squares))?;
    let finite = count - sum.counters.specials();
    if !can_have(finite, &[&sum.fixed], &squared) {
        return Err(BytesError::Corrupted {
            what: "no items have this sum and this sum of squares",
        });
    }
    sums.add_read(key, &sum, count, |word| is_common(0, word));
    let squared = Total {
        fixed: squared,
        counters: sum.counters.squared(),
    };
    squares
        .0
        .add_read(key, &squared, count, |word| is_common(1, word));
    Ok(())
}

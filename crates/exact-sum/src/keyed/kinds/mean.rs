//! A mean for each key.

use simd_kernels::Level;

use crate::bytes::{BytesError, Kind, Reader};
use crate::keyed::bytes::{check_count, read_count, read_entry};
use crate::keyed::columns::counts::Counts;
use crate::keyed::columns::decoded::Decoded;
use crate::keyed::columns::totals::Totals;
use crate::keyed::key::Key;
use crate::keyed::remove::{RemoveKeyedError, check_counts};
use crate::keyed::slot::Field;
use crate::keyed::slot::sealed::InColumns;
use crate::number::counters::LimitError;
use crate::number::float::Float;
use crate::slots::Slot;
use crate::slots::mean::Mean;
use crate::slots::sum::Sum;
use crate::statistic::{Options, Statistic};

impl<T: Float> InColumns for Mean<T> {
    type Columns = (Counts, Totals<T::Sums>);
    type Row = [i128; 2];
    const VALUE: Statistic = Statistic::Mean;
    const KIND: Kind = Kind::KeyedMeans;
    const FIELDS: &'static [Field] = &[Field::Bytes(8), Field::Entry];

    fn name() -> String {
        format!("means by key of {}", T::NAME)
    }

    fn check_room(columns: &Self::Columns, items: &[T]) -> Result<(), LimitError> {
        Sum::<T>::check_room(&columns.1, items)
    }

    fn check_held<K: Key>(
        columns: &Self::Columns,
        keys: &[K],
        items: &[T],
    ) -> Result<(), RemoveKeyedError> {
        check_counts(keys, &columns.0.0)?;
        Sum::<T>::check_held(&columns.1, keys, items)
    }

    fn change<K: Key>(
        columns: &mut Self::Columns,
        level: Level,
        keys: &[K],
        items: &[T],
        removes: bool,
        decoded: &mut Decoded,
    ) {
        columns.0.change(keys, removes);
        Sum::<T>::change(&mut columns.1, level, keys, items, removes, decoded);
    }

    fn of_key(columns: &Self::Columns, key: usize) -> Self {
        Self(columns.1.sum_of(key, columns.0.0[key]))
    }

    fn statistic_of(
        columns: &Self::Columns,
        key: usize,
        statistic: Statistic,
        options: Options,
    ) -> Option<T> {
        match statistic {
            Statistic::Sum => Sum::<T>::statistic_of(&columns.1, key, statistic, options),
            Statistic::Mean => Some(columns.1.mean(key, columns.0.0[key])),
            _ => Self::of_key(columns, key).statistic(statistic, options),
        }
    }

    fn counts(columns: &Self::Columns) -> Option<&[u64]> {
        Some(&columns.0.0)
    }

    fn write(columns: &Self::Columns, key: usize, bytes: &mut Vec<u8>) {
        bytes.extend(columns.0.0[key].to_le_bytes());
        Sum::<T>::write(&columns.1, key, bytes);
    }

    fn read(
        columns: &mut Self::Columns,
        key: usize,
        reader: &mut Reader<'_>,
        is_common: &dyn Fn(usize, i32) -> bool,
    ) -> Result<(), BytesError> {
        let count = read_count(reader)?;
        let (sum, items) = read_entry(reader)?;
        check_count(count, &sum, items)?;
        columns
            .1
            .add_read(key, &sum, count, |word| is_common(1, word));
        columns.0.0[key] = count;
        Ok(())
    }
}

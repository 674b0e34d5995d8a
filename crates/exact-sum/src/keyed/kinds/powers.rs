//! Four powers for each key.

use simd_kernels::Level;

use crate::bytes::{BytesError, Kind, Reader, write_number};
use crate::keyed::columns::decoded::{Decoded, Rooms};
use crate::keyed::columns::higher::{HigherPowers, Power};
use crate::keyed::columns::products::widen;
use crate::keyed::key::Key;
use crate::keyed::remove::RemoveKeyedError;
use crate::keyed::slot::Field;
use crate::keyed::slot::sealed::InColumns;
use crate::number::counters::LimitError;
use crate::number::float::Float;
use crate::slots::Slot;
use crate::slots::moments::Moments;
use crate::slots::powers::Powers;
use crate::statistic::{Options, Statistic};

impl<T: Float> InColumns for Powers<T> {
    type Columns = (<Moments<T> as InColumns>::Columns, HigherPowers<T>);
    type Row = [i128; 15];
    const VALUE: Statistic = Statistic::Skewness;
    const KIND: Kind = Kind::KeyedPowers;
    const FIELDS: &'static [Field] = &[
        Field::Bytes(8),
        Field::Entry,
        Field::Number,
        Field::Number,
        Field::Number,
    ];

    fn name() -> String {
        format!("powers by key of {}", T::NAME)
    }

    fn check_room((moments, _): &Self::Columns, items: &[T]) -> Result<(), LimitError> {
        Moments::<T>::check_room(moments, items)
    }

    fn check_held<K: Key>(
        (moments, _): &Self::Columns,
        keys: &[K],
        items: &[T],
    ) -> Result<(), RemoveKeyedError> {
        Moments::<T>::check_held(moments, keys, items)
    }

    fn change<K: Key>(
        (moments, higher): &mut Self::Columns,
        level: Level,
        keys: &[K],
        items: &[T],
        removes: bool,
        decoded: &mut Decoded,
    ) {
        Moments::<T>::change(moments, level, keys, items, removes, decoded);
        let mut doubles = Rooms::for_items(items.len());
        let [doubles] = doubles.first(items.len());
        widen(items, doubles);
        higher.change(keys, doubles, removes);
    }

    fn of_key((moments, higher): &Self::Columns, key: usize) -> Self {
        Self {
            moments: Moments::<T>::of_key(moments, key),
            cubes: higher.number(key, Power::Cube),
            fourths: higher.number(key, Power::Fourth),
        }
    }

    fn statistic_of(
        columns: &Self::Columns,
        key: usize,
        statistic: Statistic,
        options: Options,
    ) -> Option<T> {
        let of_moments = Moments::<T>::statistic_of(&columns.0, key, statistic, options);
        of_moments.or_else(|| Self::of_key(columns, key).statistic(statistic, options))
    }

    fn counts((moments, _): &Self::Columns) -> Option<&[u64]> {
        Moments::<T>::counts(moments)
    }

    fn write((moments, higher): &Self::Columns, key: usize, bytes: &mut Vec<u8>) {
        Moments::<T>::write(moments, key, bytes);
        write_number::<T::Cubes>(&higher.number(key, Power::Cube), bytes);
        write_number::<T::Fourths>(&higher.number(key, Power::Fourth), bytes);
    }

    fn read(
        (moments, higher): &mut Self::Columns,
        key: usize,
        reader: &mut Reader<'_>,
        is_common: &dyn Fn(usize, i32) -> bool,
    ) -> Result<(), BytesError> {
        Moments::<T>::read(moments, key, reader, is_common)?;
        let (cubes, _) = reader.number::<T::Cubes>()?;
        higher.add_number(key, Power::Cube, &cubes);
        let (fourths, _) = reader.number::<T::Fourths>()?;
        higher.add_number(key, Power::Fourth, &fourths);
        Ok(())
    }
}

//! A sum of products for each key.

use simd_kernels::Level;

use crate::bytes::{BytesError, Kind, Reader};
use crate::keyed::bytes::{read_entry, write_entry};
use crate::keyed::columns::decoded::{Decoded, Rooms};
use crate::keyed::columns::products::{self, Products, widen};
use crate::keyed::key::Key;
use crate::keyed::remove::{RemoveKeyedError, check_specials};
use crate::keyed::slot::Field;
use crate::keyed::slot::sealed::InColumns;
use crate::number::counters::LimitError;
use crate::number::float::Float;
use crate::number::total::Total;
use crate::slots::product_sum::ProductSum;
use crate::statistic::Statistic;

impl<T: Float> InColumns for ProductSum<T> {
    type Columns = Products<T>;
    type Row = [i128; 2];
    const VALUE: Statistic = Statistic::Dot;
    const KIND: Kind = Kind::KeyedProducts;
    const FIELDS: &'static [Field] = &[Field::Entry];

    fn name() -> String {
        format!("dot products by key of {}", T::NAME)
    }

    fn check_room(columns: &Self::Columns, factors: [&[T]; 2]) -> Result<(), LimitError> {
        products::check_room(columns, factors)
    }

    fn check_held<K: Key>(
        columns: &Self::Columns,
        keys: &[K],
        [x, y]: [&[T]; 2],
    ) -> Result<(), RemoveKeyedError> {
        let factors = keys.iter().zip(x.iter().zip(y));
        let specials = factors.filter_map(|(key, (x, y))| {
            let (x, y) = (x.widened(), y.widened());
            let is_special = !x.is_finite() || !y.is_finite();
            is_special.then(|| (key.place(), Total::<T::Products>::of_product(x, y).counters))
        });
        check_specials(specials.collect(), &|key| columns.0.counters(key))
    }

    fn change<K: Key>(
        columns: &mut Self::Columns,
        level: Level,
        keys: &[K],
        [x, y]: [&[T]; 2],
        removes: bool,
        decoded: &mut Decoded,
    ) {
        let mut doubles = Rooms::for_items(x.len());
        let [x_doubles, y_doubles] = doubles.first(x.len());
        widen(x, x_doubles);
        widen(y, y_doubles);
        let factors = [&*x_doubles, &*y_doubles];
        products::change::<K, T>(columns, level, keys, factors, removes, decoded);
    }

    /// The number of products is not known, and is 0 in the result.
    fn of_key(columns: &Self::Columns, key: usize) -> Self {
        products::sum_of(columns, key, 0)
    }

    fn write(columns: &Self::Columns, key: usize, bytes: &mut Vec<u8>) {
        write_entry(&products::total::<T>(columns, key), bytes);
    }

    fn read(
        columns: &mut Self::Columns,
        key: usize,
        reader: &mut Reader<'_>,
        is_common: &dyn Fn(usize, i32) -> bool,
    ) -> Result<(), BytesError> {
        let (sum, items) = read_entry(reader)?;
        let items = items + sum.counters.specials();
        columns
            .0
            .add_read(key, &sum, items, |word| is_common(0, word));
        Ok(())
    }
}

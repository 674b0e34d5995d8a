//! A weighted mean for each key.

use simd_kernels::Level;

use crate::bytes::{BytesError, Kind, Reader};
use crate::keyed::columns::decoded::Decoded;
use crate::keyed::columns::products::{self, Products};
use crate::keyed::columns::totals::Totals;
use crate::keyed::key::Key;
use crate::keyed::remove::RemoveKeyedError;
use crate::keyed::slot::Field;
use crate::keyed::slot::sealed::InColumns;
use crate::number::counters::LimitError;
use crate::number::float::Float;
use crate::slots::product_sum::ProductSum;
use crate::slots::sum::Sum;
use crate::slots::weighted::WeightedMean;
use crate::statistic::Statistic;

impl<T: Float> InColumns for WeightedMean<T> {
    type Columns = (Products<T>, Totals<T::Sums>);
    type Row = [i128; 3];
    const VALUE: Statistic = Statistic::WeightedMean;
    const KIND: Kind = Kind::KeyedWeightedMeans;
    const FIELDS: &'static [Field] = &[Field::Entry, Field::Entry];

    fn name() -> String {
        format!("weighted means by key of {}", T::NAME)
    }

    fn check_room(
        (products, sums): &Self::Columns,
        [items, weights]: [&[T]; 2],
    ) -> Result<(), LimitError> {
        products::check_room(products, [items, weights])?;
        Sum::<T>::check_room(sums, weights)
    }

    fn check_held<K: Key>(
        (products, sums): &Self::Columns,
        keys: &[K],
        [items, weights]: [&[T]; 2],
    ) -> Result<(), RemoveKeyedError> {
        ProductSum::<T>::check_held(products, keys, [items, weights])?;
        Sum::<T>::check_held(sums, keys, weights)
    }

    fn change<K: Key>(
        (products, sums): &mut Self::Columns,
        level: Level,
        keys: &[K],
        [items, weights]: [&[T]; 2],
        removes: bool,
        decoded: &mut Decoded,
    ) {
        ProductSum::<T>::change(products, level, keys, [items, weights], removes, decoded);
        Sum::<T>::change(sums, level, keys, weights, removes, decoded);
    }

    /// The number of items is not known, and is 0 in the result.
    fn of_key((products, sums): &Self::Columns, key: usize) -> Self {
        Self {
            products: products::sum_of(products, key, 0),
            weights: sums.sum_of(key, 0),
        }
    }

    fn write((products, sums): &Self::Columns, key: usize, bytes: &mut Vec<u8>) {
        ProductSum::<T>::write(products, key, bytes);
        Sum::<T>::write(sums, key, bytes);
    }

    fn read(
        (products, sums): &mut Self::Columns,
        key: usize,
        reader: &mut Reader<'_>,
        is_common: &dyn Fn(usize, i32) -> bool,
    ) -> Result<(), BytesError> {
        ProductSum::<T>::read(products, key, reader, is_common)?;
        Sum::<T>::read(sums, key, reader, &|_, word| is_common(1, word))
    }
}

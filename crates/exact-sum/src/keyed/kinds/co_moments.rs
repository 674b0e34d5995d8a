//! Co-moments for each key.

use simd_kernels::Level;

use super::moments::{change, read};
use crate::bytes::{BytesError, Kind, Reader, write_number};
use crate::keyed::bytes::check_count;
use crate::keyed::columns::decoded::{Decoded, Rooms};
use crate::keyed::columns::products::{self, Products, widen};
use crate::keyed::columns::totals::Totals;
use crate::keyed::key::Key;
use crate::keyed::remove::RemoveKeyedError;
use crate::keyed::slot::Field;
use crate::keyed::slot::sealed::InColumns;
use crate::number::counters::{Counters, LimitError};
use crate::number::fixed::Fixed;
use crate::number::float::Float;
use crate::number::total::Total;
use crate::slots::co_moments::CoMoments;
use crate::slots::moments::Moments;
use crate::slots::sum::Sum;
use crate::statistic::Statistic;

impl<T: Float> InColumns for CoMoments<T> {
    type Columns = (
        <Moments<T> as InColumns>::Columns,
        (Totals<T::Sums>, Products<T>),
        Products<T>,
    );
    type Row = [i128; 9];
    const VALUE: Statistic = Statistic::Covariance;
    const KIND: Kind = Kind::KeyedCoMoments;
    const FIELDS: &'static [Field] = &[
        Field::Bytes(8),
        Field::Entry,
        Field::Number,
        Field::Entry,
        Field::Number,
        Field::Number,
    ];

    fn name() -> String {
        format!("co-moments by key of {}", T::NAME)
    }

    fn check_room(
        (of_x, (sums, squares), both): &Self::Columns,
        [x, y]: [&[T]; 2],
    ) -> Result<(), LimitError> {
        Moments::<T>::check_room(of_x, x)?;
        Sum::<T>::check_room(sums, y)?;
        products::check_room(squares, [y; 2])?;
        products::check_room(both, [x, y])
    }

    fn check_held<K: Key>(
        (of_x, (sums, _), _): &Self::Columns,
        keys: &[K],
        [x, y]: [&[T]; 2],
    ) -> Result<(), RemoveKeyedError> {
        Moments::<T>::check_held(of_x, keys, x)?;
        Sum::<T>::check_held(sums, keys, y)
    }

    fn change<K: Key>(
        (of_x, (sums, squares), both): &mut Self::Columns,
        level: Level,
        keys: &[K],
        [x, y]: [&[T]; 2],
        removes: bool,
        decoded: &mut Decoded,
    ) {
        Moments::<T>::change(of_x, level, keys, x, removes, decoded);
        change(sums, squares, level, keys, y, removes, decoded);
        let mut doubles = Rooms::for_items(x.len());
        let [x_doubles, y_doubles] = doubles.first(x.len());
        widen(x, x_doubles);
        widen(y, y_doubles);
        // Items that are not finite are counted with the columns.
        for (x, y) in x_doubles.iter_mut().zip(&mut *y_doubles) {
            if !x.is_finite() || !y.is_finite() {
                (*x, *y) = (0.0, 0.0);
            }
        }
        let factors = [&*x_doubles, &*y_doubles];
        products::change::<K, T>(both, level, keys, factors, removes, decoded);
    }

    fn of_key((of_x, (sums, squares), both): &Self::Columns, key: usize) -> Self {
        let x = Moments::<T>::of_key(of_x, key);
        let items = x.items();
        Self {
            x,
            y: Moments {
                sum: sums.sum_of(key, items),
                squares: products::sum_of(squares, key, items),
            },
            products: products::sum_of(both, key, 0),
        }
    }

    fn counts((of_x, ..): &Self::Columns) -> Option<&[u64]> {
        Moments::<T>::counts(of_x)
    }

    fn write((of_x, (sums, squares), both): &Self::Columns, key: usize, bytes: &mut Vec<u8>) {
        Moments::<T>::write(of_x, key, bytes);
        Sum::<T>::write(sums, key, bytes);
        write_number(&products::total::<T>(squares, key).fixed, bytes);
        write_number(&products::total::<T>(both, key).fixed, bytes);
    }

    fn read(
        (of_x, (sums, squares), both): &mut Self::Columns,
        key: usize,
        reader: &mut Reader<'_>,
        is_common: &dyn Fn(usize, i32) -> bool,
    ) -> Result<(), BytesError> {
        Moments::<T>::read(of_x, key, reader, is_common)?;
        let count = of_x.0.0[key];
        let of_y = |field, word| is_common(field + 3, word);
        read::<T>(sums, squares, key, count, reader, &of_y)?;
        let (products, items): (Fixed<T::Products>, u64) = reader.number()?;
        check_count(count, &Total::<T::Products>::ZERO, items)?;
        let counters = Counters::default();
        both.0
            .add_number(key, &products, counters, |word| is_common(5, word));
        Ok(())
    }
}

//! Implements extrema, sums of integers and moments of integers for each key.

use crate::bytes::Kind;
use crate::compact::IntegerSum;
use crate::keyed::Keyed;
use crate::keyed::columns::each::{Each, Small};
use crate::keyed::key::{self, Key, KeyError};
use crate::keyed::slot::sealed::InColumns;
use crate::number::counters::{LimitError, RemoveError, check_items, items_of_both};
use crate::number::float::Float;
use crate::number::wide::Wide;
use crate::slots::extrema::Extrema;
use crate::slots::integers::IntegerMoments;
use crate::slots::items::{Integers, with_integers};
use crate::statistic::Statistic;

impl<T: Float> Small for Extrema<T> {
    const PARTS: usize = 2;
    const ADDS: bool = false;

    fn each(items: &[T], mut each: impl FnMut(usize, Self)) {
        for (place, item) in items.iter().enumerate() {
            each(place, Self::of_item(*item));
        }
    }

    fn check_room(&self, _: &Self) -> Result<(), LimitError> {
        Ok(())
    }

    fn check_held(&self, _: &Self) -> Result<(), RemoveError> {
        Ok(())
    }

    fn change(&mut self, other: &Self, _: bool) {
        self.merge(other);
    }

    /// Writes the negated minimum, and the maximum. Both are merged by taking the maximum.
    fn write(&self, integers: &mut [i128]) {
        if *self != Self::new() {
            let [low, high] = self.bounds.map(i128::from);
            integers.copy_from_slice(&[-low, high]);
        }
    }

    fn add_integer(&mut self, part: usize, integer: i128) -> bool {
        if integer == i128::MIN {
            return true;
        }
        let Ok(bound) = i64::try_from(if part == 0 { -integer } else { integer }) else {
            return false;
        };
        let mut bounds = Self::new().bounds;
        bounds[part] = bound;
        self.merge(&Self::of_bounds(bounds));
        true
    }
}

impl Small for IntegerSum {
    const PARTS: usize = 3;

    fn each(items: Integers<'_>, mut each: impl FnMut(usize, Self)) {
        with_integers!(items, items => {
            for (place, item) in items.iter().enumerate() {
                let mut sum = Self::new();
                sum.add_one(*item);
                each(place, sum);
            }
        });
    }

    fn check_room(&self, other: &Self) -> Result<(), LimitError> {
        items_of_both(self.items, other.items).map(drop)
    }

    fn check_held(&self, other: &Self) -> Result<(), RemoveError> {
        check_items(self.items, other.items)
    }

    fn change(&mut self, other: &Self, removes: bool) {
        if removes {
            self.items -= other.items;
        } else {
            self.items += other.items;
        }
        self.sum = self.sum.changed(other.sum, removes);
    }

    fn write(&self, integers: &mut [i128]) {
        integers[0] = self.items.into();
        integers[1..].copy_from_slice(&halves(self.sum));
    }

    fn add_integer(&mut self, part: usize, integer: i128) -> bool {
        match part.checked_sub(1) {
            Some(half) => self.sum = self.sum.plus(of_half(half, integer)),
            None => {
                let items = u64::try_from(integer).ok();
                let both = items.and_then(|items| items_of_both(self.items, items).ok());
                let Some(both) = both else {
                    return false;
                };
                self.items = both;
            }
        }
        true
    }
}

impl Small for IntegerMoments {
    const PARTS: usize = 5;

    fn each(items: Integers<'_>, mut each: impl FnMut(usize, Self)) {
        with_integers!(items, items => {
            for (place, item) in items.iter().enumerate() {
                let mut moments = Self::new();
                moments.add_one(*item);
                each(place, moments);
            }
        });
    }

    fn check_room(&self, other: &Self) -> Result<(), LimitError> {
        self.sum.check_room(&other.sum)
    }

    fn check_held(&self, other: &Self) -> Result<(), RemoveError> {
        self.sum.check_held(&other.sum)
    }

    fn change(&mut self, other: &Self, removes: bool) {
        Small::change(&mut self.sum, &other.sum, removes);
        self.squares = self.squares.changed(other.squares, removes);
    }

    fn write(&self, integers: &mut [i128]) {
        let (sum, squares) = integers.split_at_mut(IntegerSum::PARTS);
        Small::write(&self.sum, sum);
        squares.copy_from_slice(&halves(self.squares));
    }

    fn add_integer(&mut self, part: usize, integer: i128) -> bool {
        match part.checked_sub(IntegerSum::PARTS) {
            Some(half) => self.squares = self.squares.plus(of_half(half, integer)),
            None => return self.sum.add_integer(part, integer),
        }
        true
    }
}

/// The lower 64 bits of an integer, and the integer above these bits.
fn halves(Wide([lowest, lower, highest]): Wide<3>) -> [i128; 2] {
    let upper = i128::from(highest.cast_signed()) << 64 | i128::from(lower);
    [lowest.into(), upper]
}

/// The integer whose [half](halves) number `half` is `integer`, and whose other half is zero.
fn of_half(half: usize, integer: i128) -> Wide<3> {
    Wide::shifted(integer, if half == 0 { 0 } else { 64 })
}

impl Keyed<IntegerSum> {
    /// Adds each sum to the sum of its key.
    ///
    /// # Errors
    /// There are not as many keys as sums, a key has no sum, or a sum would have more than 2^63 - 1 items. A failed call changes no sum.
    pub fn add_slots<K: Key>(&mut self, keys: &[K], sums: &[IntegerSum]) -> Result<(), KeyError> {
        key::check(keys, sums.len(), self.keys())?;
        for (place, (key, sum)) in keys.iter().zip(sums).enumerate() {
            let own = &mut self.columns.0[key.place()];
            if let Err(error) = own.check_room(sum) {
                for (key, sum) in keys.iter().zip(&sums[..place]) {
                    Small::change(&mut self.columns.0[key.place()], sum, true);
                }
                return Err(error.into());
            }
            Small::change(own, sum, false);
        }
        Ok(())
    }
}

macro_rules! small {
    ([$($generic:tt)*] $slot:ty, $row:literal, $value:ident, $kind:ident, $name:expr) => {
        impl $($generic)* InColumns for $slot {
            type Columns = Each<Self>;
            type Row = [i128; $row];
            const VALUE: Statistic = Statistic::$value;
            const TAKES_BACK: bool = Self::ADDS;
            const KIND: Kind = Kind::$kind;

            fn name() -> String {
                $name
            }

            fn by_column<'i>(items: Self::Items<'i>) -> Self::Items<'i> {
                items
            }

            fn of_key(columns: &Self::Columns, key: usize) -> Self {
                columns.0[key]
            }
        }
    };
}

small!([<T: Float>] Extrema<T>, 2, Minimum, KeyedExtrema, format!("extrema by key of {}", T::NAME));
small!([] IntegerSum, 3, Sum, KeyedIntegers, Kind::KeyedIntegers.name().to_owned());
small!([] IntegerMoments, 5, Mean, KeyedIntegerMoments, Kind::KeyedIntegerMoments.name().to_owned());

//! The trait of slots that keys can have.

use bytemuck::Pod;
use simd_kernels::Level;

use super::columns::Columns;
use super::columns::decoded::Decoded;
use super::key::Key;
use super::remove::RemoveKeyedError;
use crate::bytes::{BytesError, Kind, Reader};
use crate::number::counters::LimitError;
use crate::slots::Slot;
use crate::statistic::{Options, Statistic};

/// Slots that [`Keyed`](crate::Keyed) and [`Hashed`](crate::Hashed) hold for each key. Other crates cannot implement this trait.
pub trait KeyedSlot: sealed::InColumns {}

impl<S: sealed::InColumns> KeyedSlot for S {}

/// A field of a key's bytes.
#[derive(Clone, Copy, Debug)]
pub enum Field {
    /// This number of bytes.
    Bytes(usize),
    /// A number.
    Number,
    /// A number and, if some items are not finite, their counts.
    Entry,
}

pub(crate) mod sealed {
    use super::{
        BytesError, Columns, Decoded, Field, Key, Kind, Level, LimitError, Options, Pod, Reader,
        RemoveKeyedError, Slot, Statistic,
    };

    /// Methods that other crates can neither call nor implement.
    pub trait InColumns: Slot + Send + Sync + 'static {
        type Columns: Columns;

        /// The integers of a key in a message: one for each of the columns' parts.
        type Row: Pod + AsRef<[i128]> + AsMut<[i128]>;

        /// The kind of slot and the type of items, as text that ranks compare.
        fn name() -> String;

        /// The statistic that [`value`](crate::Keyed::value) returns.
        const VALUE: Statistic;

        /// Whether items can be removed. Otherwise the integers of messages are merged by their maximum, not by their sum.
        const TAKES_BACK: bool = true;

        /// Whether the slot is a [`Sum`](crate::Sum): rows of sums are rounded by faster code.
        const IS_SUM: bool = false;

        /// The kind in the header of the slots' bytes.
        const KIND: Kind;

        /// The fields of a key's bytes.
        const FIELDS: &'static [Field];

        /// Checks that the counters can take these items, whatever their keys.
        fn check_room(columns: &Self::Columns, items: Self::Items<'_>) -> Result<(), LimitError>;

        /// Checks that the keys hold as many items, NaNs and infinities as are to be removed.
        fn check_held<K: Key>(
            columns: &Self::Columns,
            keys: &[K],
            items: Self::Items<'_>,
        ) -> Result<(), RemoveKeyedError>;

        /// Adds or removes the items of a block, whose keys have been checked.
        fn change<K: Key>(
            columns: &mut Self::Columns,
            level: Level,
            keys: &[K],
            items: Self::Items<'_>,
            removes: bool,
            decoded: &mut Decoded,
        );

        /// A key's slot.
        fn of_key(columns: &Self::Columns, key: usize) -> Self;

        fn statistic_of(
            columns: &Self::Columns,
            key: usize,
            statistic: Statistic,
            options: Options,
        ) -> Option<Self::Item> {
            Self::of_key(columns, key).statistic(statistic, options)
        }

        /// A statistic of each of the first `keys` keys.
        fn statistics(
            columns: &Self::Columns,
            keys: usize,
            statistic: Statistic,
            options: Options,
        ) -> Option<Vec<Self::Item>> {
            let of_key = |key| Self::statistic_of(columns, key, statistic, options);
            (0..keys).map(of_key).collect()
        }

        fn counts(_: &Self::Columns) -> Option<&[u64]> {
            None
        }

        /// Writes a key's fields.
        fn write(columns: &Self::Columns, key: usize, bytes: &mut Vec<u8>);

        /// Reads a key's fields. `is_common` returns whether many keys have a certain word, given the field and the exponent of the word in
        /// the field's number.
        fn read(
            columns: &mut Self::Columns,
            key: usize,
            reader: &mut Reader<'_>,
            is_common: &dyn Fn(usize, i32) -> bool,
        ) -> Result<(), BytesError>;
    }
}

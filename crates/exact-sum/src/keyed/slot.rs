//! Defines the trait of slots that can be kept for each key.

use bytemuck::Pod;

use super::columns::Columns;
use super::columns::layout::Layout;
use crate::bytes::Kind;
use crate::number::float::sealed::Conversions;
use crate::slots::Slot;
use crate::statistic::{Options, Statistic};

/// A slot that [`Keyed`](crate::Keyed) and [`Hashed`](crate::Hashed) can hold for each key. Other crates cannot implement this trait.
pub trait KeyedSlot: sealed::InColumns {}

impl<S: sealed::InColumns> KeyedSlot for S {}

pub(crate) mod sealed {
    use super::{Columns, Conversions as _, Kind, Layout, Options, Pod, Slot, Statistic};

    /// Methods that other crates can neither call nor implement.
    pub trait InColumns: Slot + Send + Sync + 'static {
        type Columns: Columns;

        const LAYOUT: Layout = Layout::of(false, &[]);

        /// The integers of a key in a message: one for each of the columns' parts.
        type Row: Pod;

        /// The kind of slot and the type of items, as text that ranks compare.
        fn name() -> String {
            let (kind, item) = (Self::KIND.name(), Self::Item::NAME);
            format!("{kind} of {item}")
        }

        /// The statistic that [`value`](crate::Keyed::value) returns.
        const VALUE: Statistic;

        /// Whether items can be removed. If not, the integers of messages are merged by taking the maximum instead of adding them.
        const TAKES_BACK: bool = true;

        /// Whether the slot is a [`Sum`](crate::Sum). Rows of sums are rounded by faster code.
        const IS_SUM: bool = false;

        /// The kind in the header of the slots' bytes.
        const KIND: Kind;

        /// The items as the columns need them.
        fn by_column<'i>(items: Self::Items<'i>) -> <Self::Columns as Columns>::Items<'i>;

        /// A key's slot.
        fn of_key(columns: &Self::Columns, key: usize) -> Self;

        /// A statistic of a key, if it can be computed faster than by making the key's slot.
        fn quick_statistic(
            _columns: &Self::Columns,
            _key: usize,
            _statistic: Statistic,
            _options: Options,
        ) -> Option<Self::Item> {
            None
        }

        fn statistic_of(
            columns: &Self::Columns,
            key: usize,
            statistic: Statistic,
            options: Options,
        ) -> Option<Self::Item> {
            let exact = || Self::of_key(columns, key).statistic(statistic, options);
            Self::quick_statistic(columns, key, statistic, options).or_else(exact)
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
    }
}

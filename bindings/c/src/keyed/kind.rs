//! The kinds of slots that compute the statistics of `treefold.h` by key.

use bytemuck::Pod;
use treefold::exact::{
    CoMoments, Extrema, Float, Key, Keyed, KeyedSlot, Moments, Powers, ProductSum,
    RemoveKeyedError, Sum, WeightedMean,
};

use super::{Change, Keys, with_keys};
use crate::element::ElementType;
use crate::failure::Failure;
use crate::raw::elements_mut;

/// A type of real items.
pub(crate) trait Real: Float + Pod + PartialEq {
    const TYPE: ElementType;
}

impl Real for f32 {
    const TYPE: ElementType = ElementType::F32;
}

impl Real for f64 {
    const TYPE: ElementType = ElementType::F64;
}

/// A kind of slot for real items.
pub(crate) trait SlotKind: KeyedSlot<Item = Self::Real> {
    /// The type of the program's items, and of results.
    type Real: Real;
    const NAME: &'static str;
    /// Whether these slots take two arrays.
    const TAKES_PAIRS: bool = false;
    /// The initial bytes per key.
    const KEY_BYTES: usize;

    /// The items of one array, or of two arrays of the same length.
    fn items<'i>(arrays: [&'i [Self::Real]; 2]) -> Self::Items<'i>;

    /// Adds items, or removes them.
    ///
    /// # Errors
    /// Those of [`Keyed::add`] and [`Keyed::remove`].
    fn change_items(
        slots: &mut Keyed<Self>,
        change: Change,
        keys: Keys<'_>,
        items: Self::Items<'_>,
    ) -> Result<(), Unchanged> {
        change_by_short_keys(slots, change, keys, items)
    }
}

/// The reason why slots were not changed.
pub(crate) enum Unchanged {
    Failure(Failure),
    Removal(RemoveKeyedError),
}

impl From<Failure> for Unchanged {
    fn from(failure: Failure) -> Self {
        Self::Failure(failure)
    }
}

impl From<RemoveKeyedError> for Unchanged {
    fn from(error: RemoveKeyedError) -> Self {
        Self::Removal(error)
    }
}

/// Converts the keys to `u32`, and adds or removes items. Most kinds of slots are compiled only for keys of this type.
pub(super) fn change_by_short_keys<S: KeyedSlot>(
    slots: &mut Keyed<S>,
    change: Change,
    keys: Keys<'_>,
    items: S::Items<'_>,
) -> Result<(), Unchanged> {
    let keys = keys.short()?;
    Ok(change_by(slots, change, &keys, items)?)
}

fn change_by<S: KeyedSlot, K: Key>(
    slots: &mut Keyed<S>,
    change: Change,
    keys: &[K],
    items: S::Items<'_>,
) -> Result<(), RemoveKeyedError> {
    match change {
        Change::Add => slots.add(keys, items).map_err(RemoveKeyedError::Key),
        Change::Remove => slots.remove(keys, items),
    }
}

/// The initial bytes of a sum.
pub(super) const SUM_BYTES: usize = 16;

macro_rules! kinds {
    ($($slot:ident, $name:literal, $key_bytes:expr, |$arrays:ident| $items:expr, $takes_pairs:literal, [$($change:item)?];)+) => {$(
        impl<T: Real> SlotKind for $slot<T> {
            type Real = T;
            const NAME: &'static str = $name;
            const TAKES_PAIRS: bool = $takes_pairs;
            const KEY_BYTES: usize = $key_bytes;

            fn items<'i>($arrays: [&'i [T]; 2]) -> Self::Items<'i> {
                $items
            }

            $($change)?
        }
    )+};
}

kinds! {
    Sum, "sums by key", SUM_BYTES, |arrays| arrays[0], false, [
        // Sums are compiled for all unsigned types of keys, since converting the keys would take a noticeable fraction of the time.
        fn change_items(
            slots: &mut Keyed<Self>,
            change: Change,
            keys: Keys<'_>,
            items: &[T],
        ) -> Result<(), Unchanged> {
            with_keys!(keys.key_type, K => {
                Ok(change_by(slots, change, keys.of::<K>()?, items)?)
            })
        }
    ];
    Moments, "moments by key", 3 * SUM_BYTES + 8, |arrays| arrays[0], false, [];
    Powers, "powers by key", 9 * SUM_BYTES, |arrays| arrays[0], false, [];
    Extrema, "extrema by key", SUM_BYTES, |arrays| arrays[0], false, [];
    ProductSum, "dot products by key", 2 * SUM_BYTES, |arrays| arrays, true, [];
    CoMoments, "co-moments by key", 8 * SUM_BYTES + 8, |arrays| arrays, true, [];
    WeightedMean, "weighted means by key", 3 * SUM_BYTES, |arrays| arrays, true, [];
}

/// Writes the results of all keys.
pub(super) fn write<T: Pod>(result: &mut [u8], values: &[T]) -> Result<(), Failure> {
    let result = elements_mut("result", result)?;
    result.copy_from_slice(values);
    Ok(())
}

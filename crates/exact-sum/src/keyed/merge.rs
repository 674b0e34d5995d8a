//! Merges the slots of one [`Keyed`] into another, or removes them again.

use super::columns::{Columns, Places};
use super::key::{self, KeyError};
use super::remove::RemoveKeyedError;
use super::{Keyed, KeyedSlot};
use crate::number::counters::LimitError;

impl<S: KeyedSlot> Keyed<S> {
    /// Adds the slots of `other`, key by key. If `other` has more keys, `self` grows.
    ///
    /// # Panics
    /// The rows of `other` have a different width.
    ///
    /// # Errors
    /// There would be more than 2^63 - 1 items, or there is no memory for more keys. A failed call changes no slot.
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.check_width(other);
        self.columns.reserve(other.slots())?;
        self.columns.check_room_for(&other.columns, Places::Same)?;
        self.grow(other.keys)?;
        self.columns.merge(&other.columns, Places::Same, false);
        Ok(())
    }

    /// Adds the slot of each key i of `other` to the slot of `keys[i]`. Several keys of `other` may go to the same slot.
    ///
    /// ```
    /// use exact_sum::{Keyed, Mean};
    ///
    /// let mut days = Keyed::<Mean<f64>>::new(3)?;
    /// days.add(&[0, 1, 2_u8], &[1e300, 0.5, -1e300])?;
    /// let mut months = Keyed::<Mean<f64>>::new(2)?;
    /// months.merge_at(&[1, 0, 1_u32], &days)?;
    /// assert_eq!(months.values(), [0.5, 0.0]);
    /// # Ok::<(), exact_sum::KeyError>(())
    /// ```
    ///
    /// # Panics
    /// Rows have more than one item.
    ///
    /// # Errors
    /// `keys` does not have one entry for each key of `other`, an entry has no slot, or [`merge`](Self::merge) would fail. A failed call
    /// changes no slot.
    pub fn merge_at(&mut self, keys: &[u32], other: &Self) -> Result<(), KeyError> {
        assert_eq!([self.width, other.width], [1, 1], "rows must have one item");
        key::check(keys, other.keys, self.keys)?;
        Ok(self.merge_places(other, Places::At(keys))?)
    }

    /// Adds the slots of `other` to the slots at `places`, which must exist.
    pub(super) fn merge_places(
        &mut self,
        other: &Self,
        places: Places<'_>,
    ) -> Result<(), LimitError> {
        self.columns.check_room_for(&other.columns, places)?;
        self.columns.merge(&other.columns, places, false);
        Ok(())
    }

    /// Removes the items of `other`, key by key.
    ///
    /// # Panics
    /// Those of [`merge`](Self::merge).
    ///
    /// # Errors
    /// Those of [`remove`](Self::remove), or `other` has more keys than `self`.
    pub fn unmerge(&mut self, other: &Self) -> Result<(), RemoveKeyedError> {
        self.check_width(other);
        if !S::TAKES_BACK {
            return Err(RemoveKeyedError::Never);
        }
        if other.keys > self.keys {
            let (item, sums) = (self.keys, self.keys);
            let key = item as i128;
            return Err(RemoveKeyedError::Key(KeyError::OutOfRange {
                item,
                key,
                sums,
            }));
        }
        self.unmerge_places(other, Places::Same)
    }

    /// Removes the items of `other` from the slots at `places`, which must exist.
    pub(super) fn unmerge_places(
        &mut self,
        other: &Self,
        places: Places<'_>,
    ) -> Result<(), RemoveKeyedError> {
        self.columns.check_held_of(&other.columns, places)?;
        self.columns.check_room_for(&other.columns, places)?;
        self.columns.merge(&other.columns, places, true);
        Ok(())
    }

    fn check_width(&self, other: &Self) {
        assert_eq!(self.width, other.width, "the rows differ in width");
    }
}

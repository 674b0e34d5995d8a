//! Sums one slice. This needs no fixed-point number if the items have similar magnitudes.

use simd_kernels::{Level, Quiet};

use crate::number::blocks::BlockHistory;
use crate::number::counters::is_negative_zero;
use crate::number::destination::Destination;
use crate::number::fixed::{FixedFormat, integer, short_magnitude};
use crate::number::float::Float;
use crate::number::total::Total;
use crate::slots::sum::Sum;

/// The exact sum of items, rounded to nearest, as by [`Sum::value`].
#[inline]
pub(crate) fn sum<T: Float>(items: &[T]) -> T {
    let Some(quiet) = Quiet::now() else {
        return Sum::of(items).value();
    };
    let mut sum = ShortSum::<T::Sums>::ZERO;
    let mut history = BlockHistory::START;
    history.add_items(Level::best(), items, quiet, &mut sum);
    quiet.forget_since();
    // `sum` has not counted negative zeros.
    if are_negative_zeros(items) {
        T::NEGATIVE_ZERO
    } else {
        sum.value()
    }
}

/// Whether there are items, and all are -0.0. In most cases the first item decides.
pub(crate) fn are_negative_zeros<T: Float>(items: &[T]) -> bool {
    !items.is_empty() && items.iter().all(|item| is_negative_zero(item.widened()))
}

/// A sum that creates a fixed-point number only when it needs one, because clearing and scanning such a number takes as long as
/// adding a thousand items.
struct ShortSum<F: FixedFormat> {
    /// The sum of all values except the rest, in units of 2^unit.
    integer: i128,
    unit: i32,
    /// The sum of values for which the integer has no room, and the counts of items that are not finite.
    rest: Option<Total<F>>,
}

impl<F: FixedFormat> ShortSum<F> {
    const ZERO: Self = Self {
        integer: 0,
        unit: 0,
        rest: None,
    };

    /// Adds value * 2^unit, if there is room for it.
    #[inline]
    fn try_add(&mut self, value: i64, unit: i32) -> Option<()> {
        if self.integer == 0 {
            (self.integer, self.unit) = (value.into(), unit);
            return Some(());
        }
        let (mut integer, mut value) = (self.integer, i128::from(value));
        let shift = (unit - self.unit).unsigned_abs();
        // The value with the larger unit becomes longer, and both stay below 2^126.
        let longer = if unit < self.unit {
            &mut integer
        } else {
            &mut value
        };
        if longer.unsigned_abs().leading_zeros() < shift.saturating_add(2) {
            return None;
        }
        *longer <<= shift;
        self.integer = integer.checked_add(value)?;
        self.unit = self.unit.min(unit);
        Some(())
    }

    #[cold]
    fn rest(&mut self) -> &mut Total<F> {
        self.rest.get_or_insert(Total::ZERO)
    }

    fn value<T: Float<Sums = F>>(&mut self) -> T {
        if let Some(total) = &mut self.rest {
            total.fixed.add_integer(self.integer, self.unit);
            self.integer = 0;
            return total.value();
        }
        short_magnitude(self.integer, self.unit).map_or(T::ZERO, T::signed)
    }
}

impl<F: FixedFormat> Destination for ShortSum<F> {
    const COUNTS_ZEROS: bool = false;

    #[inline]
    fn add_parts(&mut self, [even, odd]: [i64; 2], unit: i32) {
        let value = even + odd;
        if self.try_add(value, unit).is_none() {
            self.rest().add_parts([value, 0], unit);
        }
    }

    #[inline]
    fn add_item(&mut self, _index: usize, item: f64) {
        let (value, unit) = integer(item);
        if !item.is_finite() || self.try_add(value, unit).is_none() {
            self.rest().add_one(item);
        }
    }

    #[inline]
    fn count_negative_zeros(&mut self, _counts: [u64; 2]) {}
}

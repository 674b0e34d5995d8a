//! Sums items of similar magnitude, as integers of a fixed width in one unit. Slots hold sums of any items, but are slower.

pub(crate) mod co_moments;
pub(crate) mod grid;
pub(crate) mod moments;
pub(crate) mod powers;
pub(crate) mod products;

use simd_kernels::Quiet;

use crate::number::divisor::Divisor;
use crate::number::float::Float;
use crate::slots::Slot;
use crate::statistic::{Options, Statistic};

/// The sums of rows of C items that a [`Grid`](grid::Grid) has converted to integers.
pub(crate) trait Narrow<T: Float, const C: usize>: Copy + Default {
    /// The type of slot that holds these sums for any items.
    type Slot: Slot<Item = T>;

    /// Adds a row, or removes it.
    fn change(&mut self, row: [i128; C], removes: bool);

    /// A statistic of some rows, rounded once. The unit of column c is 2^`units[c]`. `None` if only the slot can compute it.
    /// Floating-point arithmetic must be IEEE 754's default. If `is_cut`, the sums have been [cut](Self::cut): each is too small by less than 1.
    fn statistic(
        &self,
        statistic: Statistic,
        options: Options,
        count: Count,
        units: [i32; C],
        is_cut: bool,
    ) -> Option<T>;

    /// A slot's sums, rounded down to integers in units in which they fit. `None` if a sum is not finite, or if the slot itself computes
    /// statistics just as fast.
    fn cut(_: &Self::Slot, _: u64) -> Option<(Self, [i32; C])> {
        None
    }

    /// A slot with these rows and the rows of another slot. `items` is the number of all these rows.
    fn with(&self, others: &Self::Slot, items: u64, units: [i32; C]) -> Self::Slot;

    /// Adds a row of any items to a slot if `sign` is 1; removes it if `sign` is -1. The slot's number of items does not change.
    fn step(slot: &mut Self::Slot, row: [f64; C], sign: i64);
}

/// A statistic of `items` items, computed from the [`cut`](Narrow::cut) sums of their slot; `None` if the rounding is in doubt. This
/// takes a tenth of the time that exact integers of any size take.
pub(crate) fn near<N: Narrow<T, C>, T: Float, const C: usize>(
    slot: &N::Slot,
    statistic: Statistic,
    options: Options,
    items: u64,
) -> Option<T> {
    let quiet = Quiet::now()?;
    let (cut, units) = N::cut(slot, items)?;
    let count = Count::of(items, statistic, options);
    let value = cut.statistic(statistic, options, count, units, true);
    quiet.forget_since();
    value
}

/// A number of items, and the divisor of some statistics of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Count {
    pub(crate) items: u64,
    /// n (n - `ddof`) for n items, if the statistic is divided by this number, and if the number is an integer from 1 to 2^53 - 1.
    divisor: Option<Divisor>,
}

impl Count {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a `ddof` that is not an `i32` is detected"
    )]
    pub(crate) fn of(items: u64, statistic: Statistic, options: Options) -> Self {
        let whole = options.ddof as i32;
        let is_whole = f64::from(whole).to_bits() == options.ddof.to_bits();
        let is_divided = matches!(
            statistic,
            Statistic::Variance | Statistic::StandardDeviation | Statistic::Covariance
        );
        let n = i128::from(items);
        let divisor = || Divisor::of(n * (n - i128::from(whole)));
        Self {
            items,
            divisor: (is_whole && is_divided).then(divisor).flatten(),
        }
    }
}

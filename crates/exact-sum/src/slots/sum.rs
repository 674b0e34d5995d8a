//! Sums items.

use bytemuck::Zeroable as _;
use simd_kernels::{Ahead, ColumnSplit, Exponents, Level, Quiet, SplitScale, without_traps};

use crate::bytes::{self, BytesError, Kind};
use crate::number::blocks::BlockHistory;
use crate::number::convert::convert;
use crate::number::counters::{LimitError, RemoveError, is_negative_zero};
use crate::number::destination::Destination;
use crate::number::fixed::FixedFormat;
use crate::number::float::Float;
use crate::number::total::{Total, check_counts};
use crate::slots::Slot;
use crate::slots::accumulator::sealed::Sealed;
use crate::slots::accumulator::{Accumulator, accumulator, parts, parts_mut};
use crate::statistic::{Options, Statistic};

/// Fewer items than this are added by integer arithmetic, which is faster than checking the floating-point environment and the processor.
const FEW_ITEMS: usize = 8;

/// A sum that is exact until [`value`](Self::value) rounds it.
///
/// ```
/// use exact_sum::Sum;
///
/// let mut sum = Sum::<f32>::new();
/// sum.add(&[1e30, 1.0, -1e30]);
/// assert_eq!(sum.value(), 1.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sum<T: Float> {
    pub(crate) total: Total<T::Sums>,
    history: BlockHistory,
}

impl<T: Float> Default for Sum<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Float> Sum<T> {
    /// The sum of no items, +0.0.
    #[must_use]
    pub fn new() -> Self {
        Self {
            total: Total::ZERO,
            history: BlockHistory::START,
        }
    }

    /// The sum of items.
    #[must_use]
    #[inline]
    pub fn of(items: &[T]) -> Self {
        let mut sum = Self::new();
        sum.add(items);
        sum
    }

    /// Adds items.
    ///
    /// # Panics
    /// There would be more than 2^63 - 1 items, which is possible after merges.
    #[inline]
    pub fn add(&mut self, items: &[T]) {
        if items.len() < FEW_ITEMS {
            self.total
                .add_by_integers(items.iter().copied().map(T::widened));
        } else {
            self.add_at(Level::best(), items);
        }
    }

    /// Does what [`add`](Self::add) does, with the instruction set `level`.
    pub fn add_at(&mut self, level: Level, items: &[T]) {
        let Some(quiet) = Quiet::now() else {
            if !without_traps(&mut || self.add_at(level, items)) {
                let items = items.iter().copied().map(T::widened);
                self.total.add_by_integers(items);
            }
            return;
        };
        self.total.counters.count(items.len());
        let Self { total, history } = self;
        history.add_items(level, items, quiet, total);
        quiet.forget_since();
    }

    /// The sum of items. For speed, negative zeros are not counted.
    #[cfg(feature = "par")]
    pub(crate) fn without_zeros(items: &[T]) -> Self {
        let mut sum = Self::new();
        let Some(quiet) = Quiet::now() else {
            sum.add(items);
            return sum;
        };
        sum.total.counters.items = items.len() as i64;
        let total = &mut crate::number::total::WithoutZeros(&mut sum.total);
        sum.history.add_items(Level::best(), items, quiet, total);
        quiet.forget_since();
        sum
    }

    /// A scale at which the next items may be split.
    pub(crate) fn guess(&self, first: impl FnOnce() -> Option<Exponents>) -> Option<SplitScale> {
        self.history.guess(first)
    }

    /// Adds items that were split at a scale.
    pub(crate) fn add_split(
        &mut self,
        items: impl ExactSizeIterator<Item = f64>,
        split: ColumnSplit,
        scale: SplitScale,
    ) {
        let ColumnSplit {
            higher,
            lower,
            has_negative_zeros,
        } = split;
        self.total.counters.count(items.len());
        if has_negative_zeros {
            let zeros = items.filter(|&item| is_negative_zero(item));
            self.total.counters.negative_zeros += zeros.count() as i64;
        }
        self.total.add_parts([higher, 0], scale.higher_unit());
        self.total.add_parts([lower, 0], scale.lower_unit());
        self.history.keep(scale);
    }

    pub(crate) fn of_total(total: Total<T::Sums>) -> Self {
        Self {
            total,
            ..Self::new()
        }
    }

    fn of_totals([total]: [Total<T::Sums>; 1]) -> Self {
        Self::of_total(total)
    }

    pub(crate) fn totals(&self) -> [&Total<T::Sums>; 1] {
        [&self.total]
    }

    pub(crate) fn totals_mut(&mut self) -> [&mut Total<T::Sums>; 1] {
        [&mut self.total]
    }

    /// Removes items that were added.
    ///
    /// ```
    /// use exact_sum::Sum;
    ///
    /// let mut sum = Sum::of(&[1e300, 0.1, f64::INFINITY]);
    /// sum.remove(&[f64::INFINITY, 1e300])?;
    /// assert_eq!(sum.value(), 0.1);
    /// # Ok::<(), exact_sum::RemoveError>(())
    /// ```
    ///
    /// # Errors
    /// There are more items, NaNs, infinities or negative zeros to remove than the sum has. A failed call changes nothing. Otherwise,
    /// removing an item that was never added goes undetected.
    pub fn remove(&mut self, items: &[T]) -> Result<(), RemoveError> {
        let mut removed = Self {
            total: Total::ZERO,
            history: self.history,
        };
        removed.add(items);
        self.unmerge(&removed)?;
        self.history = removed.history;
        Ok(())
    }

    /// Adds the magnitudes of items.
    pub fn add_magnitudes(&mut self, items: &[T]) {
        let Some(quiet) = Quiet::now() else {
            if !without_traps(&mut || self.add_magnitudes(items)) {
                let magnitude = |item: &T| item.widened().abs();
                self.total.add_by_integers(items.iter().map(magnitude));
            }
            return;
        };
        let level = Level::best();
        self.total.counters.count(items.len());
        let Self { total, history } = self;
        convert(
            items,
            |item| item.into().abs(),
            |doubles| history.add(level, doubles, Ahead::Nothing, total),
        );
        quiet.forget_since();
    }

    /// The sum, rounded to nearest, ties to even.
    ///
    /// | items | sum |
    /// |---|---|
    /// | none | +0.0 |
    /// | all -0.0 | -0.0, as in IEEE 754 additions |
    /// | otherwise, an exact sum of zero | +0.0 |
    /// | a NaN, or infinities of both signs | the canonical NaN |
    /// | infinities of one sign | the infinity |
    ///
    /// The sum of finite items is infinite only if the exact sum is out of range, not if partial sums are.
    #[must_use]
    pub fn value(&self) -> T {
        self.total.value()
    }

    /// The sum divided by the number of items, rounded once; NaN if there are no items.
    #[must_use]
    pub fn mean(&self) -> T {
        self.total.mean()
    }
}

accumulator!(
    Sum,
    Sums,
    <T::Sums as FixedFormat>::Words,
    <T::Sums as FixedFormat>::Integers,
    1,
    Kind::Sum,
    "exact sum"
);

impl<T: Float> Slot for Sum<T> {
    type Item = T;
    type Items<'i> = &'i [T];

    fn statistic(&self, statistic: Statistic, _: Options) -> Option<T> {
        match statistic {
            Statistic::Count => Some(T::of_integer(self.items().into(), 0, false)),
            Statistic::Sum => Some(self.value()),
            Statistic::Mean => Some(self.mean()),
            _ => None,
        }
    }
}

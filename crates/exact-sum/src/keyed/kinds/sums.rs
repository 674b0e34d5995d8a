//! Slots that hold sums of floats for each key.

#[cfg(feature = "par")]
use simd_kernels::DECODED_ITEMS;
use simd_kernels::Quiet;

use crate::bytes::Kind;
use crate::keyed::Keyed;
use crate::keyed::columns::higher::Power;
use crate::keyed::columns::layout::Layout;
use crate::keyed::columns::layout::Quantity::{Errors, X, XX, XY, Y, YY};
use crate::keyed::columns::sums::Sums;
use crate::keyed::slot::sealed::InColumns;
#[cfg(feature = "par")]
use crate::number::counters::LimitError;
use crate::number::float::Float;
use crate::slots::co_moments::CoMoments;
use crate::slots::mean::Mean;
use crate::slots::moments::Moments;
use crate::slots::powers::Powers;
use crate::slots::product_sum::ProductSum;
use crate::slots::sum::Sum;
use crate::slots::weighted::WeightedMean;
use crate::statistic::{Options, Statistic};

impl<T: Float> InColumns for Sum<T> {
    type Columns = Sums<T>;
    type Row = [i128; 1];
    const LAYOUT: Layout = Layout::of(false, &[X]);
    const VALUE: Statistic = Statistic::Sum;
    const IS_SUM: bool = true;
    const KIND: Kind = Kind::KeyedSums;

    #[inline]
    fn by_column<'i>(items: Self::Items<'i>) -> [&'i [T]; 2] {
        [items; 2]
    }

    /// The number of items is not known, and is 0 in the result.
    fn of_key(sums: &Sums<T>, key: usize) -> Self {
        sums.sum(X, key)
    }

    fn statistic_of(sums: &Sums<T>, key: usize, statistic: Statistic, _: Options) -> Option<T> {
        let value = || sums.totals(X).rounded(key, Quiet::now().is_some());
        (statistic == Self::VALUE).then(value)
    }

    fn statistics(sums: &Sums<T>, keys: usize, statistic: Statistic, _: Options) -> Option<Vec<T>> {
        (statistic == Self::VALUE).then(|| sums.totals(X).values(keys))
    }
}

impl<T: Float> InColumns for Mean<T> {
    type Columns = Sums<T>;
    type Row = [i128; 2];
    const LAYOUT: Layout = Layout::of(true, &[X]);
    const VALUE: Statistic = Statistic::Mean;
    const KIND: Kind = Kind::KeyedMeans;

    fn by_column<'i>(items: Self::Items<'i>) -> [&'i [T]; 2] {
        [items; 2]
    }

    fn of_key(sums: &Sums<T>, key: usize) -> Self {
        Self(sums.sum(X, key))
    }

    fn quick_statistic(sums: &Sums<T>, key: usize, statistic: Statistic, _: Options) -> Option<T> {
        sums.sum_or_mean(key, statistic)
    }
}

impl<T: Float> InColumns for Moments<T> {
    type Columns = Sums<T>;
    type Row = [i128; 4];
    const LAYOUT: Layout = Layout::of(true, &[X, XX, Errors]);
    const VALUE: Statistic = Statistic::Mean;
    const KIND: Kind = Kind::KeyedMoments;

    fn by_column<'i>(items: Self::Items<'i>) -> [&'i [T]; 2] {
        [items; 2]
    }

    fn of_key(sums: &Sums<T>, key: usize) -> Self {
        Self {
            sum: sums.sum(X, key),
            squares: sums.product_sum(XX, key),
        }
    }

    fn quick_statistic(sums: &Sums<T>, key: usize, statistic: Statistic, _: Options) -> Option<T> {
        sums.sum_or_mean(key, statistic)
    }
}

impl<T: Float> InColumns for Powers<T> {
    type Columns = Sums<T>;
    type Row = [i128; 15];
    const LAYOUT: Layout = Layout {
        has_powers: true,
        ..Moments::<T>::LAYOUT
    };
    const VALUE: Statistic = Statistic::Skewness;
    const KIND: Kind = Kind::KeyedPowers;

    fn by_column<'i>(items: Self::Items<'i>) -> [&'i [T]; 2] {
        [items; 2]
    }

    fn of_key(sums: &Sums<T>, key: usize) -> Self {
        Self {
            moments: Moments::of_key(sums, key),
            cubes: sums.powers().number(key, Power::Cube),
            fourths: sums.powers().number(key, Power::Fourth),
        }
    }

    fn quick_statistic(
        sums: &Sums<T>,
        key: usize,
        statistic: Statistic,
        options: Options,
    ) -> Option<T> {
        Moments::statistic_of(sums, key, statistic, options)
    }
}

impl<T: Float> InColumns for ProductSum<T> {
    type Columns = Sums<T>;
    type Row = [i128; 2];
    const LAYOUT: Layout = Layout::of(false, &[XY, Errors]);
    const VALUE: Statistic = Statistic::Dot;
    const KIND: Kind = Kind::KeyedProducts;

    fn by_column<'i>(items: Self::Items<'i>) -> [&'i [T]; 2] {
        items
    }

    /// The number of products is not known, and is 0 in the result.
    fn of_key(sums: &Sums<T>, key: usize) -> Self {
        sums.product_sum(XY, key)
    }
}

impl<T: Float> InColumns for WeightedMean<T> {
    type Columns = Sums<T>;
    type Row = [i128; 3];
    const LAYOUT: Layout = Layout::of(false, &[XY, Errors, Y]);
    const VALUE: Statistic = Statistic::WeightedMean;
    const KIND: Kind = Kind::KeyedWeightedMeans;

    fn by_column<'i>(items: Self::Items<'i>) -> [&'i [T]; 2] {
        items
    }

    /// The number of items is not known, and is 0 in the result.
    fn of_key(sums: &Sums<T>, key: usize) -> Self {
        Self {
            products: sums.product_sum(XY, key),
            weights: sums.sum(Y, key),
        }
    }
}

impl<T: Float> InColumns for CoMoments<T> {
    type Columns = Sums<T>;
    type Row = [i128; 9];
    const LAYOUT: Layout = Layout::of(true, &[X, XX, Errors, Y, YY, Errors, XY, Errors]);
    const VALUE: Statistic = Statistic::Covariance;
    const KIND: Kind = Kind::KeyedCoMoments;

    fn by_column<'i>(items: Self::Items<'i>) -> [&'i [T]; 2] {
        items
    }

    fn of_key(sums: &Sums<T>, key: usize) -> Self {
        Self {
            x: Moments::of_key(sums, key),
            y: Moments {
                sum: sums.sum(Y, key),
                squares: sums.product_sum(YY, key),
            },
            products: sums.product_sum(XY, key),
        }
    }
}

impl<T: Float> Keyed<Sum<T>> {
    /// Adds an item to the sum of a key.
    ///
    /// # Panics
    /// The key has no sum.
    #[inline]
    pub fn add_one(&mut self, key: usize, item: T) {
        assert!(key < self.keys(), "key {key} has no sum");
        let sums = self.columns.first_mut();
        sums.change_one(key, item.widened(), false);
    }

    /// The mean of a key's items, rounded once. `items` is the number of these items, which the caller must count. NaN if `items` is 0.
    ///
    /// # Panics
    /// The key has no sum.
    #[must_use]
    pub fn mean(&self, key: usize, items: u64) -> T {
        self.columns.totals(X).mean(key, items)
    }

    /// Sums of no items for `keys` keys, in units that suit these items. Sums in the same units are merged faster.
    #[cfg(feature = "par")]
    pub(crate) fn for_such(keys: usize, items: &[T]) -> Result<Self, LimitError> {
        let mut sums = Self::new(keys)?;
        let first = &items[..items.len().min(DECODED_ITEMS)];
        sums.columns.totals_mut(X).prepare(first);
        Ok(sums)
    }
}

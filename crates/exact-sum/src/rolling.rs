//! Computes statistics of windows that move over slices.

mod extrema;
mod index;
mod slide;
mod walk;
mod windows;

use std::cmp::Ordering;
use std::error::Error;
use std::fmt;

use simd_kernels::{DECODED_ITEMS, DecodeUnit, Level, Pair, Quiet, nearest_quotients};

use crate::number::fixed::integer_of;
use crate::number::float::Float;
use crate::number::total::{Total, short_mean};
use crate::slots::narrow::Narrow;
use crate::slots::narrow::co_moments::NarrowCoMoments;
use crate::slots::narrow::moments::NarrowMoments;
use crate::slots::narrow::powers::NarrowPowers;
use crate::slots::narrow::products::{NarrowProducts, NarrowWeighted};
use crate::statistic::{Options, Statistic};
pub use index::RollingIndex;
use walk::Walk;
pub use windows::Placement;
use windows::Windows;

/// Windows over a slice, one for each item. A window has a fixed number of items, the items in a range of an index, or all items up to
/// its own item.
///
/// Items that leave a window are removed exactly, so statistics do not drift, and an infinity, a NaN or a huge item leaves no trace.
/// ```
/// use exact_sum::{Placement, Rolling, Statistic};
///
/// let windows = Rolling::of_items(2, Placement::Trailing);
/// let of = |statistic: Statistic, columns: &[&[f64]]| {
///     windows.values(statistic, statistic.defaults(), columns)
/// };
/// let x = [1e300, 0.1, 0.2, f64::INFINITY, 0.3, 0.4];
/// let sums = of(Statistic::Sum, &[&x])?;
/// assert!(sums[0].is_nan());
/// assert_eq!(sums[2..], [0.1 + 0.2, f64::INFINITY, f64::INFINITY, 0.7]);
/// assert_eq!(of(Statistic::Covariance, &[&x, &[0.0, 0.0, 2.0, 0.0, 0.0, 0.0]])?[2], 0.1);
/// # Ok::<(), exact_sum::RollingError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Rolling {
    windows: Windows,
    least_items: usize,
    skips_nan: bool,
}

/// Why windows are invalid, or why columns do not fit them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RollingError {
    /// An index is NaN, or less than the index before it.
    Descending {
        /// The number of the index, counted from 0.
        item: usize,
    },
    /// The width is NaN, or not more than 0.
    Width,
    /// The statistic does not take this number of columns.
    Columns {
        /// The statistic.
        statistic: Statistic,
        /// The number of columns.
        found: usize,
    },
    /// A column does not have as many items as there are indices, or as the first column.
    Length {
        /// The number of the column, counted from 0.
        column: usize,
        /// The number of its items.
        found: usize,
        /// The number of indices, or of items in the first column.
        expected: usize,
    },
}

impl fmt::Display for RollingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Descending { item } => {
                write!(f, "index {item} is NaN, or less than the index before it")
            }
            Self::Width => f.write_str("the width of a window must be more than 0"),
            Self::Columns { statistic, found } => {
                let expected = statistic.inputs();
                write!(f, "`{statistic}` takes {expected} columns, not {found}")
            }
            Self::Length {
                column,
                found,
                expected,
            } => write!(f, "column {column} has {found} items instead of {expected}"),
        }
    }
}

impl Error for RollingError {}

impl Rolling {
    /// Windows of `items` items. Shorter windows, at the ends of a slice, have the value NaN unless [`least_items`](Self::least_items)
    /// allows them.
    ///
    /// # Panics
    /// `items` is 0.
    #[must_use]
    pub fn of_items(items: usize, placement: Placement) -> Self {
        assert_ne!(items, 0, "`items` must be at least 1");
        Self {
            windows: Windows::of_items(items, placement),
            least_items: items,
            skips_nan: false,
        }
    }

    /// Windows that begin at the first item and end at each item.
    #[must_use]
    pub fn expanding() -> Self {
        Self::of_items(usize::MAX, Placement::Trailing).least_items(1)
    }

    /// Windows that are ranges of an ascending index. Let t be an item's index, and i the index of any item:
    ///
    /// | placement | items in the item's window |
    /// |---|---|
    /// | trailing | the item, and earlier items with i > t - `width` |
    /// | forward | the item, and later items with i < t + `width` |
    /// | centred | the items with t - `width` / 2 < i ≤ t + `width` / 2 |
    ///
    /// Trailing and centred windows are the same as in pandas. Differences of indices neither overflow nor are rounded. For example, the
    /// exact difference of the doubles 0.44 and 0.96 is less than the double 0.52. With this width, 0.44 is in the trailing window of
    /// 0.96. An infinite index is farther from all other indices than any width.
    ///
    /// ```
    /// use exact_sum::{Placement, Rolling, Statistic};
    ///
    /// let days = [1, 2, 2, 9];
    /// let windows = Rolling::of_range(&days, 2, Placement::Trailing)?;
    /// let sums = windows.values(Statistic::Sum, Statistic::Sum.defaults(), &[&[0.5, 1.0, 2.0, 4.0]])?;
    /// assert_eq!(sums, [0.5, 1.5, 3.5, 4.0]);
    /// # Ok::<(), exact_sum::RollingError>(())
    /// ```
    ///
    /// # Errors
    /// The index descends somewhere or contains a NaN, or the width is not more than 0.
    pub fn of_range<I: RollingIndex>(
        index: &[I],
        width: I,
        placement: Placement,
    ) -> Result<Self, RollingError> {
        if !width.is_positive() {
            return Err(RollingError::Width);
        }
        let quiet = Quiet::now();
        let is_quiet = quiet.is_some();
        for (item, &at) in index.iter().enumerate() {
            if !at.is_at_least(index[item.saturating_sub(1)], is_quiet) {
                return Err(RollingError::Descending { item });
            }
        }
        let is_half = placement == Placement::Centred;
        let compare = |last: I, first: I| last.compare(first, width, is_half, is_quiet);
        let mut first = 0;
        let start = |item: usize| {
            while first < item && compare(index[item], index[first]) != Ordering::Less {
                first += 1;
            }
            first
        };
        let starts = match placement {
            Placement::Forward => (0..index.len()).collect(),
            _ => (0..index.len()).map(start).collect(),
        };
        let is_in = |order| order == Ordering::Less || is_half && order == Ordering::Equal;
        let mut end = 0;
        let end = |item: usize| {
            end = end.max(item + 1);
            while index
                .get(end)
                .is_some_and(|at| is_in(compare(*at, index[item])))
            {
                end += 1;
            }
            end
        };
        let ends = (placement != Placement::Trailing).then(|| (0..index.len()).map(end).collect());
        if let Some(quiet) = quiet {
            quiet.forget_since();
        }
        Ok(Self {
            windows: Windows::Ranges { starts, ends },
            least_items: 1,
            skips_nan: false,
        })
    }

    /// Sets the least number of items: windows of fewer items have the value NaN.
    #[must_use]
    pub fn least_items(self, items: usize) -> Self {
        Self {
            least_items: items,
            ..self
        }
    }

    /// Sets whether rows in which an item is NaN are left out. No other rows enter a window in their place.
    #[must_use]
    pub fn skip_nan(self, skips_nan: bool) -> Self {
        Self { skips_nan, ..self }
    }

    /// A statistic of each window, rounded once. `columns` has as many columns as the statistic has [inputs](Statistic::inputs). The
    /// values are those of a slot with the window's items, except that sums and means of zeros are +0.0. A window with fewer items
    /// than [`least_items`](Self::least_items), or than the statistic [needs](Statistic::least_items), has the value NaN.
    ///
    /// Moving a window by an item takes about as long for long windows as for short ones. It takes longer if the magnitude of the item
    /// differs from the magnitudes of most items by more than a factor of about 2^20.
    ///
    /// # Errors
    /// The number of columns, or the length of a column, is wrong.
    pub fn values<T: Float>(
        &self,
        statistic: Statistic,
        options: Options,
        columns: &[&[T]],
    ) -> Result<Vec<T>, RollingError> {
        if columns.len() != statistic.inputs() {
            let found = columns.len();
            return Err(RollingError::Columns { statistic, found });
        }
        let expected = self.windows.len().unwrap_or(columns[0].len());
        for (column, items) in columns.iter().enumerate() {
            if items.len() != expected {
                return Err(RollingError::Length {
                    column,
                    found: items.len(),
                    expected,
                });
            }
        }
        let is_nan = |row: usize| columns.iter().any(|column| column[row].widened().is_nan());
        let is_missing: Vec<bool> = if self.skips_nan {
            (0..expected).map(is_nan).collect()
        } else {
            Vec::new()
        };
        if is_missing.contains(&true) {
            let rows = |column: &&[T]| {
                let rows = column.iter().zip(&is_missing);
                let present = rows.filter(|(_, is_missing)| !**is_missing);
                present.map(|(item, _)| *item).collect::<Vec<T>>()
            };
            let columns: Vec<Vec<T>> = columns.iter().map(rows).collect();
            let columns: Vec<&[T]> = columns.iter().map(Vec::as_slice).collect();
            let windows = self.windows.without(&is_missing);
            return Ok(self.of(&windows, statistic, options, &columns));
        }
        Ok(self.of(&self.windows, statistic, options, columns))
    }

    /// A statistic of each window of columns that have been checked.
    fn of<T: Float>(
        &self,
        windows: &Windows,
        statistic: Statistic,
        options: Options,
        columns: &[&[T]],
    ) -> Vec<T> {
        let least = statistic.least_items(options);
        let least = usize::try_from(least).expect("4 items are always enough");
        let of = WindowStatistic {
            windows,
            least_items: self.least_items.max(least),
            statistic,
            options,
        };
        match statistic {
            Statistic::Count => of.counts(columns[0].len()),
            Statistic::Sum => of.sums(columns[0]),
            Statistic::Mean => of.means(columns[0]),
            Statistic::Minimum | Statistic::Maximum => of.extrema(columns[0]),
            Statistic::Variance | Statistic::StandardDeviation => {
                of.slide::<T, NarrowMoments, 1>(columns)
            }
            Statistic::Skewness | Statistic::Kurtosis => of.slide::<T, NarrowPowers, 1>(columns),
            Statistic::Norm => of.slide::<T, NarrowProducts, 1>(columns),
            Statistic::Dot => of.slide::<T, NarrowProducts, 2>(columns),
            Statistic::WeightedMean => of.slide::<T, NarrowWeighted, 2>(columns),
            Statistic::Covariance
            | Statistic::Correlation
            | Statistic::Slope
            | Statistic::Intercept => of.slide::<T, NarrowCoMoments, 2>(columns),
        }
    }
}

/// A statistic that is to be computed for each window.
struct WindowStatistic<'w> {
    windows: &'w Windows,
    least_items: usize,
    statistic: Statistic,
    options: Options,
}

impl WindowStatistic<'_> {
    fn slide<T: Float, N: Narrow<T, C>, const C: usize>(&self, columns: &[&[T]]) -> Vec<T> {
        let columns = columns.try_into().expect("the number of columns is right");
        slide::statistics::<T, N, C>(
            columns,
            self.windows,
            self.least_items,
            self.statistic,
            self.options,
        )
    }

    fn counts<T: Float>(&self, items: usize) -> Vec<T> {
        let mut counts = vec![0; self.windows.len().unwrap_or(items)];
        self.windows.write_counts(0, items, &mut counts);
        let value = |count: &usize| {
            if *count < self.least_items {
                T::NAN
            } else {
                T::of_integer(*count as i128, 0, false)
            }
        };
        counts.iter().map(value).collect()
    }

    fn extrema<T: Float>(&self, items: &[T]) -> Vec<T> {
        let is_greatest = self.statistic == Statistic::Maximum;
        let mut values = extrema::extrema(items, self.windows, is_greatest);
        for (window, value) in values.iter_mut().enumerate() {
            if self.windows.range(window, items.len()).len() < self.least_items {
                *value = T::NAN;
            }
        }
        values
    }

    fn sums<T: Float>(&self, items: &[T]) -> Vec<T> {
        let is_quiet = Quiet::now().is_some();
        let round = |sums: &[Pair], _: &[usize], unit: DecodeUnit, values: &mut Vec<T>| {
            T::append_rounded(sums, unit, is_quiet, values);
        };
        self.walk(items, round, |total, _| total.value())
    }

    fn means<T: Float>(&self, items: &[T]) -> Vec<T> {
        let is_quiet = Quiet::now().is_some();
        let mut doubles = [0.0; DECODED_ITEMS];
        let round = |sums: &[Pair], counts: &[usize], unit: DecodeUnit, values: &mut Vec<T>| {
            let doubles = &mut doubles[..sums.len()];
            let are_near =
                is_quiet && nearest_quotients(Level::best(), sums, counts, unit, doubles);
            if !are_near {
                doubles.fill(f64::NAN);
            }
            let sums = sums.iter().zip(counts);
            values.extend(doubles.iter().zip(sums).map(|(double, (sum, count))| {
                let exactly = || short_mean(integer_of(*sum), unit.exponent(), *count as u64);
                T::of_nearest(*double).unwrap_or_else(exactly)
            }));
        };
        self.walk(items, round, |total, count| total.mean_of(count as u64))
    }

    /// Computes the value of each window. `of_block` receives the sum and the number of items of each window in a block, and the unit, and
    /// appends the windows' values. `of_total` returns the value of a window with items that do not fit the unit.
    fn walk<T: Float>(
        &self,
        items: &[T],
        mut of_block: impl FnMut(&[Pair], &[usize], DecodeUnit, &mut Vec<T>),
        of_total: impl Fn(&Total<T::Sums>, usize) -> T,
    ) -> Vec<T> {
        let mut walk = Walk::new(items, self.windows);
        let mut sums = [[0; 2]; DECODED_ITEMS];
        let mut counts = [0; DECODED_ITEMS];
        let mut values = Vec::with_capacity(items.len());
        let mut others = Vec::new();
        while values.len() < self.windows.len().unwrap_or(items.len()) {
            let first = values.len();
            let windows = walk.next_block(&mut sums, |window, total| {
                let count = self.windows.range(first + window, items.len()).len();
                others.push((first + window, of_total(&total, count)));
            });
            let counts = &mut counts[..windows];
            self.windows.write_counts(first, items.len(), counts);
            of_block(&sums[..windows], counts, walk.unit(), &mut values);
            for (index, value) in others.drain(..) {
                values[index] = value;
            }
            if counts.iter().any(|count| *count < self.least_items) {
                for (value, count) in values[first..].iter_mut().zip(counts) {
                    if *count < self.least_items {
                        *value = T::NAN;
                    }
                }
            }
        }
        values
    }
}

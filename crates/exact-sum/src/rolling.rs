//! Sums and means of windows that move over a slice.

mod index;
mod walk;

use std::error::Error;
use std::fmt;

use simd_kernels::{DECODED_ITEMS, DecodeUnit, Level, Pair, Quiet, nearest_quotients};

use crate::number::fixed::integer_of;
use crate::number::float::Float;
use crate::number::total::{Total, short_mean};
pub use index::RollingIndex;
use walk::{Walk, Windows};

/// Windows that end at each item of a slice, and begin so many items before, or so far.
///
/// Items that leave a window are taken back exactly: sums do not drift, and what is left after an infinity, a NaN or a huge item is as if that
/// had never been there.
///
/// ```
/// use exact_sum::Rolling;
///
/// let x = [1e300, 0.1, 0.2, f64::INFINITY, 0.3, 0.4];
/// let sums = Rolling::of_items(2).sums(&x);
/// assert!(sums[0].is_nan());
/// assert_eq!(sums[2..], [0.1 + 0.2, f64::INFINITY, f64::INFINITY, 0.7]);
/// ```
#[derive(Clone, Debug)]
pub struct Rolling {
    windows: Windows,
    least_items: usize,
}

/// Windows that cannot be.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RollingError {
    /// An index is less than the one before, or NaN.
    Descending {
        /// Its number, from 0 on.
        item: usize,
    },
    /// The width is not more than 0, or NaN.
    Width,
}

impl fmt::Display for RollingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Descending { item } => {
                write!(f, "index {item} is not at least the one before")
            }
            Self::Width => f.write_str("the width of a window is not more than 0"),
        }
    }
}

impl Error for RollingError {}

impl Rolling {
    /// Windows of so many items, each with the last of them. Shorter ones, at the beginning, have no value unless
    /// [`least_items`](Self::least_items) allows it.
    ///
    /// # Panics
    /// A window has no item.
    #[must_use]
    pub fn of_items(items: usize) -> Self {
        assert_ne!(items, 0, "a window has items");
        Self {
            windows: Windows::OfItems(items),
            least_items: items,
        }
    }

    /// Windows of the items whose index is more than that of the last one less `width`. The index ascends. No difference overflows or is
    /// rounded: 0.44, 0.96 and a width of 0.52 are doubles whose exact difference is less than the width, so 0.44 is in the window of 0.96.
    /// Infinite indices are beyond any width of all but themselves.
    ///
    /// ```
    /// use exact_sum::Rolling;
    ///
    /// let days = [1, 2, 2, 9];
    /// let sums = Rolling::of_range(&days, 2)?.sums(&[0.5, 1.0, 2.0, 4.0]);
    /// assert_eq!(sums, [0.5, 1.5, 3.5, 4.0]);
    /// # Ok::<(), exact_sum::RollingError>(())
    /// ```
    ///
    /// # Errors
    /// The index does not ascend, or the width is not more than 0.
    pub fn of_range<I: RollingIndex>(index: &[I], width: I) -> Result<Self, RollingError> {
        if !width.is_positive() {
            return Err(RollingError::Width);
        }
        let quiet = Quiet::now();
        let is_quiet = quiet.is_some();
        let mut first = 0;
        let mut starts = Vec::with_capacity(index.len());
        for (item, &at) in index.iter().enumerate() {
            if !at.is_at_least(index[item.saturating_sub(1)], is_quiet) {
                return Err(RollingError::Descending { item });
            }
            while first < item && at.is_beyond(index[first], width, is_quiet) {
                first += 1;
            }
            starts.push(first);
        }
        if let Some(quiet) = quiet {
            quiet.forget_since();
        }
        Ok(Self {
            windows: Windows::From(starts),
            least_items: 1,
        })
    }

    /// Windows of fewer items have the value NaN.
    #[must_use]
    pub fn least_items(self, items: usize) -> Self {
        Self {
            least_items: items.max(1),
            ..self
        }
    }

    /// The sum of each window, rounded once. A sum of zeros is +0.0.
    ///
    /// # Panics
    /// There is another number of items than there are indices.
    #[must_use]
    pub fn sums<T: Float>(&self, items: &[T]) -> Vec<T> {
        let is_quiet = Quiet::now().is_some();
        let round = |sums: &[Pair], _: &[usize], unit: DecodeUnit, values: &mut Vec<T>| {
            T::append_rounded(sums, unit, is_quiet, values);
        };
        self.values(items, round, |total, _| total.value())
    }

    /// The mean of each window, rounded once.
    ///
    /// # Panics
    /// There is another number of items than there are indices.
    #[must_use]
    pub fn means<T: Float>(&self, items: &[T]) -> Vec<T> {
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
        self.values(items, round, |total, count| total.mean_of(count as u64))
    }

    /// The value of each window. A function appends those of a block of windows, of whose items it is given the sums, the numbers and the unit;
    /// another one tells that of a window with items that do not fit the unit.
    fn values<T: Float>(
        &self,
        items: &[T],
        mut of_block: impl FnMut(&[Pair], &[usize], DecodeUnit, &mut Vec<T>),
        of_total: impl Fn(&Total<T::Sums>, usize) -> T,
    ) -> Vec<T> {
        if let Windows::From(starts) = &self.windows {
            assert_eq!(starts.len(), items.len(), "an index for each item");
        }
        let mut walk = Walk::new(items, &self.windows);
        let mut sums = [[0; 2]; DECODED_ITEMS];
        let mut counts = [0; DECODED_ITEMS];
        let mut values = Vec::with_capacity(items.len());
        let mut others = Vec::new();
        while values.len() < items.len() {
            let first = values.len();
            let windows = walk.next_block(&mut sums, |window, total| {
                let count = self.windows.count(first + window);
                others.push((first + window, of_total(&total, count)));
            });
            let counts = &mut counts[..windows];
            self.windows.write_counts(first, counts);
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

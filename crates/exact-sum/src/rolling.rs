//! Sums and means of windows that move over a slice.

use std::error::Error;
use std::fmt;

use simd_kernels::{DECODED_ITEMS, DecodeUnit, LOWER_PLACES, Level, Pair, Quiet, decode};

use crate::fixed::Window;
use crate::float::Float;
use crate::keyed::integer_of;
use crate::total::{Total, short_mean};

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

#[derive(Clone, Debug)]
enum Windows {
    OfItems(usize),
    /// Which item is the first in the window of each.
    From(Vec<usize>),
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
}

impl fmt::Display for RollingError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Descending { item } => {
                write!(f, "index {item} is not at least the one before")
            }
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

    /// Windows of the items whose index is more than that of the last one less `width`. The index ascends.
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
    /// The index does not ascend.
    pub fn of_range<I>(index: &[I], width: I) -> Result<Self, RollingError>
    where
        I: Copy + PartialOrd + std::ops::Sub<Output = I>,
    {
        let mut first = 0;
        let mut starts = Vec::with_capacity(index.len());
        for (item, &at) in index.iter().enumerate() {
            let before = index[item.saturating_sub(1)];
            if !matches!(
                before.partial_cmp(&at),
                Some(std::cmp::Ordering::Less | std::cmp::Ordering::Equal)
            ) {
                return Err(RollingError::Descending { item });
            }
            while first < item && at - index[first] >= width {
                first += 1;
            }
            starts.push(first);
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
        let mut values = Vec::with_capacity(items.len());
        let mut others = Vec::new();
        let mut pairs = Vec::with_capacity(DECODED_ITEMS);
        let is_quiet = Quiet::now().is_some();
        self.each(items, |state, count| {
            if count < self.least_items {
                others.push((values.len() + pairs.len(), T::NAN));
            } else if state.others.items > 0 {
                others.push((values.len() + pairs.len(), state.total().value()));
            }
            pairs.push(state.pair);
            if pairs.len() == DECODED_ITEMS {
                round(&pairs, state.unit, is_quiet, &mut values);
                pairs.clear();
            }
            if values.len() + pairs.len() == items.len() {
                round(&pairs, state.unit, is_quiet, &mut values);
            }
        });
        for (index, value) in others {
            values[index] = value;
        }
        values
    }

    /// The mean of each window, rounded once.
    ///
    /// # Panics
    /// There is another number of items than there are indices.
    #[must_use]
    pub fn means<T: Float>(&self, items: &[T]) -> Vec<T> {
        let mut values = Vec::with_capacity(items.len());
        self.each(items, |state, count| {
            let items = count as u64;
            values.push(if count < self.least_items {
                T::NAN
            } else if state.others.items > 0 {
                state.total().mean_of(items)
            } else {
                short_mean(integer_of(state.pair), state.unit.exponent(), items)
            });
        });
        values
    }

    /// Calls a function with the sum of each window and the number of its items.
    fn each<T: Float>(&self, items: &[T], mut value: impl FnMut(&State<T::Sums>, usize)) {
        let longest = match &self.windows {
            Windows::OfItems(window) => *window,
            Windows::From(starts) => {
                assert_eq!(starts.len(), items.len(), "an index for each item");
                items.len()
            }
        };
        let unit = unit(items, longest.min(items.len()));
        let mut state = State {
            pair: [0; 2],
            unit,
            others: Others {
                items: 0,
                total: Total::ZERO,
            },
        };
        let [mut entering, mut leaving] = [Cursor::new(items, unit), Cursor::new(items, unit)];
        let mut first = 0;
        for last in 0..items.len() {
            let (pair, other) = entering.next();
            state.add(pair);
            if let Some(item) = other {
                state.others.add(item);
            }
            let start = match &self.windows {
                Windows::OfItems(window) => (last + 1).saturating_sub(*window),
                Windows::From(starts) => starts[last],
            };
            while first < start {
                let (pair, other) = leaving.next();
                state.add(pair.map(|half| -half));
                if let Some(item) = other {
                    state.others.remove(item);
                }
                first += 1;
            }
            value(&state, last + 1 - first);
        }
    }
}

/// Appends the numbers that are nearest to integers in a unit.
fn round<T: Float>(pairs: &[Pair], unit: DecodeUnit, is_quiet: bool, values: &mut Vec<T>) {
    let mut doubles = [0.0; DECODED_ITEMS];
    let doubles = &mut doubles[..pairs.len()];
    let rounded = T::of_pairs(Level::best(), pairs, unit, doubles).filter(|_| is_quiet);
    if let Some(rounded) = rounded {
        values.extend(rounded);
    } else {
        let value = |pair: &Pair| T::of_integer(integer_of(*pair), unit.exponent(), is_quiet);
        values.extend(pairs.iter().map(value));
    }
}

/// The unit in which the second half of the sum of so many of the items' pairs is below 2^62.
fn unit<T: Float>(items: &[T], longest: usize) -> DecodeUnit {
    let mut highest = -1023;
    for item in items {
        let biased = (item.widened().to_bits() >> 52 & 0x7FF) as i32;
        highest = highest.max(if biased == 0x7FF {
            -1023
        } else {
            biased - 1023
        });
    }
    let of_count = usize::BITS - longest.leading_zeros();
    // The second half of an item has as many bits as its exponent is above the lowest.
    let above = (61 - of_count.cast_signed()).clamp(0, DecodeUnit::EXPONENTS - 1);
    DecodeUnit::for_range(highest, above)
}

/// The sum of a window.
struct State<W: Window> {
    /// That of the items that fit the unit. The first half is not negative, and below 2^53.
    pair: Pair,
    unit: DecodeUnit,
    others: Others<W>,
}

/// Items that do not fit the unit.
struct Others<W: Window> {
    items: usize,
    total: Total<W>,
}

impl<W: Window> Others<W> {
    #[cold]
    fn add(&mut self, item: f64) {
        self.items += 1;
        self.total.add_one(item);
    }

    #[cold]
    fn remove(&mut self, item: f64) {
        self.items -= 1;
        self.total.remove_one(item);
    }
}

impl<W: Window> State<W> {
    #[inline(always)]
    fn add(&mut self, [lower, higher]: Pair) {
        let lower = self.pair[0] + lower;
        self.pair = [
            lower & ((1 << LOWER_PLACES) - 1),
            self.pair[1] + higher + (lower >> LOWER_PLACES),
        ];
    }

    #[cold]
    fn total(&self) -> Total<W> {
        let mut total = self.others.total;
        let integer = integer_of(self.pair);
        total.fixed.add_integer(integer, self.unit.exponent());
        total
    }
}

/// Where items enter or leave windows: a block of them as integers.
struct Cursor<'x, T> {
    rest: &'x [T],
    unit: DecodeUnit,
    /// The integers of the first items of `rest`, of which `next` have been taken.
    pairs: [Pair; DECODED_ITEMS],
    doubles: [f64; DECODED_ITEMS],
    next: usize,
    decoded: usize,
    all_fit: bool,
}

impl<'x, T: Float> Cursor<'x, T> {
    fn new(rest: &'x [T], unit: DecodeUnit) -> Self {
        Self {
            rest,
            unit,
            pairs: [[0; 2]; DECODED_ITEMS],
            doubles: [0.0; DECODED_ITEMS],
            next: 0,
            decoded: 0,
            all_fit: true,
        }
    }

    /// The next item's integer, and the item if it has none.
    #[inline(always)]
    fn next(&mut self) -> (Pair, Option<f64>) {
        if self.next == self.decoded {
            self.decode();
        }
        let at = self.next;
        self.next += 1;
        let is_other = !self.all_fit && self.unit.pair(self.doubles[at]).is_none();
        (self.pairs[at], is_other.then(|| self.doubles[at]))
    }

    #[cold]
    fn decode(&mut self) {
        let (block, rest) = self.rest.split_at(self.rest.len().min(DECODED_ITEMS));
        self.rest = rest;
        for (double, item) in self.doubles.iter_mut().zip(block) {
            *double = item.widened();
        }
        (self.next, self.decoded) = (0, block.len());
        let doubles = &self.doubles[..block.len()];
        let level = Level::best();
        self.all_fit = decode(level, doubles, self.unit, &mut self.pairs);
    }
}

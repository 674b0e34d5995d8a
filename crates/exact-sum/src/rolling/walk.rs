//! Computes the sums of successive windows.

use std::ops::Range;

use simd_kernels::{DECODED_ITEMS, DecodeUnit, LOWER_PLACES, Level, Pair, decode};

use crate::number::fixed::{FixedFormat, integer_of};
use crate::number::float::Float;
use crate::number::total::Total;
use crate::rolling::windows::{Steps, Windows};

/// A window that moves over items, and its sum.
pub(super) struct Walk<'w, T: Float> {
    items: &'w [T],
    windows: &'w Windows,
    unit: DecodeUnit,
    /// The number of the first window whose sum has not been written.
    next: usize,
    window: Range<usize>,
    /// The sum of the window's items that fit the unit. Its first half is not negative, and below 2^53.
    sum: Pair,
    others: Others<T::Sums>,
    /// A buffer for a block of items that leave the window.
    leaving: [Pair; DECODED_ITEMS],
}

/// The number and the sum of a window's items that do not fit the unit.
struct Others<W: FixedFormat> {
    items: usize,
    total: Total<W>,
}

impl<'w, T: Float> Walk<'w, T> {
    pub(super) fn new(items: &'w [T], windows: &'w Windows) -> Self {
        let mut walk = Self {
            items,
            windows,
            unit: unit(items, windows.longest(items.len())),
            next: 0,
            window: 0..0,
            sum: [0; 2],
            others: Others {
                items: 0,
                total: Total::ZERO,
            },
            leaving: [[0; 2]; DECODED_ITEMS],
        };
        walk.enter_until(windows.entered(items.len()));
        walk
    }

    pub(super) fn unit(&self) -> DecodeUnit {
        self.unit
    }

    /// Writes the sums of the next windows as integers in the unit, and returns the number of these windows. If a window has items that do
    /// not fit the unit, calls `other` with the window's index in `sums`, and its total.
    pub(super) fn next_block(
        &mut self,
        sums: &mut [Pair; DECODED_ITEMS],
        mut other: impl FnMut(usize, Total<T::Sums>),
    ) -> usize {
        let items = self.items;
        let (windows, entering, leaving) =
            match self.windows.steps(self.next, items.len(), DECODED_ITEMS) {
                Steps::Even {
                    windows,
                    entering,
                    leaving,
                } => (windows, entering, Some(leaving)),
                Steps::Entering(windows) => {
                    (windows, self.window.end..self.window.end + windows, None)
                }
                Steps::Any(windows) => (windows, 0..0, None),
            };
        let first = self.next;
        self.next += windows;
        let entering = &items[entering];
        let all_fit = decode_items(entering, self.unit, sums);
        let sums = &mut sums[..windows];
        sums[entering.len()..].fill([0; 2]);
        if let Some(leaving) = leaving.filter(|_| all_fit && self.others.items == 0) {
            let leaving = &items[leaving];
            if decode_items(leaving, self.unit, &mut self.leaving) {
                self.slide(sums);
                self.window.start += leaving.len();
                self.window.end += entering.len();
                return windows;
            }
        }
        for (number, sum) in sums.iter_mut().enumerate() {
            if let Some(item) = entering.get(number) {
                self.add(*sum);
                if !all_fit && self.unit.pair(item.widened()).is_none() {
                    self.others.add(item.widened());
                }
                self.window.end += 1;
            }
            let window = self.windows.range(first + number, items.len());
            self.enter_until(window.end);
            self.leave_until(window.start);
            *sum = self.sum;
            if self.others.items > 0 {
                other(number, self.total());
            }
        }
        windows
    }

    /// Replaces the integers of each entering item by the sum of its window. One item of `self.leaving` leaves with each step.
    #[inline(always)]
    fn slide(&mut self, entering: &mut [Pair]) {
        let mut sum = self.sum;
        for (entering, leaving) in entering.iter_mut().zip(&self.leaving) {
            sum = added(sum, [entering[0] - leaving[0], entering[1] - leaving[1]]);
            *entering = sum;
        }
        self.sum = sum;
    }

    #[inline(always)]
    fn enter_until(&mut self, end: usize) {
        while self.window.end < end {
            let item = self.items[self.window.end].widened();
            if let Some(pair) = self.unit.pair(item) {
                self.add(pair);
            } else {
                self.others.add(item);
            }
            self.window.end += 1;
        }
    }

    #[inline(always)]
    fn leave_until(&mut self, start: usize) {
        while self.window.start < start {
            let item = self.items[self.window.start].widened();
            if let Some(pair) = self.unit.pair(item) {
                self.add(pair.map(|half| -half));
            } else {
                self.others.remove(item);
            }
            self.window.start += 1;
        }
    }

    #[inline(always)]
    fn add(&mut self, pair: Pair) {
        self.sum = added(self.sum, pair);
    }

    #[cold]
    fn total(&self) -> Total<T::Sums> {
        let mut total = self.others.total;
        let integer = integer_of(self.sum);
        total.fixed.add_integer(integer, self.unit.exponent());
        total
    }
}

/// The sum of two pairs. Its first half is not negative, and below 2^53.
#[inline(always)]
fn added(sum: Pair, [lower, higher]: Pair) -> Pair {
    let lower = sum[0] + lower;
    let carry = lower >> LOWER_PLACES;
    [lower & ((1 << LOWER_PLACES) - 1), sum[1] + (higher + carry)]
}

/// Writes items as integers in a unit. Returns whether all fit.
fn decode_items<T: Float>(
    items: &[T],
    unit: DecodeUnit,
    pairs: &mut [Pair; DECODED_ITEMS],
) -> bool {
    let mut all_fit = true;
    T::in_exact_doubles(items, |doubles| {
        all_fit = decode(Level::best(), doubles, unit, pairs);
    });
    all_fit
}

/// The unit for these items. In this unit, the second half of the sum of any `longest` pairs is below 2^62.
fn unit<T: Float>(items: &[T], longest: usize) -> DecodeUnit {
    let biased = |item: &T| (item.widened().to_bits() >> 52 & 0x7FF) as i32;
    let exponent = |biased| if biased == 0x7FF { 0 } else { biased };
    let highest = items.iter().map(biased).map(exponent).max().unwrap_or(0) - 1023;
    let of_count = usize::BITS - longest.leading_zeros();
    // The second half of an item's pair has one bit for each place from the lowest exponent up to the item's exponent.
    let above = (61 - of_count.cast_signed()).clamp(0, DecodeUnit::EXPONENTS - 1);
    DecodeUnit::for_range(highest, above)
}

impl<W: FixedFormat> Others<W> {
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

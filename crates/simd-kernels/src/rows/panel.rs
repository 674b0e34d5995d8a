//! Folds rows in one pass over them, with O(log N) memory. All instruction sets use the same algorithm.
//!
//! A register holds L columns of a row, so rows are combined lane by lane without shuffles. Eight rows are combined into their ancestor three
//! levels up. A binary counter combines these ancestors, as for single values. The counter's waiting rows are in scratch memory:
//!
//! ```text
//! count of rows, in groups of 8     waiting rows in scratch         the ancestor of the next group
//!                           0b11    [0..16 rows)  [16..24 rows)     is combined with both, and replaces the first
//! ```
//!
//! Columns are processed in panels, so that the waiting rows fit into a core's own caches for any width. A group of eight rows accesses one or
//! two of the waiting rows, so a panel's row may fill L1. Narrower panels would start new streams too often.
//!
//! Rows of at most 2 L columns have [a kernel of their own](crate::rows::narrow).

use core::ops::Range;

use crate::processor::prefetch::RowsAhead;
use crate::rows::scratch::panel_columns;
use crate::sets::kernel::{For, Kernel};
use crate::sets::vector::{Combine, Proven, Vector};

/// Rows of at most this many bytes are processed [`LONG_GROUP_ROWS`] at a time, so that the counter does not dominate the time.
const LONG_GROUP_ROW_BYTES: usize = 256;

const LONG_GROUP_ROWS: usize = 64;

/// At least one row, which is longer than a register.
#[derive(Debug)]
pub(crate) struct Rows<'a, T> {
    pub(crate) width: usize,
    pub(crate) items: &'a [T],
    pub(crate) scratch: &'a mut [T],
    pub(crate) result: &'a mut [T],
}

impl<T: Copy + Default> Kernel<T> for Rows<'_, T> {
    type Output = ();

    const FOR: For = For {
        scalar: false,
        ..For::ALL
    };

    #[inline(always)]
    fn compute<V, O>(self, proven: Proven<V>)
    where
        V: Vector<Element = T>,
        O: Combine<T>,
    {
        let mut first = 0;
        while first < self.width {
            let end = self.width.min(first + panel_columns::<T>());
            let mut panel = Panel {
                width: self.width,
                columns: first..end,
                rows_count: 0,
                ahead: RowsAhead::of_bytes(self.width * size_of::<T>(), size_of_val(self.items)),
                scratch: self.scratch,
            };
            panel.add_all::<V, O>(proven, self.items);
            panel.finish::<V, O>(proven, self.result);
            first = end;
        }
    }
}

/// Some columns of all rows, and the counter of rows.
struct Panel<'a, T> {
    width: usize,
    columns: Range<usize>,
    /// The number of rows added.
    rows_count: usize,
    ahead: RowsAhead,
    /// The waiting rows, highest subtree first: one for each set bit of `rows_count`.
    scratch: &'a mut [T],
}

impl<T: Copy + Default> Panel<'_, T> {
    #[inline(always)]
    fn add_all<V, O>(&mut self, proven: Proven<V>, items: &[T])
    where
        V: Vector<Element = T>,
        O: Combine<T>,
    {
        let mut rest = items;
        if self.width <= LONG_GROUP_ROW_BYTES / size_of::<T>() {
            while rest.len() >= LONG_GROUP_ROWS * self.width {
                rest = self.add::<V, O, LONG_GROUP_ROWS>(proven, rest);
            }
        }
        while rest.len() >= 8 * self.width {
            rest = self.add::<V, O, 8>(proven, rest);
        }
        if rest.len() >= 4 * self.width {
            rest = self.add::<V, O, 4>(proven, rest);
        }
        if rest.len() >= 2 * self.width {
            rest = self.add::<V, O, 2>(proven, rest);
        }
        if !rest.is_empty() {
            self.add::<V, O, 1>(proven, rest);
        }
    }

    /// Adds the first `ROWS` rows, which are a subtree. Returns the other rows.
    #[inline(always)]
    fn add<'a, V, O, const ROWS: usize>(&mut self, proven: Proven<V>, rows: &'a [T]) -> &'a [T]
    where
        V: Vector<Element = T>,
        O: Combine<T>,
    {
        let (group, rest) = rows.split_at(ROWS * self.width);
        self.ahead.bring(group, self.width, &self.columns);
        let carries = (self.rows_count >> ROWS.ilog2()).trailing_ones() as usize;
        let place = self.rows_count.count_ones() as usize - carries;
        let stride = self.strips::<V>() * V::LANES;
        for strip in 0..self.strips::<V>() {
            let column = self.first_column::<V>(strip);
            let mut node = subtree::<V, O, ROWS>(proven, group, self.width, column);
            let in_row = strip * V::LANES;
            for waiting in (place..place + carries).rev() {
                let left = proven.load(&self.scratch[waiting * stride + in_row..]);
                node = O::lanes(proven, left, node);
            }
            proven.store_first(node, &mut self.scratch[place * stride + in_row..]);
        }
        self.rows_count += ROWS;
        rest
    }

    /// Combines the waiting rows, from right to left, into the panel's columns of the result.
    #[inline(always)]
    fn finish<V, O>(&mut self, proven: Proven<V>, result: &mut [T])
    where
        V: Vector<Element = T>,
        O: Combine<T>,
    {
        let waiting_count = self.rows_count.count_ones() as usize;
        let stride = self.strips::<V>() * V::LANES;
        for strip in 0..self.strips::<V>() {
            let in_row = strip * V::LANES;
            let mut node = proven.load(&self.scratch[(waiting_count - 1) * stride + in_row..]);
            for waiting in (0..waiting_count - 1).rev() {
                let left = proven.load(&self.scratch[waiting * stride + in_row..]);
                node = O::lanes(proven, left, node);
            }
            proven.store_first(node, &mut result[self.first_column::<V>(strip)..]);
        }
    }

    /// The number of registers that cover the columns.
    #[inline(always)]
    fn strips<V: Vector<Element = T>>(&self) -> usize {
        self.columns.len().div_ceil(V::LANES)
    }

    /// The first column of a strip. The last strip of a row ends at the end of the row, so it may recompute some columns of the
    /// strip before it.
    #[inline(always)]
    fn first_column<V: Vector<Element = T>>(&self, strip: usize) -> usize {
        let last = self.width - V::LANES;
        last.min(self.columns.start + strip * V::LANES)
    }
}

/// The tree over the first `ROWS` rows, for one register of columns that begins at `column`.
#[inline(always)]
fn subtree<V, O, const ROWS: usize>(
    proven: Proven<V>,
    rows: &[V::Element],
    width: usize,
    column: usize,
) -> V
where
    V: Vector,
    O: Combine<V::Element>,
{
    match ROWS {
        1 => proven.load_rows::<1>(rows, width, column)[0],
        2 => {
            let [a, b] = proven.load_rows::<2>(rows, width, column);
            O::lanes(proven, a, b)
        }
        4 => four::<V, O>(proven, proven.load_rows::<4>(rows, width, column)),
        8 => eight::<V, O>(proven, proven.load_rows::<8>(rows, width, column)),
        _ => {
            let group = |i: usize| {
                let registers = proven.load_rows::<8>(rows, width, column + i * 8 * width);
                eight::<V, O>(proven, registers)
            };
            let left = four::<V, O>(proven, [group(0), group(1), group(2), group(3)]);
            let right = four::<V, O>(proven, [group(4), group(5), group(6), group(7)]);
            O::lanes(proven, left, right)
        }
    }
}

/// Two levels of the tree, lane by lane.
#[inline(always)]
pub(crate) fn four<V: Vector, O: Combine<V::Element>>(
    proven: Proven<V>,
    [a, b, c, d]: [V; 4],
) -> V {
    let (left, right) = (O::lanes(proven, a, b), O::lanes(proven, c, d));
    O::lanes(proven, left, right)
}

/// Three levels of the tree, lane by lane.
#[inline(always)]
pub(crate) fn eight<V: Vector, O: Combine<V::Element>>(
    proven: Proven<V>,
    [a, b, c, d, e, f, g, h]: [V; 8],
) -> V {
    let left = four::<V, O>(proven, [a, b, c, d]);
    let right = four::<V, O>(proven, [e, f, g, h]);
    O::lanes(proven, left, right)
}

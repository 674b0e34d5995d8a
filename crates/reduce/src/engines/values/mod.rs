//! What engines know about items: their size, and the operator that combines them. Engines work on bytes, so they are compiled once, not
//! for each type of item.

mod typed;
mod words;

use std::alloc::Layout;

use bytemuck::Pod;

pub(crate) use self::typed::Typed;
pub(crate) use self::words::Words;
use super::scheduled::program::Combine;
use crate::operator::PlainFold;

/// Reductions of items of one type by one operator; the items are passed as bytes. Slices are aligned for the type unless stated otherwise;
/// lengths and offsets are in bytes.
pub(crate) trait Values {
    /// The size and the alignment of an item.
    fn item(&self) -> Layout;

    /// The operator's name.
    fn name(&self) -> &str;

    /// Whether the operator has an empty value, the reduction of no items.
    fn has_empty(&self) -> bool;

    /// The size of an exact sum, in bytes; `None` unless the operator is a sum of floats.
    fn exact_sum_bytes(&self) -> Option<usize>;

    /// Whether the operator is a sum of floats, so that [`fold_products`](Self::fold_products) and `write_products` may be called.
    fn has_products(&self) -> bool;

    /// Writes the reduction of all items, in canonical form. Returns `None` if there are no items.
    fn fold(&self, items: &[u8], result: &mut [u8]) -> Option<()>;

    /// A function that does the same as [`fold`](Self::fold), without `self`, if there is one.
    fn plain_fold(&self) -> Option<PlainFold>;

    /// Writes the sum of the products of two equally long slices, by [`Operator::fold_products`](crate::Operator::fold_products).
    ///
    /// # Panics
    /// If the operator is not a sum of floats.
    fn fold_products(&self, x: &[u8], y: &[u8], result: &mut [u8]);

    /// Writes the products of two equally long slices.
    ///
    /// # Panics
    /// If the operator is not a sum of floats.
    fn write_products(&self, factors: &[&[u8]; 2], products: &mut [u8]);

    /// Writes the reductions of runs of items, like [`Operator::fold_runs`](crate::Operator::fold_runs).
    fn fold_runs(&self, items: &[u8], lengths: &[usize], results: &mut [u8]);

    /// Writes the reduction of rows, like [`Operator::fold_rows`](crate::Operator::fold_rows). Writes nothing if there are no rows.
    fn fold_rows(&self, items: &[u8], row: &mut [u8]);

    /// Combines two items, which need not be aligned, and writes the result to `left`.
    fn combine(&self, left: &mut [u8], right: &[u8]);

    /// Performs the combinations of a step, one after the other.
    fn combine_all(&self, combines: &[Combine<usize>], workspace: &mut [u8]);

    /// Combines two rows into a third.
    fn combine_rows(&self, left: &[u8], right: &[u8], into: &mut [u8]);

    /// Combines two rows into a row of a result, in canonical form.
    fn combine_rows_canonical(&self, left: &[u8], right: &[u8], into: &mut [u8]);

    /// Makes each value of a row of a result canonical.
    fn make_canonical(&self, row: &mut [u8]);

    /// Copies a row to a result, in canonical form.
    fn copy_canonical(&self, row: &[u8], into: &mut [u8]);

    /// Fills a row with the reduction of no items, in canonical form.
    fn write_empty(&self, row: &mut [u8]);

    /// Scans rows of `row` bytes; the first row is item number `first_item`. `before` has the fragment of all items before that row, node
    /// by node, and need not be aligned. The result is not canonical yet.
    fn scan(
        &self,
        row: usize,
        before: &[u8],
        first_item: u64,
        rows: &[u8],
        is_exclusive: bool,
        result: &mut [u8],
    );
}

/// What callers of `fold_products` and `write_products` guarantee.
const ARE_FLOATS: &str = "the operator is a sum of floats";

/// The items that `bytes` holds. An empty slice may have any address.
pub(crate) fn typed<T: Pod>(bytes: &[u8]) -> &[T] {
    if bytes.is_empty() {
        &[]
    } else {
        bytemuck::cast_slice(bytes)
    }
}

pub(crate) fn typed_mut<T: Pod>(bytes: &mut [u8]) -> &mut [T] {
    if bytes.is_empty() {
        &mut []
    } else {
        bytemuck::cast_slice_mut(bytes)
    }
}

/// The alignment of memory for values: the size of a cache line, which is enough for all items.
const ALIGNMENT: usize = 64;

/// Memory for values, which is aligned for all items.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    bytes: Vec<u8>,
    start: usize,
    length: usize,
}

impl Memory {
    /// `length` bytes of zeros.
    pub(crate) fn zeroed(length: usize) -> Self {
        let bytes = vec![0; length + ALIGNMENT - 1];
        Self {
            start: bytes.as_ptr().align_offset(ALIGNMENT),
            bytes,
            length,
        }
    }

    /// Changes the length to `length` bytes, whose content is unspecified.
    pub(crate) fn resize(&mut self, length: usize) {
        if length > self.bytes.len() - self.start {
            *self = Self::zeroed(length);
        }
        self.length = length;
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[self.start..][..self.length]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..][..self.length]
    }

    pub(crate) fn copy_from(&mut self, bytes: &[u8]) {
        self.resize(bytes.len());
        self.bytes_mut().copy_from_slice(bytes);
    }
}

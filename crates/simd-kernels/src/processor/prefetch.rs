//! Decides how far ahead data is prefetched, and prefetches it.

use core::hint::black_box;
use core::ops::Range;
use core::slice::Chunks;

use crate::processor::caches::{MEMORY_BYTES, OWN_CACHE_BYTES, SHARED_CACHE_BYTES};
use crate::processor::{prefers_order, prefetch};

/// The prefetch distance from the shared cache: it hides the latency, and the prefetched lines stay in L1 until they are used.
pub(crate) const SHARED_CACHE_AHEAD_BYTES: usize = 6 << 10;

/// The prefetch distance from memory.
pub(crate) const MEMORY_AHEAD_BYTES: usize = 25 << 9;

/// How far ahead the leaves of an input are prefetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// Not at all: the input is in the core's own caches.
    Nothing,
    /// Not at all, but leaves are to be read in order: the processor's own prefetcher is faster.
    InOrder,
    /// Far enough to hide the latency of the shared cache.
    SharedCache,
    /// Far enough to hide the latency of memory.
    Memory,
}

impl Ahead {
    /// The distance for an input of `bytes` bytes.
    #[must_use]
    #[inline(always)]
    pub fn of_bytes(bytes: usize) -> Self {
        if bytes < OWN_CACHE_BYTES {
            Self::Nothing
        } else {
            Self::of_many_bytes(bytes)
        }
    }

    /// Like [`of_bytes`](Self::of_bytes), but for a fold in registers of `register_bytes` bytes. Other work may have evicted even an input
    /// that fits the core's own caches. Reading the input in order is then faster, and for large inputs hardly slower even if they are
    /// still cached.
    #[inline(always)]
    pub(crate) fn of_fold(bytes: usize, register_bytes: usize) -> Self {
        let in_order_bytes = if register_bytes == 32 {
            1 << 18
        } else {
            3 << 18
        };
        if bytes < in_order_bytes {
            Self::Nothing
        } else {
            Self::of_many_bytes(bytes)
        }
    }

    /// The distance for inputs that are not short. This function is not inlined, so that calls with short inputs do not load its code.
    #[inline(never)]
    fn of_many_bytes(bytes: usize) -> Self {
        match bytes {
            _ if prefers_order() => Self::InOrder,
            ..OWN_CACHE_BYTES => Self::Nothing,
            OWN_CACHE_BYTES..SHARED_CACHE_BYTES => Self::SharedCache,
            _ => Self::Memory,
        }
    }

    /// The distance in bytes; 0 for no prefetch.
    #[inline]
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Nothing | Self::InOrder => 0,
            Self::SharedCache => SHARED_CACHE_AHEAD_BYTES,
            Self::Memory => MEMORY_AHEAD_BYTES,
        }
    }
}

/// For inputs of at least this size, the beginnings of long rows are prefetched.
const PREFETCH_STREAMS_FROM_BYTES: usize = 1 << 22;

/// Rows longer than this are separate streams, which the processor's prefetcher follows once they have begun.
const STREAM_BYTES: usize = 1 << 12;

/// The number of bytes prefetched at the beginning of a stream.
const STREAM_BEGIN_BYTES: usize = 512;

/// How a group of rows is brought into the core's own caches before the rows are read in parallel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowsAhead {
    /// Not at all: the rows are in the caches.
    Nothing,
    /// Short rows are contiguous, so all lines at a fixed distance are prefetched.
    Lines,
    /// Short rows, where the processor's own prefetcher is faster: reads a word of each line, in the order of addresses.
    InOrder,
    /// Long rows: prefetches the beginning of the same columns in each row of the next group.
    Beginnings,
}

impl RowsAhead {
    /// The choice for rows of `row_bytes` bytes each and `all_bytes` in total.
    #[inline]
    pub(crate) fn of_bytes(row_bytes: usize, all_bytes: usize) -> Self {
        match (row_bytes > STREAM_BYTES, all_bytes) {
            (true, PREFETCH_STREAMS_FROM_BYTES..) => Self::Beginnings,
            (false, MEMORY_BYTES..) if prefers_order() => Self::InOrder,
            (false, MEMORY_BYTES..) => Self::Lines,
            _ => Self::Nothing,
        }
    }

    /// Prefetches a group of rows, or reads it in order. Call this before reading `columns` of the group.
    #[inline(always)]
    pub(crate) fn bring<T: Copy>(self, rows: &[T], width: usize, columns: &Range<usize>) {
        match self {
            Self::Nothing => {}
            Self::Lines => prefetch_lines(rows, MEMORY_AHEAD_BYTES.max(size_of_val(rows))),
            Self::InOrder => {
                for line in lines(rows) {
                    black_box(line[0]);
                }
            }
            Self::Beginnings => {
                let begin = columns.len().min(STREAM_BEGIN_BYTES / size_of::<T>());
                for row in rows.chunks_exact(width) {
                    prefetch_lines(&row[columns.start..][..begin], size_of_val(rows));
                }
            }
        }
    }
}

/// Prefetches an item of a slice into the L1 cache. The index may be out of bounds.
#[inline(always)]
pub fn prefetch_item<T>(items: &[T], index: usize) {
    prefetch(items.as_ptr().wrapping_add(index));
}

/// Prefetches the memory that follows a slice, as many bytes as the slice has, into the L1 cache.
#[inline]
pub fn prefetch_after<T>(items: &[T]) {
    prefetch_lines(items, size_of_val(items));
}

/// Prefetches the cache lines `ahead_bytes` after these elements.
#[inline(always)]
pub(crate) fn prefetch_lines<T>(elements: &[T], ahead_bytes: usize) {
    for line in lines(elements) {
        prefetch(line.as_ptr().wrapping_byte_add(ahead_bytes));
    }
}

/// Splits elements into chunks of one cache line each.
#[inline(always)]
fn lines<T>(elements: &[T]) -> Chunks<'_, T> {
    elements.chunks((64 / size_of::<T>().max(1)).max(1))
}

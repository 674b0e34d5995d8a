//! Software prefetch.

use core::hint::black_box;
use core::ops::Range;
use core::slice::Chunks;

use crate::processor::caches::{MEMORY_BYTES, OWN_CACHE_BYTES, SHARED_CACHE_BYTES};
use crate::processor::{prefers_order, prefetch};

/// The prefetch distance from the shared cache: it hides the latency, and the prefetched lines stay in L1 until they are used.
pub(crate) const SHARED_CACHE_AHEAD_BYTES: usize = 6 << 10;

/// The prefetch distance from memory.
pub(crate) const MEMORY_AHEAD_BYTES: usize = 25 << 9;

/// How far ahead the leaves of an input of so many bytes are prefetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ahead {
    /// Not at all: the input is in the core's own caches, or the processor does better alone.
    Nothing,
    /// As far as the shared cache's latency asks for.
    SharedCache,
    /// As far as that of memory does.
    Memory,
}

impl Ahead {
    /// For an input of so many bytes.
    #[must_use]
    #[inline]
    pub fn of_bytes(bytes: usize) -> Self {
        match bytes {
            ..OWN_CACHE_BYTES => Self::Nothing,
            OWN_CACHE_BYTES..SHARED_CACHE_BYTES => Self::SharedCache,
            _ if prefers_order() => Self::Nothing,
            _ => Self::Memory,
        }
    }

    /// How many bytes; 0 if not at all.
    #[inline]
    pub(crate) fn bytes(self) -> usize {
        match self {
            Self::Nothing => 0,
            Self::SharedCache => SHARED_CACHE_AHEAD_BYTES,
            Self::Memory => MEMORY_AHEAD_BYTES,
        }
    }
}

/// From so many bytes on, the beginnings of long rows are prefetched.
const PREFETCH_STREAMS_FROM_BYTES: usize = 1 << 22;

/// Longer rows are so many streams, which the processor follows once they have begun.
const STREAM_BYTES: usize = 1 << 12;

/// The bytes at the beginning of such a stream that are prefetched.
const STREAM_BEGIN_BYTES: usize = 512;

/// How rows are brought into the core's own caches before they are read side by side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowsAhead {
    /// Not at all: the caches have them.
    Nothing,
    /// Short rows follow each other, so all lines at a fixed distance are prefetched.
    Lines,
    /// Short rows, where the processor's own prefetcher does better: a word of each line is read, in the order of their addresses.
    InOrder,
    /// Of long rows, the beginnings of the same columns of the next rows are prefetched, as many as there are in the group.
    Beginnings,
}

impl RowsAhead {
    /// For rows of `row_bytes` bytes, `all_bytes` together.
    #[inline]
    pub(crate) fn of_bytes(row_bytes: usize, all_bytes: usize) -> Self {
        match (row_bytes > STREAM_BYTES, all_bytes) {
            (true, PREFETCH_STREAMS_FROM_BYTES..) => Self::Beginnings,
            (false, MEMORY_BYTES..) if prefers_order() => Self::InOrder,
            (false, MEMORY_BYTES..) => Self::Lines,
            _ => Self::Nothing,
        }
    }

    /// Before these columns of a group of rows are read, of which there are more behind.
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

/// Brings an item of a slice into the nearest cache. There need be no such item.
#[inline(always)]
pub fn prefetch_item<T>(items: &[T], index: usize) {
    prefetch(items.as_ptr().wrapping_add(index));
}

/// Brings what follows a slice in memory, as many bytes as it has, into the nearest cache.
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

/// As many elements at a time as a cache line has.
#[inline(always)]
fn lines<T>(elements: &[T]) -> Chunks<'_, T> {
    elements.chunks((64 / size_of::<T>().max(1)).max(1))
}

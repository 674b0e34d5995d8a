//! Defines how the leaves of a block are read: by columns, or in the order of addresses.

use crate::processor::prefetch::{MEMORY_AHEAD_BYTES, SHARED_CACHE_AHEAD_BYTES};

/// A way of reading leaves: the order, and the prefetch distance.
pub(crate) trait Reading {
    /// Whether the parts of a block are read in the order of addresses, which prefetchers follow.
    const IN_ORDER: bool;

    /// The prefetch distance in bytes; 0 for no prefetch.
    const AHEAD_BYTES: usize;
}

/// Reads by columns, which needs the least arithmetic. Used for leaves in the core's own caches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByColumns;

impl Reading for ByColumns {
    const IN_ORDER: bool = false;
    const AHEAD_BYTES: usize = 0;
}

/// Reads in order, without software prefetches.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InOrder;

impl Reading for InOrder {
    const IN_ORDER: bool = true;
    const AHEAD_BYTES: usize = 0;
}

/// Reads in order, with prefetches `AHEAD_BYTES` ahead.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prefetching<const AHEAD_BYTES: usize>;

impl<const AHEAD_BYTES: usize> Reading for Prefetching<AHEAD_BYTES> {
    const IN_ORDER: bool = true;
    const AHEAD_BYTES: usize = AHEAD_BYTES;
}

/// Reading from the shared cache.
pub(crate) type FromSharedCache = Prefetching<SHARED_CACHE_AHEAD_BYTES>;

/// Reading from memory.
pub(crate) type FromMemory = Prefetching<MEMORY_AHEAD_BYTES>;

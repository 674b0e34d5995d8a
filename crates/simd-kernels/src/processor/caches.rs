//! Lists the sizes above which inputs no longer fit into a cache.

/// Smaller inputs fit into a core's own caches, where prefetching costs more than it saves.
pub(crate) const OWN_CACHE_BYTES: usize = 1 << 20;

/// Smaller inputs fit into the shared cache, which has a lower latency than memory.
pub(crate) const SHARED_CACHE_BYTES: usize = 1 << 23;

/// Inputs of this size or more come mostly from memory.
pub(crate) const MEMORY_BYTES: usize = 1 << 24;

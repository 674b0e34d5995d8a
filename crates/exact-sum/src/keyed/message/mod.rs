//! What ranks send each other of sums by key: the terms on which they agree, and entries for what fits no row.

pub(crate) mod entry;
pub(crate) mod terms;

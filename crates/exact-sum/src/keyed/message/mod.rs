//! The messages of sums by key: the terms on which ranks agree, and entries for what does not fit the rows.

pub(crate) mod entry;
pub(crate) mod terms;

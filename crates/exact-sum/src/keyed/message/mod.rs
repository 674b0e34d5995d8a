//! The messages of sums by key: the terms on which ranks agree, and entries for numbers that do not fit the rows.

pub(crate) mod entry;
pub(crate) mod terms;

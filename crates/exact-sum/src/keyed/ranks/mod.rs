//! Sums by key between ranks: rows of integers, and entries beside them.

pub(crate) mod entry;
pub(crate) mod rows;
#[doc(hidden)]
pub mod sparse;
pub(crate) mod terms;
#[doc(hidden)]
pub mod wire;

//! Sums by key between ranks: rows of integers, and entries beside them.

#[doc(hidden)]
pub mod sparse;
#[doc(hidden)]
pub mod wire;

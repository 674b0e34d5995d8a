//! Sums by key between ranks: rows of integers, and entries for what does not fit them.

#[doc(hidden)]
pub mod sparse;
#[doc(hidden)]
pub mod wire;

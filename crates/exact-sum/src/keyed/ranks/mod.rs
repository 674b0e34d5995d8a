//! The exchange of sums by key between ranks: rows of integers, and entries for numbers that do not fit them.

#[doc(hidden)]
pub mod sparse;
#[doc(hidden)]
pub mod wire;

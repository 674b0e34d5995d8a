//! Exchanges sums by key between ranks, as rows of integers and as entries for numbers that do not fit the rows.

#[doc(hidden)]
pub mod sparse;
#[doc(hidden)]
pub mod wire;

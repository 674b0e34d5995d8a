#![doc = include_str!("../README.md")]
//!
//! | type | holds |
//! |---|---|
//! | [`Sum`] | the sum of items, or of their magnitudes |
//! | [`ComplexSum`] | the sums of the two parts of complex items |
//! | [`ProductSum`] | a dot product, or a sum of squares |
//! | [`ComplexProductSum`] | a dot product of complex items |
//!
//! All levels give the same values: they differ only in speed.

mod blocks;
mod complex;
mod counters;
mod fixed;
mod float;
mod product_sum;
mod round;
mod sum;

pub use complex::{ComplexProductSum, ComplexSum};
pub use float::Float;
pub use product_sum::ProductSum;
pub use sum::Sum;

//! Implements fixed-point numbers that hold any sum of floats, splits items into them, and rounds them.

pub(crate) mod blocks;
pub(crate) mod convert;
pub(crate) mod counters;
pub(crate) mod destination;
pub(crate) mod divisor;
pub(crate) mod fixed;
pub(crate) mod float;
pub(crate) mod near;
pub(crate) mod products;
pub(crate) mod round;
pub(crate) mod scaled;
pub(crate) mod split_method;
pub(crate) mod total;
pub(crate) mod wide;

//! What is held of some items: a sum, products, moments, a weighted mean.

pub(crate) mod accumulator;
pub(crate) mod co_moments;
pub(crate) mod complex;
pub(crate) mod integers;
pub(crate) mod moments;
pub(crate) mod powers;
pub(crate) mod product_sum;
pub(crate) mod rows;
pub(crate) mod short;
pub(crate) mod sum;
pub(crate) mod weighted;

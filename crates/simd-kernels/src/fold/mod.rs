//! Folds items in tree order.

pub(crate) mod block;
pub(crate) mod counter;
pub(crate) mod definition;
pub(crate) mod few;
pub(crate) mod fused;
pub(crate) mod level_by_level;
pub(crate) mod merge;
pub(crate) mod powers;
pub(crate) mod reading;
pub(crate) mod runs;
pub(crate) mod slice;
pub(crate) mod source;
pub(crate) mod stream;

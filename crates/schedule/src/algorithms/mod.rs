//! The algorithms, one module each, with a drawing and the numbers of rounds and messages.
//!
//! Each function here computes one position's steps, from p and the position alone. It returns a lazy iterator, so the steps of
//! one position among a million cost no more than that position's messages.

pub(crate) mod binomial;
pub(crate) mod bruck;
pub(crate) mod circulant;
pub(crate) mod direct;
pub(crate) mod dissemination;
pub(crate) mod hierarchical;
pub(crate) mod pairwise_exchange;
pub(crate) mod pipeline;
pub(crate) mod rabenseifner;
pub(crate) mod recursive_doubling;
pub(crate) mod reduce_scatter_gather;
pub(crate) mod ring;
pub(crate) mod two_tree;

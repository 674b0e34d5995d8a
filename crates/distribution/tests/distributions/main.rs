//! Tests of distributions and ownerships.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]
#![allow(
    clippy::single_range_in_vec_init,
    reason = "a rank may own a list of one range"
)]

mod common;
mod critical_path;
mod explicit;
mod large;
mod ownership;
mod published;
mod rebalance;
mod score_optimal;
mod small;

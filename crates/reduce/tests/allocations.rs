//! A run of a plan allocates nothing, on threads.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

mod counting;

use counting::{allocations, runs_allocate_nothing};
use reduce::threads::run;

#[test]
fn the_counter_counts() {
    let before = allocations();
    drop(std::hint::black_box(vec![1_u8; 100]));
    assert_eq!(allocations(), before + 1);
}

#[test]
fn no_schedule_allocates() {
    for ranks in [1, 2, 5, 8] {
        run(ranks, runs_allocate_nothing).unwrap();
    }
}

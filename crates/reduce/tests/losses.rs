//! Tests that the remaining threads continue when others are lost.

#![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

#[allow(dead_code, reason = "other tests use the rest")]
mod suite;

use distribution::Rebalance;
use reduce::threads::{run, run_each, run_each_seeded, run_seeded};
use reduce::{Algorithm, World};
use suite::losses::{Loss, MOMENTS, lose_one_after_the_other, nobody_is_lost};

/// Ranks panic or return, one after the other, until one or two ranks are left.
#[test]
fn ranks_that_are_lost() {
    let outcomes_are_right = |outcomes: &[Result<(), comm::Error>], loss| {
        // The surviving ranks have checked everything.
        let lost = outcomes.iter().filter(|outcome| outcome.is_err());
        let lost_count = if loss == Loss::Panic {
            outcomes.len() - 1
        } else {
            0
        };
        assert_eq!(lost.count(), lost_count, "{outcomes:?}");
    };
    let rules = [Rebalance::MinimalMovement, Rebalance::EvenShares];
    for ranks in [2, 3, 4, 7] {
        for algorithm in suite::faults::algorithms(ranks).chain([Algorithm::Algorithm1]) {
            for (index, moment) in MOMENTS.into_iter().enumerate() {
                for loss in [Loss::Panic, Loss::Return] {
                    let rule = rules[index % 2];
                    let body = |world: &World| {
                        lose_one_after_the_other(world, 1, algorithm, rule, moment, loss);
                    };
                    outcomes_are_right(&run_each(ranks, body).unwrap(), loss);
                    if ranks < 5 {
                        for seed in 0..3 {
                            let outcomes = run_each_seeded(ranks, seed, body).unwrap();
                            outcomes_are_right(&outcomes, loss);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn worlds_that_shrink_without_a_loss() {
    for ranks in [1, 2, 3, 5, 17] {
        run(ranks, nobody_is_lost).unwrap();
    }
    for seed in 0..20 {
        run_seeded(4, seed, nobody_is_lost).unwrap();
    }
}

//! Compares the critical path with a simulation of Algorithm 1, and the shortest path with all
//! distributions of a few items.

#![allow(clippy::float_cmp, reason = "sums of whole numbers are exact")]

use std::collections::HashMap;

use distribution::{Cost, Distribution, Error, Scheme};
use proptest::prelude::*;
use tree_index::{Tree, parent};

use super::common;

/// Whole numbers, so that every sum is exact in any order.
const COSTS: [Cost; 7] = [
    cost(281, 4),
    cost(0, 0),
    cost(0, 1),
    cost(1, 0),
    cost(1, 1),
    cost(3, 2),
    cost(2, 7),
];

const fn cost(send_ns: u32, add_ns: u32) -> Cost {
    Cost {
        send_ns: send_ns as f64,
        add_ns: add_ns as f64,
    }
}

/// Simulates one rank, which reduces node by node, left operand first, as the definition of the tree says.
struct Rank<'a> {
    distribution: &'a Distribution,
    rank: usize,
    cost: Cost,
    now_ns: f64,
    /// For each item x that a later rank sends: the time at which the value of the subtree that begins at x arrives.
    arrivals_ns: &'a HashMap<u64, f64>,
}

impl Rank<'_> {
    fn reduce(&mut self, x: u64, y: u32) {
        if self.distribution.rank_of(x) != self.rank {
            self.now_ns = self.now_ns.max(self.arrivals_ns[&x]);
        } else if y > 0 {
            let right = x + (1 << (y - 1));
            self.reduce(x, y - 1);
            if right < self.distribution.items() {
                self.reduce(right, y - 1);
                self.now_ns += self.cost.add_ns;
            }
        }
    }
}

fn by_definition(distribution: &Distribution, cost: Cost) -> f64 {
    let tree = Tree::new(distribution.items());
    let mut arrivals_ns = HashMap::new();
    for rank in (0..distribution.ranks()).rev() {
        let mut now_ns = 0.0;
        for x in distribution.range(rank) {
            let is_sent = x > 0 && distribution.rank_of(parent(x)) != rank;
            if x == 0 || is_sent {
                let arrivals_ns = &arrivals_ns;
                let mut own = Rank {
                    distribution,
                    rank,
                    cost,
                    now_ns,
                    arrivals_ns,
                };
                own.reduce(x, tree.max_y(x));
                now_ns = own.now_ns;
            }
            if is_sent {
                now_ns += cost.send_ns;
                arrivals_ns.insert(x, now_ns);
            }
            if x == 0 {
                arrivals_ns.insert(0, now_ns);
            }
        }
    }
    arrivals_ns.get(&0).copied().unwrap_or(0.0)
}

/// Every way to cut N items into at most p shares.
fn all_cuts(items: u64, ranks: usize) -> impl Iterator<Item = Distribution> {
    common::all_cuts(items, ranks).map(|starts| Distribution::from_boundaries(starts).unwrap())
}

#[test]
fn all_distributions_of_a_few_items_take_the_simulated_time() {
    for items in 1..=11 {
        for distribution in all_cuts(items, 11) {
            for cost in COSTS {
                let (expected, found) = (
                    by_definition(&distribution, cost),
                    distribution.critical_path_ns(&cost),
                );
                assert_eq!(found, expected, "{distribution:?}, {cost:?}");
            }
        }
    }
}

#[test]
fn nothing_takes_less_time_than_path_optimal() {
    for items in 1..=14 {
        for ranks in 1..=7 {
            for cost in COSTS {
                let times = all_cuts(items, ranks).map(|cut| cut.critical_path_ns(&cost));
                let least = times.fold(f64::INFINITY, f64::min);
                let optimal = Distribution::path_optimal(items, ranks, &cost).unwrap();
                let case = format!("N = {items}, p = {ranks}, {cost:?}: {optimal:?}");
                assert_eq!(optimal.critical_path_ns(&cost), least, "{case}");
            }
        }
    }
}

#[test]
fn nobody_waits_without_items_or_alone() {
    for ranks in [1, 4] {
        let nothing = Distribution::path_optimal(0, ranks, &Cost::THESIS).unwrap();
        assert_eq!(nothing.critical_path_ns(&Cost::THESIS), 0.0);
    }
    let one = Distribution::lower(u64::MAX, 1).unwrap();
    let additions_ns = (u64::MAX - 1) as f64 * Cost::THESIS.add_ns;
    assert_eq!(one.critical_path_ns(&Cost::THESIS), additions_ns);
    assert_eq!(
        Distribution::path_optimal(9, 0, &Cost::THESIS),
        Err(Error::NoRanks)
    );
    // A message costs more than all four additions, so sharing the work cannot pay.
    let dear = Distribution::path_optimal(5, 5, &Cost::THESIS).unwrap();
    assert_eq!(dear.message_count(), 0);
}

#[test]
fn figure_2_2() {
    // The values of items 6 and 8 arrive at 11 and 21. Rank 1 has sent item 3 at 10, has added 6 to 4 and 5 at 12, and has sent
    // the sum at 22. Rank 0 adds it, then 8.
    let distribution = Distribution::lower(9, 3).unwrap();
    assert_eq!(
        distribution.critical_path_ns(&cost(10, 1)),
        12.0 + 10.0 + 2.0
    );
}

#[test]
fn many_ranks() {
    let path_us = |items, ranks| {
        let optimal = Distribution::path_optimal(items, ranks, &Cost::THESIS).unwrap();
        format!("{:.2}", optimal.critical_path_ns(&Cost::THESIS) / 1000.0)
    };
    assert_eq!(path_us(504_850, 17), "124.93");
    assert_eq!(path_us(21_410_970, 1024), "89.36");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn random_distributions_take_the_simulated_time(
        counts in prop::collection::vec(0..90_u64, 1..12),
        which in 0..COSTS.len(),
    ) {
        let distribution = Distribution::from_counts(&counts).unwrap();
        let expected = by_definition(&distribution, COSTS[which]);
        prop_assert_eq!(distribution.critical_path_ns(&COSTS[which]), expected);
    }

    #[test]
    fn no_plain_distribution_takes_less_time(
        bits in any::<u64>(),
        shift in 0..64_u32,
        ranks in 1..24_usize,
    ) {
        let items = bits >> shift;
        let least_ns = path_ns(Scheme::PathOptimal, items, ranks);
        for scheme in [Scheme::Lower, Scheme::Upper, Scheme::PowerOfTwo, Scheme::Optimized] {
            let case = format!("{scheme}, N = {items}, p = {ranks}");
            prop_assert!(least_ns <= path_ns(scheme, items, ranks) * ROUNDED, "{case}");
        }
    }
}

/// `critical_path_ns` and the search for the shortest path may round differently.
const ROUNDED: f64 = 1.0 + 4.0 * f64::EPSILON;

fn path_ns(scheme: Scheme, items: u64, ranks: usize) -> f64 {
    let distribution = scheme.distribute(items, ranks).unwrap();
    distribution.critical_path_ns(&Cost::THESIS)
}

#[test]
fn no_named_distribution_takes_less_time_in_these_cases() {
    for items in [100, 4097, 504_850, 21_410_970, 1 << 40] {
        for ranks in [2, 3, 17, 64, 100] {
            let least_ns = path_ns(Scheme::PathOptimal, items, ranks);
            for &scheme in Scheme::ALL {
                let case = format!("{scheme}, N = {items}, p = {ranks}");
                assert!(
                    least_ns <= path_ns(scheme, items, ranks) * ROUNDED,
                    "{case}"
                );
            }
        }
    }
}

//! The time of Algorithm 1 against a simulation item by item, and the shortest against all
//! distributions of a few items.

use std::collections::HashMap;

use distribution::{Cost, Distribution, Error, Scheme};
use proptest::prelude::*;
use tree_index::{Tree, parent};

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

/// One rank at work: node by node, left operand first, as the tree is defined.
struct Rank<'a> {
    distribution: &'a Distribution,
    rank: usize,
    cost: Cost,
    now_ns: f64,
    /// When the value of the subtree of item x is there, for all ranks behind this one.
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
    let chosen = (0_u64..1 << (items - 1)).filter(move |c| (c.count_ones() as usize) < ranks);
    chosen.map(move |chosen| {
        let inner = (1..items).filter(|x| chosen >> (x - 1) & 1 == 1);
        let starts = [0].into_iter().chain(inner).chain([items]).collect();
        Distribution::from_boundaries(starts).unwrap()
    })
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

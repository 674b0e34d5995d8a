//! The least score, against all distributions there are where they can be tried, and against what
//! is known of it where they cannot.

use distribution::{Cost, Distribution, Error, Scheme};
use proptest::prelude::*;
use tree_index::message_count;

const fn cost(send_ns: f64, add_ns: f64) -> Cost {
    Cost { send_ns, add_ns }
}

/// From messages that cost nothing to additions that cost nothing.
const COSTS: [Cost; 9] = [
    Cost::THESIS,
    cost(0.0, 0.0),
    cost(0.0, 1.0),
    cost(1.0, 0.0),
    cost(0.01, 1.0),
    cost(0.3, 1.0),
    cost(1.0, 1.0),
    cost(1.7, 1.0),
    cost(4.0, 1.0),
];

/// What is minimal: the score, then messages, then the largest share.
type Rating = (f64, u64, u64);

fn rating(distribution: &Distribution, cost: &Cost) -> Rating {
    let counts = (0..distribution.ranks()).map(|rank| distribution.count(rank));
    let share_items_max = counts.max().unwrap();
    (
        distribution.score(cost),
        distribution.message_count(),
        share_items_max,
    )
}

/// Whether no rank is empty, or each item has a rank of its own.
fn is_busy(distribution: &Distribution) -> bool {
    let busy = (0..distribution.ranks()).filter(|&rank| distribution.count(rank) > 0);
    busy.count() as u64 == distribution.items().min(distribution.ranks() as u64)
}

/// Messages and the largest share of every way to cut N items into 1, 2, … p shares.
fn all_cuts(items: u64, ranks: usize) -> Vec<Vec<(u64, u64)>> {
    let mut cuts = vec![Vec::new(); ranks + 1];
    for chosen in 0_u64..1 << (items - 1) {
        let shares = chosen.count_ones() as usize + 1;
        if shares <= ranks {
            let inner = (1..items).filter(|x| chosen >> (x - 1) & 1 == 1);
            let starts: Vec<u64> = [0].into_iter().chain(inner).chain([items]).collect();
            let largest = starts.windows(2).map(|pair| pair[1] - pair[0]).max();
            cuts[shares].push((message_count(starts), largest.unwrap()));
        }
    }
    cuts.iter_mut().for_each(|of_some| {
        of_some.sort_unstable();
        of_some.dedup();
    });
    cuts
}

#[test]
fn no_distribution_of_a_few_items_scores_less() {
    for items in 1..=15 {
        for ranks in 1..=7 {
            let cuts = all_cuts(items, ranks);
            let owners = ranks.min(usize::try_from(items).unwrap());
            for cost in &COSTS {
                let least = |of: &[Vec<(u64, u64)>]| {
                    let ratings = of.iter().flatten().map(|&(messages, largest)| {
                        let score = messages as f64 * cost.send_ns + largest as f64 * cost.add_ns;
                        (score, messages, largest)
                    });
                    ratings.min_by(|a, b| a.partial_cmp(b).unwrap()).unwrap()
                };
                let case = format!("N = {items}, p = {ranks}, {cost:?}");
                let free = Distribution::score_optimal(items, ranks, cost).unwrap();
                assert_eq!(rating(&free, cost), least(&cuts), "{case}");
                let busy = Distribution::score_optimal_busy(items, ranks, cost).unwrap();
                assert_eq!(rating(&busy, cost), least(&cuts[owners..=owners]), "{case}");
                assert!(is_busy(&busy), "{case}");
            }
        }
    }
}

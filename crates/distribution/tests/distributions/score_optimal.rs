//! Compares the least score with the scores of all distributions of a few items. For more items, compares
//! it with shortest paths, known numbers and other schemes.

#![allow(clippy::float_cmp, reason = "both scores use one formula")]

use distribution::{Cost, Distribution, Error, Scheme};
use proptest::prelude::*;
use tree_index::message_count;

use super::common::{all_cuts, counts};

const fn cost(send_ns: f64, add_ns: f64) -> Cost {
    Cost { send_ns, add_ns }
}

/// The costs range from free messages to free additions.
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

/// The score in nanoseconds, the messages and the largest share. Ratings are compared in this order.
type Rating = (f64, u64, u64);

fn rating(distribution: &Distribution, cost: &Cost) -> Rating {
    let share_items_max = counts(distribution).into_iter().max().unwrap();
    let messages = distribution.message_count();
    (distribution.score(cost), messages, share_items_max)
}

/// Whether no rank is empty, or each item has a rank of its own.
fn is_busy(distribution: &Distribution) -> bool {
    let counts = counts(distribution);
    let busy = counts.iter().filter(|&&count| count > 0);
    busy.count() as u64 == distribution.items().min(distribution.ranks() as u64)
}

/// For each number of shares up to p, lists the messages and the largest share of every way to cut N items.
fn costs_of_cuts(items: u64, ranks: usize) -> Vec<Vec<(u64, u64)>> {
    let mut cuts = vec![Vec::new(); ranks + 1];
    for starts in all_cuts(items, ranks) {
        let largest = starts.windows(2).map(|pair| pair[1] - pair[0]).max();
        cuts[starts.len() - 1].push((message_count(starts), largest.unwrap()));
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
            let cuts = costs_of_cuts(items, ranks);
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

#[test]
fn bad_costs_are_named() {
    for wrong in [f64::NAN, f64::INFINITY, -1.0, -f64::MIN_POSITIVE] {
        for cost in [cost(wrong, 1.0), cost(1.0, wrong)] {
            for make in [
                Distribution::score_optimal,
                Distribution::score_optimal_busy,
                Distribution::path_optimal,
            ] {
                let error = make(9, 3, &cost).unwrap_err();
                assert!(matches!(error, Error::Cost { .. }));
                let message = error.to_string();
                assert!(message.contains(&format!("{wrong} ns")), "{message}");
            }
        }
    }
    let largest = cost(f64::MAX, f64::MAX);
    let one_rank = Distribution::score_optimal(9, 3, &largest).unwrap();
    assert_eq!(one_rank.message_count(), 0);
}

#[test]
fn more_ranks_than_items_get_one_each_or_none() {
    let free_messages = cost(0.0, 1.0);
    for make in [
        Distribution::score_optimal,
        Distribution::score_optimal_busy,
    ] {
        assert_eq!(counts(&make(0, 3, &Cost::THESIS).unwrap()), [0, 0, 0]);
        assert_eq!(counts(&make(1, 3, &Cost::THESIS).unwrap()), [1, 0, 0]);
        assert_eq!(
            counts(&make(3, 5, &free_messages).unwrap()),
            [1, 1, 1, 0, 0]
        );
    }
    let free = Distribution::score_optimal(3, 5, &Cost::THESIS).unwrap();
    assert_eq!(counts(&free), [3, 0, 0, 0, 0]);
    let busy = Distribution::score_optimal_busy(3, 5, &Cost::THESIS).unwrap();
    assert_eq!(counts(&busy), [1, 1, 1, 0, 0]);
}

/// Checks known numbers for many ranks, for N at which finer boundaries do not pay for their messages, and for larger N.
#[test]
fn many_ranks() {
    for (items, messages, share_items_max) in [
        (21_410_970, 653, 32_768),
        (1 << 32, 4095, 1 << 20),
        ((1 << 32) - 1, 4095, 1 << 20),
        (u64::MAX, 4095, 1 << 52),
    ] {
        let free = Distribution::score_optimal(items, 4096, &Cost::THESIS).unwrap();
        let found = rating(&free, &Cost::THESIS);
        assert_eq!(
            (found.1, found.2),
            (messages, share_items_max),
            "N = {items}"
        );
        let busy = Distribution::score_optimal_busy(items, 4096, &Cost::THESIS).unwrap();
        assert_eq!(busy.message_count(), 4095, "N = {items}");
        assert!(is_busy(&busy));
    }
    let few = Distribution::score_optimal(u64::MAX, 3, &Cost::THESIS).unwrap();
    let found = rating(&few, &Cost::THESIS);
    // A third of 2^64 - 1 is 2^62 + 2^60 + …; each bit of a boundary costs a message.
    assert!(found.2 < u64::MAX / 3 + (1 << 40), "{found:?}");
    assert_eq!(
        Distribution::score_optimal(u64::MAX, 1, &Cost::THESIS)
            .unwrap()
            .message_count(),
        0
    );
}

/// The least score, found by shortest paths from 0 to N for every limit of the largest share. Takes O(N^3 p).
fn shortest_paths(items: u64, ranks: usize, cost: &Cost) -> f64 {
    let sent = |start: u64, end| {
        let hop = |&x: &u64| Some(x + (x & x.wrapping_neg()));
        let hops = std::iter::successors(Some(start), hop);
        hops.take_while(|&x| 0 < x && x < end).count() as u64
    };
    let at = |x: u64| usize::try_from(x).unwrap();
    let mut least = f64::INFINITY;
    for share_items_max in 1..=items {
        let mut fewest = vec![u64::MAX; at(items) + 1];
        fewest[0] = 0;
        for _ in 0..ranks {
            let before = fewest.clone();
            for start in (0..items).filter(|&start| before[at(start)] < u64::MAX) {
                for end in start + 1..=items.min(start + share_items_max) {
                    let messages = before[at(start)] + sent(start, end);
                    fewest[at(end)] = fewest[at(end)].min(messages);
                }
            }
        }
        if fewest[at(items)] < u64::MAX {
            let send_ns = fewest[at(items)] as f64 * cost.send_ns;
            least = least.min(send_ns + share_items_max as f64 * cost.add_ns);
        }
    }
    least
}

fn any_cost() -> impl Strategy<Value = Cost> {
    let ratio = prop_oneof![Just(0.0), 0.01..0.5, 0.5..5.0, 5.0..100.0];
    (ratio, prop_oneof![Just(1.0), Just(1.0), Just(0.0)]).prop_map(|(send, add)| cost(send, add))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_least_score_is_the_shortest_path(
        items in 1..120_u64,
        ranks in 1..9_usize,
        cost in any_cost(),
    ) {
        let free = Distribution::score_optimal(items, ranks, &cost).unwrap();
        prop_assert_eq!(free.score(&cost), shortest_paths(items, ranks, &cost));
    }
}

proptest! {
    #[test]
    fn no_named_distribution_scores_less(
        bits in any::<u64>(),
        shift in 20..64_u32,
        ranks in 1..60_usize,
        cost in prop_oneof![Just(Cost::THESIS), any_cost()],
    ) {
        let items = bits >> shift;
        let free = Distribution::score_optimal(items, ranks, &cost).unwrap();
        let busy = Distribution::score_optimal_busy(items, ranks, &cost).unwrap();
        prop_assert!(is_busy(&busy));
        prop_assert!(free.score(&cost) <= busy.score(&cost));
        for scheme in [Scheme::Lower, Scheme::Upper, Scheme::PowerOfTwo, Scheme::Optimized] {
            let other = scheme.distribute(items, ranks).unwrap();
            prop_assert!(free.score(&cost) <= other.score(&cost), "{scheme}");
            prop_assert!(!is_busy(&other) || busy.score(&cost) <= other.score(&cost), "{scheme}");
        }
    }
}

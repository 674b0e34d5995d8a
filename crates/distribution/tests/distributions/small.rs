//! Compares distributions with the thesis' formulas, for all N <= 70 and p <= 24, including N = 0 and p > N.

use distribution::{Distribution, Scheme, lookup};

use super::common::counts as shares;

const ITEMS_MAX: u64 = 70;
const RANKS_MAX: usize = 24;

fn for_each(check: impl Fn(u64, usize)) {
    for items in 0..=ITEMS_MAX {
        for ranks in 1..=RANKS_MAX {
            check(items, ranks);
        }
    }
}

#[test]
fn ranges_tile_the_items_and_each_item_has_its_owner() {
    for_each(|items, ranks| {
        for &scheme in Scheme::ALL {
            let distribution = scheme.distribute(items, ranks).unwrap();
            let mut next = 0;
            for rank in 0..ranks {
                let range = distribution.range(rank);
                assert_eq!(range.start, next, "{scheme}, N = {items}, p = {ranks}");
                assert!(range.end >= next, "{scheme}, N = {items}, p = {ranks}");
                for item in range.clone() {
                    assert_eq!(distribution.rank_of(item), rank, "item {item}: {scheme}");
                }
                next = range.end;
            }
            assert_eq!(next, items);
            assert_eq!(distribution.start(ranks), items);
            assert!(
                distribution
                    .starts()
                    .eq((0..=ranks).map(|rank| distribution.start(rank))),
                "{scheme}"
            );
        }
    });
}

/// An α close to 1 moves starts by almost a share, even onto each other, so that ranks become empty.
#[test]
fn the_owner_is_found_between_starts_moved_by_almost_a_share() {
    for_each(|items, ranks| {
        for alpha in [0.25, 0.6, 0.99, 1.0 - f64::EPSILON / 2.0] {
            let optimized = Distribution::optimized(items, ranks, alpha).unwrap();
            let starts: Vec<_> = optimized.starts().collect();
            assert!(starts.is_sorted(), "{starts:?}");
            for item in 0..items {
                let owner = lookup::linear(&starts, item);
                assert_eq!(optimized.rank_of(item), owner, "item {item} of {starts:?}");
                assert_eq!(lookup::logarithmic(&starts, item), owner);
            }
        }
    });
}

#[test]
fn even_shares_are_those_of_equations_1_3_and_1_4() {
    for_each(|items, ranks| {
        let p = ranks as u64;
        let (a, longer) = (items / p, items % p);
        let lower = (0..p).map(|i| if i < longer { a + 1 } else { a });
        let upper = (0..p).map(|i| if i < p - longer { a } else { a + 1 });
        let distribution = Distribution::lower(items, ranks).unwrap();
        assert!(lower.eq(shares(&distribution)));
        let distribution = Distribution::upper(items, ranks).unwrap();
        assert!(upper.eq(shares(&distribution)));
    });
}

#[test]
fn power_of_two_shares_are_those_of_equation_3_8() {
    for_each(|items, ranks| {
        let shares = shares(&Distribution::power_of_two(items, ranks).unwrap());
        let (last, others) = shares.split_last().unwrap();
        let p = ranks as u64;
        if items < p {
            let owning = usize::try_from(items).unwrap();
            assert!(shares[..owning].iter().all(|&share| share == 1));
            assert!(shares[owning..].iter().all(|&share| share == 0));
        } else {
            let (share, fair) = (others.first().copied().unwrap_or(1), items / p);
            assert!(others.iter().all(|&other| other == share));
            assert!(share.is_power_of_two());
            assert!(others.is_empty() || (share <= fair && fair < 2 * share));
            assert!(*last >= share);
        }
    });
}

/// Algorithm 3 is greedy, but finds the best of all starts that eq. 3.9 allows: the start with the
/// most trailing zeros. The test computes the best start in exact arithmetic.
#[test]
fn optimized_starts_have_the_most_trailing_zeros_that_equation_3_9_allows() {
    for_each(|items, ranks| {
        let p = ranks as u64;
        let upper = Distribution::upper(items, ranks).unwrap();
        let optimized = Distribution::optimized(items, ranks, 0.25).unwrap();
        for rank in 0..ranks {
            let initial = upper.start(rank);
            let allowed = (0..=initial).filter(|start| 4 * p * (initial - start) <= items);
            let best = allowed.max_by_key(|start| start.trailing_zeros());
            assert_eq!(
                Some(optimized.start(rank)),
                best,
                "N = {items}, p = {ranks}"
            );
        }
    });
}

/// Computes the published rule in exact arithmetic: 3/4 N/p <= share before the start <= 5/4 N/p.
#[test]
fn published_starts_keep_the_share_before_them_near_the_fair_one() {
    for_each(|items, ranks| {
        let p = ranks as u64;
        let lower = Distribution::lower(items, ranks).unwrap();
        let published = Distribution::optimized_published(items, ranks, 0.25).unwrap();
        for rank in 1..ranks {
            let previous = published.start(rank - 1);
            let fits = |start: u64| {
                let share = start.saturating_sub(previous);
                start >= previous && (3 * items..=5 * items).contains(&(4 * p * share))
            };
            let mut start = lower.start(rank);
            while start > 0 && fits(start & (start - 1)) {
                start &= start - 1;
            }
            assert_eq!(published.start(rank), start, "N = {items}, p = {ranks}");
        }
    });
}

//! Checks which items change their owner after ranks are lost or join, against tables of every item's owner.

use std::ops::Range;

use distribution::{Distribution, Error, Move, Ownership, Rebalance, Source};
use proptest::prelude::*;

use super::common::any_extents;

const RULES: [Rebalance; 2] = [Rebalance::MinimalMovement, Rebalance::EvenShares];

/// The owner of every item.
fn table(ownership: &Ownership) -> Vec<usize> {
    (0..ownership.items())
        .map(|item| ownership.rank_of(item))
        .collect()
}

/// Applies the moves to a table of each item's holder, `None` if it is lost, and returns the table.
fn carried_out(before: &Ownership, ranks: &[Option<usize>], moves: &[Move]) -> Vec<Option<usize>> {
    let now = |rank: usize| ranks.iter().position(|&before| before == Some(rank));
    let before = table(before);
    let mut holders: Vec<Option<usize>> = before.iter().map(|&rank| now(rank)).collect();
    let mut behind = 0;
    for Move { from, to, items } in moves {
        assert!(
            items.start >= behind && items.start < items.end,
            "{moves:?}"
        );
        behind = items.end;
        for item in items.clone() {
            let item = usize::try_from(item).unwrap();
            match from {
                Source::Rank(rank) => assert_eq!(holders[item], Some(*rank)),
                Source::Lost(rank) => assert_eq!((holders[item], before[item]), (None, *rank)),
            }
            assert_ne!(holders[item], Some(*to), "it does not move");
            holders[item] = Some(*to);
        }
    }
    holders
}

fn check(before: &Ownership, ranks: &[Option<usize>]) {
    let gone: Vec<usize> = (0..before.ranks())
        .filter(|&rank| !ranks.contains(&Some(rank)))
        .collect();
    let lost = before.lost(&gone);
    assert!(
        lost.windows(2).all(|pair| pair[0].end < pair[1].start),
        "{lost:?}"
    );
    let owners = table(before);
    let of_gone =
        (0..before.items()).filter(|&item| gone.contains(&owners[usize::try_from(item).unwrap()]));
    assert!(lost.iter().cloned().flatten().eq(of_gone));
    for rule in RULES {
        let after = before.rebalanced(ranks, rule).unwrap();
        assert_eq!(
            (after.ownership.items(), after.ownership.ranks()),
            (before.items(), ranks.len())
        );
        // `Ownership` cannot give an item to two ranks, or to none.
        let holders = carried_out(before, ranks, &after.moves);
        assert!(
            holders
                .into_iter()
                .eq(table(&after.ownership).into_iter().map(Some))
        );
        let counts: Vec<u64> = (0..ranks.len())
            .map(|rank| after.ownership.count(rank))
            .collect();
        let (least, p) = (*counts.iter().min().unwrap(), ranks.len() as u64);
        let moved: Vec<Range<u64>> = after
            .moves
            .iter()
            .map(|moved| moved.items.clone())
            .collect();
        match rule {
            Rebalance::EvenShares => {
                let (floor, longer_count) = (before.items() / p, before.items() % p);
                assert!(
                    counts
                        .iter()
                        .all(|&count| count == floor || count == floor + 1)
                );
                let longer = counts.iter().filter(|&&count| count > floor);
                assert_eq!(longer.count() as u64, longer_count, "{counts:?}");
                assert!(after.ownership.as_distribution().is_some());
            }
            _ => {
                // A rank that got items has at most one more than the rank with the fewest.
                for (rank, count) in counts.iter().enumerate() {
                    let got = after.moves.iter().any(|moved| moved.to == rank);
                    assert!(!got || *count <= least + 1, "{counts:?}");
                    if let Some(before_rank) = ranks[rank] {
                        let kept: Vec<_> = before.extents(before_rank).flatten().collect();
                        let held: Vec<_> = after.ownership.extents(rank).flatten().collect();
                        assert!(held.starts_with(&kept), "{held:?}");
                    }
                }
                assert!(
                    after
                        .moves
                        .iter()
                        .all(|moved| matches!(moved.from, Source::Lost(_)))
                );
                assert!(
                    moved
                        .into_iter()
                        .flatten()
                        .eq(lost.iter().cloned().flatten())
                );
            }
        }
    }
}

#[test]
fn nobody_lost_and_nothing_uneven_moves_nothing() {
    for (items, ranks) in [(0, 1), (0, 4), (3, 5), (100, 7)] {
        let before = Ownership::from(Distribution::lower(items, ranks).unwrap());
        let same: Vec<_> = (0..ranks).map(Some).collect();
        for rule in RULES {
            let after = before.rebalanced(&same, rule).unwrap();
            assert_eq!(after.moves, []);
            assert_eq!(after.ownership, before);
        }
    }
}

#[test]
fn any_of_few_ranks_are_lost_or_join() {
    for ranks in 1..5_usize {
        let ownerships = [
            Ownership::from(Distribution::lower(13, ranks).unwrap()),
            Ownership::from(Distribution::power_of_two(13, ranks).unwrap()),
            Ownership::block_cyclic(13, ranks, 2).unwrap(),
        ];
        for before in &ownerships {
            for gone in 0..1_u32 << ranks {
                let left = (0..ranks).filter(|rank| gone >> rank & 1 == 0);
                let left: Vec<_> = left.map(Some).collect();
                for joined in 0..3 {
                    let mut now = left.clone();
                    now.resize(left.len() + joined, None);
                    if !now.is_empty() {
                        check(before, &now);
                        now.rotate_left(1);
                        check(before, &now);
                    }
                }
            }
        }
    }
}

#[test]
fn what_is_wrong_is_told() {
    let before = Ownership::from(Distribution::lower(10, 3).unwrap());
    for rule in RULES {
        let refusal = |ranks: &[Option<usize>]| before.rebalanced(ranks, rule).unwrap_err();
        assert_eq!(refusal(&[]), Error::NoRanks);
        let wrong = refusal(&[Some(0), Some(3)]);
        assert_eq!(wrong, Error::NoSuchRank { rank: 3, ranks: 3 });
        assert_eq!(
            wrong.to_string(),
            "no rank had the number 3: there were 3 ranks"
        );
        let wrong = refusal(&[Some(1), None, Some(1)]);
        assert_eq!(wrong, Error::TwiceARank { rank: 1 });
        assert_eq!(wrong.to_string(), "two new ranks have the old number 1");
    }
}

#[test]
fn as_many_items_as_there_can_be() {
    let before = Ownership::from(Distribution::from_counts(&[5, u64::MAX - 10, 5]).unwrap());
    let after = before
        .rebalanced(&[Some(0), None, Some(2)], Rebalance::MinimalMovement)
        .unwrap();
    let counts: Vec<u64> = (0..3).map(|rank| after.ownership.count(rank)).collect();
    assert_eq!(counts, [u64::MAX / 3; 3]);
    assert_eq!(after.moves.len(), 3);
    let even = before
        .rebalanced(&[None; 5], Rebalance::EvenShares)
        .unwrap();
    assert_eq!(even.ownership.count(4), u64::MAX / 5);
    assert_eq!(before.lost(&[0, 1, 1, 0]), [0..u64::MAX - 5]);
}

proptest! {
    /// Random ranks are lost, and others join, in random order.
    #[test]
    fn any_ownership_and_any_ranks(
        extents in any_extents(),
        now in prop::collection::vec(prop::option::weighted(0.7, 0_usize..6), 1..9),
    ) {
        let mut seen = vec![false; extents.len()];
        let now = now.into_iter().map(|before| before.filter(|&rank| !std::mem::replace(&mut seen[rank], true)));
        let now: Vec<_> = now.collect();
        check(&Ownership::from_extents(&extents).unwrap(), &now);
    }
}

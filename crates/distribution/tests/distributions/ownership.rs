//! Compares ownerships of any ranges with a table of every item's owner.

use std::ops::Range;

use distribution::{Distribution, Error, Ownership, Scheme};
use proptest::prelude::*;

use super::common::any_extents;

/// Checks all methods against `held`, the items of each rank in the order in which it holds them.
fn check(ownership: &Ownership, held: &[Vec<u64>]) {
    let items = held.iter().map(Vec::len).fold(0, |sum, count| sum + count) as u64;
    assert_eq!((ownership.items(), ownership.ranks()), (items, held.len()));
    for (rank, own) in held.iter().enumerate() {
        assert_eq!(ownership.count(rank), own.len() as u64);
        let extents: Vec<_> = ownership.extents(rank).collect();
        assert!(extents.iter().all(|extent| !extent.is_empty()));
        assert_eq!(ownership.extents_count(rank), extents.len() as u64);
        assert!(extents.into_iter().flatten().eq(own.iter().copied()));
        assert!(own.iter().all(|&item| ownership.rank_of(item) == rank));
        assert_eq!(ownership.rank_at(ownership.position_of(rank)), rank);
    }
    // Positions follow the first items; ranks without items may have any position.
    let first_items =
        (0..held.len()).map(|position| held[ownership.rank_at(position)].iter().min());
    let first_items: Vec<_> = first_items.flatten().collect();
    assert!(first_items.is_sorted(), "{first_items:?}");
    let is_one_stretch = |own: &Vec<u64>| {
        let (least, greatest) = (own.iter().min(), own.iter().max());
        own.is_sorted()
            && greatest
                .zip(least)
                .is_none_or(|(a, b)| a - b + 1 == own.len() as u64)
    };
    if ownership.is_one_stretch_each() {
        assert!(held.iter().all(is_one_stretch));
    }
    for start in 0..=held.len() {
        for end in start..=held.len() {
            let of_these = (start..end).flat_map(|position| &held[ownership.rank_at(position)]);
            let mut expected: Vec<u64> = of_these.copied().collect();
            expected.sort_unstable();
            assert!(ownership.union(start..end).flatten().eq(expected));
        }
    }
}

#[test]
fn distributions_are_ownerships() {
    for &scheme in Scheme::ALL {
        for (items, ranks) in [(0, 3), (2, 5), (100, 7)] {
            let distribution = scheme.distribute(items, ranks).unwrap();
            let held: Vec<Vec<u64>> = (0..ranks)
                .map(|rank| distribution.range(rank).collect())
                .collect();
            let ownership = Ownership::from(distribution.clone());
            check(&ownership, &held);
            assert_eq!(ownership.as_distribution(), Some(&distribution));
            assert!(ownership.is_one_stretch_each());
        }
    }
}

#[test]
fn blocks_are_dealt_out_in_turn() {
    for items in 0..40 {
        for ranks in 1..6 {
            for block_items in 1..8 {
                let mut held = vec![Vec::new(); ranks];
                for item in 0..items {
                    let block = usize::try_from(item / block_items).unwrap();
                    held[block % ranks].push(item);
                }
                check(
                    &Ownership::block_cyclic(items, ranks, block_items).unwrap(),
                    &held,
                );
            }
        }
    }
    let huge = Ownership::block_cyclic(u64::MAX, 3, 1 << 62).unwrap();
    assert_eq!(
        (0..3).map(|rank| huge.count(rank)).collect::<Vec<_>>(),
        [u64::MAX - (1 << 63), 1 << 62, 1 << 62]
    );
    for ranks in [1, 2, 3, 16] {
        let ones = Ownership::block_cyclic(u64::MAX, ranks, 1).unwrap();
        let counts = (0..ranks).map(|rank| ones.count(rank));
        assert_eq!(counts.fold(0, |sum, count| sum + count), u64::MAX);
        assert_eq!(ones.extents_count(0), u64::MAX.div_ceil(ranks as u64));
        assert_eq!(ones.block_items(), Some(1));
        // The union, which may have 2^64 - 1 ranges here, is computed lazily.
        for positions in [0..0, 0..1, ranks - 1..ranks] {
            let last = positions.end as u64;
            let first = ones.union(positions.clone()).next();
            assert_eq!(first.is_none(), positions.is_empty());
            assert!(first.is_none_or(|first| first.end == last || ranks == 1));
        }
    }
    assert_eq!(Ownership::block_cyclic(9, 0, 1), Err(Error::NoRanks));
    assert_eq!(Ownership::block_cyclic(9, 2, 0), Err(Error::EmptyBlocks));
}

#[test]
fn what_is_no_ownership_is_told_why() {
    let error =
        |extents: &[Vec<Range<u64>>]| Ownership::from_extents(extents).unwrap_err().to_string();
    assert_eq!(Ownership::from_extents(&[]), Err(Error::NoRanks));
    let wrong = error(&[vec![0..5], vec![4..6]]);
    assert_eq!(wrong, "ranks 0 and 1 both own item 4");
    let wrong = error(&[vec![3..8, 5..14], vec![0..3]]);
    assert_eq!(wrong, "two ranges of rank 0 share items 5 to 7");
    let wrong = error(&[vec![0..6, 5..7]]);
    assert_eq!(wrong, "two ranges of rank 0 share item 5");
    let wrong = error(&[vec![0..9], vec![2..5, 9..10]]);
    assert_eq!(wrong, "ranks 0 and 1 both own items 2 to 4");
    let wrong = error(&[vec![0..2], vec![], vec![4..6]]);
    assert_eq!(
        wrong,
        "no rank owns items 2 to 3; the next range belongs to rank 2"
    );
    let wrong = error(&[vec![1..2]]);
    assert_eq!(
        wrong,
        "no rank owns item 0; the next range belongs to rank 0"
    );
    for (start, end) in [(1, 0), (7, 3), (u64::MAX, 0), (u64::MAX, u64::MAX - 1)] {
        let error = Ownership::from_extents(&[vec![0..1], vec![start..end]]).unwrap_err();
        let range = start..end;
        assert_eq!(
            error.to_string(),
            format!("rank 1: range {start}..{end} ends before it starts")
        );
        assert_eq!(error, Error::Reversed { rank: 1, range });
    }
    let most = Ownership::from_extents(&[vec![1..u64::MAX], vec![0..1]]).unwrap();
    assert_eq!((most.items(), most.count(0)), (u64::MAX, u64::MAX - 1));
    assert_eq!(most.rank_of(u64::MAX - 1), 0);
    // An empty range is ignored, wherever it is.
    let empty = Ownership::from_extents(&[vec![0..3, 9..9]]).unwrap();
    assert_eq!((empty.items(), empty.extents(0).count()), (3, 1));
}

#[test]
fn only_rules_are_rules() {
    assert!(Ownership::from(Distribution::upper(10, 3).unwrap()).is_formula());
    assert!(Ownership::block_cyclic(10, 3, 2).unwrap().is_formula());
    assert!(!Ownership::from(Distribution::from_counts(&[4, 3, 3]).unwrap()).is_formula());
    assert!(!Ownership::from_extents(&[vec![]]).unwrap().is_formula());
}

proptest! {
    #[test]
    fn any_pieces_in_any_order(extents in any_extents()) {
        let held: Vec<Vec<u64>> = extents
            .iter()
            .map(|own| own.iter().cloned().flatten().collect())
            .collect();
        check(&Ownership::from_extents(&extents).unwrap(), &held);
    }
}

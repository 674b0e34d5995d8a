//! Helpers that several tests use.

use std::ops::Range;

use distribution::Distribution;
use proptest::prelude::*;

/// The number of items of each rank.
pub(crate) fn counts(distribution: &Distribution) -> Vec<u64> {
    let ranks = 0..distribution.ranks();
    ranks.map(|rank| distribution.count(rank)).collect()
}

/// The boundaries of every way to cut N items into at most p shares.
pub(crate) fn all_cuts(items: u64, ranks: usize) -> impl Iterator<Item = Vec<u64>> {
    let chosen = (0_u64..1 << (items - 1)).filter(move |c| (c.count_ones() as usize) < ranks);
    chosen.map(move |chosen| {
        let inner = (1..items).filter(|x| chosen >> (x - 1) & 1 == 1);
        [0].into_iter().chain(inner).chain([items]).collect()
    })
}

/// Cuts items into random pieces, and inserts each piece at a random place into the list of one of 6 ranks. A 7th rank may own nothing.
pub(crate) fn any_extents() -> impl Strategy<Value = Vec<Vec<Range<u64>>>> {
    let lengths = prop::collection::vec(0_u64..9, 0..14);
    let owners = prop::collection::vec((0_usize..6, any::<prop::sample::Index>()), 14);
    (lengths, owners, 6_usize..8).prop_map(|(lengths, owners, ranks)| {
        let mut extents: Vec<Vec<Range<u64>>> = vec![Vec::new(); ranks];
        let mut start = 0;
        for (length, (owner, place)) in lengths.into_iter().zip(owners) {
            let own = &mut extents[owner];
            own.insert(place.index(own.len() + 1), start..start + length);
            start += length;
        }
        extents
    })
}

//! A table of arbitrary ranges for each rank. The table is checked to give every item exactly one owner.

use std::ops::Range;

use crate::error::Error;

/// The ranges of every rank, and the rank of every range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Explicit {
    pub(crate) items: u64,
    /// For each rank, its ranges in the order in which it holds them; no range is empty.
    pub(crate) extents: Vec<Vec<Range<u64>>>,
    /// All ranges in item order, each with its owner.
    pub(crate) owners: Vec<(Range<u64>, usize)>,
    /// The ranks in the order of their first items; ranks without items come last.
    pub(crate) order: Vec<usize>,
    /// The inverse of `order`.
    pub(crate) positions: Vec<usize>,
}

impl Explicit {
    /// The start of every rank, then N; `None` unless all items are in rank order.
    pub(crate) fn boundaries(&self) -> Option<Vec<u64>> {
        let mut boundaries = vec![0];
        let mut end = 0;
        for own in &self.extents {
            for range in own {
                if range.start != end {
                    return None;
                }
                end = range.end;
            }
            boundaries.push(end);
        }
        Some(boundaries)
    }

    /// Builds the table, and checks that each of the items 0..N belongs to exactly one rank.
    pub(crate) fn new(mut extents: Vec<Vec<Range<u64>>>) -> Result<Self, Error> {
        let ranges = extents.iter().fold(0, |ranges, own| ranges + own.len());
        let mut owners = Vec::with_capacity(ranges);
        for (rank, own) in extents.iter_mut().enumerate() {
            if let Some(range) = own.iter().find(|range| range.start > range.end) {
                let range = range.clone();
                return Err(Error::Reversed { rank, range });
            }
            own.retain(|range| !range.is_empty());
            owners.extend(own.iter().map(|range| (range.clone(), rank)));
        }
        // Each rank's list is usually sorted, and a stable sort merges sorted lists fast.
        owners.sort_by_key(|(range, _)| range.start);
        let mut items = 0;
        let mut last_rank = None;
        for (range, rank) in &owners {
            if range.start > items {
                return Err(Error::Gap {
                    items: items..range.start,
                    rank: *rank,
                });
            }
            if range.start < items {
                return Err(Error::Overlap {
                    ranks: (last_rank.unwrap_or(*rank), *rank),
                    items: range.start..range.end.min(items),
                });
            }
            (items, last_rank) = (range.end, Some(*rank));
        }
        let mut order: Vec<usize> = (0..extents.len()).collect();
        let first_item = |rank: &usize| {
            let starts = extents[*rank].iter().map(|range| range.start);
            starts.min().unwrap_or(u64::MAX)
        };
        order.sort_unstable_by_key(|rank| (first_item(rank), *rank));
        let mut positions = vec![0; order.len()];
        for (position, &rank) in order.iter().enumerate() {
            positions[rank] = position;
        }
        Ok(Self {
            items,
            extents,
            owners,
            order,
            positions,
        })
    }
}

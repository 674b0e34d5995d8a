//! Any ranges for any rank: a table, and the checks that it owns each item once.

use std::ops::Range;

use crate::error::Error;

/// The ranges of every rank, and the rank of every range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Explicit {
    pub(crate) items: u64,
    /// Every rank's ranges, none empty, in its own order.
    pub(crate) extents: Vec<Vec<Range<u64>>>,
    /// All ranges in item order, each with its rank.
    pub(crate) owners: Vec<(Range<u64>, usize)>,
    /// The ranks by their first item; those without items at the end.
    pub(crate) order: Vec<usize>,
    /// The inverse of `order`.
    pub(crate) positions: Vec<usize>,
}

impl Explicit {
    /// Where each rank's items begin, and N, if the items are contiguous and in rank order.
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

    /// Checks that each of the items 0..N belongs to exactly one rank.
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
        // A stable sort merges lists that are already sorted, as most programs' are.
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

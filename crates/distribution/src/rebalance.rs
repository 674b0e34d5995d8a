//! Assigns items to new owners after ranks have failed, joined or restarted, and lists the moves of items between ranks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use crate::distribution::Distribution;
use crate::error::Error;
use crate::ownership::Ownership;

/// A rule that decides which items change their owner when the set of ranks changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rebalance {
    /// Moves only items that were lost. Each lost item goes to the rank that has the fewest items at that point, so shares become
    /// as even as possible. Ranks keep their items in the same order, and append the items that they get.
    ///
    /// A rank that has joined gets lost items like any other rank. If no items were lost, it stays empty.
    MinimalMovement,
    /// Every rank has ⌊N/p⌋ or ⌈N/p⌉ contiguous items, in rank order ([`Distribution::lower`]). Most items may move.
    EvenShares,
}

/// Where the items of a [`Move`] are before they move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// The rank with this new number has the items.
    Rank(usize),
    /// No rank has the items. The rank with this old number owned them; the program must restore a copy or compute them again.
    Lost(usize),
}

/// A range of items that changes its owner.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Move {
    /// Where the items are before the move.
    pub from: Source,
    /// The new number of the rank that owns the items after the move.
    pub to: usize,
    /// The items; the range is not empty.
    pub items: Range<u64>,
}

/// The new owners of all items, and the moves from the old owners to the new ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebalanced {
    /// Which of the new ranks owns which items.
    pub ownership: Ownership,
    /// The moves, in ascending order of their items, each with one old and one new owner. Every rank computes the same list, so
    /// each rank knows what to send and what to receive.
    pub moves: Vec<Move>,
}

impl Ownership {
    /// The items that are lost if these ranks fail, as ranges in ascending order. Adjacent ranges are joined.
    ///
    /// ```
    /// use distribution::{Distribution, Ownership};
    ///
    /// let ownership = Ownership::from(Distribution::lower(100, 5)?);
    /// assert_eq!(ownership.lost(&[1, 2, 4]), [20..60, 80..100]);
    /// # Ok::<(), distribution::Error>(())
    /// ```
    ///
    /// # Panics
    ///
    /// If one of the ranks does not exist.
    #[must_use]
    pub fn lost(&self, ranks: &[usize]) -> Vec<Range<u64>> {
        let of_these = ranks.iter().flat_map(|&rank| self.extents(rank));
        let mut ranges: Vec<_> = of_these.collect();
        ranges.sort_unstable_by_key(|range| range.start);
        let mut joined: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match joined.last_mut() {
                // A rank that is named twice adds nothing.
                Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
                _ => joined.push(range),
            }
        }
        joined
    }

    /// Assigns all items to new ranks, by a rule. `ranks` has an entry for each new rank: its old number, or `None` for a rank that
    /// has joined and owns nothing yet. Items of old ranks that are not listed are [lost](Source::Lost).
    ///
    /// Ranks 1 and 3 of four are lost; ranks 0 and 2 become ranks 0 and 1:
    ///
    /// ```
    /// use distribution::{Distribution, Move, Ownership, Rebalance, Source};
    ///
    /// let before = Ownership::from(Distribution::lower(80, 4)?);
    /// let after = before.rebalanced(&[Some(0), Some(2)], Rebalance::MinimalMovement)?;
    /// assert!(after.ownership.extents(0).eq([0..40]));
    /// assert!(after.ownership.extents(1).eq([40..80]));
    /// assert_eq!(after.moves, [
    ///     Move { from: Source::Lost(1), to: 0, items: 20..40 },
    ///     Move { from: Source::Lost(3), to: 1, items: 60..80 },
    /// ]);
    ///
    /// // Two ranks join.
    /// let grown = after.ownership.rebalanced(&[Some(0), Some(1), None, None], Rebalance::EvenShares)?;
    /// assert_eq!(grown.ownership, before);
    /// assert_eq!(grown.moves[0], Move { from: Source::Rank(0), to: 1, items: 20..40 });
    ///
    /// // All ranks are new, and read their items from files.
    /// let restarted = before.rebalanced(&[None; 3], Rebalance::EvenShares)?;
    /// assert_eq!(restarted.moves[0], Move { from: Source::Lost(0), to: 0, items: 0..20 });
    /// # Ok::<(), distribution::Error>(())
    /// ```
    ///
    /// Takes time and memory in proportion to the number of ranges on all ranks.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for an empty list, [`Error::NoSuchRank`] for an old number that no rank had, [`Error::TwiceARank`] for an
    /// old number in two entries.
    pub fn rebalanced(
        &self,
        ranks: &[Option<usize>],
        rule: Rebalance,
    ) -> Result<Rebalanced, Error> {
        let sources = self.sources(ranks)?;
        let ownership = match rule {
            Rebalance::EvenShares => Distribution::lower(self.items(), ranks.len())?.into(),
            Rebalance::MinimalMovement => self.with_lost_items_dealt_out(ranks, &sources)?,
        };
        let moves = moves(&self.owners(), &sources, &ownership);
        Ok(Rebalanced { ownership, moves })
    }

    /// For each old rank, where its items are now.
    fn sources(&self, ranks: &[Option<usize>]) -> Result<Vec<Source>, Error> {
        if ranks.is_empty() {
            return Err(Error::NoRanks);
        }
        let mut sources: Vec<Source> = (0..self.ranks()).map(Source::Lost).collect();
        for (now, before) in ranks.iter().enumerate() {
            let Some(before) = *before else { continue };
            match sources.get_mut(before) {
                None => {
                    return Err(Error::NoSuchRank {
                        rank: before,
                        ranks: self.ranks(),
                    });
                }
                Some(Source::Rank(_)) => return Err(Error::TwiceARank { rank: before }),
                Some(source) => *source = Source::Rank(now),
            }
        }
        Ok(sources)
    }

    /// All ranges in ascending order, each with its owner.
    fn owners(&self) -> Vec<(Range<u64>, usize)> {
        let of_rank = |rank| self.extents(rank).map(move |range| (range, rank));
        let mut owners: Vec<_> = (0..self.ranks()).flat_map(of_rank).collect();
        owners.sort_by_key(|(range, _)| range.start);
        owners
    }

    /// The ownership of [`Rebalance::MinimalMovement`].
    fn with_lost_items_dealt_out(
        &self,
        ranks: &[Option<usize>],
        sources: &[Source],
    ) -> Result<Self, Error> {
        let kept = |before: &Option<usize>| -> Vec<Range<u64>> {
            before.map_or(Vec::new(), |before| self.extents(before).collect())
        };
        let mut extents: Vec<Vec<Range<u64>>> = ranks.iter().map(kept).collect();
        let is_lost = |rank: &usize| matches!(sources[*rank], Source::Lost(_));
        let lost_ranks: Vec<usize> = (0..self.ranks()).filter(is_lost).collect();
        let mut lost = self.lost(&lost_ranks).into_iter();
        let lost_count = lengths(&self.lost(&lost_ranks));
        let counts: Vec<u64> = extents.iter().map(|own| lengths(own)).collect();
        let mut current = 0..0;
        for (own, mut wanted) in extents.iter_mut().zip(dealt_out(&counts, lost_count)) {
            while wanted > 0 {
                if current.is_empty() {
                    current = lost.next().expect("as many are dealt out as are lost");
                }
                let taken = wanted.min(current.end - current.start);
                own.push(current.start..current.start + taken);
                current.start += taken;
                wanted -= taken;
            }
        }
        extents.try_into()
    }
}

fn lengths(ranges: &[Range<u64>]) -> u64 {
    let lengths = ranges.iter().map(|range| range.end - range.start);
    lengths.fold(0, |sum, length| sum + length)
}

/// How many of `items` each rank gets. Each item goes to the rank with the fewest items at that point; ties go to the lowest rank.
fn dealt_out(counts: &[u64], mut items: u64) -> Vec<u64> {
    let mut got = vec![0; counts.len()];
    let ascending = counts
        .iter()
        .enumerate()
        .map(|(rank, &count)| Reverse((count, rank)));
    let mut waiting: BinaryHeap<Reverse<(u64, usize)>> = ascending.collect();
    // The ranks in `rising` have the fewest items, `level` each. They get items up to the count of the next rank, which is then added.
    let mut level = 0;
    let mut rising: Vec<usize> = Vec::new();
    while items > 0 {
        while let Some(&Reverse((count, rank))) = waiting.peek()
            && (rising.is_empty() || count == level)
        {
            level = count;
            rising.push(rank);
            waiting.pop();
        }
        let width = rising.len() as u64;
        let to_next = waiting.peek().map(|Reverse((count, _))| count - level);
        let rise = (items / width).min(to_next.unwrap_or(u64::MAX));
        if rise == 0 {
            // Fewer items are left than there are ranks in `rising`.
            rising.sort_unstable();
            let first = rising.iter().zip(0..items);
            first.for_each(|(&rank, _)| got[rank] += 1);
            return got;
        }
        rising.iter().for_each(|&rank| got[rank] += rise);
        level += rise;
        items -= rise * width;
    }
    got
}

/// The moves from the old `owners` to the owners in `after`. `sources` says where the items of each old rank are now.
fn moves(owners: &[(Range<u64>, usize)], sources: &[Source], after: &Ownership) -> Vec<Move> {
    let after = after.owners();
    let mut after = after.into_iter().peekable();
    let mut moves: Vec<Move> = Vec::new();
    for (range, rank) in owners {
        let from = sources[*rank];
        let mut start = range.start;
        while start < range.end {
            let (own, to) = after.peek().expect("both own the same items");
            let (to, end) = (*to, own.end.min(range.end));
            let is_own_end = own.end == end;
            if from != Source::Rank(to) {
                match moves.last_mut() {
                    Some(last) if (last.from, last.to, last.items.end) == (from, to, start) => {
                        last.items.end = end;
                    }
                    _ => moves.push(Move {
                        from,
                        to,
                        items: start..end,
                    }),
                }
            }
            if is_own_end {
                after.next();
            }
            start = end;
        }
    }
    moves
}

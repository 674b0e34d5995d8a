//! An ownership says which rank owns which items. The items of a rank need not be contiguous.
//!
//! Programs scatter items for good reasons: matrices are block-cyclic; a rank of a phylogenetics program owns a slice of every
//! partition. A reduction follows the order of the items' numbers, so the ownership does not change the bits of the result.

use std::ops::Range;

use crate::block_cyclic::BlockCyclic;
use crate::distribution::Distribution;
use crate::error::Error;
use crate::explicit::Explicit;

/// N items on p ranks, each of which owns a list of disjoint ranges.
///
/// RAxML-NG distributes two partitions over two ranks as follows. Rank 0 owns the end of each partition:
///
/// ```
/// use distribution::Ownership;
///
/// let ownership = Ownership::from_extents(&[
///     vec![60..100, 150..200],
///     vec![0..60, 100..150],
/// ])?;
/// assert_eq!((ownership.items(), ownership.count(0)), (200, 90));
/// assert_eq!(ownership.rank_of(99), 0);
/// // Rank 1 comes first in item order.
/// assert_eq!((ownership.rank_at(0), ownership.position_of(0)), (1, 1));
/// # Ok::<(), distribution::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ownership(OwnershipKind);

#[derive(Clone, Debug, PartialEq, Eq)]
enum OwnershipKind {
    Contiguous(Distribution),
    BlockCyclic(BlockCyclic),
    Explicit(Box<Explicit>),
}

impl From<Distribution> for Ownership {
    fn from(distribution: Distribution) -> Self {
        Self(OwnershipKind::Contiguous(distribution))
    }
}

/// Like [`Ownership::from_extents`], but keeps the given table instead of copying it.
impl TryFrom<Vec<Vec<Range<u64>>>> for Ownership {
    type Error = Error;

    fn try_from(extents: Vec<Vec<Range<u64>>>) -> Result<Self, Error> {
        if extents.is_empty() {
            return Err(Error::NoRanks);
        }
        let explicit = Explicit::new(extents)?;
        Ok(match explicit.boundaries() {
            Some(boundaries) => Distribution::from_boundaries(boundaries)?.into(),
            None => Self(OwnershipKind::Explicit(Box::new(explicit))),
        })
    }
}

impl Ownership {
    /// One item on each rank, in the order of the ranks.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0.
    pub fn one_item_each(ranks: usize) -> Result<Self, Error> {
        Distribution::lower(ranks as u64, ranks).map(Self::from)
    }

    /// Blocks of `block_items` items, dealt to the ranks round-robin; the last block may be shorter.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0, [`Error::EmptyBlocks`] for blocks of no items.
    pub fn block_cyclic(items: u64, ranks: usize, block_items: u64) -> Result<Self, Error> {
        match (ranks, block_items) {
            (0, _) => Err(Error::NoRanks),
            (_, 0) => Err(Error::EmptyBlocks),
            _ => Ok(Self(OwnershipKind::BlockCyclic(BlockCyclic {
                items,
                ranks,
                block_items,
            }))),
        }
    }

    /// The ownership in which rank i owns the ranges `extents[i]`, listed in the order in which the rank stores them. If all items
    /// are in rank order, the ownership is a contiguous [`Distribution`].
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for an empty list; [`Error::Reversed`] for a range that ends before it starts;
    /// [`Error::Overlap`] or [`Error::Gap`] unless each of the items 0..N belongs to exactly one rank.
    pub fn from_extents(extents: &[Vec<Range<u64>>]) -> Result<Self, Error> {
        extents.to_vec().try_into()
    }

    /// N, the number of items on all ranks together.
    #[must_use]
    pub fn items(&self) -> u64 {
        match &self.0 {
            OwnershipKind::Contiguous(distribution) => distribution.items(),
            OwnershipKind::BlockCyclic(cyclic) => cyclic.items,
            OwnershipKind::Explicit(explicit) => explicit.items,
        }
    }

    /// p, the number of ranks; at least one.
    #[must_use]
    pub fn ranks(&self) -> usize {
        match &self.0 {
            OwnershipKind::Contiguous(distribution) => distribution.ranks(),
            OwnershipKind::BlockCyclic(cyclic) => cyclic.ranks,
            OwnershipKind::Explicit(explicit) => explicit.extents.len(),
        }
    }

    /// The number of items that a rank owns.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    #[must_use]
    pub fn count(&self, rank: usize) -> u64 {
        match &self.0 {
            OwnershipKind::Contiguous(distribution) => distribution.count(rank),
            OwnershipKind::BlockCyclic(cyclic) => cyclic.count(rank),
            OwnershipKind::Explicit(explicit) => {
                let lengths = explicit.extents[rank]
                    .iter()
                    .map(|range| range.end - range.start);
                lengths.fold(0, |sum, length| sum + length)
            }
        }
    }

    /// The ranges that a rank owns, in the order in which it stores them. No range is empty.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    pub fn extents(&self, rank: usize) -> impl Iterator<Item = Range<u64>> {
        assert!(rank < self.ranks(), "rank {rank} >= p = {}", self.ranks());
        let (contiguous, cyclic, explicit) = match &self.0 {
            OwnershipKind::Contiguous(distribution) => (Some(distribution.range(rank)), None, None),
            OwnershipKind::BlockCyclic(cyclic) => (None, Some(cyclic.blocks(rank)), None),
            OwnershipKind::Explicit(explicit) => {
                (None, None, Some(explicit.extents[rank].iter().cloned()))
            }
        };
        contiguous
            .into_iter()
            .chain(cyclic.into_iter().flatten())
            .chain(explicit.into_iter().flatten())
            .filter(|range| !range.is_empty())
    }

    /// The number of a rank's [`extents`](Ownership::extents). Takes O(1).
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    #[must_use]
    pub fn extents_count(&self, rank: usize) -> u64 {
        match &self.0 {
            OwnershipKind::Contiguous(distribution) => u64::from(distribution.count(rank) > 0),
            OwnershipKind::BlockCyclic(cyclic) => cyclic.blocks_of(rank),
            OwnershipKind::Explicit(explicit) => explicit.extents[rank].len() as u64,
        }
    }

    /// The rank that owns an item.
    ///
    /// Takes O(1) if the ownership is a formula, otherwise O(log n) for a table of n ranks or ranges.
    ///
    /// # Panics
    ///
    /// If there is no such item.
    #[must_use]
    pub fn rank_of(&self, item: u64) -> usize {
        assert!(item < self.items(), "item {item} >= N = {}", self.items());
        match &self.0 {
            OwnershipKind::Contiguous(distribution) => distribution.rank_of(item),
            OwnershipKind::BlockCyclic(cyclic) => {
                let rank = item / cyclic.block_items % cyclic.ranks as u64;
                usize::try_from(rank).expect("a remainder is below p, a usize")
            }
            OwnershipKind::Explicit(explicit) => {
                let behind = |(range, _): &(Range<u64>, usize)| range.end <= item;
                explicit.owners[explicit.owners.partition_point(behind)].1
            }
        }
    }

    /// The number of items of a block, if the ownership is block-cyclic.
    #[must_use]
    pub fn block_items(&self) -> Option<u64> {
        match &self.0 {
            OwnershipKind::BlockCyclic(cyclic) => Some(cyclic.block_items),
            _ => None,
        }
    }

    /// The ownership as a distribution, if all items are in rank order.
    #[must_use]
    pub fn as_distribution(&self) -> Option<&Distribution> {
        match &self.0 {
            OwnershipKind::Contiguous(distribution) => Some(distribution),
            _ => None,
        }
    }

    /// Whether the ownership is a formula, which every rank can evaluate without a table.
    #[must_use]
    pub fn is_formula(&self) -> bool {
        match &self.0 {
            OwnershipKind::Contiguous(distribution) => distribution.is_formula(),
            OwnershipKind::BlockCyclic(_) => true,
            OwnershipKind::Explicit(_) => false,
        }
    }

    /// Whether every rank owns at most one range. Unless all items are in rank order, a rank's adjacent ranges count separately.
    #[must_use]
    pub fn is_one_stretch_each(&self) -> bool {
        match &self.0 {
            OwnershipKind::Contiguous(_) => true,
            OwnershipKind::BlockCyclic(cyclic) => {
                cyclic.ranks == 1
                    || cyclic.items.div_ceil(cyclic.block_items) <= cyclic.ranks as u64
            }
            OwnershipKind::Explicit(explicit) => explicit.extents.iter().all(|own| own.len() <= 1),
        }
    }

    /// The rank at a *position*. Positions number the ranks in the order of their first items; ranks without items may have any
    /// position.
    ///
    /// # Panics
    ///
    /// If there is no such position.
    #[must_use]
    pub fn rank_at(&self, position: usize) -> usize {
        assert!(
            position < self.ranks(),
            "position {position} >= p = {}",
            self.ranks()
        );
        match &self.0 {
            OwnershipKind::Explicit(explicit) => explicit.order[position],
            _ => position,
        }
    }

    /// The position of a rank, as in [`rank_at`](Ownership::rank_at).
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    #[must_use]
    pub fn position_of(&self, rank: usize) -> usize {
        assert!(rank < self.ranks(), "rank {rank} >= p = {}", self.ranks());
        match &self.0 {
            OwnershipKind::Explicit(explicit) => explicit.positions[rank],
            _ => rank,
        }
    }

    /// The items of the ranks at these [positions](Ownership::rank_at), as ranges in ascending order; a range may be adjacent to
    /// the next. If the ownership is a formula, the ranges are computed lazily.
    ///
    /// # Panics
    ///
    /// If one of the positions does not exist.
    pub fn union(&self, positions: Range<usize>) -> impl Iterator<Item = Range<u64>> {
        assert!(
            positions.end <= self.ranks(),
            "positions {positions:?} of {} ranks",
            self.ranks()
        );
        let (contiguous, cyclic, explicit) = match &self.0 {
            OwnershipKind::Contiguous(distribution) => {
                let whole = distribution.start(positions.start)..distribution.start(positions.end);
                (Some(whole), None, Vec::new())
            }
            _ if positions == (0..self.ranks()) => (Some(0..self.items()), None, Vec::new()),
            OwnershipKind::BlockCyclic(cyclic) => (None, Some(cyclic.union(positions)), Vec::new()),
            OwnershipKind::Explicit(explicit) => {
                let of_these = positions.flat_map(|position| {
                    explicit.extents[explicit.order[position]].iter().cloned()
                });
                let mut ranges: Vec<_> = of_these.collect();
                ranges.sort_unstable_by_key(|range| range.start);
                (None, None, ranges)
            }
        };
        contiguous
            .into_iter()
            .chain(cyclic.into_iter().flatten())
            .chain(explicit)
    }
}

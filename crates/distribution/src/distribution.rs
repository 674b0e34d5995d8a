//! Distributions, which give every rank contiguous items.
//!
//! A regular distribution follows a formula, so a million ranks need no table. Irregular boundaries are stored in a table.

use std::ops::Range;

use crate::cost::Cost;
use crate::error::Error;
use crate::even::Even;
use crate::optimized::Optimized;
use crate::{critical_path, lookup};

/// N items on p ranks: rank i owns the items start(i)..start(i + 1), and starts never decrease from rank to rank.
///
/// Two distributions are equal if they give every rank the same items, whatever their rules.
///
/// ```
/// use distribution::Distribution;
///
/// let thirds = Distribution::lower(10, 3)?;
/// assert_eq!(thirds.range(0), 0..4);
/// assert_eq!(thirds.range(2), 7..10);
/// assert_eq!(thirds.rank_of(6), 1);
/// assert_eq!(thirds, Distribution::from_counts(&[4, 3, 3])?);
/// # Ok::<(), distribution::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Distribution {
    pub(crate) items: u64,
    pub(crate) ranks: usize,
    pub(crate) rule: Rule,
}

/// How the start of each rank is computed.
#[derive(Clone, Debug)]
pub(crate) enum Rule {
    Lower(Even),
    Upper(Even),
    PowerOfTwo {
        share_items: u64,
    },
    Optimized(Optimized),
    /// The start of every rank, then N.
    Boundaries(Vec<u64>),
}

impl Distribution {
    /// The distribution in which rank i owns `counts[i]` items.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] if there are no counts, [`Error::TooManyItems`] if their sum overflows a `u64`.
    pub fn from_counts(counts: &[u64]) -> Result<Self, Error> {
        let mut boundaries = vec![0];
        let mut items = 0_u64;
        for (rank, &count) in counts.iter().enumerate() {
            let sum = items.checked_add(count);
            items = sum.ok_or(Error::TooManyItems { rank })?;
            boundaries.push(items);
        }
        Self::from_boundaries(boundaries)
    }

    /// The distribution in which rank i owns the items `boundaries[i]..boundaries[i + 1]`. The p + 1 boundaries begin with 0, end
    /// with N, and do not decrease.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for fewer than two values, [`Error::FirstStart`] unless the first is 0, [`Error::Decreasing`] for a
    /// value that is less than the one before it.
    pub fn from_boundaries(boundaries: Vec<u64>) -> Result<Self, Error> {
        let [start, .., items] = boundaries[..] else {
            return Err(Error::NoRanks);
        };
        if start > 0 {
            return Err(Error::FirstStart { start });
        }
        for (rank, pair) in boundaries.windows(2).enumerate() {
            let (start, end) = (pair[0], pair[1]);
            if start > end {
                return Err(Error::Decreasing { rank, start, end });
            }
        }
        let ranks = boundaries.len() - 1;
        let rule = Rule::Boundaries(boundaries);
        Ok(Self { items, ranks, rule })
    }

    /// N, the number of items on all ranks together.
    #[must_use]
    pub fn items(&self) -> u64 {
        self.items
    }

    /// p, the number of ranks; at least one.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// The first item of a rank (thesis, eq. 3.3); N for `rank` = p.
    ///
    /// # Panics
    ///
    /// If `rank` > p.
    #[must_use]
    pub fn start(&self, rank: usize) -> u64 {
        assert!(rank <= self.ranks, "rank {rank} > p = {}", self.ranks);
        let i = rank as u64;
        match &self.rule {
            Rule::Lower(even) => even.lower_start(i),
            Rule::Upper(even) => even.upper_start(i),
            Rule::PowerOfTwo { .. } if rank == self.ranks => self.items,
            Rule::PowerOfTwo { share_items } => (i * share_items).min(self.items),
            Rule::Optimized(optimized) => optimized.start(i),
            Rule::Boundaries(boundaries) => boundaries[rank],
        }
    }

    /// Whether the starts follow a formula, which every rank can evaluate without a table.
    #[must_use]
    pub fn is_formula(&self) -> bool {
        !matches!(self.rule, Rule::Boundaries(_))
    }

    /// The items that a rank owns.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    #[must_use]
    pub fn range(&self, rank: usize) -> Range<u64> {
        assert!(rank < self.ranks, "rank {rank} >= p = {}", self.ranks);
        self.start(rank)..self.start(rank + 1)
    }

    /// The number of items that a rank owns.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    #[must_use]
    pub fn count(&self, rank: usize) -> u64 {
        let Range { start, end } = self.range(rank);
        end - start
    }

    /// The start of every rank, then N: p + 1 values, as [`Distribution::from_boundaries`] takes them.
    pub fn starts(&self) -> impl Iterator<Item = u64> {
        (0..=self.ranks).map(|rank| self.start(rank))
    }

    /// The rank that owns an item (thesis, eq. 3.4).
    ///
    /// Takes O(1) if the starts [follow a formula](Self::is_formula), and otherwise O(log p). The starts are in a table if the
    /// distribution was made from counts or boundaries, or is optimized-published, score-optimal or path-optimal.
    ///
    /// # Panics
    ///
    /// If there is no such item.
    #[must_use]
    pub fn rank_of(&self, item: u64) -> usize {
        assert!(item < self.items, "item {item} >= N = {}", self.items);
        match &self.rule {
            Rule::Lower(even) => index(even.lower_rank_of(item)),
            Rule::Upper(even) => index(even.upper_rank_of(item)),
            Rule::PowerOfTwo { share_items } => {
                let last = self.ranks - 1;
                index((item / share_items).min(last as u64))
            }
            Rule::Optimized(optimized) => index(optimized.rank_of(item)),
            Rule::Boundaries(boundaries) => lookup::logarithmic(boundaries, item),
        }
    }

    /// The number of values that Algorithm 1 sends (thesis, Algorithm 2). Without buffering, each value is one message.
    ///
    /// Takes O(p log N).
    #[must_use]
    pub fn message_count(&self) -> u64 {
        tree_index::message_count(self.starts())
    }

    /// The score of the thesis' model, in nanoseconds (eq. 3.7): messages · send_ns + largest share · add_ns. Less is better.
    #[must_use]
    pub fn score(&self, cost: &Cost) -> f64 {
        let counts = (0..self.ranks).map(|rank| self.count(rank));
        let count_max = counts.fold(0, u64::max);
        cost.score_ns(self.message_count(), count_max)
    }

    /// The time in nanoseconds until rank 0 has the result of Algorithm 1, if all ranks start together.
    ///
    /// A rank does one thing at a time. Combining two values takes add_ns. A message takes send_ns of the sender's time, and arrives
    /// at the end of this time. A rank waits for the value that it needs next. Ranks work in the order of Algorithm 1 without its
    /// message buffer: each rank reduces its outbound subtrees from left to right, and in each subtree its own items before
    /// received values. The model has no distances and no congestion. Takes O(p log N).
    #[must_use]
    pub fn critical_path_ns(&self, cost: &Cost) -> f64 {
        let ranges = (0..self.ranks).rev().map(|rank| self.range(rank));
        let owning = ranges.filter(|range| !range.is_empty());
        critical_path::critical_path_ns(self.items, owning, cost)
    }
}

impl PartialEq for Distribution {
    fn eq(&self, other: &Self) -> bool {
        self.ranks == other.ranks && self.starts().eq(other.starts())
    }
}

impl Eq for Distribution {}

fn index(rank: u64) -> usize {
    usize::try_from(rank).expect("a rank is below p, which is a usize")
}

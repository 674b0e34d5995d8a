//! The one type that a reduction asks who owns what.
//!
//! Regular distributions are a formula, so that a million ranks cost no memory on each of them;
//! boundaries that follow no rule are a table.

use std::ops::Range;

use crate::even::Even;
use crate::optimized::{Optimized, published_boundaries};
use crate::{Cost, Error, critical_path, lookup, path_optimal, score_optimal};

/// N items on p ranks: rank i owns the contiguous items start(i) to start(i + 1), and ranks
/// ascend.
///
/// Equal are two distributions that give every rank the same items, whatever rule made them.
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
    items: u64,
    ranks: usize,
    rule: Rule,
}

#[derive(Clone, Debug)]
enum Rule {
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
    /// ⌊N/p⌋ items a rank, and one more for the first N mod p ranks (thesis, eq. 1.3).
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0.
    pub fn lower(items: u64, ranks: usize) -> Result<Self, Error> {
        let rule = Rule::Lower(Even::new(items, at_least_one(ranks)?));
        Ok(Self { items, ranks, rule })
    }

    /// ⌊N/p⌋ items a rank, and one more for the last N mod p ranks (thesis, eq. 1.4, whose
    /// condition should read i < p - (N mod p)).
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0.
    pub fn upper(items: u64, ranks: usize) -> Result<Self, Error> {
        let rule = Rule::Upper(Even::new(items, at_least_one(ranks)?));
        Ok(Self { items, ranks, rule })
    }

    /// 2^⌊log2 N/p⌋ items a rank, and all the rest for the last (thesis, eq. 3.8).
    ///
    /// With more ranks than items the share is 1 while items last.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0.
    pub fn power_of_two(items: u64, ranks: usize) -> Result<Self, Error> {
        let fair_share_items = items / at_least_one(ranks)?;
        let share_items = 1 << fair_share_items.checked_ilog2().unwrap_or(0);
        let rule = Rule::PowerOfTwo { share_items };
        Ok(Self { items, ranks, rule })
    }

    /// The starts of [`Distribution::upper`], each moved left by at most α N/p (eq. 3.9), to where
    /// it has the most trailing zeros and cuts the fewest subtrees (thesis, Algorithm 3, whose
    /// line 5 should read parent(currentIndex)).
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0, [`Error::Alpha`] unless 0 <= α < 1.
    pub fn optimized(items: u64, ranks: usize, alpha: f64) -> Result<Self, Error> {
        let rule = Rule::Optimized(Optimized::new(items, at_least_one(ranks)?, alpha)?);
        Ok(Self { items, ranks, rule })
    }

    /// The distribution that the thesis' Table 3.3 was computed with: the starts of
    /// [`Distribution::lower`], each moved left while the share before it stays within (1 ± α) N/p.
    ///
    /// Kept to reproduce the table; [`Distribution::optimized`] sends fewer messages and has a
    /// smaller largest share. Takes O(p) memory.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0, [`Error::Alpha`] unless 0 <= α < 1.
    pub fn optimized_published(items: u64, ranks: usize, alpha: f64) -> Result<Self, Error> {
        let boundaries = published_boundaries(items, at_least_one(ranks)?, alpha)?;
        let rule = Rule::Boundaries(boundaries);
        Ok(Self { items, ranks, rule })
    }

    /// The distribution with the least [score](Distribution::score) of all. Ranks that would not pay for their
    /// messages are left without items, and come last.
    ///
    /// Of equal scores it takes that with fewer messages, then that with the smaller largest share. Takes microseconds
    /// while a message costs more than finer shares save, as with N = 21410970 and p = 4096; for p = 4096 and more
    /// than 10^9 items it takes seconds, and O(p^2) memory.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0, [`Error::Cost`] unless both costs are finite and at least 0.
    ///
    /// ```
    /// use distribution::{Cost, Distribution};
    ///
    /// let optimal = Distribution::score_optimal(504_850, 256, &Cost::THESIS)?;
    /// assert_eq!(optimal.score(&Cost::THESIS).round(), 51_138.0); // ns
    /// assert_eq!((optimal.message_count(), optimal.count(61)), (61, 5138));
    /// assert_eq!(optimal.count(62), 0); // a message costs more than 67 additions
    /// # Ok::<(), distribution::Error>(())
    /// ```
    pub fn score_optimal(items: u64, ranks: usize, cost: &Cost) -> Result<Self, Error> {
        let boundaries = score_optimal::boundaries(items, at_least_one(ranks)?, cost, false)?;
        let rule = Rule::Boundaries(boundaries);
        Ok(Self { items, ranks, rule })
    }

    /// The distribution with the least [score](Distribution::score) of those that leave no rank without items.
    ///
    /// With more ranks than items there is none: then N ranks own one item each, and the others come last. Ties and
    /// memory as for [`Distribution::score_optimal`].
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0, [`Error::Cost`] unless both costs are finite and at least 0.
    pub fn score_optimal_busy(items: u64, ranks: usize, cost: &Cost) -> Result<Self, Error> {
        let boundaries = score_optimal::boundaries(items, at_least_one(ranks)?, cost, true)?;
        let rule = Rule::Boundaries(boundaries);
        Ok(Self { items, ranks, rule })
    }

    /// A distribution with a short [critical path](Distribution::critical_path_ns): the shortest, as far as a search
    /// that keeps a few of many ways finds it.
    ///
    /// Proven is that it is no longer than that of the even, the power-of-two and the optimized distribution; for all
    /// that have been tried out, up to 40 items, it is the shortest. It may be longer elsewhere, by little
    /// (the module says what was measured). The same everywhere for the same arguments. Takes O(p) memory, and up to
    /// a second for p = 4096.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0, [`Error::Cost`] unless both costs are finite and at least 0.
    ///
    /// ```
    /// use distribution::{Cost, Distribution};
    ///
    /// let even = Distribution::upper(504_850, 256)?;
    /// let optimal = Distribution::path_optimal(504_850, 256, &Cost::THESIS)?;
    /// assert_eq!(even.critical_path_ns(&Cost::THESIS).round(), 12_151.0); // ns
    /// assert_eq!(optimal.critical_path_ns(&Cost::THESIS).round(), 9_933.0); // ns
    /// # Ok::<(), distribution::Error>(())
    /// ```
    pub fn path_optimal(items: u64, ranks: usize, cost: &Cost) -> Result<Self, Error> {
        at_least_one(ranks)?;
        let rule = Rule::Boundaries(path_optimal::boundaries(items, ranks, cost)?);
        Ok(Self { items, ranks, rule })
    }

    /// As many items for each rank as its count says.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] without counts, [`Error::TooManyItems`] if their sum overflows.
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

    /// The start of every rank, then N: p + 1 values that start at 0 and do not decrease.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for fewer than two values, [`Error::FirstStart`] or
    /// [`Error::Decreasing`] for others than described.
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
        assert!(rank <= self.ranks, "rank {rank} of {}", self.ranks);
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

    /// Whether it is a formula, which every rank can know without a table.
    #[must_use]
    pub fn is_rule(&self) -> bool {
        !matches!(self.rule, Rule::Boundaries(_))
    }

    /// The items that a rank owns.
    ///
    /// # Panics
    ///
    /// If there is no such rank.
    #[must_use]
    pub fn range(&self, rank: usize) -> Range<u64> {
        assert!(rank < self.ranks, "rank {rank} of {}", self.ranks);
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

    /// The start of every rank, then N: p + 1 values, as [`Distribution::from_boundaries`] takes.
    pub fn starts(&self) -> impl Iterator<Item = u64> {
        (0..=self.ranks).map(|rank| self.start(rank))
    }

    /// The rank that owns an item (thesis, eq. 3.4).
    ///
    /// In O(1), except in O(log p) where [`Distribution::start`] reads a table: from counts, from
    /// boundaries, and for the published optimized distribution.
    ///
    /// # Panics
    ///
    /// If there is no such item.
    #[must_use]
    pub fn rank_of(&self, item: u64) -> usize {
        assert!(item < self.items, "{item} is no item of {}", self.items);
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

    /// The number of values that Algorithm 1 sends, unbuffered (thesis, Algorithm 2), in
    /// O(p log N).
    #[must_use]
    pub fn message_count(&self) -> u64 {
        tree_index::message_count(self.starts())
    }

    /// What a reduction costs by the thesis' model, in nanoseconds (eq. 3.7):
    /// messages · send_ns + largest share · add_ns. Less is better.
    #[must_use]
    pub fn score(&self, cost: &Cost) -> f64 {
        let counts = (0..self.ranks).map(|rank| self.count(rank));
        let count_max = counts.fold(0, u64::max);
        cost.score_ns(self.message_count(), count_max)
    }

    /// When rank 0 has the result of Algorithm 1, in nanoseconds, if all ranks start together, in O(p log N).
    ///
    /// A rank does one thing at a time: to combine two values takes it add_ns, to send one send_ns, and then
    /// the value is there; it waits for what it needs next. It works as `reduce` does, without the message buffer:
    /// outbound subtrees from left to right, in each its own items before those of others. Distances and congestion are
    /// not in the model.
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

fn at_least_one(ranks: usize) -> Result<u64, Error> {
    match ranks {
        0 => Err(Error::NoRanks),
        _ => Ok(ranks as u64),
    }
}

fn index(rank: u64) -> usize {
    usize::try_from(rank).expect("a rank is below p, which is a usize")
}

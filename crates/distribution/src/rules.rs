//! Constructors of the distributions that a rule computes from N and p.

use crate::cost::Cost;
use crate::distribution::{Distribution, Rule};
use crate::error::Error;
use crate::even::Even;
use crate::optimized::{ALPHA, Optimized, published_boundaries};
use crate::searches::{path_optimal, score_optimal};

impl Distribution {
    /// Gives each rank ⌊N/p⌋ items, and the first N mod p ranks one item more (thesis, eq. 1.3).
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0.
    pub fn lower(items: u64, ranks: usize) -> Result<Self, Error> {
        let rule = Rule::Lower(Even::new(items, at_least_one(ranks)?));
        Ok(Self { items, ranks, rule })
    }

    /// Gives each rank ⌊N/p⌋ items, and the last N mod p ranks one item more (thesis, eq. 1.4). The
    /// condition in that equation should read i < p - (N mod p).
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0.
    pub fn upper(items: u64, ranks: usize) -> Result<Self, Error> {
        let rule = Rule::Upper(Even::new(items, at_least_one(ranks)?));
        Ok(Self { items, ranks, rule })
    }

    /// Gives each rank 2^⌊log2 N/p⌋ items, except the last rank, which gets the rest (thesis, eq. 3.8).
    ///
    /// With more ranks than items, the first N ranks own one item each.
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

    /// Moves each start of [`Distribution::upper`] left by at most α N/p (eq. 3.9), to the number with the most trailing zeros, which
    /// cuts the fewest subtrees (thesis, Algorithm 3). Line 5 of that algorithm should read parent(currentIndex).
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0, [`Error::Alpha`] unless 0 <= α < 1.
    pub fn optimized(items: u64, ranks: usize, alpha: f64) -> Result<Self, Error> {
        let rule = Rule::Optimized(Optimized::new(items, at_least_one(ranks)?, alpha)?);
        Ok(Self { items, ranks, rule })
    }

    /// The distribution behind the thesis' Table 3.3. Each start of [`Distribution::lower`] moves left
    /// while the share before it stays within (1 ± α) N/p.
    ///
    /// This function exists to reproduce the table. [`Distribution::optimized`] sends fewer messages and has a smaller largest
    /// share. Takes O(p) memory.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0, [`Error::Alpha`] unless 0 <= α < 1.
    pub fn optimized_published(items: u64, ranks: usize, alpha: f64) -> Result<Self, Error> {
        let boundaries = published_boundaries(items, at_least_one(ranks)?, alpha)?;
        let rule = Rule::Boundaries(boundaries);
        Ok(Self { items, ranks, rule })
    }

    /// The distribution with the lowest [score](Distribution::score). A rank owns no items if its messages would cost more than it
    /// saves; such ranks come last.
    ///
    /// Ties are resolved by fewer messages, then by a smaller largest share. The search takes microseconds if a message costs more
    /// than finer shares save, for example for N = 21410970 and p = 4096. For p = 4096 and more than 10^9 items, it takes seconds
    /// and O(p^2) memory.
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

    /// The distribution with the lowest [score](Distribution::score) among those in which every rank owns items.
    ///
    /// With more ranks than items, the first N ranks own one item each. Ties are resolved as in [`Distribution::score_optimal`],
    /// which also takes the same time and memory.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0, [`Error::Cost`] unless both costs are finite and at least 0.
    pub fn score_optimal_busy(items: u64, ranks: usize, cost: &Cost) -> Result<Self, Error> {
        let boundaries = score_optimal::boundaries(items, at_least_one(ranks)?, cost, true)?;
        let rule = Rule::Boundaries(boundaries);
        Ok(Self { items, ranks, rule })
    }

    /// A distribution with a short [critical path](Distribution::critical_path_ns).
    ///
    /// The search is a heuristic: it keeps only a few of the many ways to place the first boundaries. The path is never longer than
    /// the paths of the even, the power-of-two and the optimized distributions. For N <= 40, p <= 8 and six costs, the path is
    /// proven to be the shortest; in other cases it may be a little longer. The result is the same on every rank and machine.
    /// Takes O(p) memory, and up to a second for p = 4096.
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
        let known = [
            Self::lower(items, ranks)?,
            Self::upper(items, ranks)?,
            Self::power_of_two(items, ranks)?,
            Self::optimized(items, ranks, ALPHA)?,
        ];
        let known = known.map(|distribution| distribution.starts().collect());
        let rule = Rule::Boundaries(path_optimal::boundaries(items, ranks, cost, &known)?);
        Ok(Self { items, ranks, rule })
    }
}

fn at_least_one(ranks: usize) -> Result<u64, Error> {
    match ranks {
        0 => Err(Error::NoRanks),
        _ => Ok(ranks as u64),
    }
}

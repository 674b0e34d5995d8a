//! A schedule: an algorithm, a collective, and p.

use super::algorithm::Algorithm;
use super::error::{Count, Error};
use super::parameters::Parameters;
use crate::vocabulary::Collective;

/// A collective operation, carried out by an algorithm on p positions.
///
/// `Display` names the operation, the algorithm and p: `reduce to 0 by ring on 8 ranks (runs binomial)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    pub(super) algorithm: Algorithm,
    pub(super) collective: Collective,
    pub(super) ranks: usize,
    pub(super) parameters: Parameters,
}

impl Schedule {
    /// The largest p: the most ranks that MPI can number.
    pub const RANKS_MAX: usize = i32::MAX as usize;

    /// A schedule for p = `ranks` positions, with default parameters.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0, [`Error::TooLarge`] for p > [`Schedule::RANKS_MAX`], [`Error::Root`] for a root that is not a
    /// position.
    pub fn new(algorithm: Algorithm, collective: Collective, ranks: usize) -> Result<Self, Error> {
        if ranks == 0 {
            return Err(Error::NoRanks);
        }
        Count::Ranks.at_most(ranks, Self::RANKS_MAX)?;
        if let Some(root) = collective.root().filter(|&root| root >= ranks) {
            return Err(Error::Root { root, ranks });
        }
        Ok(Self {
            algorithm,
            collective,
            ranks,
            parameters: Parameters::default(),
        })
    }

    /// The same schedule with other parameters.
    ///
    /// # Errors
    ///
    /// [`Error::Zero`] for a parameter that is 0, [`Error::TooLarge`] for blocks or ports > [`Parameters::COUNT_MAX`],
    /// [`Error::Nested`] for a level of `hierarchical` that is hierarchical.
    pub fn with(self, parameters: Parameters) -> Result<Self, Error> {
        parameters.check()?;
        let levels = [parameters.inner, parameters.outer];
        let is_nested = levels.contains(&Algorithm::Hierarchical);
        if is_nested && self.algorithm == Algorithm::Hierarchical {
            return Err(Error::Nested);
        }
        Ok(Self { parameters, ..self })
    }

    /// The algorithm that was named. [`effective`](Schedule::effective) returns the schedule of the algorithm that runs.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// p, the number of positions.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// The collective operation.
    #[must_use]
    pub fn collective(&self) -> Collective {
        self.collective
    }

    /// The parameters. Each algorithm uses only some of them.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        self.parameters
    }

    /// n: the number of messages that a position of `bruck` or `dissemination` sends and receives at once.
    pub(crate) fn ports(&self) -> usize {
        self.parameters.ports_of(self.algorithm)
    }

    /// The schedule of a collective by the same algorithm, with the same parameters and p.
    pub(super) fn part(&self, collective: Collective) -> Self {
        Self {
            collective,
            ..*self
        }
    }
}

//! Finds the algorithm that runs if the named algorithm has no program for the collective or for p.

use std::fmt;

use super::algorithm::Algorithm;
use super::parameters::Parameters;
use super::schedule::Schedule;
use crate::algorithms::dissemination::{Adaption, adaption};
use crate::algorithms::hierarchical::Level;
use crate::vocabulary::Collective;

impl Algorithm {
    /// Whether the algorithm has a program of its own for a reduce to one root. [`Schedule::effective`] says what runs otherwise.
    #[must_use]
    pub fn has_own_reduce(self) -> bool {
        Schedule::new(self, Collective::Reduce { root: 0 }, 2)
            .is_ok_and(|schedule| schedule.stand_in().is_none())
    }
}

impl Schedule {
    /// The schedule that runs: this one, or another algorithm's if this algorithm has no program for the collective or for p.
    ///
    /// This table shows which algorithms have programs of their own, and which algorithm runs if the named one has none:
    ///
    /// | collective | own programs | runs otherwise |
    /// |---|---|---|
    /// | reduce, broadcast | `direct`, `binomial`, `fibonacci`, `binary`, `linear-pipelined`, `binary-pipelined`, `hierarchical`; `reduce-scatter-gather` for the reduce | the pipelined tree of the same shape for other pipelined algorithms, `binomial` for the rest |
    /// | allreduce | all, except `dissemination` if it does not adapt to p | `bruck` with the same number of ports |
    /// | reduce-scatter | `direct`, `binomial`, `fibonacci`, `binary`, `recursive-doubling`, `ring`, `circulant` | `binomial` for `reduce-broadcast`, `recursive-doubling` for the rest |
    /// | scan | `direct`, `recursive-doubling` | `recursive-doubling` |
    ///
    /// Three of these programs end with a binomial tree: `fibonacci` and `binary` use it to scatter the blocks of a reduce-scatter, and
    /// `reduce-scatter-gather` to broadcast the result of an allreduce.
    ///
    /// ```
    /// use schedule::{Algorithm, Collective, Schedule};
    ///
    /// let schedule = Schedule::new(Algorithm::Ring, Collective::Reduce { root: 0 }, 8)?;
    /// assert_eq!(schedule.effective().algorithm(), Algorithm::Binomial);
    /// assert_eq!(schedule.to_string(), "reduce to 0 by ring on 8 ranks (runs binomial)");
    /// # Ok::<(), schedule::Error>(())
    /// ```
    #[must_use]
    pub fn effective(&self) -> Self {
        let Some(algorithm) = self.stand_in() else {
            return *self;
        };
        let ports = Some(self.ports());
        Self {
            algorithm,
            parameters: Parameters {
                ports,
                ..self.parameters
            },
            ..*self
        }
    }

    /// The algorithm that runs instead of the named algorithm; `None` if the named algorithm runs.
    fn stand_in(&self) -> Option<Algorithm> {
        let algorithm = self.algorithm;
        let other = match self.collective {
            _ if algorithm == Algorithm::Direct => algorithm,
            Collective::Reduce { .. } if algorithm == Algorithm::ReduceScatterGather => algorithm,
            Collective::Reduce { .. } | Collective::Broadcast { .. } => match algorithm {
                Algorithm::Fibonacci
                | Algorithm::Binary
                | Algorithm::LinearPipelined
                | Algorithm::BinaryPipelined
                | Algorithm::Hierarchical => algorithm,
                Algorithm::LinearDoublyPipelined => Algorithm::LinearPipelined,
                Algorithm::BinaryDoublyPipelined | Algorithm::DualRoot | Algorithm::TwoTree => {
                    Algorithm::BinaryPipelined
                }
                _ => Algorithm::Binomial,
            },
            Collective::Allreduce => match algorithm {
                Algorithm::Dissemination if self.adaption().is_none() => Algorithm::Bruck,
                _ => algorithm,
            },
            Collective::ReduceScatter => match algorithm {
                Algorithm::Fibonacci
                | Algorithm::Binary
                | Algorithm::Ring
                | Algorithm::Circulant => algorithm,
                Algorithm::Binomial | Algorithm::ReduceBroadcast => Algorithm::Binomial,
                _ => Algorithm::RecursiveDoubling,
            },
            Collective::Scan => Algorithm::RecursiveDoubling,
        };
        (other != algorithm).then_some(other)
    }

    /// How `dissemination` adapts to p, if it does.
    pub(super) fn adaption(&self) -> Option<Adaption> {
        adaption(self.ports(), self.ranks)
    }

    /// The schedule of a collective on a level of `hierarchical`.
    pub(super) fn level(&self, level: Level, collective: Collective, ranks: usize) -> Self {
        let algorithm = match level {
            Level::Inner => self.parameters.inner,
            Level::Outer => self.parameters.outer,
        };
        Self {
            algorithm,
            collective,
            ranks,
            parameters: self.parameters,
        }
    }

    /// Describes the blocks, ports or levels in use, and names the algorithm that runs if it is another. `None` if there is nothing to say.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        let runs = self.effective();
        let (algorithm, parameters) = (runs.algorithm, runs.parameters_in_use());
        match (self.algorithm, self.collective) {
            (named, _) if named == algorithm => parameters,
            (Algorithm::Dissemination, Collective::Allreduce) => Some(format!(
                "n = {} does not adapt to {} ranks; runs {algorithm} with the same n",
                self.ports(),
                self.ranks
            )),
            _ => {
                let parameters = parameters.map_or(String::new(), |words| format!(", {words}"));
                Some(format!("runs {algorithm}{parameters}"))
            }
        }
    }

    fn parameters_in_use(&self) -> Option<String> {
        let Parameters {
            blocks, node_ranks, ..
        } = self.parameters;
        match self.algorithm {
            Algorithm::Hierarchical => {
                let (inner, outer) = (
                    self.level_in_use(Level::Inner),
                    self.level_in_use(Level::Outer),
                );
                Some(format!("nodes of {node_ranks}, {inner}, {outer}"))
            }
            Algorithm::Bruck | Algorithm::Dissemination => Some(format!("n = {}", self.ports())),
            _ if self.algorithm.is_pipelined() => {
                let plural = if blocks == 1 { "" } else { "s" };
                Some(format!("{blocks} block{plural}"))
            }
            _ => None,
        }
    }

    /// Names a level's algorithm and, if other algorithms run instead of it, also these.
    fn level_in_use(&self, level: Level) -> String {
        let node_ranks = self.parameters.node_ranks;
        let reduce = Collective::Reduce { root: 0 };
        let broadcast = Collective::Broadcast { root: 0 };
        let (place, ranks, collectives) = match (level, self.collective) {
            (Level::Outer, collective) => (
                "between",
                self.ranks.div_ceil(node_ranks),
                vec![collective.with_root(0)],
            ),
            (Level::Inner, collective) => (
                "within",
                node_ranks.min(self.ranks),
                match collective {
                    Collective::Reduce { .. } => vec![reduce],
                    Collective::Broadcast { .. } => vec![broadcast],
                    _ => vec![reduce, broadcast],
                },
            ),
        };
        let schedules = collectives
            .into_iter()
            .map(|collective| self.level(level, collective, ranks));
        let (mut named, mut running): (Vec<_>, Vec<_>) = schedules
            .map(|schedule| {
                (
                    schedule.algorithm.name(),
                    schedule.effective().algorithm.name(),
                )
            })
            .unzip();
        named.dedup();
        running.dedup();
        let named_words = named.join("");
        if running == named {
            format!("{named_words} {place}")
        } else {
            format!("{named_words} {place} (runs {})", running.join(" and "))
        }
    }
}

/// For example `allreduce by bruck on 8 ranks (n = 1)`.
impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.ranks == 1 { "" } else { "s" };
        write!(
            f,
            "{} by {} on {} rank{plural}",
            self.collective, self.algorithm, self.ranks
        )?;
        match self.remark() {
            Some(remark) => write!(f, " ({remark})"),
            None => Ok(()),
        }
    }
}

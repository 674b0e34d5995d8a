//! The algorithms that ranks can use to reduce, and their names.

use std::fmt;
use std::str::FromStr;

use comm::text::printable;

/// A method of reducing over ranks: who sends to whom, and when. All methods give the same bits. Most run a schedule of crate `schedule`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// One step: every rank sends to the root, or to every other rank.
    Direct,
    /// A binomial tree: p - 1 messages go to the root, and p - 1 back.
    Binomial,
    /// A Fibonacci tree: a parent never waits for one child while the other is ready.
    Fibonacci,
    /// A complete binary tree.
    Binary,
    /// A reduce and then a broadcast, each by a binomial tree.
    ReduceBroadcast,
    /// For wide rows on few ranks: blocks of columns go along a chain.
    LinearPipelined,
    /// For wide rows: blocks of columns go along a complete binary tree.
    BinaryPipelined,
    /// For wide rows on few ranks: blocks of columns go up and down a chain at the same time.
    LinearDoublyPipelined,
    /// For wide rows: blocks of columns go up and down a complete binary tree at the same time.
    BinaryDoublyPipelined,
    /// For wide rows: blocks of columns go up and down two binary trees at the same time; the two roots exchange their results.
    DualRoot,
    /// For wide rows: two trees, each for half of the blocks, so that every link is busy.
    TwoTree,
    /// About log2 p rounds for an allreduce. Reductions to one root run `binomial` instead.
    RecursiveDoubling,
    /// For wide rows: each rank reduces some columns, and the root gathers them.
    ReduceScatterGather,
    /// For wide rows: each rank reduces some columns, then every rank gets all columns, in 2 log2 p rounds.
    Rabenseifner,
    /// Recursive doubling on 2^floor(log2 p) ranks. Each other rank first sends its values to one of these ranks, and gets the result back.
    PairwiseExchange,
    /// n-way dissemination: ceil(log_(n+1) p) rounds of n messages. If it does not support p ranks, `bruck` runs with the same n.
    Dissemination,
    /// Bruck's global combine: ceil(log_(n+1) p) rounds for every p.
    Bruck,
    /// For wide rows on few ranks: blocks of columns travel around a ring.
    Ring,
    /// For wide rows: blocks of columns travel along a circulant graph, in 2 ceil(log2 p) rounds for every p.
    Circulant,
    /// Two levels: one schedule runs within each node, another between nodes.
    Hierarchical,
    /// The transport's own allreduce or reduce, with an operation that merges fragments. The transport must have
    /// [`native_reductions`](comm::Communicator::native_reductions), as MPI has.
    MpiNative,
    /// Algorithm 1 of Stelz's thesis (Karlsruhe, 2022) with its message buffer (section 3.1.1). By default, a message has up to four values.
    Algorithm1,
    /// Algorithm 1 as the thesis prints it, with a message for every subtree that crosses ranks.
    Algorithm1Unbuffered,
}

/// The algorithms that are schedules.
const SCHEDULES: [(Algorithm, schedule::Algorithm); 20] = [
    (Algorithm::Direct, schedule::Algorithm::Direct),
    (Algorithm::Binomial, schedule::Algorithm::Binomial),
    (Algorithm::Fibonacci, schedule::Algorithm::Fibonacci),
    (Algorithm::Binary, schedule::Algorithm::Binary),
    (
        Algorithm::ReduceBroadcast,
        schedule::Algorithm::ReduceBroadcast,
    ),
    (
        Algorithm::LinearPipelined,
        schedule::Algorithm::LinearPipelined,
    ),
    (
        Algorithm::BinaryPipelined,
        schedule::Algorithm::BinaryPipelined,
    ),
    (
        Algorithm::LinearDoublyPipelined,
        schedule::Algorithm::LinearDoublyPipelined,
    ),
    (
        Algorithm::BinaryDoublyPipelined,
        schedule::Algorithm::BinaryDoublyPipelined,
    ),
    (Algorithm::DualRoot, schedule::Algorithm::DualRoot),
    (Algorithm::TwoTree, schedule::Algorithm::TwoTree),
    (
        Algorithm::RecursiveDoubling,
        schedule::Algorithm::RecursiveDoubling,
    ),
    (
        Algorithm::ReduceScatterGather,
        schedule::Algorithm::ReduceScatterGather,
    ),
    (Algorithm::Rabenseifner, schedule::Algorithm::Rabenseifner),
    (
        Algorithm::PairwiseExchange,
        schedule::Algorithm::PairwiseExchange,
    ),
    (Algorithm::Dissemination, schedule::Algorithm::Dissemination),
    (Algorithm::Bruck, schedule::Algorithm::Bruck),
    (Algorithm::Ring, schedule::Algorithm::Ring),
    (Algorithm::Circulant, schedule::Algorithm::Circulant),
    (Algorithm::Hierarchical, schedule::Algorithm::Hierarchical),
];

/// The algorithms that are not schedules, with their names.
const OTHERS: [(Algorithm, &str); 3] = [
    (Algorithm::MpiNative, "mpi-native"),
    (Algorithm::Algorithm1, "algorithm1"),
    (Algorithm::Algorithm1Unbuffered, "algorithm1-unbuffered"),
];

impl Algorithm {
    /// All algorithms, schedules first, in the order of their declaration.
    pub fn all() -> impl Iterator<Item = Algorithm> + Clone {
        let schedules = SCHEDULES.iter().map(|&(algorithm, _)| algorithm);
        schedules.chain(OTHERS.iter().map(|&(algorithm, _)| algorithm))
    }

    /// The algorithm's name, for example on a command line.
    pub fn name(self) -> &'static str {
        let other = OTHERS.iter().find(|(algorithm, _)| *algorithm == self);
        match (self.scheduled(), other) {
            (Some(schedule), _) => schedule.name(),
            (None, Some(&(_, name))) => name,
            (None, None) => unreachable!("an algorithm is a schedule or one of the others"),
        }
    }

    /// The algorithm of crate `schedule` that this algorithm runs; `None` if it is not a schedule. Schedules support any ownership, every collective
    /// operation and split phase. Other algorithms support only blocking reduce and allreduce. Both forms of Algorithm 1 support only
    /// single elements of contiguous distributions.
    pub fn scheduled(self) -> Option<schedule::Algorithm> {
        let found = SCHEDULES.iter().find(|(algorithm, _)| *algorithm == self);
        found.map(|&(_, schedule)| schedule)
    }

    /// Whether the algorithm runs along a schedule: [`scheduled`](Algorithm::scheduled) is not `None`.
    pub fn is_scheduled(self) -> bool {
        self.scheduled().is_some()
    }

    /// Whether the algorithm reduces rows of more than one element.
    pub fn takes_rows(self) -> bool {
        self.is_scheduled() || self == Algorithm::MpiNative
    }

    /// The inverse of [`scheduled`](Algorithm::scheduled).
    pub(crate) fn of_schedule(schedule: schedule::Algorithm) -> Self {
        let found = SCHEDULES.iter().find(|(_, other)| *other == schedule);
        let &(algorithm, _) = found.expect("every schedule has an algorithm");
        algorithm
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a name that no algorithm has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown algorithm `{}`; known: {}", printable(.name), Algorithm::all().map(Algorithm::name).collect::<Vec<_>>().join(", "))]
pub struct UnknownAlgorithm {
    /// The name that was given.
    pub name: String,
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Algorithm::all()
            .find(|algorithm| algorithm.name() == name)
            .ok_or_else(|| UnknownAlgorithm {
                name: name.to_owned(),
            })
    }
}

#[cfg(test)]
mod tests {
    use super::Algorithm;

    #[test]
    fn every_schedule_is_an_algorithm() {
        for &schedule in schedule::Algorithm::ALL.iter() {
            assert_eq!(Algorithm::of_schedule(schedule).scheduled(), Some(schedule));
        }
    }
}

//! The closed set of ways to run a plan.

use std::fmt;
use std::str::FromStr;

/// Who talks to whom, and when. Those of [`Order::Tree`] all give the same bits; most of them send fragments along a schedule of crate `schedule`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// Every rank to the root, or to every other, in one step.
    Direct,
    /// A binomial tree: p - 1 messages to the root, as many back.
    Binomial,
    /// A Fibonacci tree, whose parents never wait for the one child while the other is ready.
    Fibonacci,
    /// A complete binary tree.
    Binary,
    /// Two collectives one after the other, by binomial trees.
    ReduceBroadcast,
    /// For wide rows on few ranks: along a chain, block by block.
    LinearPipelined,
    /// For wide rows: along a complete binary tree, block by block.
    BinaryPipelined,
    /// For wide rows on few ranks: along a chain, up and down at once.
    LinearDoublyPipelined,
    /// For wide rows: along a complete binary tree, up and down at once.
    BinaryDoublyPipelined,
    /// For wide rows: two binary trees, up and down at once, whose roots exchange.
    DualRoot,
    /// For wide rows: two trees for half of the blocks each, so that every link is busy.
    TwoTree,
    /// About log2 p rounds for an allreduce. Reductions to one root take the binomial tree.
    RecursiveDoubling,
    /// For wide rows: each rank reduces some columns, the root gathers them.
    ReduceScatterGather,
    /// For wide rows: each rank reduces some columns, then all get all, in 2 log2 p rounds.
    Rabenseifner,
    /// Recursive doubling with the leftover ranks behind a power of two.
    PairwiseExchange,
    /// n-way dissemination: ceil(log_(n+1) p) rounds of n messages; where it does not adapt to p, `bruck` with the same n.
    Dissemination,
    /// Bruck's global combine: ceil(log_(n+1) p) rounds for every p.
    Bruck,
    /// For wide rows on few ranks: column by column around a ring.
    Ring,
    /// For wide rows: 2 ceil(log2 p) rounds for every p.
    Circulant,
    /// Two levels, within nodes and between them, by other schedules.
    Hierarchical,
    /// Fragments by the MPI library's own allreduce or reduce, with an operation that merges them. Under MPI only.
    MpiNative,
    /// Algorithm 1 of the thesis with its message buffer: up to four values a message (section 3.1.1).
    Algorithm1,
    /// Algorithm 1 as printed: a message for every subtree that crosses ranks.
    Algorithm1Unbuffered,
    /// Not reproducible: each rank folds its own items as fast as it can, then the transport's
    /// ordinary allreduce.
    Unordered,
    /// Reproducible and slow: all items are gathered on one rank and folded from left to right (eq. 1.5).
    LeftToRight,
}

/// What runs an algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Engine {
    /// A schedule over fragments.
    Schedule(schedule::Algorithm),
    /// The transport's own reductions.
    Native,
    /// Code of its own, for single elements.
    Scalar,
}

/// The order in which an algorithm combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// The binary tree over all items: treefold's promise.
    Tree,
    /// ((x0 + x1) + x2) + …
    LeftToRight,
    /// Whatever the number of ranks and the transport make of it.
    None,
}

impl Algorithm {
    /// All of them.
    pub const ALL: [Algorithm; 25] = [
        Algorithm::Direct,
        Algorithm::Binomial,
        Algorithm::Fibonacci,
        Algorithm::Binary,
        Algorithm::ReduceBroadcast,
        Algorithm::LinearPipelined,
        Algorithm::BinaryPipelined,
        Algorithm::LinearDoublyPipelined,
        Algorithm::BinaryDoublyPipelined,
        Algorithm::DualRoot,
        Algorithm::TwoTree,
        Algorithm::RecursiveDoubling,
        Algorithm::ReduceScatterGather,
        Algorithm::Rabenseifner,
        Algorithm::PairwiseExchange,
        Algorithm::Dissemination,
        Algorithm::Bruck,
        Algorithm::Ring,
        Algorithm::Circulant,
        Algorithm::Hierarchical,
        Algorithm::MpiNative,
        Algorithm::Algorithm1,
        Algorithm::Algorithm1Unbuffered,
        Algorithm::Unordered,
        Algorithm::LeftToRight,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Algorithm::MpiNative => "mpi-native",
            Algorithm::Algorithm1 => "algorithm1",
            Algorithm::Algorithm1Unbuffered => "algorithm1-unbuffered",
            Algorithm::Unordered => "unordered",
            Algorithm::LeftToRight => "left-to-right",
            _ => match self.engine() {
                Engine::Schedule(schedule) => schedule.name(),
                Engine::Native | Engine::Scalar => unreachable!("these are named above"),
            },
        }
    }

    /// The order in which it combines.
    pub fn order(self) -> Order {
        match self {
            Algorithm::Unordered => Order::None,
            Algorithm::LeftToRight => Order::LeftToRight,
            _ => Order::Tree,
        }
    }

    /// Whether it runs along a schedule: for any ownership, every collective operation, and in split phase. The
    /// others reduce contiguous distributions, by blocking reduce and allreduce.
    pub fn is_scheduled(self) -> bool {
        matches!(self.engine(), Engine::Schedule(_))
    }

    /// The algorithm that runs a schedule.
    pub(crate) fn of_schedule(schedule: schedule::Algorithm) -> Self {
        let runs = |algorithm: &Algorithm| algorithm.engine() == Engine::Schedule(schedule);
        Self::ALL
            .into_iter()
            .find(runs)
            .expect("every schedule has an algorithm")
    }

    /// Whether it reduces rows of more than one element.
    pub fn takes_rows(self) -> bool {
        self.engine() != Engine::Scalar
    }

    pub(crate) fn engine(self) -> Engine {
        use schedule::Algorithm as Schedule;
        match self {
            Algorithm::Direct => Engine::Schedule(Schedule::Direct),
            Algorithm::Binomial => Engine::Schedule(Schedule::Binomial),
            Algorithm::Fibonacci => Engine::Schedule(Schedule::Fibonacci),
            Algorithm::Binary => Engine::Schedule(Schedule::Binary),
            Algorithm::ReduceBroadcast => Engine::Schedule(Schedule::ReduceBroadcast),
            Algorithm::LinearPipelined => Engine::Schedule(Schedule::LinearPipelined),
            Algorithm::BinaryPipelined => Engine::Schedule(Schedule::BinaryPipelined),
            Algorithm::LinearDoublyPipelined => Engine::Schedule(Schedule::LinearDoublyPipelined),
            Algorithm::BinaryDoublyPipelined => Engine::Schedule(Schedule::BinaryDoublyPipelined),
            Algorithm::DualRoot => Engine::Schedule(Schedule::DualRoot),
            Algorithm::TwoTree => Engine::Schedule(Schedule::TwoTree),
            Algorithm::RecursiveDoubling => Engine::Schedule(Schedule::RecursiveDoubling),
            Algorithm::ReduceScatterGather => Engine::Schedule(Schedule::ReduceScatterGather),
            Algorithm::Rabenseifner => Engine::Schedule(Schedule::Rabenseifner),
            Algorithm::PairwiseExchange => Engine::Schedule(Schedule::PairwiseExchange),
            Algorithm::Dissemination => Engine::Schedule(Schedule::Dissemination),
            Algorithm::Bruck => Engine::Schedule(Schedule::Bruck),
            Algorithm::Ring => Engine::Schedule(Schedule::Ring),
            Algorithm::Circulant => Engine::Schedule(Schedule::Circulant),
            Algorithm::Hierarchical => Engine::Schedule(Schedule::Hierarchical),
            Algorithm::MpiNative => Engine::Native,
            Algorithm::Algorithm1
            | Algorithm::Algorithm1Unbuffered
            | Algorithm::Unordered
            | Algorithm::LeftToRight => Engine::Scalar,
        }
    }
}

impl Order {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Order::Tree => "tree",
            Order::LeftToRight => "left-to-right",
            Order::None => "none",
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no algorithm has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown algorithm `{name}`; known: {}", Algorithm::ALL.map(Algorithm::name).join(", "))]
pub struct UnknownAlgorithm {
    /// The name.
    pub name: String,
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Algorithm::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
            .ok_or_else(|| UnknownAlgorithm {
                name: name.to_owned(),
            })
    }
}

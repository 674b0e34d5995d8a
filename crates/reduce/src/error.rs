//! Why a plan cannot be built or run.

use std::fmt;
use std::time::Duration;

use comm::text::{counted, printable};
use exact_sum::KeyError;
use schedule::Network;

use crate::algorithm::{Algorithm, UnknownAlgorithm};
use crate::environment::EnvironmentError;
use crate::message_buffer::MessageBuffer;
use crate::operation::Operation;
use crate::operator::LANES_MAX;

/// Why [`Builder::build`](crate::Builder::build) failed. Every rank gets the same error.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// Two ranks' settings differ.
    #[error(
        "ranks disagree on the {subject}: rank {} has {}; rank {} has {}",
        .first.0, .first.1, .second.0, .second.1
    )]
    Disagreement {
        /// What they disagree on.
        subject: &'static str,
        /// A rank, and its value.
        first: (usize, String),
        /// The first rank with another value, and that value.
        second: (usize, String),
    },
    /// A rank does not say which items it has.
    #[error("rank {rank}: none of local_items, distribution, ownership and extents was given")]
    NoShare {
        /// The first such rank.
        rank: usize,
    },
    /// A rank's distribution is for another number of ranks.
    #[error("rank {rank}: the distribution is for {}, the world has {size}", counted(.planned, "rank"))]
    OtherSize {
        /// The first such rank.
        rank: usize,
        /// The ranks of its distribution.
        planned: usize,
        /// The ranks there are.
        size: usize,
    },
    /// A rank's floating-point environment is not IEEE 754's default.
    #[error("rank {rank}: {error}")]
    Environment {
        /// The first such rank.
        rank: usize,
        /// What is wrong with it.
        error: EnvironmentError,
    },
    /// [`Builder::agreed`](crate::Builder::agreed) without a rule for the items: ranks cannot agree on a table without communicating.
    #[error("agreed() needs a distribution or an ownership that is a rule")]
    NotARule,
    /// The root does not exist.
    #[error("root {root} does not exist, the world has {}", counted(.size, "rank"))]
    Root {
        /// The rank that was named.
        root: usize,
        /// The ranks there are.
        size: usize,
    },
    /// A rank has no memory for a row, for a list of its ranges of items, or for all ranks' lists.
    #[error("rank {rank}: a plan takes at least {bytes} bytes here, more than it can get")]
    Memory {
        /// The first such rank.
        rank: usize,
        /// The bytes of a row, or of the lists.
        bytes: u128,
    },
    /// Items have no elements.
    #[error("the width is 0, but an item has at least one element")]
    ZeroWidth,
    /// A plan in lanes cannot have so many.
    #[error("the number of lanes is {lanes}, which is not from 1 to {LANES_MAX}")]
    Lanes {
        /// The number that was asked for.
        lanes: usize,
    },
    /// Items of a rank do not begin where the lanes do.
    #[error(
        "rank {rank} has items {start} to {end}, which do not begin at a multiple of {lanes}, the number of lanes"
    )]
    BesideLanes {
        /// The first such rank.
        rank: usize,
        /// The first of these items.
        start: u64,
        /// The item after the last one.
        end: u64,
        /// The number of lanes.
        lanes: usize,
    },
    /// A plan for sums by key has no key.
    #[error("a plan for sums by key has at least one key, not 0")]
    NoKeys,
    /// Messages have no elements.
    #[error("the message limit is 0, but a message has at least one element")]
    ZeroMessageLimit,
    /// Elements have no bytes.
    #[error("an element of type `{element}` takes no memory, so there is nothing to reduce")]
    ZeroSized {
        /// The type of an element.
        element: &'static str,
    },
    /// A message buffer of no values, or of more than there can be.
    #[error(
        "a message buffer holds 1 to {} values, not {values}",
        MessageBuffer::VALUES_MAX
    )]
    MessageBuffer {
        /// The number that was asked for.
        values: usize,
    },
    /// A time of the network is not finite and positive, or no ranks share a node or a port of it.
    #[error("a network's {demand}: {network}")]
    Network {
        /// Which part is wrong, and what it must be.
        demand: &'static str,
        /// The network.
        network: Network,
    },
    /// A parameter that schedules do not take.
    #[error(transparent)]
    Parameter(#[from] schedule::Error),
    /// A level of `hierarchical` that is not a schedule.
    #[error("algorithm `{algorithm}` is not a schedule")]
    NoSchedule {
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// The algorithm needs a transport with [`native_reductions`](comm::Communicator::native_reductions).
    #[error("algorithm `mpi-native` needs a transport with native reductions, such as MPI")]
    NoNativeReductions,
    /// The algorithm reduces single elements only.
    #[error("algorithm `{algorithm}` does not reduce rows of {width} elements")]
    NoRows {
        /// The algorithm.
        algorithm: Algorithm,
        /// The elements of a row.
        width: usize,
    },
    /// An environment variable names no algorithm.
    #[error(transparent)]
    UnknownAlgorithm(#[from] UnknownName),
    /// The ranks do not have the number of items that a rank expects.
    #[error("rank {rank} expects {}, but the ranks have {found} in all", counted(.expected, "item"))]
    ItemCount {
        /// The first rank whose program gave a number of items.
        rank: usize,
        /// The number that it gave.
        expected: u64,
        /// The number of items on all ranks.
        found: u64,
    },
    /// What the ranks own together is not the ownership or distribution that was given on a rank.
    #[error(
        "the ownership given on rank {rank} has {stated} for rank {owner}, but rank {owner} has {found}"
    )]
    OtherShare {
        /// The first rank whose program gave another ownership.
        rank: usize,
        /// The items that it gives the other rank.
        stated: String,
        /// The first rank that has other items.
        owner: usize,
        /// The items that it has.
        found: String,
    },
    /// The ranks' items are not 0..N, each once.
    #[error(transparent)]
    Ownership(#[from] distribution::Error),
    /// The algorithm takes contiguous distributions only.
    #[error("algorithm `{algorithm}` takes contiguous items in rank order only")]
    Scattered {
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// The ranks' items are more than 2^64 - 1.
    #[error("the ranks have more than 2^64 - 1 items in all")]
    TooManyItems,
    /// There are no items, and the operator has no empty value.
    #[error("there are no items on any rank, and `{}` has no empty value", printable(.operator))]
    NoItems {
        /// The operator.
        operator: String,
    },
    /// Another rank is in a run of this plan, or builds another kind of it: one of them has made a call more than the other.
    #[error(
        "rank {rank} builds a plan, and rank {from} is in {other} of it: all ranks must make the same calls in the same order"
    )]
    Mismatched {
        /// This rank.
        rank: usize,
        /// The rank whose message arrived.
        from: usize,
        /// That rank's call.
        other: Turn,
    },
    /// An operator built a plan on the world that runs it. The other ranks do not hear of it.
    #[error("rank {rank}: an operator cannot build a plan on the world that runs it")]
    Nested {
        /// This rank.
        rank: usize,
    },
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] comm::Error),
}

/// An environment variable that names no algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {error}")]
pub struct UnknownName {
    /// The variable.
    pub variable: &'static str,
    /// The name that it has.
    pub error: UnknownAlgorithm,
}

/// Why a run of a [`Plan`](crate::Plan) failed.
///
/// If one rank fails, the ranks that depend on it get an error, too, and none hangs. A rank that fails itself returns its own
/// error, whatever it hears of others. The plan is spent then: later runs return [`RunError::Spent`]. After
/// [`RunError::UnderWay`], [`RunError::NotOffered`], [`RunError::NoOwnNodes`], [`RunError::TimedOut`] and [`RunError::Nested`] it is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The slice is not as long as planned.
    #[error("rank {rank}: the plan is for {} on this rank, not {given}", counted(.planned, "element"))]
    WrongLength {
        /// This rank.
        rank: usize,
        /// The number of elements planned: items times width, which may be more than memory has.
        planned: u128,
        /// The number of elements given.
        given: u64,
    },
    /// The slice for the result is not as long as the result.
    #[error("rank {rank}: the result has {} on this rank, not {given}", counted(.expected, "element"))]
    WrongResultLength {
        /// This rank.
        rank: usize,
        /// The number of elements of the result.
        expected: usize,
        /// The number of elements given.
        given: usize,
    },
    /// Slices that belong together, as those of a dot product, differ in length.
    #[error("rank {rank}: slices of {} and of {} do not belong together", counted(.first, "item"), counted(.second, "item"))]
    Lengths {
        /// This rank.
        rank: usize,
        /// The number of items of the first.
        first: u64,
        /// The number of items of the second.
        second: u64,
    },
    /// There is another number of pairs of slices than columns.
    #[error("rank {rank}: the plan is for {} of slices, not {given}", counted(.planned, "pair"))]
    WrongPairs {
        /// This rank.
        rank: usize,
        /// The number of pairs planned, its width.
        planned: usize,
        /// The number of pairs given.
        given: usize,
    },
    /// The values are not whole rows.
    #[error("rank {rank}: {} cannot be rows of {width}", counted(.values, "value"))]
    NotRows {
        /// This rank.
        rank: usize,
        /// The number of values.
        values: u64,
        /// How many a row is to have.
        width: u64,
    },
    /// Items' keys cannot be: see [`exact::KeyedPlan`](crate::exact::KeyedPlan).
    #[error("rank {rank}: {error}")]
    Keys {
        /// This rank.
        rank: usize,
        /// What is wrong with them.
        error: KeyError,
    },
    /// Sums by key have another number of keys than the plan.
    #[error("rank {rank}: the plan is for {}, not {given}", counted(.planned, "key"))]
    WrongKeys {
        /// This rank.
        rank: usize,
        /// The number of keys planned.
        planned: usize,
        /// The number of keys given.
        given: usize,
    },
    /// What ranks sent beside their sums by key is not what the plan expects. It may be another program's.
    #[error("rank {rank}: what came beside sums by key is not what the plan expects: {}", printable(.reason))]
    WrongEntries {
        /// This rank.
        rank: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// An exclusive scan by an operator that has no empty value, which is the result for item 0.
    #[error(
        "rank {rank}: an exclusive scan begins with nothing, and `{}` has no empty value", printable(.operator)
    )]
    NoEmptyValue {
        /// This rank.
        rank: usize,
        /// The operator.
        operator: String,
    },
    /// The algorithm is not a schedule, and supports only blocking reduce and allreduce. The plan stays usable.
    #[error("rank {rank}: algorithm `{algorithm}` supports only blocking reduce and allreduce")]
    NotOffered {
        /// This rank.
        rank: usize,
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// The algorithm is not a schedule, so that no runs of rows are folded before ranks communicate. The plan stays usable.
    #[error("rank {rank}: algorithm `{algorithm}` takes items, not what was folded elsewhere")]
    NoOwnNodes {
        /// This rank.
        rank: usize,
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// This rank's items could not be folded where they are.
    #[error("rank {rank}: its items were not folded: {}", printable(.reason))]
    NotFolded {
        /// This rank.
        rank: usize,
        /// Why.
        reason: String,
    },
    /// The plan is running already. That run continues.
    #[error("rank {rank}: a run of this plan is under way; wait for it, or build a second plan")]
    UnderWay {
        /// This rank.
        rank: usize,
    },
    /// The time-out has elapsed. The run continues.
    #[error("rank {rank}: still waiting for rank{} {} after {after:?}", if .awaited.len() == 1 {""} else {"s"}, list(.awaited))]
    TimedOut {
        /// This rank.
        rank: usize,
        /// The ranks that the run waits for.
        awaited: Vec<usize>,
        /// How long it has waited.
        after: Duration,
    },
    /// This thread's floating-point environment has changed.
    #[error("rank {rank}: {error}")]
    Environment {
        /// This rank.
        rank: usize,
        /// What is wrong with it.
        error: EnvironmentError,
    },
    /// Another rank failed in this run; it knows why.
    #[error("rank {rank} failed in this reduction")]
    RankFailed {
        /// The rank that failed first.
        rank: usize,
    },
    /// Several ranks failed in this run; they know why. Only [`mpi-native`](Algorithm::MpiNative) exact sums do not say which.
    #[error("{count} ranks failed in this reduction")]
    RanksFailed {
        /// How many.
        count: u64,
    },
    /// A message differs from what the plan expects. It may be another plan's, or another program's.
    #[error("rank {rank}: a message from rank {from} is not what the plan expects: {}", printable(.reason))]
    WrongMessage {
        /// This rank.
        rank: usize,
        /// The sender.
        from: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The transport's own reduction has combined ranks that are not neighbours, or has left ranks out.
    #[error(
        "rank {rank}: the transport's own reduction does not combine the values of all ranks, each once and in order"
    )]
    Torn {
        /// This rank.
        rank: usize,
    },
    /// Ranks are in different calls on this plan: in different operations, or one of them has made a call more than the other.
    #[error(
        "rank {rank} is in {own} of this plan, and rank {from} in {other}: all ranks must make the same calls in the same order"
    )]
    Mismatched {
        /// This rank.
        rank: usize,
        /// Its call.
        own: Turn,
        /// The rank whose message arrived.
        from: usize,
        /// That rank's call.
        other: Turn,
    },
    /// An operator called a collective operation of the world in which it runs.
    #[error("rank {rank}: an operator cannot communicate on the world that runs it")]
    Nested {
        /// This rank.
        rank: usize,
    },
    /// An earlier run of the plan failed.
    #[error("rank {rank}: an earlier run of this plan failed; build a new one")]
    Spent {
        /// This rank.
        rank: usize,
    },
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] comm::Error),
}

impl BuildError {
    /// Why building cannot begin, by the error of a call that cannot.
    pub(crate) fn of_entry(error: RunError) -> Self {
        match error {
            RunError::Nested { rank } => BuildError::Nested { rank },
            RunError::Transport(error) => BuildError::Transport(error),
            error => unreachable!("no reason to begin nothing: {error}"),
        }
    }

    /// Of rows whose columns have another name: what it is that there are none, and what their number is.
    pub(crate) fn of_columns(self, none: Self, number: &'static str) -> Self {
        match self {
            BuildError::ZeroWidth => none,
            BuildError::Disagreement {
                subject: "width",
                first,
                second,
            } => BuildError::Disagreement {
                subject: number,
                first,
                second,
            },
            error => error,
        }
    }

    /// The ranks that are lost, as far as this rank knows: see [`RunError::lost_ranks`].
    #[must_use]
    pub fn lost_ranks(&self) -> Option<&[usize]> {
        match self {
            BuildError::Transport(error) => error.lost_ranks(),
            _ => None,
        }
    }
}

impl RunError {
    /// The ranks that are lost, by their numbers in this world, as far as this rank knows: they have panicked, have left while others waited
    /// for them, or their processes have died. Empty where another rank knows which. The program goes on with [`World::shrink`].
    ///
    /// `None` if the run failed for another reason. That includes [`RunError::RankFailed`]: that rank is there, and the world can be used.
    ///
    /// [`World::shrink`]: crate::World::shrink
    #[must_use]
    pub fn lost_ranks(&self) -> Option<&[usize]> {
        match self {
            RunError::Transport(error) => error.lost_ranks(),
            _ => None,
        }
    }
}

/// A call on a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Turn {
    /// The operation.
    pub operation: Operation,
    /// The number of the run, counted from 1 in the order of the calls. 0 where the rank is still building the plan: then there is no
    /// operation, whatever `operation` says.
    pub run: u64,
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.run {
            0 => f.write_str("the building"),
            run => write!(f, "run {run} ({})", self.operation),
        }
    }
}

/// The outcome on a rank that may have failed itself: its own failure takes precedence over what it heard from others.
pub(crate) fn own_failure_first<R>(
    own: Option<RunError>,
    heard: Result<R, RunError>,
) -> Result<R, RunError> {
    match own {
        Some(failure) => Err(failure),
        None => heard,
    }
}

/// Why [`fold`](crate::fold), or another reduction in one process, failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FoldError {
    /// There are no items, and the operator has no empty value.
    #[error("there are no items, and `{}` has no empty value", printable(.operator))]
    NoItems {
        /// The operator.
        operator: String,
    },
    /// Slices that belong together differ in length.
    #[error("slice {position} has {} where the first, slice 0, has {first}", counted(.found, "item"))]
    Lengths {
        /// The number of items of the first slice.
        first: u64,
        /// The first slice that differs, counted from 0.
        position: u64,
        /// How many items it has.
        found: u64,
    },
    /// The values are not whole rows, or rows would have no values.
    #[error("{} cannot be rows of {width}", counted(.values, "value"))]
    NotRows {
        /// The number of values.
        values: u64,
        /// How many a row is to have.
        width: u64,
    },
    /// There cannot be so many lanes.
    #[error("the number of lanes is {lanes}, which is not from 1 to {LANES_MAX}")]
    Lanes {
        /// The number that was asked for.
        lanes: u64,
    },
    /// An iterator has not as many items as its length says.
    #[error(
        "an iterator, or a part of it, has {} by its length, and gave {}",
        counted(.promised, "item"), .found.map_or("more".to_owned(), |found| found.to_string())
    )]
    Iterator {
        /// Its length.
        promised: u64,
        /// How many items it gave; `None` for more.
        found: Option<u64>,
    },
    /// The result is not as long as a row.
    #[error("the result of rows of {} has {found}", counted(.width, "value"))]
    ResultLength {
        /// How many values a row has.
        width: u64,
        /// How many the result has.
        found: u64,
    },
    /// This thread's floating-point environment is not IEEE 754's default.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
}

/// 1, 2 and 3
fn list(ranks: &[usize]) -> String {
    let mut text = String::new();
    for (index, rank) in ranks.iter().enumerate() {
        let comma = match ranks.len() - index {
            _ if index == 0 => "",
            1 => " and ",
            _ => ", ",
        };
        text += &format!("{comma}{rank}");
    }
    text
}

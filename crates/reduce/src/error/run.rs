//! The errors of running a plan.

use std::fmt;
use std::time::Duration;

use comm::text::{counted, printable};
use exact_sum::{KeyError, LimitError};

use crate::algorithm::Algorithm;
use crate::environment::EnvironmentError;
use crate::operation::Call;

/// Why a run of a [`Plan`](crate::Plan) failed.
///
/// If one rank fails, the ranks that depend on it get an error, too, and no rank hangs. A rank that itself fails returns its own
/// error, whatever it learns about other ranks. A failure spends the plan: later runs return [`RunError::Spent`]. After
/// [`RunError::UnderWay`], [`RunError::NotOffered`], [`RunError::NoOwnNodes`], [`RunError::TimedOut`], [`RunError::Nested`] and
/// [`RunError::Limit`], the plan can still be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The slice is not as long as planned.
    #[error("rank {rank}: the plan is for {} on this rank, not {given}", counted(.planned, "element"))]
    WrongLength {
        /// This rank.
        rank: usize,
        /// The number of elements planned: items times width, which may be more than a slice can hold.
        planned: u128,
        /// The number of elements given.
        given: u64,
    },
    /// The slice for the result is not as long as the result.
    #[error("rank {rank}: the result must have {} on this rank, not {given}", counted(.expected, "element"))]
    WrongResultLength {
        /// This rank.
        rank: usize,
        /// The number of elements of the result.
        expected: usize,
        /// The number of elements given.
        given: usize,
    },
    /// Slices that belong together, such as the two factors of a dot product, differ in length.
    #[error("rank {rank}: two slices must be equally long, but have {} and {}", counted(.first, "item"), counted(.second, "item"))]
    Lengths {
        /// This rank.
        rank: usize,
        /// The number of items of the first slice.
        first: u64,
        /// The number of items of the second slice.
        second: u64,
    },
    /// The number of pairs of slices is not the number of columns.
    #[error("rank {rank}: the plan is for {} of slices, not {given}", counted(.planned, "pair"))]
    WrongPairs {
        /// This rank.
        rank: usize,
        /// The number of pairs planned: the plan's width.
        planned: usize,
        /// The number of pairs given.
        given: usize,
    },
    /// The values are not whole rows.
    #[error("rank {rank}: {} cannot form rows of {width}", counted(.values, "value"))]
    NotRows {
        /// This rank.
        rank: usize,
        /// The number of values.
        values: u64,
        /// The number of values that a row should have.
        width: u64,
    },
    /// The keys of items are invalid: see [`exact::KeyedPlan`](crate::exact::KeyedPlan).
    #[error("rank {rank}: {error}")]
    Keys {
        /// This rank.
        rank: usize,
        /// What is wrong with the keys.
        error: KeyError,
    },
    /// The exact sum over all ranks would have too many items. All ranks that would get the sum return this error. Result slices do not
    /// change, and the plan stays usable. This rank also returns this error if it lacks the memory for the sums of all keys.
    #[error("rank {rank}: {error}")]
    Limit {
        /// This rank.
        rank: usize,
        /// Which limit is exceeded.
        error: LimitError,
    },
    /// This rank's sums by key do not have as many keys as the plan.
    #[error("rank {rank}: the plan is for {}, not {given}", counted(.planned, "key"))]
    WrongKeys {
        /// This rank.
        rank: usize,
        /// The number of keys planned.
        planned: usize,
        /// The number of keys given.
        given: usize,
    },
    /// The values that ranks sent with their sums by key are not what the plan expects. Another program may have sent them.
    #[error("rank {rank}: the values that accompany sums by key are not what the plan expects: {}", printable(.reason))]
    WrongEntries {
        /// This rank.
        rank: usize,
        /// What is wrong with the values.
        reason: String,
    },
    /// The result of an exclusive scan for item 0 is the operator's empty value, but the operator has none.
    #[error(
        "rank {rank}: an exclusive scan begins with the empty value, but `{}` has none", printable(.operator)
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
    /// The algorithm is not a schedule, so it does not accept values that were folded elsewhere. The plan stays usable.
    #[error(
        "rank {rank}: algorithm `{algorithm}` needs items; it cannot use values folded elsewhere"
    )]
    NoOwnNodes {
        /// This rank.
        rank: usize,
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// This rank's items could not be folded where they are stored, for example on a GPU.
    #[error("rank {rank} could not fold its items: {}", printable(.reason))]
    NotFolded {
        /// This rank.
        rank: usize,
        /// Why they were not folded.
        reason: String,
    },
    /// A run of the plan is already under way. That run continues.
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
        /// The time that the call has waited.
        after: Duration,
    },
    /// This thread's floating-point environment has changed.
    #[error("rank {rank}: {error}")]
    Environment {
        /// This rank.
        rank: usize,
        /// What is wrong with the environment.
        error: EnvironmentError,
    },
    /// Another rank failed in this run. The error on that rank says why.
    #[error("rank {rank} failed in this reduction")]
    RankFailed {
        /// The rank that failed first.
        rank: usize,
    },
    /// Several ranks failed in this run. Their errors say why. Only exact sums by [`mpi-native`](Algorithm::MpiNative) cannot name the ranks.
    #[error("{count} ranks failed in this reduction")]
    RanksFailed {
        /// The number of ranks that failed.
        count: u64,
    },
    /// A message differs from what the plan expects. It may come from another plan or another program.
    #[error("rank {rank}: a message from rank {from} is not what the plan expects: {}", printable(.reason))]
    WrongMessage {
        /// This rank.
        rank: usize,
        /// The sender.
        from: usize,
        /// What is wrong with the message.
        reason: String,
    },
    /// The transport's own reduction has combined values of ranks that are not neighbours, or has left ranks out.
    #[error(
        "rank {rank}: the transport's own reduction did not combine the values of all ranks, each once and in order"
    )]
    Torn {
        /// This rank.
        rank: usize,
    },
    /// Ranks are in different calls on this plan: they run different operations or reduce different things, or one of them has made one
    /// call more than the other.
    #[error(
        "rank {rank} is in {own} of this plan, but rank {from} is in {other}: all ranks must make the same calls in the same order"
    )]
    Mismatched {
        /// This rank.
        rank: usize,
        /// This rank's call.
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
    #[error("rank {rank}: an earlier run of this plan failed; build a new plan")]
    Spent {
        /// This rank.
        rank: usize,
    },
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] comm::Error),
}

impl RunError {
    /// Whether every rank that would get the result returns this same error, so that no rank waits for another.
    pub(crate) fn is_of_all(&self) -> bool {
        let items = LimitError::Items;
        matches!(self, Self::Limit { error, .. } if *error == items)
    }

    /// The lost ranks, by their numbers in this world, as far as this rank knows: ranks that panicked, that left while others waited for
    /// them, or whose processes died. Empty if only other ranks know the lost ranks. The program can continue after [`World::shrink`].
    ///
    /// `None` if the run failed for another reason, such as [`RunError::RankFailed`]: the failed rank is not lost, and the world stays usable.
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
    /// The operation and its operand.
    pub call: Call,
    /// The number of the run, counted from 1 in the order of the calls. 0 while the rank is still building the plan; `call` then has no meaning.
    pub run: u64,
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.run {
            0 => f.write_str("the construction"),
            run => write!(f, "run {run} ({})", self.call),
        }
    }
}

/// Lists ranks, such as `1, 2 and 3`.
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

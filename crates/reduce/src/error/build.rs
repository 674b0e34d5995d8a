//! The errors of building a plan.

use comm::text::{counted, printable};
use schedule::Network;

use super::{RunError, Turn};
use crate::algorithm::{Algorithm, UnknownAlgorithm};
use crate::environment::EnvironmentError;
use crate::message_buffer::MessageBuffer;
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
        /// What the ranks disagree on.
        subject: &'static str,
        /// A rank, and its value.
        first: (usize, String),
        /// The first rank with another value, and that value.
        second: (usize, String),
    },
    /// A rank's program does not say which items the rank has.
    #[error("rank {rank}: none of local_items, distribution, ownership and extents was given")]
    NoShare {
        /// The first such rank.
        rank: usize,
    },
    /// A rank's distribution is for another number of ranks.
    #[error("rank {rank}: the distribution is for {}, but the world has {size}", counted(.planned, "rank"))]
    OtherSize {
        /// The first such rank.
        rank: usize,
        /// The number of ranks that the distribution is for.
        planned: usize,
        /// The number of ranks of the world.
        size: usize,
    },
    /// A rank's floating-point environment is not IEEE 754's default.
    #[error("rank {rank}: {error}")]
    Environment {
        /// The first such rank.
        rank: usize,
        /// What is wrong with the environment.
        error: EnvironmentError,
    },
    /// [`Builder::agreed`](crate::Builder::agreed) was called, but the items follow no rule. Ranks cannot agree on a table without messages.
    #[error("agreed() needs a distribution or an ownership that follows a rule, not a table")]
    NotARule,
    /// The root does not exist.
    #[error("root {root} does not exist, because the world has {}", counted(.size, "rank"))]
    Root {
        /// The rank that was named.
        root: usize,
        /// The number of ranks of the world.
        size: usize,
    },
    /// A rank lacks the memory for a row, for a list of its ranges of items, or for all ranks' lists.
    #[error("rank {rank}: the plan needs at least {bytes} bytes, more than are available")]
    Memory {
        /// The first such rank.
        rank: usize,
        /// The number of bytes of the row, or of the lists.
        bytes: u128,
    },
    /// The width of an item is 0 elements.
    #[error("the width is 0, but an item has at least one element")]
    ZeroWidth,
    /// A plan cannot have this number of lanes.
    #[error("the number of lanes must be from 1 to {LANES_MAX}, but is {lanes}")]
    Lanes {
        /// The requested number.
        lanes: usize,
    },
    /// A range of a rank's items does not begin at a multiple of the number of lanes.
    #[error(
        "rank {rank}: items {start}..{end} do not begin at a multiple of {lanes}, the number of lanes"
    )]
    BesideLanes {
        /// The first such rank.
        rank: usize,
        /// The first item of the range.
        start: u64,
        /// The item after the last item of the range.
        end: u64,
        /// The number of lanes.
        lanes: usize,
    },
    /// A plan for sums by key has no key.
    #[error("a plan for sums by key needs at least one key")]
    NoKeys,
    /// The limit of a message is 0 elements.
    #[error("the message limit is 0, but a message has at least one element")]
    ZeroMessageLimit,
    /// The type of the elements has size 0.
    #[error("an element of type `{element}` takes no memory, so there is nothing to reduce")]
    ZeroSized {
        /// The type of an element.
        element: &'static str,
    },
    /// The number of values of a message buffer is 0, or more than a message can have.
    #[error(
        "a message buffer holds 1 to {} values, not {values}",
        MessageBuffer::VALUES_MAX
    )]
    MessageBuffer {
        /// The requested number.
        values: usize,
    },
    /// A time of the network is not finite and positive, or the number of ranks that share a node or a port is 0.
    #[error("a network's {demand}: {network}")]
    Network {
        /// Which part is wrong, and what that part must be.
        demand: &'static str,
        /// The network.
        network: Network,
    },
    /// A parameter is invalid for the schedule.
    #[error(transparent)]
    Parameter(#[from] schedule::Error),
    /// The algorithm of a level of `hierarchical` is not a schedule.
    #[error("algorithm `{algorithm}` is not a schedule, as a level of `hierarchical` must be")]
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
        /// The number of elements of a row.
        width: usize,
    },
    /// The value of an environment variable is not the name of an algorithm.
    #[error(transparent)]
    UnknownAlgorithm(#[from] UnknownName),
    /// The number of items on all ranks is not the number that a rank's program gave.
    #[error("rank {rank} expects {}, but the ranks have {found} in all", counted(.expected, "item"))]
    ItemCount {
        /// The first rank whose program gave a number of items.
        rank: usize,
        /// The number that the program gave.
        expected: u64,
        /// The number of items on all ranks.
        found: u64,
    },
    /// The items that the ranks own together do not match the ownership or distribution given on a rank.
    #[error(
        "the ownership given on rank {rank} has {stated} for rank {owner}, but rank {owner} has {found}"
    )]
    OtherShare {
        /// The first rank whose program gave another ownership.
        rank: usize,
        /// The items that this ownership assigns to rank `owner`.
        stated: String,
        /// The first rank whose items differ from that ownership.
        owner: usize,
        /// The items that rank `owner` has.
        found: String,
    },
    /// The ranks' items are not 0..N, each exactly once.
    #[error(transparent)]
    Ownership(#[from] distribution::Error),
    /// The algorithm supports only contiguous distributions in rank order.
    #[error("algorithm `{algorithm}` needs each rank to own one range of items, in rank order")]
    Scattered {
        /// The algorithm.
        algorithm: Algorithm,
    },
    /// The ranks have more than 2^64 - 1 items in all.
    #[error("the ranks have more than 2^64 - 1 items in all")]
    TooManyItems,
    /// There are no items, and the operator has no empty value.
    #[error("there are no items on any rank, and `{}` has no empty value", printable(.operator))]
    NoItems {
        /// The operator.
        operator: String,
    },
    /// Another rank is in a run of this plan, or builds another kind of plan. One of the two ranks has made one call more than the other.
    #[error(
        "rank {rank} is building a plan, but rank {from} is in {other} of that plan: all ranks must make the same calls in the same order"
    )]
    Mismatched {
        /// This rank.
        rank: usize,
        /// The rank whose message arrived.
        from: usize,
        /// That rank's call.
        other: Turn,
    },
    /// An operator built a plan on the world that runs the operator. The other ranks are not notified.
    #[error("rank {rank}: an operator cannot build a plan on the world that runs it")]
    Nested {
        /// This rank.
        rank: usize,
    },
    /// The transport failed.
    #[error(transparent)]
    Transport(#[from] comm::Error),
}

/// The error for an environment variable whose value is not the name of an algorithm.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{variable}: {error}")]
pub struct UnknownName {
    /// The variable.
    pub variable: &'static str,
    /// The error, with the variable's value.
    pub error: UnknownAlgorithm,
}

impl BuildError {
    /// The error of a `build` call that cannot begin.
    pub(crate) fn of_entry(error: RunError) -> Self {
        match error {
            RunError::Nested { rank } => BuildError::Nested { rank },
            RunError::Transport(error) => BuildError::Transport(error),
            error => unreachable!("a call that cannot begin has another error: {error}"),
        }
    }

    /// Replaces [`BuildError::ZeroWidth`] by `none`, for plans whose width is a number of lanes or of keys.
    pub(crate) fn of_columns(self, none: Self) -> Self {
        match self {
            BuildError::ZeroWidth => none,
            error => error,
        }
    }

    /// The lost ranks, as far as this rank knows: see [`RunError::lost_ranks`].
    #[must_use]
    pub fn lost_ranks(&self) -> Option<&[usize]> {
        match self {
            BuildError::Transport(error) => error.lost_ranks(),
            _ => None,
        }
    }
}

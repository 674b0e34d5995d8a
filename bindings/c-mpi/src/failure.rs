//! The error codes of plans and runs.

use treefold::exact::{KeyError, LimitError};
use treefold::transport::Error as TransportError;
use treefold::{BuildError, RunError};
use treefold_c::failure::{Code, Failure};

use crate::words;

/// A failure with its code and its rank.
fn failure(code: Code, rank: Option<usize>, message: String) -> Failure {
    let failure = Failure::new(code, message);
    match rank {
        Some(rank) => failure.of_rank(rank),
        None => failure,
    }
}

/// The failure of a transport.
pub(crate) fn of_transport(error: &TransportError) -> Failure {
    let (code, rank) = match *error {
        // The first silent rank, or no rank if it is not known which ranks are silent.
        TransportError::Silent { ref peers, .. } => (Code::Mpi, peers.clone().next()),
        TransportError::Connection { peer, .. } => (Code::Mpi, Some(peer)),
        TransportError::Panicked { rank, .. }
        | TransportError::Left { rank, .. }
        | TransportError::GivenUp { rank, .. } => (Code::RankFailed, Some(rank)),
        TransportError::Mismatched { from, .. } => (Code::Mismatched, Some(from)),
        TransportError::NoSuchRank { peer, .. } => (Code::Argument, Some(peer)),
        TransportError::BadSetting { rank, .. } => (Code::Argument, Some(rank)),
        TransportError::Nested { rank } => (Code::Operator, Some(rank)),
        TransportError::Interrupted { rank } => (Code::Interrupted, Some(rank)),
        TransportError::Finalised { rank }
        | TransportError::Forked { rank }
        | TransportError::Mpi { rank, .. } => (Code::Mpi, Some(rank)),
        _ => (Code::Mpi, None),
    };
    failure(code, rank, words::of_transport(error))
}

/// The failure of building a plan.
pub(crate) fn of_build(error: &BuildError) -> Failure {
    let (code, rank) = match error {
        BuildError::Transport(error) => return of_transport(error),
        BuildError::Mismatched { from, .. } => (Code::Mismatched, Some(*from)),
        BuildError::Disagreement { second, .. } => (Code::Disagree, Some(second.0)),
        BuildError::ItemCount { rank, .. } | BuildError::OtherShare { rank, .. } => {
            (Code::Disagree, Some(*rank))
        }
        BuildError::Ownership(_) | BuildError::TooManyItems => (Code::Disagree, None),
        BuildError::NoShare { rank } | BuildError::OtherSize { rank, .. } => {
            (Code::Argument, Some(*rank))
        }
        BuildError::Root { root, .. } => (Code::Argument, Some(*root)),
        BuildError::Environment { rank, .. } => (Code::Environment, Some(*rank)),
        BuildError::Memory { rank, .. } => (Code::Memory, Some(*rank)),
        BuildError::NoItems { .. } => (Code::Empty, None),
        BuildError::Nested { rank } => (Code::Operator, Some(*rank)),
        BuildError::NoNativeReductions
        | BuildError::NoRows { .. }
        | BuildError::Scattered { .. }
        | BuildError::NoSchedule { .. } => (Code::Unsupported, None),
        _ => (Code::Argument, None),
    };
    failure(code, rank, words::of_build(error))
}

/// The failure of a run.
pub(crate) fn of_run(error: &RunError) -> Failure {
    let (code, rank) = match error {
        RunError::Transport(error) => return of_transport(error),
        RunError::WrongLength { rank, .. }
        | RunError::WrongResultLength { rank, .. }
        | RunError::Lengths { rank, .. }
        | RunError::WrongPairs { rank, .. }
        | RunError::NotRows { rank, .. }
        | RunError::WrongKeys { rank, .. } => (Code::Length, *rank),
        RunError::Keys { rank, error } => match error {
            KeyError::Lengths { .. } => (Code::Length, *rank),
            KeyError::Limit(LimitError::Memory { .. }) => (Code::Memory, *rank),
            _ => (Code::Argument, *rank),
        },
        RunError::Limit {
            rank,
            error: LimitError::Memory { .. },
        } => (Code::Memory, *rank),
        RunError::Limit { rank, .. } => (Code::Argument, *rank),
        RunError::NoEmptyValue { rank, .. } => (Code::Empty, *rank),
        RunError::NotOffered { rank, .. } | RunError::NoOwnNodes { rank, .. } => {
            (Code::Unsupported, *rank)
        }
        RunError::UnderWay { rank } => (Code::UnderWay, *rank),
        RunError::TimedOut { rank, awaited, .. } => {
            (Code::TimedOut, awaited.first().copied().unwrap_or(*rank))
        }
        RunError::Environment { rank, .. } => (Code::Environment, *rank),
        RunError::RankFailed { rank } => (Code::RankFailed, *rank),
        RunError::WrongEntries { rank, .. } => (Code::Mismatched, *rank),
        RunError::WrongMessage { from, .. } | RunError::Mismatched { from, .. } => {
            (Code::Mismatched, *from)
        }
        RunError::Torn { rank } => (Code::Mpi, *rank),
        RunError::Nested { rank } => (Code::Operator, *rank),
        RunError::Spent { rank } => (Code::Spent, *rank),
        RunError::RanksFailed { .. } => {
            return failure(Code::RankFailed, None, words::of_run(error));
        }
        _ => return failure(Code::Argument, None, words::of_run(error)),
    };
    failure(code, Some(rank), words::of_run(error))
}

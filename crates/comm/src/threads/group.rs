//! Communicators of some or all of a network's ranks. They all use the same network, so that it sees every rank that waits, but their
//! messages never match.

use std::sync::Arc;

use crate::error::Error;
use crate::tag::Tag;

/// Which communicator a message belongs to: the tags of the splits that have made the communicator, in order; `None` for the network's
/// own. Groups of one split have the same context, but no rank in common. The box makes it one word, since every message has a context.
pub(super) type Context = Option<Arc<Box<[u64]>>>;

/// The ranks of a communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) context: Context,
    /// The numbers that the communicator's ranks have in the network; `None` if they are the same.
    pub(super) members: Option<Arc<[usize]>>,
}

impl Group {
    /// All ranks of a network, with their own numbers.
    pub(super) const ALL: Self = Self {
        context: None,
        members: None,
    };

    /// Ranks of a network, numbered in this order.
    pub(super) fn ordered(members: Vec<usize>) -> Self {
        let is_same = members.iter().enumerate().all(|(own, &rank)| own == rank);
        Self {
            context: None,
            members: (!is_same).then(|| members.into()),
        }
    }

    /// The group of some ranks, given by their numbers in this group, that a split with this tag makes.
    pub(super) fn part(&self, tag: Tag, ranks: &[usize]) -> Self {
        let before = self.context.iter().flat_map(|context| context.iter());
        let context = before.copied().chain([tag.to_bits()]);
        let members = ranks.iter().map(|&rank| self.in_network(rank));
        Self {
            context: Some(Arc::new(context.collect())),
            members: Some(members.collect()),
        }
    }

    /// A rank's number in the network.
    #[inline]
    pub(super) fn in_network(&self, rank: usize) -> usize {
        match &self.members {
            None => rank,
            Some(members) => members[rank],
        }
    }

    /// The number in this group of a rank of the network, if it is in this group.
    pub(super) fn here(&self, rank: usize) -> Option<usize> {
        match &self.members {
            None => Some(rank),
            Some(members) => members.iter().position(|&member| member == rank),
        }
    }

    /// Whether a rank of the network is in this group.
    pub(super) fn has(&self, rank: usize) -> bool {
        self.here(rank).is_some()
    }

    /// A failure of the network, with ranks' numbers in this group. A failure of ranks outside the group becomes [`Error::Revoked`].
    pub(super) fn localised(&self, own: usize, error: Error) -> Error {
        if self.members.is_none() {
            return error;
        }
        let here = |rank| self.here(rank);
        let localised = match &error {
            Error::Panicked { rank, message } => here(*rank).map(|rank| Error::Panicked {
                rank,
                message: message.clone(),
            }),
            Error::NotStarted { rank, reason } => here(*rank).map(|rank| Error::NotStarted {
                rank,
                reason: reason.clone(),
            }),
            Error::Left { rank, awaited_by } => here(*rank)
                .zip(here(*awaited_by))
                .map(|(rank, awaited_by)| Error::Left { rank, awaited_by }),
            Error::Revoked { rank } => here(*rank).map(|rank| Error::Revoked { rank }),
            _ => return error,
        };
        localised.unwrap_or(Error::Revoked { rank: own })
    }
}

//! Groups of ranks, each with a communicator. All communicators use the same network, so that the network sees every rank that waits.
//! Messages of different communicators never match.

use std::sync::Arc;

use crate::error::Error;
use crate::tag::Tag;

/// The communicator that a message belongs to: the tags of the splits that made it, in order; `None` for the communicator of all ranks.
/// Groups of one split have the same context, but no rank in common. Every message has a context, so the box reduces it to one word.
pub(super) type Context = Option<Arc<Box<[u64]>>>;

/// The ranks of a communicator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Group {
    pub(super) context: Context,
    /// The numbers that the communicator's ranks have in the network; `None` if each rank has the same number in both.
    pub(super) members: Option<Arc<[usize]>>,
}

impl Group {
    /// All ranks of a network, with their own numbers.
    pub(super) const ALL: Self = Self {
        context: None,
        members: None,
    };

    /// The group of these ranks of a network, numbered in this order.
    pub(super) fn ordered(members: Vec<usize>) -> Self {
        let is_same = members.iter().enumerate().all(|(own, &rank)| own == rank);
        Self {
            context: None,
            members: (!is_same).then(|| members.into()),
        }
    }

    /// The group that a split with this tag makes of `ranks`, given by their numbers in this group.
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

    /// The number that a rank of the network has in this group; `None` if the rank is not in this group.
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

    /// A failure of the network, with the ranks' numbers in this group. A failure of a rank outside the group becomes [`Error::Revoked`].
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

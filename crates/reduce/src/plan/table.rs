//! How ranks communicate while they agree on a plan.

use comm::{Communicator, Tag, collective};

/// A transport, and the tag of a plan's conversation. Each plan has its own tag, so messages left over from a failed build match no later receive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'c> {
    pub(crate) comm: &'c dyn Communicator,
    pub(crate) tag: Tag,
}

impl Table<'_> {
    /// Gathers the messages of all ranks, which have the same length, in rank order. Collective.
    pub(crate) fn allgather(self, message: Vec<u8>) -> Result<Vec<u8>, comm::Error> {
        collective::allgather(self.comm, self.tag, message)
    }
}

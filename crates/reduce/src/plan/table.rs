//! The conversation in which ranks agree on a plan.

use comm::{Communicator, Tag, collective};

/// A conversation in which ranks agree. Each plan has its own, so messages left over from a failed plan never match those of the next one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'c> {
    pub(crate) comm: &'c dyn Communicator,
    pub(crate) tag: Tag,
}

impl Table<'_> {
    /// The messages of all ranks, all of one length, in rank order. Collective.
    pub(crate) fn allgather(self, message: Vec<u8>) -> Result<Vec<u8>, comm::Error> {
        collective::allgather(self.comm, self.tag, message)
    }
}

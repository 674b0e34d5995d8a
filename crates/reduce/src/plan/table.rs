//! Where ranks agree.

use comm::{Communicator, Tag, collective};

/// A conversation in which ranks agree. Each plan has its own, so that what is left of one that failed never meets the next.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'c> {
    pub(crate) comm: &'c dyn Communicator,
    pub(crate) tag: Tag,
}

impl Table<'_> {
    /// Everybody's message, all of one length, in rank order. Collective.
    pub(crate) fn allgather(self, message: Vec<u8>) -> Result<Vec<u8>, comm::Error> {
        collective::allgather(self.comm, self.tag, message)
    }
}

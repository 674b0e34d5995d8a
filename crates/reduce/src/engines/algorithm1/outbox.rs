//! The thesis' message buffer (section 3.1.1): values for the same rank travel together.

use comm::{Communicator, Request, Tag};

use super::wire;
use crate::message_buffer::MessageBuffer;
use crate::trace::message;

/// Values for one rank, to be sent together.
pub(crate) struct Outbox<'r> {
    comm: &'r dyn Communicator,
    tag: Tag,
    rule: MessageBuffer,
    /// The length of a full message. Receivers have room for this length.
    frame_bytes: usize,
    /// The rank that the entries are for.
    to: usize,
    /// Each entry is an item number and its subtree's value.
    entries: Vec<u8>,
    entries_count: usize,
    under_way: Vec<Request>,
}

impl<'r> Outbox<'r> {
    pub(crate) fn new(
        comm: &'r dyn Communicator,
        tag: Tag,
        rule: MessageBuffer,
        frame_bytes: usize,
    ) -> Self {
        Self {
            comm,
            tag,
            rule,
            frame_bytes,
            to: 0,
            entries: Vec::new(),
            entries_count: 0,
            under_way: Vec::new(),
        }
    }

    /// Notes that work begins on a subtree of `leaves` leaves: sends the buffer if the subtree is large.
    pub(crate) fn begin(&mut self, leaves: u64) -> Result<(), comm::Error> {
        if leaves > self.rule.flush_leaves {
            self.flush()?;
        }
        Ok(())
    }

    /// Adds a value. If earlier values are for another rank, flushes them first. If the buffer is then full, flushes it.
    pub(crate) fn push(&mut self, to: usize, x: u64, value: &[u8]) -> Result<(), comm::Error> {
        if to != self.to {
            self.flush()?;
            self.to = to;
        }
        self.entries.extend(x.to_ne_bytes());
        self.entries.extend(value);
        self.entries_count += 1;
        if self.entries_count == self.rule.values {
            self.flush()?;
        }
        Ok(())
    }

    pub(crate) fn flush(&mut self) -> Result<(), comm::Error> {
        if self.entries_count == 0 {
            return Ok(());
        }
        self.entries_count = 0;
        let frame = wire::delivered(&self.entries);
        self.entries.clear();
        self.send(self.to, frame)
    }

    fn send(&mut self, to: usize, frame: Vec<u8>) -> Result<(), comm::Error> {
        message!(to, frame.len());
        let request = self
            .comm
            .start_send(to, self.tag, frame, self.frame_bytes)?;
        self.under_way.push(request);
        Ok(())
    }

    /// Notifies `waiting`, and the rank whose values are still buffered, that `culprit` has failed.
    pub(crate) fn notify_failed(&mut self, culprit: usize, waiting: impl Iterator<Item = usize>) {
        let buffered_for = (self.entries_count > 0).then_some(self.to);
        let mut waiting: Vec<usize> = waiting.chain(buffered_for).collect();
        waiting.sort_unstable();
        waiting.dedup();
        for to in waiting {
            // If the transport has failed, the other ranks' calls fail as well.
            let _ = self.send(to, wire::failed(culprit));
        }
    }

    /// Waits until the transport is done with all messages.
    pub(crate) fn finish(self) -> Result<(), comm::Error> {
        for request in self.under_way {
            self.comm.wait(request)?;
        }
        Ok(())
    }
}

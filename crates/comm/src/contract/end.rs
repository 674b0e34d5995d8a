//! A rank's communicator, with the operations that the checks use.

use std::cell::Cell;

use crate::communicator::Communicator;
use crate::error::Error;
use crate::request::Request;
use crate::tag::Tag;

/// A rank's communicator, and the number of bytes by which the capacity of a receive exceeds the length of its message.
pub(super) struct End<'c> {
    pub(super) comm: &'c dyn Communicator,
    pub(super) spare_bytes: usize,
    pub(super) last_tag: &'c Cell<u64>,
}

impl End<'_> {
    pub(super) fn rank(&self) -> usize {
        self.comm.rank()
    }

    pub(super) fn size(&self) -> usize {
        self.comm.size()
    }

    /// Opens a new conversation and returns its tag. With steps of 10,000, numbers soon exceed the greatest tag of an MPI library.
    pub(super) fn fresh_tag(&self) -> Tag {
        let next = self.last_tag.get() + 10_000;
        self.last_tag.set(next);
        let tag = Tag::new(next).with_exchange(next / 10_000, 3);
        self.comm.open(tag).unwrap();
        tag
    }

    /// The ranks before and after this one.
    pub(super) fn neighbours(&self) -> (usize, usize) {
        let (rank, size) = (self.rank(), self.size());
        ((rank + size - 1) % size, (rank + 1) % size)
    }

    /// Starts sending to a receiver that expects at most `length_bytes`.
    pub(super) fn start_send_for(
        &self,
        to: usize,
        tag: Tag,
        message: Vec<u8>,
        length_bytes: usize,
    ) -> Result<Request, Error> {
        let capacity_bytes = length_bytes + self.spare_bytes;
        self.comm.start_send(to, tag, message, capacity_bytes)
    }

    pub(super) fn start_send(&self, to: usize, tag: Tag, message: Vec<u8>) -> Request {
        let length_bytes = message.len();
        self.start_send_for(to, tag, message, length_bytes).unwrap()
    }

    pub(super) fn start_receive(
        &self,
        from: usize,
        tag: Tag,
        length_bytes: usize,
    ) -> Result<Request, Error> {
        let buffer = vec![0; length_bytes + self.spare_bytes];
        self.comm.start_receive(from, tag, buffer)
    }

    pub(super) fn send(&self, to: usize, tag: Tag, message: Vec<u8>) {
        let request = self.start_send(to, tag, message);
        self.comm.wait(request).unwrap();
    }

    pub(super) fn receive(
        &self,
        from: usize,
        tag: Tag,
        length_bytes: usize,
    ) -> Result<Vec<u8>, Error> {
        let request = self.start_receive(from, tag, length_bytes)?;
        self.comm.wait(request)
    }

    /// Sends a message to the right neighbour. Returns the left neighbour's message, which has at most `length_bytes`.
    pub(super) fn pass_on(
        &self,
        tag: Tag,
        message: Vec<u8>,
        length_bytes: usize,
    ) -> Result<Vec<u8>, Error> {
        let (left, right) = self.neighbours();
        let sent = self.start_send_for(right, tag, message, length_bytes)?;
        let received = self.receive(left, tag, length_bytes);
        self.comm.wait(sent).unwrap();
        received
    }

    pub(super) fn try_receive(
        &self,
        from: usize,
        tag: Tag,
        capacity_bytes: usize,
    ) -> Option<Vec<u8>> {
        let mut message = None;
        let mut take = |bytes: &[u8]| message = Some(bytes.to_vec());
        let is_received = self.comm.try_receive(from, tag, capacity_bytes, &mut take);
        assert_eq!(message.is_some(), is_received);
        message
    }

    pub(super) fn wait_all(&self, requests: impl IntoIterator<Item = Request>) {
        for request in requests {
            self.comm.wait(request).unwrap();
        }
    }
}

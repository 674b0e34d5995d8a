//! The memory of a message, and the notice that replaces a message when a rank has failed.

use std::time::Duration;

use comm::{Communicator, Request};

use crate::world::patience::Patience;

/// The length of a failure notice, in bytes. If the replaced message has this length, the notice is one byte longer.
const NOTICE_BYTES: usize = size_of::<u64>();

/// A message's memory, or the request that holds the memory.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    pub(crate) memory: Vec<u8>,
    /// The message's offset in `memory`; not 0 if the message was moved to align its values.
    start: usize,
    pub(crate) request: Option<Request>,
}

impl Buffer {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self {
            memory: Vec::with_capacity(bytes),
            ..Self::default()
        }
    }

    /// Takes the memory back from the transport, if the request completes in time. Returns whether the memory is back.
    pub(crate) fn reclaim(
        &mut self,
        comm: &dyn Communicator,
        patience: Patience,
    ) -> Result<bool, comm::Error> {
        let Some(request) = self.request.take() else {
            return Ok(true);
        };
        let is_complete = match (patience, patience.left()) {
            (Patience::InPassing, _) => comm.test_in_passing(&request),
            (_, None) => Ok(true),
            (_, Some(Duration::ZERO)) => comm.test(&request),
            (_, Some(left)) => comm.wait_timeout(&request, left),
        };
        match is_complete {
            Ok(true) => {
                self.memory = comm.wait(request)?;
                self.start = 0;
                Ok(true)
            }
            Ok(false) => {
                self.request = Some(request);
                Ok(false)
            }
            Err(error) => {
                comm.cancel(request);
                Err(error)
            }
        }
    }

    /// Like [`reclaim`](Buffer::reclaim), for a send. A send is also over if its receiver has given up.
    pub(crate) fn reclaim_sent(
        &mut self,
        comm: &dyn Communicator,
        patience: Patience,
    ) -> Result<bool, comm::Error> {
        unless_given_up(self.reclaim(comm, patience)).map(|is_over| is_over.unwrap_or(true))
    }

    /// Copies a received message to this buffer.
    pub(crate) fn fill(&mut self, message: &[u8]) {
        self.memory.clear();
        self.memory.extend_from_slice(message);
        self.start = 0;
    }

    /// Aligns the values of a received message, by moving them if necessary. Allocators align by 16 bytes, which is enough for most
    /// types.
    pub(crate) fn align(&mut self, alignment: usize) {
        let length = self.memory.len();
        if self.memory.as_ptr().align_offset(alignment) != 0 {
            self.memory.resize(length + alignment, 0);
            self.start = self.memory.as_ptr().align_offset(alignment);
            self.memory.copy_within(..length, self.start);
            self.memory.truncate(self.start + length);
        }
    }

    /// The values of an aligned message.
    pub(crate) fn values(&self) -> &[u8] {
        &self.memory[self.start..]
    }
}

/// The capacity of a message of `length` bytes or of a notice in its place. Sender and receiver compute the same capacity.
pub(crate) fn capacity_bytes(length: usize) -> usize {
    length.max(NOTICE_BYTES + 1)
}

/// Writes the notice that rank `failed` has failed, in place of a message of `length` bytes.
pub(crate) fn write_notice(memory: &mut Vec<u8>, length: usize, failed: usize) {
    memory.extend_from_slice(&(failed as u64).to_ne_bytes());
    if length == NOTICE_BYTES {
        memory.push(0);
    }
}

/// Replaces the error `GivenUp` by `Ok(Err(rank))`, as if the rank that gave up had sent a notice that names itself.
pub(crate) fn unless_given_up<R>(
    outcome: Result<R, comm::Error>,
) -> Result<Result<R, usize>, comm::Error> {
    match outcome {
        Err(comm::Error::GivenUp { rank, .. }) => Ok(Err(rank)),
        outcome => outcome.map(Ok),
    }
}

/// The rank that a notice names; `None` if `bytes` is not a notice.
pub(crate) fn read_notice(bytes: &[u8]) -> Option<usize> {
    let (number, _) = bytes.split_first_chunk::<NOTICE_BYTES>()?;
    usize::try_from(u64::from_ne_bytes(*number)).ok()
}

#[cfg(test)]
mod tests {
    use super::Buffer;

    #[test]
    fn values_are_aligned_wherever_the_message_lies() {
        for skipped in 0..16 {
            let bytes: Vec<u8> = (0..skipped).chain(0..64).collect();
            let mut buffer = Buffer {
                memory: bytes[usize::from(skipped)..].to_vec(),
                ..Buffer::default()
            };
            buffer.align(16);
            assert_eq!(buffer.values().as_ptr().align_offset(16), 0);
            assert_eq!(buffer.values(), &bytes[usize::from(skipped)..]);
        }
    }
}

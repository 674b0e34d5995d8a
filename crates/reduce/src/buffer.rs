//! The memory of a message, and what stands in a message's place when a rank has failed.

use std::time::{Duration, Instant};

use bytemuck::Pod;
use comm::{Communicator, Request};

use crate::program::Message;

/// The length of a failure notice where values have another.
const NOTICE_BYTES: usize = size_of::<u64>();

/// How long to wait for the transport.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Patience {
    None,
    Until(Instant),
    Unlimited,
}

impl Patience {
    /// Until the time that is `timeout` from now; without limit where clocks do not reach that far.
    pub(crate) fn of(timeout: Duration) -> Self {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => Patience::Until(deadline),
            None => Patience::Unlimited,
        }
    }

    /// The time that is left; `None` without limit.
    pub(crate) fn left(self) -> Option<Duration> {
        match self {
            Patience::None => Some(Duration::ZERO),
            Patience::Until(deadline) => Some(deadline.saturating_duration_since(Instant::now())),
            Patience::Unlimited => None,
        }
    }
}

/// A message's memory, or the request that has it.
#[derive(Debug, Default)]
pub(crate) struct Buffer {
    pub(crate) memory: Vec<u8>,
    pub(crate) request: Option<Request>,
}

impl Buffer {
    /// Takes the memory back from the transport, if it can be had in time. Says whether it is here.
    pub(crate) fn reclaim(
        &mut self,
        comm: &dyn Communicator,
        patience: Patience,
    ) -> Result<bool, comm::Error> {
        let Some(request) = self.request.take() else {
            return Ok(true);
        };
        let is_complete = match patience.left() {
            None => Ok(true),
            Some(Duration::ZERO) => comm.test(&request),
            Some(left) => comm.wait_timeout(&request, left),
        };
        match is_complete {
            Ok(true) => {
                self.memory = comm.wait(request)?;
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

    /// The values of a message that is here, if its memory is aligned for them.
    pub(crate) fn values<T: Pod>(&self) -> Option<&[T]> {
        bytemuck::try_cast_slice(&self.memory).ok()
    }
}

/// What a message, or a notice in its place, needs.
pub(crate) fn buffer_bytes<T>(message: &Message) -> usize {
    (message.length * size_of::<T>()).max(NOTICE_BYTES + 1)
}

/// Says that `failed` failed, in a length that the message's values do not have.
pub(crate) fn write_notice<T>(memory: &mut Vec<u8>, message: &Message, failed: usize) {
    memory.extend_from_slice(&(failed as u64).to_ne_bytes());
    if message.length * size_of::<T>() == NOTICE_BYTES {
        memory.push(0);
    }
}

pub(crate) fn read_notice(bytes: &[u8]) -> Option<usize> {
    let (number, _) = bytes.split_first_chunk::<NOTICE_BYTES>()?;
    usize::try_from(u64::from_ne_bytes(*number)).ok()
}

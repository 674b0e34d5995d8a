//! What a run remembers from one step to the next, and the memory that it is lent.

use std::mem;

use comm::Communicator;

use crate::buffer::Buffer;

/// The caller's memory, for as long as it waits.
#[derive(Debug)]
pub(crate) struct Lent<'l, T> {
    /// The own rows, if each is a node of its own.
    pub(crate) leaves: Option<&'l [T]>,
    pub(crate) result: Option<&'l mut [T]>,
}

/// Nothing is lent: the run has copies.
impl<T> Default for Lent<'_, T> {
    fn default() -> Self {
        Self {
            leaves: None,
            result: None,
        }
    }
}

pub(super) struct State<T> {
    pub(super) phase: Phase,
    pub(super) strip: usize,
    pub(super) first_column: usize,
    pub(super) workspace: Vec<T>,
    pub(super) scratch: Vec<T>,
    /// What is not lent: reductions of the own nodes, and the result.
    pub(super) leaves: Vec<T>,
    pub(super) result: Vec<T>,
    /// Two for each message, which take turns from strip to strip and from run to run if the transport delivers by itself.
    pub(super) sends: [Vec<Buffer>; 2],
    pub(super) turn: usize,
    pub(super) receives: Vec<Buffer>,
    /// The steps whose receives are posted.
    pub(super) posted: usize,
    /// So many sends are known to be over; all, where the transport delivers by itself.
    pub(super) sent: usize,
    /// The rank that failed first, as far as is known here.
    pub(super) failed: Option<usize>,
    /// Why the transport ended the run.
    pub(super) broken: Option<comm::Error>,
    pub(super) rounds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    /// Waits for the receives of a step.
    Step(usize),
    /// Waits until the transport is done with what was sent.
    Sending,
    Done,
}

impl<T> State<T> {
    /// Does something with what is lent, or else with the copies.
    pub(super) fn with_lent<R>(
        &mut self,
        lent: &mut Lent<'_, T>,
        task: impl FnOnce(&mut Self, &mut Lent<'_, T>) -> R,
    ) -> R {
        let (leaves, mut result) = (mem::take(&mut self.leaves), mem::take(&mut self.result));
        let mut lent = Lent {
            leaves: Some(lent.leaves.unwrap_or(&leaves)),
            result: Some(lent.result.as_deref_mut().unwrap_or(&mut result)),
        };
        let done = task(self, &mut lent);
        self.leaves = leaves;
        self.result = result;
        done
    }

    pub(super) fn cancel(&mut self, comm: &dyn Communicator) {
        let sends = self.sends.iter_mut().flatten();
        for buffer in sends.chain(&mut self.receives) {
            if let Some(request) = buffer.request.take() {
                comm.cancel(request);
            }
        }
        self.phase = Phase::Idle;
    }
}

//! What a run remembers from one step to the next.

use std::iter;

use comm::Request;

use super::buffer::Buffer;
use super::program::Program;
use crate::engines::values::Memory;
use crate::environment::{self, EnvironmentError};
use crate::error::RunError;

/// The progress of a run, and its memory.
#[derive(Debug)]
pub(super) struct RunState {
    pub(super) phase: Phase,
    pub(super) strip: usize,
    /// The strip's offset in a row, in bytes.
    pub(super) first_column: usize,
    /// Whether messages may go without requests, because they are short and no other run is in flight.
    pub(super) may_go_at_once: bool,
    /// Whether all messages of this strip so far were sent without requests.
    pub(super) at_once: bool,
    /// Number of this strip's receives that needed no requests.
    pub(super) received: usize,
    /// Whether the next combinations are already done.
    pub(super) is_combined: bool,
    /// Number of steps whose receives are posted, except receives that needed no requests.
    pub(super) posted: usize,
    /// Number of sends known to be complete; `usize::MAX` if nobody needs to know, because sends arrive without further calls.
    pub(super) sent: usize,
    /// Which of the two buffers of a send is in use.
    pub(super) turn: usize,
    /// The rank that failed first, as far as is known here.
    pub(super) failed: Option<usize>,
    /// The change of this thread's floating-point environment, if the run detected one.
    pub(super) deviation: Option<EnvironmentError>,
    /// The transport's error, if one ended the run.
    pub(super) broken: Option<comm::Error>,
    pub(super) rounds: u64,
    pub(super) workspace: Memory,
    /// Two buffers for each message. If sends arrive without further calls, strips and runs use them alternately.
    pub(super) sends: [Vec<Buffer>; 2],
    pub(super) receives: Vec<Buffer>,
    pub(super) scratch: Vec<u8>,
}

/// Memory that a run uses in place of the caller's slices.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// The reductions of this rank's own nodes, for a run in place.
    pub(super) own_nodes: Memory,
    /// The result, for a run in place.
    pub(super) result: Memory,
    /// The rows that a scan was started with. The end of the scan needs them again.
    pub(super) rows: Memory,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    /// No run is under way.
    Idle,
    /// Waits for the receives of a step.
    Step(usize),
    /// Waits for the completion of sends.
    Sending,
}

impl RunState {
    /// The state for the programs of a row's strips. Each message has memory for `message_bytes`, which grows when necessary.
    pub(super) fn new<P>(programs: &[Program<P>], message_bytes: usize) -> Self {
        let most = |count: fn(&Program<P>) -> usize| programs.iter().map(count).max().unwrap_or(0);
        let buffers = |count: usize| -> Vec<Buffer> {
            let new = || Buffer::with_capacity(message_bytes);
            iter::repeat_with(new).take(count).collect()
        };
        let sends = most(|program| program.sends.len());
        Self {
            phase: Phase::Idle,
            strip: 0,
            first_column: 0,
            may_go_at_once: false,
            at_once: false,
            received: 0,
            is_combined: false,
            posted: 0,
            sent: 0,
            turn: 0,
            failed: None,
            deviation: None,
            broken: None,
            rounds: 0,
            workspace: Memory::zeroed(most(|program| program.workspace_length)),
            sends: [buffers(sends), buffers(sends)],
            receives: buffers(most(|program| program.receives.len())),
            scratch: Vec::new(),
        }
    }

    /// The most requests that can be under way: the messages of three runs. If sends arrive without further calls, the transport may
    /// keep a buffer until the run after the next.
    pub(super) fn requests_max(&self) -> usize {
        let [sends, _] = &self.sends;
        3 * (sends.len() + self.receives.len())
    }

    /// Checks the environment in which this rank has just computed, before the values leave the rank. An earlier check would not suffice,
    /// because an operator may change the environment.
    #[inline]
    pub(super) fn check_environment(&mut self, rank: usize) {
        if let Err(error) = environment::check() {
            self.deviation.get_or_insert(error);
            self.failed.get_or_insert(rank);
        }
    }

    /// The outcome of a run that is over.
    #[inline]
    pub(super) fn outcome(&self, rank: usize) -> Result<(), RunError> {
        match (self.deviation, self.failed) {
            (Some(error), _) => Err(RunError::Environment { rank, error }),
            (None, Some(rank)) => Err(RunError::RankFailed { rank }),
            (None, None) => Ok(()),
        }
    }

    /// Aborts the run, and returns the requests that are still under way.
    pub(super) fn abort(&mut self) -> impl Iterator<Item = Request> {
        self.phase = Phase::Idle;
        let sends = self.sends.iter_mut().flatten();
        let buffers = sends.chain(&mut self.receives);
        buffers.filter_map(|buffer| buffer.request.take())
    }
}

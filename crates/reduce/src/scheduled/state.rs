//! What a run remembers from one step to the next.

use bytemuck::Pod;
use comm::Request;

use super::buffer::Buffer;
use super::program::Program;

/// How far a run has come, and its memory.
#[derive(Debug)]
pub(super) struct State<T> {
    pub(super) phase: Phase,
    pub(super) strip: usize,
    pub(super) first_column: usize,
    /// The steps whose receives are posted.
    pub(super) posted: usize,
    /// This number of sends is known to be over; all, where the transport delivers by itself.
    pub(super) sent: usize,
    /// Which of the two buffers of a send is in use.
    pub(super) turn: usize,
    /// The rank that failed first, as far as is known here.
    pub(super) failed: Option<usize>,
    /// Why the transport ended the run.
    pub(super) broken: Option<comm::Error>,
    pub(super) rounds: u64,
    pub(super) workspace: Vec<T>,
    /// Two for each message, which take turns from strip to strip and from run to run if the transport delivers by itself.
    pub(super) sends: [Vec<Buffer>; 2],
    pub(super) receives: Vec<Buffer>,
    pub(super) scratch: Vec<T>,
}

/// The reductions of the own nodes, and the result, where the caller does not lend memory for them.
#[derive(Debug, Default)]
pub(super) struct Copies<T> {
    pub(super) leaves: Vec<T>,
    pub(super) result: Vec<T>,
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

impl<T: Pod> State<T> {
    /// For programs of the strips of a row.
    pub(super) fn new<P>(programs: &[Program<P>]) -> Self {
        let most = |count: fn(&Program<P>) -> usize| programs.iter().map(count).max().unwrap_or(0);
        let buffers =
            |count: usize| -> Vec<Buffer> { (0..count).map(|_| Buffer::default()).collect() };
        let sends = most(|program| program.sends.len());
        Self {
            phase: Phase::Idle,
            strip: 0,
            first_column: 0,
            posted: 0,
            sent: 0,
            turn: 0,
            failed: None,
            broken: None,
            rounds: 0,
            workspace: vec![T::zeroed(); most(|program| program.workspace_length)],
            sends: [buffers(sends), buffers(sends)],
            receives: buffers(most(|program| program.receives.len())),
            scratch: Vec::new(),
        }
    }
}

impl<T> State<T> {
    /// Ends the run, and hands over the requests that are still under way.
    pub(super) fn end(&mut self) -> impl Iterator<Item = Request> {
        self.phase = Phase::Idle;
        let sends = self.sends.iter_mut().flatten();
        let buffers = sends.chain(&mut self.receives);
        buffers.filter_map(|buffer| buffer.request.take())
    }
}

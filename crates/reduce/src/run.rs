//! Runs a program: the one executor for every schedule, on every backend.
//!
//! A run is a machine that stops wherever a message is missing and goes on when it is there, so that blocking
//! calls, looks and time-outs are the same code. Everything it needs is allocated in its first two runs. A message's
//! buffer is the transport's until the send is over: a transport that delivers by itself has it for one more run, in
//! which a second buffer takes turns with it.
//!
//! A rank that cannot go on sends a notice in the place of every message it owes: the number of the rank that failed
//! first, in a length that no values have. So nobody waits in vain, and values need no header.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use bytemuck::Pod;
use comm::{Communicator, Progress, Request, RequestId, Tag};

use crate::buffer::{Buffer, Patience, buffer_bytes, read_notice, values, write_notice};
use crate::error::RunError;
use crate::operator::Operator;
use crate::program::{Combine, Message, Part, Prefix, Program, Span, Stretch};
use crate::trace::{message, span};

/// Receives are posted so many steps ahead, so that messages find their buffers when they come early: after the sends, which others wait for.
const STEPS_AHEAD: usize = 16;

/// What a rank brings into a run.
pub(crate) trait Input<T> {
    /// Reduces some of its rows: each node of the stretch into the next row of `results`.
    fn fold(&self, stretch: &Stretch, scratch: &mut Vec<T>, results: &mut [T]);
}

/// A program, its memory, and how far it has come.
pub(crate) struct Run<T, O> {
    program: Program,
    operator: Rc<O>,
    tag: Tag,
    state: RefCell<State<T>>,
}

struct State<T> {
    phase: Phase,
    workspace: Vec<T>,
    scratch: Vec<T>,
    /// Two for each message, which take turns from run to run.
    sends: [Vec<Buffer>; 2],
    turn: usize,
    receives: Vec<Buffer>,
    /// The steps whose receives are posted.
    posted: usize,
    /// The rank that failed first, as far as is known here.
    failed: Option<usize>,
    /// Why the transport ended the run.
    broken: Option<comm::Error>,
    rounds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Idle,
    /// Waits for the receives of a step.
    Step(usize),
    /// Waits until the transport is done with what was sent.
    Sending,
    Done,
}

impl<T: Pod, O: Operator<T>> Run<T, O> {
    pub(crate) fn new(program: Program, operator: Rc<O>, tag: Tag) -> Self {
        let buffers = |messages: &[Message]| -> Vec<Buffer> {
            messages.iter().map(|_| Buffer::default()).collect()
        };
        let state = State {
            phase: Phase::Idle,
            workspace: vec![T::zeroed(); program.workspace_length],
            scratch: Vec::new(),
            sends: [buffers(&program.sends), buffers(&program.sends)],
            turn: 0,
            receives: buffers(&program.receives),
            posted: 0,
            failed: None,
            broken: None,
            rounds: 0,
        };
        Self {
            program,
            operator,
            tag,
            state: RefCell::new(state),
        }
    }

    /// Folds this rank's rows, sends what can be sent, and posts the first receives.
    ///
    /// `input` is this rank's failure where it has none; the others are told then.
    pub(crate) fn start(
        &self,
        comm: &dyn Communicator,
        input: Option<&dyn Input<T>>,
    ) -> Result<(), RunError> {
        let state = &mut *self.state.borrow_mut();
        state.turn ^= 1;
        state.posted = 0;
        state.rounds = 0;
        state.failed = None;
        let begun = self.begin(state, comm, input);
        self.keep(state, comm, begun)
    }

    fn begin(
        &self,
        state: &mut State<T>,
        comm: &dyn Communicator,
        input: Option<&dyn Input<T>>,
    ) -> Result<(), comm::Error> {
        match input {
            None => state.failed = Some(comm.rank()),
            Some(input) => {
                span!("local work");
                for stretch in &self.program.stretches {
                    let end = stretch.start + stretch.lengths.len() * self.program.width;
                    let results = &mut state.workspace[stretch.start..end];
                    input.fold(stretch, &mut state.scratch, results);
                }
            }
        }
        self.enter(state, comm, 0)
    }

    /// Posts the receives of all steps before `end`.
    fn post(
        &self,
        state: &mut State<T>,
        comm: &dyn Communicator,
        end: usize,
    ) -> Result<(), comm::Error> {
        let end = end.min(self.program.steps.len());
        while state.posted < end {
            for index in self.program.steps[state.posted].receives.clone() {
                let message = &self.program.receives[index];
                let buffer = &mut state.receives[index];
                let mut memory = std::mem::take(&mut buffer.memory);
                memory.resize(buffer_bytes::<T>(message), 0);
                buffer.request = Some(comm.start_receive(message.peer, self.tag, memory)?);
            }
            state.posted += 1;
        }
        Ok(())
    }

    /// Does what a step does before it waits; behind the last step, what is left to do.
    fn enter(
        &self,
        state: &mut State<T>,
        comm: &dyn Communicator,
        index: usize,
    ) -> Result<(), comm::Error> {
        let Some(step) = self.program.steps.get(index) else {
            self.combine(state, &self.program.last_combines);
            state.phase = Phase::Sending;
            return Ok(());
        };
        self.combine(state, &step.combines);
        for index in step.sends.clone() {
            self.send(state, comm, index)?;
        }
        self.post(state, comm, index + STEPS_AHEAD)?;
        if !step.sends.is_empty() || !step.receives.is_empty() {
            state.rounds += 1;
        }
        state.phase = Phase::Step(index);
        Ok(())
    }

    fn combine(&self, state: &mut State<T>, combines: &[Combine]) {
        if state.failed.is_some() {
            return;
        }
        let workspace = &mut state.workspace[..];
        // Most combinations go on with the last one's result, which is here sooner than in memory.
        let mut last = (usize::MAX, T::zeroed());
        for &Combine {
            left,
            right,
            into,
            length,
        } in combines
        {
            if length == 1 {
                let value = |place: usize| {
                    if place == last.0 {
                        last.1
                    } else {
                        workspace[place]
                    }
                };
                last = (into, self.operator.combine(value(left), value(right)));
                workspace[into] = last.1;
                continue;
            }
            self.combine_rows(workspace, &state.receives, left, right, into, length);
        }
    }

    /// Combines two rows, each of which may lie in several messages, into a third.
    fn combine_rows(
        &self,
        workspace: &mut [T],
        receives: &[Buffer],
        left: usize,
        right: usize,
        into: usize,
        length: usize,
    ) {
        let mut done = 0;
        while done < length {
            let part = |start: usize| {
                let places = Span {
                    start: start + done,
                    length: length - done,
                };
                self.part(receives, places)
            };
            let ((left, left_kept), (right, right_kept)) = (part(left), part(right));
            let count = left.length.min(right.length);
            let range = |start: usize| start..start + count;
            let into = range(into + done);
            let apart = "every value has a place of its own";
            match (left_kept, right_kept) {
                (None, None) => {
                    let ranges = [range(left.start), range(right.start), into];
                    let [left, right, into] = workspace.get_disjoint_mut(ranges).expect(apart);
                    self.operator.combine_rows(left, right, into);
                }
                (Some(kept), None) => {
                    let ranges = [range(right.start), into];
                    let [right, into] = workspace.get_disjoint_mut(ranges).expect(apart);
                    self.operator
                        .combine_rows(&kept[range(left.start)], right, into);
                }
                (None, Some(kept)) => {
                    let ranges = [range(left.start), into];
                    let [left, into] = workspace.get_disjoint_mut(ranges).expect(apart);
                    self.operator
                        .combine_rows(left, &kept[range(right.start)], into);
                }
                (Some(first), Some(second)) => {
                    let (left, right) = (&first[range(left.start)], &second[range(right.start)]);
                    self.operator
                        .combine_rows(left, right, &mut workspace[into]);
                }
            }
            done += count;
        }
    }

    /// Where the values of these places are, as far as they lie together, and the memory of the message that has them, if one has.
    fn part<'s>(&self, receives: &'s [Buffer], places: Span) -> (Part, Option<&'s [T]>) {
        let part = self.program.part(places);
        let Some(message) = part.kept else {
            return (part, None);
        };
        let kept = values(&receives[message]);
        // Where its memory was not aligned, it was copied after all.
        let start = kept.map_or(places.start, |_| part.start);
        (Part { start, ..part }, kept)
    }

    /// The values of these places, piece by piece.
    fn pieces<'s>(&'s self, state: &'s State<T>, places: Span) -> impl Iterator<Item = &'s [T]> {
        let mut rest = places;
        std::iter::from_fn(move || {
            if rest.length == 0 {
                return None;
            }
            let (part, kept) = self.part(&state.receives, rest);
            rest = Span {
                start: rest.start + part.length,
                length: rest.length - part.length,
            };
            let memory = kept.unwrap_or(&state.workspace);
            Some(&memory[part.start..part.start + part.length])
        })
    }

    fn send(
        &self,
        state: &mut State<T>,
        comm: &dyn Communicator,
        index: usize,
    ) -> Result<(), comm::Error> {
        let message = &self.program.sends[index];
        let turn = state.turn;
        let buffer = &mut state.sends[turn][index];
        let mut memory = match buffer.request.take() {
            Some(request) => comm.wait(request)?,
            None => std::mem::take(&mut buffer.memory),
        };
        memory.clear();
        match state.failed {
            Some(rank) => write_notice::<T>(&mut memory, message, rank),
            None => {
                memory.reserve(buffer_bytes::<T>(message));
                let spans = message.spans.iter();
                for values in spans.flat_map(|&span| self.pieces(state, span)) {
                    memory.extend_from_slice(bytemuck::cast_slice(values));
                }
            }
        }
        message!(message.peer, memory.len());
        let request = comm.start_send(message.peer, self.tag, memory)?;
        state.sends[turn][index].request = Some(request);
        Ok(())
    }

    /// Goes on until the run is over, or patience is. Says whether it is over; an error ends it, too.
    pub(crate) fn advance(
        &self,
        comm: &dyn Communicator,
        patience: Patience,
    ) -> Result<bool, RunError> {
        let state = &mut *self.state.borrow_mut();
        let advanced = self.go_on(state, comm, patience);
        self.keep(state, comm, advanced)
    }

    fn go_on(
        &self,
        state: &mut State<T>,
        comm: &dyn Communicator,
        patience: Patience,
    ) -> Result<bool, comm::Error> {
        loop {
            match state.phase {
                Phase::Idle | Phase::Done => return Ok(true),
                Phase::Step(index) => {
                    for receive in self.program.steps[index].receives.clone() {
                        if !self.receive(state, comm, receive, patience)? {
                            return Ok(false);
                        }
                    }
                    self.enter(state, comm, index + 1)?;
                }
                Phase::Sending => {
                    if !comm.delivers_alone() {
                        for buffer in &mut state.sends[state.turn] {
                            if !buffer.reclaim(comm, patience)? {
                                return Ok(false);
                            }
                        }
                    }
                    state.phase = Phase::Done;
                }
            }
        }
    }

    /// Waits until one of `awaited`, or of what this run waits for, is there. Says whether time was left.
    pub(crate) fn wait_any(
        &self,
        comm: &dyn Communicator,
        awaited: &mut Vec<RequestId>,
        patience: Patience,
    ) -> Result<bool, RunError> {
        self.awaited(awaited);
        let timeout = patience.left();
        if timeout == Some(Duration::ZERO) {
            return Ok(false);
        }
        let state = &mut *self.state.borrow_mut();
        let waited = comm.wait_any(awaited, timeout);
        self.keep(state, comm, waited)
    }

    /// Takes a message in, if it has not been yet. Says whether it has now.
    fn receive(
        &self,
        state: &mut State<T>,
        comm: &dyn Communicator,
        index: usize,
        patience: Patience,
    ) -> Result<bool, comm::Error> {
        let (message, buffer) = (&self.program.receives[index], &mut state.receives[index]);
        if buffer.request.is_none() {
            return Ok(true);
        }
        span!("waiting");
        if !buffer.reclaim(comm, patience)? {
            return Ok(false);
        }
        let bytes = &buffer.memory[..];
        if bytes.len() == message.length * size_of::<T>() {
            let is_kept = self
                .program
                .kept
                .binary_search_by_key(&index, |kept| kept.receive)
                .is_ok();
            // Allocators align by 16 bytes, which is enough for all but strange types.
            if is_kept && values::<T>(buffer).is_some() {
                return Ok(true);
            }
            let [span] = message.spans[..] else {
                unreachable!("a received message has one span")
            };
            let values: &mut [u8] = bytemuck::cast_slice_mut(&mut state.workspace[span.range()]);
            values.copy_from_slice(bytes);
        } else {
            let failed = read_notice(bytes).unwrap_or(message.peer);
            state.failed.get_or_insert(failed);
        }
        Ok(true)
    }

    /// Ends a run that the transport has broken.
    fn keep<R>(
        &self,
        state: &mut State<T>,
        comm: &dyn Communicator,
        result: Result<R, comm::Error>,
    ) -> Result<R, RunError> {
        if let Err(error) = &result {
            state.broken = Some(error.clone());
            state.cancel(comm);
        }
        match &state.broken {
            Some(error) => Err(RunError::Transport(error.clone())),
            None => Ok(result?),
        }
    }

    /// Whether a run that is over went well on the ranks that this one depends on.
    pub(crate) fn outcome(&self) -> Result<(), RunError> {
        match self.state.borrow().failed {
            Some(rank) => Err(RunError::RankFailed { rank }),
            None => Ok(()),
        }
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    /// What a scan needs.
    pub(crate) fn prefixes(&self) -> &[Prefix] {
        &self.program.prefixes
    }

    /// Copies what this rank wanted of a run that is over, each value as `map` makes it.
    pub(crate) fn copy_result(&self, result: &mut [T], map: impl Fn(T) -> T) {
        let state = self.state.borrow();
        let spans = self.program.result.iter();
        let mut rest = result;
        for values in spans.flat_map(|&(_, span)| self.pieces(&state, span)) {
            let (own, others) = rest.split_at_mut(values.len());
            for (own, &value) in own.iter_mut().zip(values) {
                *own = map(value);
            }
            rest = others;
        }
    }

    /// Copies values of a run that is over.
    pub(crate) fn copy(&self, span: Span, values: &mut [T]) {
        let state = self.state.borrow();
        let mut rest = values;
        for values in self.pieces(&state, span) {
            let (own, others) = rest.split_at_mut(values.len());
            own.copy_from_slice(values);
            rest = others;
        }
    }

    /// The communicating steps of the last run.
    pub(crate) fn rounds(&self) -> u64 {
        self.state.borrow().rounds
    }

    /// The ranks that a step still waits for.
    pub(crate) fn awaited_ranks(&self) -> Vec<usize> {
        let state = self.state.borrow();
        let Phase::Step(index) = state.phase else {
            return Vec::new();
        };
        let mut ranks: Vec<usize> = self.program.steps[index]
            .receives
            .clone()
            .filter(|&receive| state.receives[receive].request.is_some())
            .map(|receive| self.program.receives[receive].peer)
            .collect();
        ranks.dedup();
        ranks
    }

    /// Gives up whatever is under way. The transport keeps the buffers that it still needs.
    pub(crate) fn cancel(&self, comm: &dyn Communicator) {
        self.state.borrow_mut().cancel(comm);
    }
}

impl<T> State<T> {
    fn cancel(&mut self, comm: &dyn Communicator) {
        let sends = self.sends.iter_mut().flatten();
        for buffer in sends.chain(&mut self.receives) {
            if let Some(request) = buffer.request.take() {
                comm.cancel(request);
            }
        }
        self.phase = Phase::Idle;
    }
}

impl<T: Pod, O: Operator<T>> Progress for Run<T, O> {
    fn progress(&self, comm: &dyn Communicator) {
        // An error stays in the state, for whoever waits for this run.
        let _ = self.advance(comm, Patience::None);
    }

    fn awaited(&self, requests: &mut Vec<RequestId>) {
        let state = self.state.borrow();
        let buffers = match state.phase {
            Phase::Idle | Phase::Done => &[],
            Phase::Step(index) => &state.receives[self.program.steps[index].receives.clone()],
            Phase::Sending => &state.sends[state.turn][..],
        };
        let pending = buffers.iter().filter_map(|buffer| buffer.request.as_ref());
        requests.extend(pending.map(Request::id));
    }
}

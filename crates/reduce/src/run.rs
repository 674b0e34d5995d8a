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
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use bytemuck::Pod;
use comm::{Communicator, Progress, Request, RequestId, Tag};

use crate::buffer::{Buffer, Patience, buffer_bytes, read_notice, write_notice};
use crate::error::RunError;
use crate::memory::{Memory, Sources};
use crate::operator::Operator;
use crate::program::{Combine, Prefix, Program, Span};
use crate::trace::{message, span};

/// Receives are posted so many steps ahead, so that messages find their buffers when they come early: after the sends, which others wait for.
const STEPS_AHEAD: usize = 16;

/// Programs, their memory, and how far they have come.
///
/// A long row is cut into strips of columns that stay in cache, each of which is a run of the program by itself.
pub(crate) struct Run<T, O> {
    /// For the first strips; and for the others, if those have a column less.
    programs: Vec<Program>,
    strips: usize,
    /// Those that the first program is for.
    wide_strips: usize,
    /// Elements of a whole row.
    width: usize,
    operator: Rc<O>,
    tag: Tag,
    state: RefCell<State<T>>,
}

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

struct State<T> {
    phase: Phase,
    strip: usize,
    first_column: usize,
    workspace: Vec<T>,
    scratch: Vec<T>,
    /// What is not lent: reductions of the own nodes, and the result.
    leaves: Vec<T>,
    result: Vec<T>,
    /// Two for each message, which take turns from strip to strip and from run to run if the transport delivers by itself.
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
    /// Programs for so many strips of a row, the first of them for the wider ones.
    pub(crate) fn new(
        programs: Vec<Program>,
        strips: usize,
        width: usize,
        operator: Rc<O>,
        tag: Tag,
    ) -> Self {
        let most = |count: fn(&Program) -> usize| programs.iter().map(count).max().unwrap_or(0);
        let buffers =
            |count: usize| -> Vec<Buffer> { (0..count).map(|_| Buffer::default()).collect() };
        let sends = most(|program| program.sends.len());
        let state = State {
            phase: Phase::Idle,
            strip: 0,
            first_column: 0,
            workspace: vec![T::zeroed(); most(|program| program.workspace_length)],
            scratch: Vec::new(),
            leaves: Vec::new(),
            result: Vec::new(),
            sends: [buffers(sends), buffers(sends)],
            turn: 0,
            receives: buffers(most(|program| program.receives.len())),
            posted: 0,
            failed: None,
            broken: None,
            rounds: 0,
        };
        let wide_strips = match width % strips {
            0 => strips,
            wide => wide,
        };
        Self {
            programs,
            strips,
            wide_strips,
            width,
            operator,
            tag,
            state: RefCell::new(state),
        }
    }

    /// Folds this rank's rows, sends what can be sent, and posts the first receives. Without rows, this rank has failed.
    pub(crate) fn start(
        &self,
        comm: &dyn Communicator,
        rows: Option<&[T]>,
        lent: &mut Lent<'_, T>,
    ) -> Result<(), RunError> {
        let state = &mut *self.state.borrow_mut();
        (state.strip, state.first_column) = (0, 0);
        state.rounds = 0;
        state.failed = None;
        match rows {
            None => state.failed = Some(comm.rank()),
            Some(rows) if lent.leaves.is_none() => self.fold(state, rows),
            Some(_) => {}
        }
        if self.is_lent() && lent.result.is_none() {
            let lengths = self.programs.iter().map(Program::result_length);
            let strips = [self.wide_strips, self.strips - self.wide_strips];
            let lengths = lengths.zip(strips).map(|(length, strips)| length * strips);
            let length = lengths.fold(0, |total, length| total + length);
            state.result.resize(length, T::zeroed());
        }
        let begun = if self.is_lent() {
            state.with_lent(lent, |state, lent| self.begin(state, comm, lent))
        } else {
            self.begin(state, comm, lent)
        };
        self.keep(state, comm, begun)
    }

    /// Whether its rows and its result are worth lending.
    pub(crate) fn is_lent(&self) -> bool {
        self.program().is_lent
    }

    /// Reduces the own nodes.
    fn fold(&self, state: &mut State<T>, rows: &[T]) {
        span!("local work");
        let (program, width) = (self.program(), self.width);
        if program.is_lent {
            state
                .leaves
                .resize(program.leaves_count() * width, T::zeroed());
        }
        let mut leaves = &mut state.leaves[..];
        for stretch in &program.stretches {
            let length = stretch.lengths.len() * width;
            let results = if program.is_lent {
                let (own, others) = leaves.split_at_mut(length);
                leaves = others;
                own
            } else {
                &mut state.workspace[stretch.start..][..length]
            };
            let mut items = &rows[stretch.rows.start * width..stretch.rows.end * width];
            if width == 1 {
                self.operator.fold_runs(items, &stretch.lengths, results);
                continue;
            }
            for (&length, row) in stretch.lengths.iter().zip(results.chunks_exact_mut(width)) {
                let (node, rest) = items.split_at(length * width);
                if length == 1 {
                    row.copy_from_slice(node);
                } else {
                    let scratch = &mut state.scratch;
                    self.operator.fold_rows(node, width, scratch, row);
                }
                items = rest;
            }
        }
    }

    /// Begins a strip.
    fn begin(
        &self,
        state: &mut State<T>,
        comm: &dyn Communicator,
        lent: &mut Lent<'_, T>,
    ) -> Result<(), comm::Error> {
        if comm.delivers_alone() {
            state.turn ^= 1;
        }
        state.posted = 0;
        self.enter(state, comm, lent, 0)
    }

    /// The program of a strip.
    fn program_of(&self, strip: usize) -> &Program {
        &self.programs[usize::from(strip >= self.wide_strips)]
    }

    fn memory<'m>(&'m self, state: &'m mut State<T>, lent: &'m mut Lent<'_, T>) -> Memory<'m, T> {
        Memory {
            sources: Sources {
                program: self.program_of(state.strip),
                receives: &state.receives,
                leaves: lent.leaves.unwrap_or_default(),
                row: self.width,
                first_column: state.first_column,
            },
            workspace: &mut state.workspace,
            result: lent.result.as_deref_mut().unwrap_or_default(),
        }
    }

    /// Posts the receives of all steps before `end`.
    fn post(
        &self,
        state: &mut State<T>,
        comm: &dyn Communicator,
        end: usize,
    ) -> Result<(), comm::Error> {
        let program = self.program_of(state.strip);
        let end = end.min(program.steps.len());
        while state.posted < end {
            for index in program.steps[state.posted].receives.clone() {
                let message = &program.receives[index];
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
        lent: &mut Lent<'_, T>,
        index: usize,
    ) -> Result<(), comm::Error> {
        let program = self.program_of(state.strip);
        let Some(step) = program.steps.get(index) else {
            self.combine(state, lent, &program.last_combines);
            if program.is_lent && state.failed.is_none() {
                self.memory(state, lent).deliver(&*self.operator);
            }
            state.phase = Phase::Sending;
            return Ok(());
        };
        self.combine(state, lent, &step.combines);
        for index in step.sends.clone() {
            self.send(state, comm, lent, index)?;
        }
        self.post(state, comm, index + STEPS_AHEAD)?;
        if !step.sends.is_empty() || !step.receives.is_empty() {
            state.rounds += 1;
        }
        state.phase = Phase::Step(index);
        Ok(())
    }

    fn combine(&self, state: &mut State<T>, lent: &mut Lent<'_, T>, combines: &[Combine]) {
        if state.failed.is_some() || combines.is_empty() {
            return;
        }
        if !self.program_of(state.strip).elsewhere.is_empty() {
            let mut memory = self.memory(state, lent);
            for &combine in combines {
                memory.combine(&*self.operator, combine);
            }
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
            let range = |start: usize| start..start + length;
            let [left, right, into] = workspace
                .get_disjoint_mut([range(left), range(right), range(into)])
                .expect("every value has a place of its own");
            self.operator.combine_rows(left, right, into);
        }
    }

    fn send(
        &self,
        state: &mut State<T>,
        comm: &dyn Communicator,
        lent: &mut Lent<'_, T>,
        index: usize,
    ) -> Result<(), comm::Error> {
        let program = self.program_of(state.strip);
        let message = &program.sends[index];
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
                let mut copy =
                    |values: &[T]| memory.extend_from_slice(bytemuck::cast_slice(values));
                if program.elsewhere.is_empty() {
                    let spans = message.spans.iter();
                    spans.for_each(|span| copy(&state.workspace[span.range()]));
                } else {
                    let values = self.memory(state, lent);
                    let spans = message.spans.iter();
                    spans.for_each(|&span| values.pieces(span).for_each(&mut copy));
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
        lent: &mut Lent<'_, T>,
    ) -> Result<bool, RunError> {
        let state = &mut *self.state.borrow_mut();
        let advanced = if self.is_lent() {
            state.with_lent(lent, |state, lent| self.go_on(state, comm, patience, lent))
        } else {
            self.go_on(state, comm, patience, lent)
        };
        self.keep(state, comm, advanced)
    }

    fn go_on(
        &self,
        state: &mut State<T>,
        comm: &dyn Communicator,
        patience: Patience,
        lent: &mut Lent<'_, T>,
    ) -> Result<bool, comm::Error> {
        loop {
            match state.phase {
                Phase::Idle | Phase::Done => return Ok(true),
                Phase::Step(index) => {
                    let step = &self.program_of(state.strip).steps[index];
                    for receive in step.receives.clone() {
                        if !self.receive(state, comm, receive, patience)? {
                            return Ok(false);
                        }
                    }
                    self.enter(state, comm, lent, index + 1)?;
                }
                Phase::Sending => {
                    for turn in self.turns_to_end(state, comm) {
                        for buffer in &mut state.sends[turn] {
                            if !buffer.reclaim(comm, patience)? {
                                return Ok(false);
                            }
                        }
                    }
                    state.first_column += self.program_of(state.strip).width;
                    state.strip += 1;
                    if state.strip == self.strips {
                        state.phase = Phase::Done;
                    } else {
                        self.begin(state, comm, lent)?;
                    }
                }
            }
        }
    }

    /// The sends that must be over before the next strip, or before the end.
    fn turns_to_end(&self, state: &State<T>, comm: &dyn Communicator) -> Range<usize> {
        let (own, other) = (state.turn, state.turn ^ 1);
        match comm.delivers_alone() {
            false => own..own + 1,
            true if state.strip + 1 < self.strips => other..other + 1,
            true => 0..0,
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
        let program = self.program_of(state.strip);
        let (message, buffer) = (&program.receives[index], &mut state.receives[index]);
        if buffer.request.is_none() {
            return Ok(true);
        }
        span!("waiting");
        if !buffer.reclaim(comm, patience)? {
            return Ok(false);
        }
        let bytes = &buffer.memory[..];
        if bytes.len() == message.length * size_of::<T>() {
            let [span] = message.spans[..] else {
                unreachable!("a received message has one span")
            };
            // Allocators align by 16 bytes, which is enough for all but strange types.
            if !program.elsewhere.is_empty() && buffer.values::<T>().is_some() {
                return Ok(true);
            }
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

    /// The program of the first strip, or of all.
    pub(crate) fn program(&self) -> &Program {
        &self.programs[0]
    }

    /// What a scan needs.
    pub(crate) fn prefixes(&self) -> &[Prefix] {
        &self.program().prefixes
    }

    /// Copies what this rank wanted of a run that is over, and that nothing was lent to, by `copy`.
    pub(crate) fn copy_result(&self, result: &mut [T], copy: impl Fn(&[T], &mut [T])) {
        let state = &mut *self.state.borrow_mut();
        if self.is_lent() {
            return result.copy_from_slice(&state.result);
        }
        let mut rest = result;
        for &(_, span) in &self.program().result {
            let (own, others) = rest.split_at_mut(span.length);
            self.copy_each(state, span, own, &copy);
            rest = others;
        }
    }

    /// Copies values of a run that is over.
    pub(crate) fn copy(&self, span: Span, values: &mut [T]) {
        self.copy_each(
            &mut self.state.borrow_mut(),
            span,
            values,
            |values, into| into.copy_from_slice(values),
        );
    }

    fn copy_each(
        &self,
        state: &mut State<T>,
        span: Span,
        values: &mut [T],
        copy: impl Fn(&[T], &mut [T]),
    ) {
        if self.program().elsewhere.is_empty() {
            return copy(&state.workspace[span.range()], values);
        }
        (state.strip, state.first_column) = (0, 0);
        let mut rest = values;
        for values in self.memory(state, &mut Lent::default()).pieces(span) {
            let (own, others) = rest.split_at_mut(values.len());
            copy(values, own);
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
        let program = self.program_of(state.strip);
        let mut ranks: Vec<usize> = program.steps[index]
            .receives
            .clone()
            .filter(|&receive| state.receives[receive].request.is_some())
            .map(|receive| program.receives[receive].peer)
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
    /// Does something with what is lent, or else with the copies.
    fn with_lent<R>(
        &mut self,
        lent: &mut Lent<'_, T>,
        task: impl FnOnce(&mut Self, &mut Lent<'_, T>) -> R,
    ) -> R {
        let (leaves, mut result) = (
            std::mem::take(&mut self.leaves),
            std::mem::take(&mut self.result),
        );
        let mut lent = Lent {
            leaves: Some(lent.leaves.unwrap_or(&leaves)),
            result: Some(lent.result.as_deref_mut().unwrap_or(&mut result)),
        };
        let done = task(self, &mut lent);
        self.leaves = leaves;
        self.result = result;
        done
    }

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
        let _ = self.advance(comm, Patience::None, &mut Lent::default());
    }

    fn awaited(&self, requests: &mut Vec<RequestId>) {
        let state = self.state.borrow();
        let buffers = match state.phase {
            Phase::Idle | Phase::Done => return,
            Phase::Step(index) => {
                let receives = self.program_of(state.strip).steps[index].receives.clone();
                [&state.receives[receives], &[]]
            }
            Phase::Sending => [&state.sends[0][..], &state.sends[1]],
        };
        let buffers = buffers.into_iter().flatten();
        let pending = buffers.filter_map(|buffer| buffer.request.as_ref());
        requests.extend(pending.map(Request::id));
    }
}

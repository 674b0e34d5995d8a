//! Runs a program: the one executor for every schedule, on every backend.
//!
//! A run is a machine that stops wherever a message is missing and goes on when it is there, so that blocking
//! calls, looks and time-outs are the same code. Everything it needs is allocated in its first two runs. A message's
//! buffer is the transport's until the send is over: a transport that delivers by itself has it for one more run, in
//! which a second buffer takes turns with it.
//!
//! A rank that cannot go on sends a notice in the place of every message it owes: the number of the rank that failed
//! first, in a length that no values have. So nobody waits in vain, and values need no header.

mod machine;
mod state;

use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

use bytemuck::Pod;
use comm::{Communicator, Progress, Request, RequestId, Tag};

use crate::buffer::{Buffer, Patience};
use crate::error::RunError;
use crate::operator::Operator;
use crate::program::{Prefix, Program, Span};

pub(crate) use state::Lent;
use state::{Phase, State};

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
            sent: 0,
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

    /// How many messages may be under way at once: a send's buffer may be away until the run after the next one.
    pub(crate) fn messages(&self) -> usize {
        let Program {
            sends, receives, ..
        } = self.program();
        3 * (sends.len() + receives.len())
    }

    /// The program of a strip.
    fn program_of(&self, strip: usize) -> &Program {
        &self.programs[usize::from(strip >= self.wide_strips)]
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

    /// The ranks that a step still waits for: to hear from them, or that they take what was sent.
    pub(crate) fn awaited_ranks(&self) -> Vec<usize> {
        let state = self.state.borrow();
        let Phase::Step(index) = state.phase else {
            return Vec::new();
        };
        let program = self.program_of(state.strip);
        let receives = program.steps[index].receives.clone();
        let receives = receives
            .filter(|&receive| state.receives[receive].request.is_some())
            .map(|receive| program.receives[receive].peer);
        let mut ranks: Vec<usize> = receives.collect();
        if ranks.is_empty() {
            let sends = self.sends_to_end(&state, index);
            let sends = sends
                .filter(|&send| state.sends[state.turn][send].request.is_some())
                .map(|send| program.sends[send].peer);
            ranks.extend(sends);
        }
        ranks.dedup();
        ranks
    }

    /// Gives up whatever is under way. The transport keeps the buffers that it still needs.
    pub(crate) fn cancel(&self, comm: &dyn Communicator) {
        self.state.borrow_mut().cancel(comm);
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
                let receives = &state.receives[receives];
                if receives.iter().all(|buffer| buffer.request.is_none()) {
                    let sends = self.sends_to_end(&state, index);
                    [&state.sends[state.turn][sends], &[]]
                } else {
                    [receives, &[]]
                }
            }
            Phase::Sending => [&state.sends[0][..], &state.sends[1]],
        };
        let buffers = buffers.into_iter().flatten();
        let pending = buffers.filter_map(|buffer| buffer.request.as_ref());
        requests.extend(pending.map(Request::id));
    }
}

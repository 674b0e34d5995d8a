//! Runs a program: the one executor for every schedule, on every transport.
//!
//! A run is a machine that stops wherever a message is missing and goes on when it is there, so blocking
//! calls, tests and time-outs are the same code. Everything that it needs is allocated in its first two runs. A message's
//! buffer is the transport's until the send is over: a transport that delivers by itself has it for one more run, in
//! which a second buffer takes turns with it.
//!
//! A rank that cannot go on sends a notice in the place of every message that it owes: the number of the rank that failed
//! first, in a length that no values have. So nobody waits in vain, and values need no header.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use bytemuck::Pod;
use comm::{RequestId, Tag};

use super::buffer::Buffer;
use super::ending::Ending;
use super::machine::{Machine, sends_to_end};
use super::memory::Place;
use super::program::{Message, Program};
use super::state::{Copies, Phase, State};
use crate::engine::Flight;
use crate::error::RunError;
use crate::operator::Operator;
use crate::patience::Patience;
use crate::trace::span;
use crate::world::{Progress, World};

/// The programs of an operation, for the strips of columns into which a long row is cut: they stay in cache, and each of them is a
/// run of its program.
pub(super) struct Strips<P> {
    /// For the first strips; and for the others, if those have a column less.
    pub(super) programs: Vec<Program<P>>,
    pub(super) count: usize,
    /// Those that the first program is for.
    pub(super) wide: usize,
    /// Elements of a whole row.
    pub(super) width: usize,
    /// Whether the own rows and the result are outside the workspace.
    pub(super) is_lent: bool,
}

impl<P> Strips<P> {
    #[inline]
    pub(super) fn program(&self, strip: usize) -> &Program<P> {
        &self.programs[usize::from(strip >= self.wide)]
    }

    /// The elements that all strips leave on this rank.
    fn result_length(&self) -> usize {
        let lengths = self.programs.iter().map(Program::result_length);
        let strips = [self.wide, self.count - self.wide];
        let lengths = lengths.zip(strips).map(|(length, strips)| length * strips);
        lengths.fold(0, |total, length| total + length)
    }
}

/// A compiled operation, its memory, and how far it has come.
pub(super) struct Run<T, O, P> {
    world: World,
    delivers_alone: bool,
    strips: Strips<P>,
    ending: Ending,
    operator: Rc<O>,
    tag: Tag,
    state: RefCell<State<T>>,
    copies: RefCell<Copies<T>>,
}

impl<T, O, P> Run<T, O, P> {
    /// How many messages may be under way at once: a send's buffer may be away until the run after the next one.
    fn messages(&self) -> usize {
        let Program {
            sends, receives, ..
        } = &self.strips.programs[0];
        3 * (sends.len() + receives.len())
    }
}

/// The messages that a run waits for, as ranges of its program's.
enum Awaited {
    Nothing,
    Receives(Range<usize>),
    /// Those that must be over before the next step.
    Sends(Range<usize>),
    /// All of both turns.
    AllSends,
}

/// Memory of the caller's, for as long as it waits.
struct Caller<'c, T> {
    /// The own rows, if each is a node of its own.
    leaves: Option<&'c [T]>,
    result: &'c mut [T],
}

impl<T: Pod, O: Operator<T>, P: Place> Run<T, O, P> {
    pub(super) fn new(
        world: &World,
        strips: Strips<P>,
        ending: Ending,
        operator: Rc<O>,
        tag: Tag,
    ) -> Self {
        let state = State::new(&strips.programs);
        let run = Self {
            world: world.clone(),
            delivers_alone: world.transport().delivers_alone(),
            strips,
            ending,
            operator,
            tag,
            state: RefCell::new(state),
            copies: RefCell::new(Copies {
                leaves: Vec::new(),
                result: Vec::new(),
            }),
        };
        world.transport().reserve(run.messages());
        run
    }

    /// A blocking call.
    pub(super) fn run(
        &self,
        rows: Result<&[T], RunError>,
        result: &mut [T],
    ) -> Result<bool, RunError> {
        let (rows, failure) = match rows {
            Ok(rows) => (Some(rows), None),
            Err(failure) => (None, Some(failure)),
        };
        if self.strips.is_lent {
            let are_rows = self.strips.programs[0].leaves_are_rows();
            let caller = &mut Some(Caller {
                leaves: rows.filter(|_| are_rows),
                result,
            });
            self.begin(rows, caller)?;
            self.complete(failure, caller)?;
            return Ok(self.ending.is_mine);
        }
        if !self.is_alone() {
            self.begin(self.ending.input(rows, result), &mut None)?;
            return self.finish_with(failure, rows.unwrap_or_default(), result, &mut None);
        }
        // Nothing else is to be driven: one machine runs from the beginning to the end.
        let state = &mut *self.state.borrow_mut();
        self.prepare(state, self.ending.input(rows, result), false);
        let mut machine = self.machine(state);
        let driven = machine
            .begin()
            .and_then(|()| machine.go_on(Patience::Unlimited));
        if let Some(failure) = failure {
            return Err(failure);
        }
        if driven.is_err() {
            return self.keep(state, driven);
        }
        match machine.state.failed {
            Some(rank) => return Err(RunError::RankFailed { rank }),
            None if self.ending.is_mine => {
                self.ending
                    .finish(&mut machine, rows.unwrap_or_default(), result);
            }
            None => {}
        }
        Ok(self.ending.is_mine)
    }

    /// Whether nothing is in flight but, perhaps, this run.
    #[inline]
    fn is_alone(&self) -> bool {
        let own = std::ptr::from_ref(self).cast();
        self.world.in_flight().is_only(own)
    }

    /// The beginning of a run that goes on while other work is done.
    pub(super) fn start(&self, rows: Option<&[T]>) -> Result<(), RunError> {
        self.begin(rows, &mut None)
    }

    /// Folds this rank's rows, sends what can be sent, and posts the first receives. Without rows, this rank has failed.
    fn begin(
        &self,
        rows: Option<&[T]>,
        caller: &mut Option<Caller<'_, T>>,
    ) -> Result<(), RunError> {
        let state = &mut *self.state.borrow_mut();
        let caller_has_leaves = caller
            .as_ref()
            .is_some_and(|caller| caller.leaves.is_some());
        self.prepare(state, rows, caller_has_leaves);
        let begun = self.with_machine(state, caller, |machine| machine.begin());
        self.keep(state, begun)
    }

    /// Makes the state that of a new run, and folds the own rows unless the caller has what that would give.
    #[inline]
    fn prepare(&self, state: &mut State<T>, rows: Option<&[T]>, caller_has_leaves: bool) {
        (state.strip, state.first_column) = (0, 0);
        state.rounds = 0;
        state.failed = None;
        match rows {
            None => state.failed = Some(self.world.rank()),
            Some(_) if caller_has_leaves => {}
            Some(rows) => self.fold(state, rows),
        }
    }

    /// The machine, on the workspace alone.
    #[inline]
    fn machine<'m>(&'m self, state: &'m mut State<T>) -> Machine<'m, T, O, P> {
        Machine {
            comm: self.world.transport(),
            delivers_alone: self.delivers_alone,
            strips: &self.strips,
            operator: &*self.operator,
            tag: self.tag,
            state,
            leaves: &[],
            result: &mut [],
        }
    }

    /// Reduces the own nodes.
    fn fold(&self, state: &mut State<T>, rows: &[T]) {
        span!("local work");
        let (program, width) = (&self.strips.programs[0], self.strips.width);
        let mut copies;
        let mut leaves = if self.strips.is_lent {
            copies = self.copies.borrow_mut();
            copies
                .leaves
                .resize(program.leaves_count() * width, T::zeroed());
            &mut copies.leaves[..]
        } else {
            &mut []
        };
        for stretch in &program.stretches {
            let lengths = &program.lengths[stretch.lengths.clone()];
            let length = lengths.len() * width;
            let results = if self.strips.is_lent {
                let (own, others) = leaves.split_at_mut(length);
                leaves = others;
                own
            } else {
                &mut state.workspace[stretch.start..][..length]
            };
            let mut items = &rows[stretch.rows.start * width..stretch.rows.end * width];
            if width == 1 {
                self.operator.fold_runs(items, lengths, results);
                continue;
            }
            for (&length, row) in lengths.iter().zip(results.chunks_exact_mut(width)) {
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

    /// Does something with the machine, on the caller's memory or on copies.
    fn with_machine<R>(
        &self,
        state: &mut State<T>,
        caller: &mut Option<Caller<'_, T>>,
        task: impl FnOnce(&mut Machine<'_, T, O, P>) -> R,
    ) -> R {
        let machine = self.machine(state);
        if !self.strips.is_lent {
            return task(&mut { machine });
        }
        let Copies { leaves, result } = &mut *self.copies.borrow_mut();
        let (leaves, result) = match caller {
            Some(caller) => (caller.leaves.unwrap_or(leaves), &mut *caller.result),
            None => {
                result.resize(self.strips.result_length(), T::zeroed());
                (&leaves[..], &mut result[..])
            }
        };
        task(&mut Machine {
            leaves,
            result,
            ..machine
        })
    }

    fn advance(
        &self,
        patience: Patience,
        caller: &mut Option<Caller<'_, T>>,
    ) -> Result<bool, RunError> {
        let state = &mut *self.state.borrow_mut();
        let advanced = self.with_machine(state, caller, |machine| machine.go_on(patience));
        self.keep(state, advanced)
    }

    /// Ends a run that the transport has broken.
    fn keep<R>(&self, state: &mut State<T>, result: Result<R, comm::Error>) -> Result<R, RunError> {
        if let Err(error) = &result {
            state.broken = Some(error.clone());
            for request in state.end() {
                self.world.transport().cancel(request);
            }
        }
        match &state.broken {
            Some(error) => Err(RunError::Transport(error.clone())),
            None => Ok(result?),
        }
    }

    fn drive_with(
        &self,
        patience: Patience,
        caller: &mut Option<Caller<'_, T>>,
    ) -> Result<bool, RunError> {
        if self.is_alone() {
            return self.advance(patience, caller);
        }
        let in_flight = self.world.in_flight();
        loop {
            in_flight.progress();
            if self.advance(Patience::None, caller)? {
                return Ok(true);
            }
            let timeout = patience.left();
            if timeout.is_some_and(|timeout| timeout.is_zero()) {
                return Ok(false);
            }
            let transport = self.world.transport();
            let waited = in_flight.wait(self, |awaited| transport.wait_any(awaited, timeout));
            if !self.keep(&mut self.state.borrow_mut(), waited)? {
                return Ok(false);
            }
        }
    }

    /// Waits for the end. What this rank knows of its own failure is more than what it hears.
    fn complete(
        &self,
        failure: Option<RunError>,
        caller: &mut Option<Caller<'_, T>>,
    ) -> Result<(), RunError> {
        let driven = self.drive_with(Patience::Unlimited, caller);
        if let Some(failure) = failure {
            return Err(failure);
        }
        driven?;
        match self.state.borrow().failed {
            Some(rank) => Err(RunError::RankFailed { rank }),
            None => Ok(()),
        }
    }

    /// Waits for the end of a run that nothing was lent to, and leaves its result in `result`.
    fn finish_with(
        &self,
        failure: Option<RunError>,
        rows: &[T],
        result: &mut [T],
        caller: &mut Option<Caller<'_, T>>,
    ) -> Result<bool, RunError> {
        self.complete(failure, caller)?;
        if !self.ending.is_mine {
            return Ok(false);
        }
        if self.strips.is_lent {
            result.copy_from_slice(&self.copies.borrow().result);
            return Ok(true);
        }
        let state = &mut *self.state.borrow_mut();
        self.with_machine(state, caller, |machine| {
            self.ending.finish(machine, rows, result);
        });
        Ok(true)
    }

    /// Which messages it waits for.
    fn pending(&self, state: &State<T>) -> Awaited {
        let index = match state.phase {
            Phase::Idle | Phase::Done => return Awaited::Nothing,
            Phase::Sending => return Awaited::AllSends,
            Phase::Step(index) => index,
        };
        let program = self.strips.program(state.strip);
        let receives = program.steps[index].receives.clone();
        let have_come = |buffers: &[Buffer]| buffers.iter().all(|buffer| buffer.request.is_none());
        match have_come(&state.receives[receives.clone()]) {
            true => Awaited::Sends(sends_to_end(program, state, index)),
            false => Awaited::Receives(receives),
        }
    }

    pub(super) fn rounds(&self) -> u64 {
        self.state.borrow().rounds
    }

    pub(super) fn program(&self) -> &Program<P> {
        &self.strips.programs[0]
    }
}

impl<T: Pod, O: Operator<T>, P: Place> Flight<T> for Run<T, O, P> {
    fn drive(&self, patience: Patience) -> Result<bool, RunError> {
        self.drive_with(patience, &mut None)
    }

    fn awaited_ranks(&self) -> Vec<usize> {
        let state = self.state.borrow();
        let program = self.strips.program(state.strip);
        let pending = self.pending(&state);
        let of = |messages: &[Message], buffers: &[Buffer]| -> Vec<usize> {
            let messages = messages.iter().zip(buffers);
            let messages = messages.filter(|(_, buffer)| buffer.request.is_some());
            messages.map(|(message, _)| message.peer).collect()
        };
        let mut ranks = match pending {
            Awaited::Nothing => Vec::new(),
            Awaited::Receives(range) => {
                of(&program.receives[range.clone()], &state.receives[range])
            }
            Awaited::Sends(range) => {
                let buffers = &state.sends[state.turn];
                of(&program.sends[range.clone()], &buffers[range])
            }
            Awaited::AllSends => {
                let buffers = state.sends.iter();
                buffers
                    .flat_map(|buffers| of(&program.sends, buffers))
                    .collect()
            }
        };
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    fn end(&self) -> Result<(), RunError> {
        self.complete(None, &mut None)
    }

    fn finish(&self, rows: &[T], result: &mut [T]) -> Result<bool, RunError> {
        self.finish_with(None, rows, result, &mut None)
    }

    fn give_up(&self) {
        self.world.let_go(self.state.borrow_mut().end());
    }
}

impl<T: Pod, O: Operator<T>, P: Place> Progress for Run<T, O, P> {
    fn progress(&self) {
        // One that is busy further up the stack goes on there. An error stays in the state, for whoever waits for this run.
        if self.state.try_borrow_mut().is_ok() {
            let _ = self.advance(Patience::None, &mut None);
        }
    }

    fn awaited(&self, requests: &mut Vec<RequestId>) {
        let Ok(state) = self.state.try_borrow() else {
            return;
        };
        let buffers = match self.pending(&state) {
            Awaited::Nothing => return,
            Awaited::Receives(range) => [&state.receives[range], &[]],
            Awaited::Sends(range) => [&state.sends[state.turn][range], &[]],
            Awaited::AllSends => [&state.sends[0][..], &state.sends[1]],
        };
        let buffers = buffers.into_iter().flatten();
        let pending = buffers.filter_map(|buffer| buffer.request.as_ref());
        requests.extend(pending.map(comm::Request::id));
    }
}

impl<T, O, P> Drop for Run<T, O, P> {
    fn drop(&mut self) {
        // The transport keeps the buffers that it still needs.
        self.world.let_go(self.state.get_mut().end());
        self.world.transport().release(self.messages());
    }
}

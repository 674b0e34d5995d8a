//! Runs programs. Every schedule, on every transport, is run by this code.
//!
//! A run is a machine that stops wherever a message is missing and continues when the message has arrived, so blocking calls, tests and
//! time-outs are the same code. All memory is allocated in the first two runs. The transport owns a message's buffer until the send is
//! complete. If sends arrive without further calls, the transport may keep the buffer during the next run, which uses a second buffer.
//!
//! A rank that cannot continue sends a notice in place of every message that it owes: the number of the rank that failed first, in a
//! length that the message's values do not have. Therefore no rank waits forever, and values need no header.

use std::alloc::Layout;
use std::cell::{Cell, RefCell};
use std::mem;
use std::rc::Rc;

use super::buffer::capacity_bytes;
use super::ending::{Ending, EndingKind};
use super::machine::{AT_ONCE_BYTES, Machine, SHARED_AT_ONCE_BYTES_MAX};
use super::memory::Place;
use super::program::Program;
use super::state::{Copies, Phase, RunState};
use super::strips::ColumnStrips;
use crate::engines::Flight;
use crate::engines::values::Values;
use crate::error::RunError;
use crate::trace::span;
use crate::world::World;
use crate::world::conversation::Conversation;
use crate::world::patience::Patience;

/// A compiled operation, its memory, and the state of its run.
pub(super) struct Run<P> {
    pub(super) world: World,
    pub(super) delivers_alone: bool,
    /// Whether messages go without requests while no other run is in flight. False if sends arrive without further calls, because
    /// requests are then cheap.
    goes_at_once: bool,
    pub(super) strips: ColumnStrips<P>,
    pub(super) ending: Ending,
    values: Rc<dyn Values>,
    item: Layout,
    conversation: Rc<Conversation>,
    pub(super) state: RefCell<RunState>,
    pub(super) copies: RefCell<Copies>,
    /// Whether an operator of this run has abandoned it.
    is_abandoned: Cell<bool>,
}

impl<P: Place> Run<P> {
    pub(super) fn new(
        world: &World,
        strips: ColumnStrips<P>,
        ending: Ending,
        values: Rc<dyn Values>,
        conversation: Rc<Conversation>,
    ) -> Self {
        let delivers_alone = world.transport().delivers_alone();
        let lengths = strips.programs().iter().map(Program::longest_message);
        let longest_bytes = capacity_bytes(lengths.max().unwrap_or(0));
        let shared_bytes = world.transport().hints().shared_bytes;
        let at_once_bytes = shared_bytes.clamp(AT_ONCE_BYTES, SHARED_AT_ONCE_BYTES_MAX);
        let goes_at_once = !delivers_alone && longest_bytes <= at_once_bytes;
        // Without this, the first run whose messages do not go at once would allocate the memory. That can be a late run.
        let message_bytes = if goes_at_once { longest_bytes } else { 0 };
        let state = RunState::new(strips.programs(), message_bytes);
        world.transport().reserve(state.requests_max());
        Self {
            world: world.clone(),
            delivers_alone,
            goes_at_once,
            strips,
            ending,
            item: values.item(),
            values,
            conversation,
            state: RefCell::new(state),
            copies: RefCell::default(),
            is_abandoned: Cell::new(false),
        }
    }

    /// Makes a blocking call on this rank's rows or, if `are_nodes`, on the reductions of its own nodes.
    #[inline]
    pub(super) fn run(
        &self,
        local: Result<&[u8], RunError>,
        are_nodes: bool,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        match local {
            Ok(local) if self.is_alone() => self.run_alone(Some(local), are_nodes, result),
            Ok(local) => self.run_beside_others(Some(local), are_nodes, result),
            Err(failure) => {
                // The other ranks learn of the failure from this rank's messages.
                let _ = if self.is_alone() {
                    self.run_alone(None, are_nodes, result)
                } else {
                    self.run_beside_others(None, are_nodes, result)
                };
                Err(failure)
            }
        }
    }

    /// A blocking run while no other run is in flight: one machine runs from the beginning to the end.
    #[inline(never)]
    fn run_alone(
        &self,
        local: Option<&[u8]>,
        are_nodes: bool,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        let state = &mut *self.state.borrow_mut();
        let uses_caller_memory = self.strips.uses_caller_memory;
        let in_slice = self.own_nodes_in(local, are_nodes);
        let input = self.ending.input(local, result);
        self.prepare(state, input, are_nodes, in_slice.is_some());
        state.may_go_at_once = self.goes_at_once;
        let copies = self.copies.borrow();
        let own_nodes = in_slice.unwrap_or(copies.own_nodes.bytes());
        let nothing: &mut [u8] = &mut [];
        let (machine_result, result) = if uses_caller_memory {
            (result, nothing)
        } else {
            (nothing, result)
        };
        let mut machine = self.machine(state, own_nodes, machine_result);
        let driven = machine
            .begin_strip()
            .and_then(|()| machine.go_on(Patience::Unlimited));
        if driven.is_err() {
            return self.fail_on_transport_error(machine.state, driven);
        }
        machine.state.outcome(self.world.rank())?;
        if self.ending.is_mine && !uses_caller_memory {
            self.finish(&mut machine, local.unwrap_or_default(), result)?;
        }
        Ok(self.ending.is_mine)
    }

    /// This rank's own nodes, if they are in the caller's memory and a run reads them there.
    #[inline]
    fn own_nodes_in<'r>(&self, local: Option<&'r [u8]>, are_nodes: bool) -> Option<&'r [u8]> {
        local.filter(|_| {
            self.strips.uses_caller_memory
                && (are_nodes || self.strips.first().own_nodes_are_rows())
        })
    }

    /// A blocking run that drives the other runs in flight while it waits.
    #[inline(never)]
    fn run_beside_others(
        &self,
        local: Option<&[u8]>,
        are_nodes: bool,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        if self.strips.uses_caller_memory {
            return self.run_in_caller_memory(local, are_nodes, result);
        }
        self.start(self.ending.input(local, result), are_nodes)?;
        self.wait_without_result()?;
        self.deliver(local.unwrap_or_default(), result)
    }

    /// A blocking run on the caller's slices. Only this call drives the run, because other calls cannot access the slices.
    fn run_in_caller_memory(
        &self,
        local: Option<&[u8]>,
        are_nodes: bool,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        let in_slice = self.own_nodes_in(local, are_nodes);
        let is_in_slice = in_slice.is_some();
        self.prepare(&mut self.state.borrow_mut(), local, are_nodes, is_in_slice);
        let copies = self.copies.borrow();
        let own_nodes = in_slice.unwrap_or(copies.own_nodes.bytes());
        let begun = {
            let state = &mut *self.state.borrow_mut();
            let begun = self.machine(state, own_nodes, result).begin_strip();
            self.fail_on_transport_error(state, begun)
        };
        let mut advance = |patience| {
            let state = &mut *self.state.borrow_mut();
            let advanced = self.machine(state, own_nodes, result).go_on(patience);
            self.fail_on_transport_error(state, advanced)
        };
        begun.and_then(|()| self.complete(&mut advance))?;
        Ok(self.ending.is_mine)
    }

    /// Whether no other run is in flight.
    #[inline]
    fn is_alone(&self) -> bool {
        let own = std::ptr::from_ref(self).cast();
        self.world.in_flight().is_only(own)
    }

    /// Starts a run: folds this rank's rows, sends what can be sent, and posts the first receives. `None` means that this rank has failed.
    fn start(&self, local: Option<&[u8]>, are_nodes: bool) -> Result<(), RunError> {
        let state = &mut *self.state.borrow_mut();
        self.prepare(state, local, are_nodes, false);
        self.with_own_memory(state, |machine| machine.begin_strip())
    }

    /// Starts a run that another call ends. The caller's rows may be gone by then, so a scan copies them.
    pub(super) fn start_flight(
        &self,
        local: Option<&[u8]>,
        are_nodes: bool,
    ) -> Result<(), RunError> {
        if let (EndingKind::Scan { .. }, Some(rows)) = (self.ending.kind, local) {
            self.copies.borrow_mut().rows.copy_from(rows);
        }
        self.start(local, are_nodes)
    }

    /// Resets the state for a new run, and reduces this rank's own nodes, unless the run reads them in place.
    #[inline]
    fn prepare(
        &self,
        state: &mut RunState,
        local: Option<&[u8]>,
        are_nodes: bool,
        are_read_there: bool,
    ) {
        (state.strip, state.first_column) = (0, 0);
        state.rounds = 0;
        (state.failed, state.deviation) = (None, None);
        state.may_go_at_once = false;
        match local {
            None => state.failed = Some(self.world.rank()),
            Some(_) if are_read_there => {}
            Some(local) => {
                self.fold(state, local, are_nodes);
                state.check_environment(self.world.rank());
            }
        }
    }

    /// The machine of this run. `own_nodes` and `result` are empty unless the run uses values in place.
    #[inline]
    fn machine<'m>(
        &'m self,
        state: &'m mut RunState,
        own_nodes: &'m [u8],
        result: &'m mut [u8],
    ) -> Machine<'m, P> {
        Machine {
            comm: self.world.transport(),
            delivers_alone: self.delivers_alone,
            strips: &self.strips,
            values: &*self.values,
            alignment: self.item.align(),
            tag: self.conversation.tag(),
            state,
            own_nodes,
            result,
        }
    }

    /// Reduces this rank's own nodes into the workspace or, for a run in place, into the copies.
    fn fold(&self, state: &mut RunState, own: &[u8], are_nodes: bool) {
        span!("local work");
        let (program, width) = (self.strips.first(), self.strips.width);
        let mut copies;
        let mut own_nodes = if self.strips.uses_caller_memory {
            copies = self.copies.borrow_mut();
            let length = program.own_nodes_count() * width;
            copies.own_nodes.resize(length);
            copies.own_nodes.bytes_mut()
        } else {
            &mut []
        };
        for local in &program.local_ranges {
            let lengths = &program.lengths[local.lengths.clone()];
            let length = lengths.len() * width;
            let results = if self.strips.uses_caller_memory {
                let (own, others) = own_nodes.split_at_mut(length);
                own_nodes = others;
                own
            } else {
                &mut state.workspace.bytes_mut()[local.start..][..length]
            };
            if are_nodes {
                let range = local.lengths.start * width..local.lengths.end * width;
                results.copy_from_slice(&own[range]);
                continue;
            }
            let mut items = &own[local.rows.start * width..local.rows.end * width];
            if local.rows.len() == lengths.len() {
                // Each row is a node.
                results.copy_from_slice(items);
                continue;
            }
            if width == self.item.size() {
                self.values.fold_runs(items, lengths, results);
                continue;
            }
            for (&length, row) in lengths.iter().zip(results.chunks_exact_mut(width)) {
                let (node, rest) = items.split_at(length * width);
                if length == 1 {
                    row.copy_from_slice(node);
                } else {
                    self.values.fold_rows(node, row);
                }
                items = rest;
            }
        }
    }

    /// Runs the machine on this run's own memory: the workspace, and copies instead of the caller's slices.
    fn with_own_memory<R>(
        &self,
        state: &mut RunState,
        task: impl FnOnce(&mut Machine<'_, P>) -> Result<R, comm::Error>,
    ) -> Result<R, RunError> {
        let outcome = if self.strips.uses_caller_memory {
            let Copies {
                own_nodes, result, ..
            } = &mut *self.copies.borrow_mut();
            result.resize(self.strips.result_length);
            task(&mut self.machine(state, own_nodes.bytes(), result.bytes_mut()))
        } else {
            task(&mut self.machine(state, &[], &mut []))
        };
        self.fail_on_transport_error(state, outcome)
    }

    pub(super) fn advance(&self, patience: Patience) -> Result<bool, RunError> {
        let state = &mut *self.state.borrow_mut();
        let advanced = self.with_own_memory(state, |machine| machine.go_on(patience));
        if self.is_abandoned.take() {
            self.world.abandon(state.abort());
        }
        advanced
    }

    /// Abandons the run. If an operator of this run makes the call, the run's own call abandons it later.
    pub(super) fn abandon_or_note(&self) {
        match self.state.try_borrow_mut() {
            Ok(mut state) => self.world.abandon(state.abort()),
            Err(_) => self.is_abandoned.set(true),
        }
    }

    /// Aborts the run if the transport has failed, and records the error. Every later wait for this run returns that error.
    fn fail_on_transport_error<R>(
        &self,
        state: &mut RunState,
        outcome: Result<R, comm::Error>,
    ) -> Result<R, RunError> {
        let error = match (outcome, &state.broken) {
            (Ok(value), None) => return Ok(value),
            (Ok(_), Some(earlier)) => earlier.clone(),
            (Err(error), _) => {
                state.broken = Some(error.clone());
                self.conversation.give_up_for(&error);
                for request in state.abort() {
                    self.world.transport().cancel(request);
                }
                error
            }
        };
        Err(RunError::Transport(error))
    }

    /// Drives all runs in flight, and this run by `advance`, until this run is over or `patience` is exhausted. Returns whether this run
    /// is over.
    pub(super) fn drive_by(
        &self,
        patience: Patience,
        advance: &mut dyn FnMut(Patience) -> Result<bool, RunError>,
    ) -> Result<bool, RunError> {
        let is_over = matches!(self.state.borrow().phase, Phase::Idle);
        if is_over || self.is_alone() {
            return advance(patience);
        }
        let failed = |error| {
            let state = &mut *self.state.borrow_mut();
            let failed = self.fail_on_transport_error::<()>(state, Err(error));
            failed.expect_err("an error ends the run")
        };
        let transport = self.world.transport();
        let advance = &mut || advance(Patience::None);
        self.world
            .in_flight()
            .drive(self, transport, patience, advance, &failed)
    }

    /// Waits for the end of the run, which `advance` continues.
    pub(super) fn complete(
        &self,
        advance: &mut dyn FnMut(Patience) -> Result<bool, RunError>,
    ) -> Result<(), RunError> {
        self.drive_by(Patience::Unlimited, advance)?;
        self.state.borrow().outcome(self.world.rank())
    }

    /// Writes the result of a finished run to `result`. Returns whether this rank gets a result.
    pub(super) fn deliver(&self, rows: &[u8], result: &mut [u8]) -> Result<bool, RunError> {
        if !self.ending.is_mine {
            return Ok(false);
        }
        if self.strips.uses_caller_memory {
            result.copy_from_slice(self.copies.borrow().result.bytes());
        } else {
            let state = &mut *self.state.borrow_mut();
            let machine = &mut self.machine(state, &[], &mut []);
            self.finish(machine, rows, result)?;
        }
        Ok(true)
    }

    /// Like [`deliver`](Self::deliver), for a run that was started in another call.
    pub(super) fn deliver_flight(&self, result: &mut [u8]) -> Result<bool, RunError> {
        let rows = mem::take(&mut self.copies.borrow_mut().rows);
        let delivered = self.deliver(rows.bytes(), result);
        self.copies.borrow_mut().rows = rows;
        delivered
    }

    /// Leaves the result in `result`. A scan computes its result here, so the environment is checked again.
    fn finish(
        &self,
        machine: &mut Machine<'_, P>,
        rows: &[u8],
        result: &mut [u8],
    ) -> Result<(), RunError> {
        self.ending.finish(machine, rows, result);
        let rank = self.world.rank();
        machine.state.check_environment(rank);
        machine.state.outcome(rank)
    }

    /// The number of steps in which the last run sent or received; `None` if an operator of this run makes the call.
    pub(super) fn rounds(&self) -> Option<u64> {
        self.state.try_borrow().ok().map(|state| state.rounds)
    }

    pub(super) fn program(&self) -> &Program<P> {
        self.strips.first()
    }
}

impl<P> Drop for Run<P> {
    fn drop(&mut self) {
        // The transport keeps the buffers that it still needs.
        let state = self.state.get_mut();
        self.world.abandon(state.abort());
        self.world.transport().release(state.requests_max());
    }
}

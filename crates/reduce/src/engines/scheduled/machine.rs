//! Executes a program: combines, sends and receives, step by step, and continues wherever it stopped. [`run`](super::run) folds
//! this rank's rows first.

use std::mem;
use std::ops::Range;

use comm::Communicator;

use super::buffer::{capacity_bytes, read_notice, unless_given_up, write_notice};
use super::memory::{Place, RunMemory};
use super::program::{Part, Program};
use super::state::{Phase, RunState};
use super::strips::ColumnStrips;
use crate::engines::values::Values;
use crate::trace::{message, span};
use crate::world::patience::Patience;

/// The length in bytes of the longest message that is sent without a request. Longer messages take so long that the cost of a request does
/// not matter, unless they go through shared memory.
pub(super) const AT_ONCE_BYTES: usize = 4096;

/// The same length for messages through shared memory. Each message of up to this length has a buffer, in case it is not sent at once.
pub(super) const SHARED_AT_ONCE_BYTES_MAX: usize = 1 << 15;

/// Messages of at most this number of bytes are assembled on the stack if they need no request.
const ON_STACK_BYTES: usize = 256;

/// Receives are posted this number of steps ahead, so that early messages find their buffers. The sends of a step precede them, because
/// other ranks wait for these sends.
const STEPS_AHEAD: usize = 16;

/// At most this number of sends is under way when a step begins, because MPI libraries search long lists of sends repeatedly. Waiting for
/// earlier sends cannot deadlock: schedules are checked to end even if every send waits for its receiver.
const SENDS_AHEAD: usize = 32;

/// A run, with the memory that it works on until it stops.
pub(super) struct Machine<'m, P> {
    pub(super) comm: &'m dyn Communicator,
    /// Whether sends arrive without further calls to the transport.
    pub(super) delivers_alone: bool,
    pub(super) strips: &'m ColumnStrips<P>,
    pub(super) values: &'m dyn Values,
    /// The alignment of an item.
    pub(super) alignment: usize,
    pub(super) tag: comm::Tag,
    pub(super) state: &'m mut RunState,
    pub(super) own_nodes: &'m [u8],
    pub(super) result: &'m mut [u8],
}

impl<'m, P: Place> Machine<'m, P> {
    pub(super) fn program(&self) -> &'m Program<P> {
        self.strips.program(self.state.strip)
    }

    pub(super) fn memory(&mut self) -> RunMemory<'_> {
        RunMemory {
            workspace: self.state.workspace.bytes_mut(),
            receives: &self.state.receives,
            arrived: None,
            own_nodes: self.own_nodes,
            result: self.result,
            row: self.strips.width,
            first_column: self.state.first_column,
        }
    }

    /// Begins strip number `state.strip`.
    pub(super) fn begin_strip(&mut self) -> Result<(), comm::Error> {
        self.state.at_once = self.state.may_go_at_once;
        self.state.sent = 0;
        if self.delivers_alone {
            self.state.turn ^= 1;
            self.state.sent = usize::MAX;
        }
        (self.state.posted, self.state.received) = (0, 0);
        self.state.is_combined = false;
        self.enter(0)
    }

    /// Performs a step up to its waits. After the last step, performs the last combinations.
    fn enter(&mut self, index: usize) -> Result<(), comm::Error> {
        let program = self.program();
        let Some(step) = program.steps.get(index) else {
            self.combine_next(program.last_combines.clone());
            if self.strips.uses_caller_memory && self.state.failed.is_none() {
                self.deliver();
            }
            self.state.phase = Phase::Sending;
            return Ok(());
        };
        self.combine_next(step.combines.clone());
        for index in step.sends.clone() {
            self.send(index)?;
        }
        if !self.state.at_once {
            self.post(index + STEPS_AHEAD)?;
        }
        if !step.sends.is_empty() || !step.receives.is_empty() {
            self.state.rounds += 1;
        }
        self.state.phase = Phase::Step(index);
        Ok(())
    }

    /// Performs the next combinations, unless they were performed when the last message arrived.
    fn combine_next(&mut self, combines: Range<usize>) {
        if !mem::take(&mut self.state.is_combined) {
            self.combine(combines, None);
        }
    }

    /// Performs combinations. `arrived` is a message that is in no buffer, with its number among the receives.
    fn combine(&mut self, combines: Range<usize>, arrived: Option<(usize, &[u8])>) {
        if self.state.failed.is_some() || combines.is_empty() {
            return;
        }
        let combines = &self.program().combines[combines];
        let values = self.values;
        let mut memory = RunMemory {
            arrived,
            ..self.memory()
        };
        P::combine(combines, &mut memory, values);
        self.state.check_environment(self.comm.rank());
    }

    /// Copies the strip's result to the caller's slice, in canonical form, except parts that combinations have already written there.
    fn deliver(&mut self) {
        let (program, values) = (self.program(), self.values);
        let mut start = self.state.first_column;
        let result = mem::take(&mut self.result);
        let memory = self.memory();
        for &part in &program.result {
            let end = start + part.length;
            if !part.place.is_in_result() {
                values.copy_canonical(P::read(part, &memory), &mut result[start..end]);
            }
            start = end;
        }
        self.result = result;
    }

    /// Posts the receives of all steps before `end`.
    #[inline(never)]
    fn post(&mut self, end: usize) -> Result<(), comm::Error> {
        let program = self.program();
        let end = end.min(program.steps.len());
        while self.state.posted < end {
            let receives = program.steps[self.state.posted].receives.clone();
            for index in receives.start.max(self.state.received)..receives.end {
                let message = &program.receives[index];
                let buffer = &mut self.state.receives[index];
                let mut memory = mem::take(&mut buffer.memory);
                memory.resize(capacity_bytes(message.length), 0);
                let request = self.comm.start_receive(message.peer, self.tag, memory)?;
                buffer.request = Some(request);
            }
            self.state.posted += 1;
        }
        Ok(())
    }

    #[inline]
    fn send(&mut self, index: usize) -> Result<(), comm::Error> {
        let has_values = self.state.failed.is_none();
        if self.state.at_once && has_values && self.send_at_once(index) {
            return Ok(());
        }
        self.state.at_once = false;
        self.send_by_request(index)
    }

    // Out of line, so that short calls need not load this code, which is not in cache after other work.
    #[inline(never)]
    fn send_by_request(&mut self, index: usize) -> Result<(), comm::Error> {
        let program = self.program();
        let message = &program.sends[index];
        let capacity_bytes = capacity_bytes(message.length);
        let buffer = &mut self.state.sends[self.state.turn][index];
        let mut memory = match buffer.request.take() {
            Some(request) => unless_given_up(self.comm.wait(request))?.unwrap_or_default(),
            None => mem::take(&mut buffer.memory),
        };
        match self.state.failed {
            Some(rank) => {
                memory.clear();
                write_notice(&mut memory, message.length, rank);
            }
            None => {
                memory.reserve(capacity_bytes);
                self.gather(&program.parts[message.parts.clone()], &mut memory);
            }
        }
        message!(message.peer, memory.len());
        let comm = self.comm;
        let request = comm.start_send(message.peer, self.tag, memory, capacity_bytes)?;
        self.state.sends[self.state.turn][index].request = Some(request);
        Ok(())
    }

    /// Sends values without a request, if the transport accepts them at once. Returns whether they were sent.
    fn send_at_once(&mut self, index: usize) -> bool {
        let (comm, tag, program) = (self.comm, self.tag, self.program());
        let message = &program.sends[index];
        let capacity_bytes = capacity_bytes(message.length);
        let parts = &program.parts[message.parts.clone()];
        let send = |bytes: &[u8]| {
            let is_sent = comm.try_send(message.peer, tag, bytes, capacity_bytes);
            if is_sent {
                message!(message.peer, bytes.len());
            }
            is_sent
        };
        if let [part] = *parts {
            return send(P::read(part, &self.memory()));
        }
        if message.length <= ON_STACK_BYTES {
            let mut gathered = [0; ON_STACK_BYTES];
            let mut length = 0;
            let values = self.memory();
            for &part in parts {
                let bytes = P::read(part, &values);
                gathered[length..][..bytes.len()].copy_from_slice(bytes);
                length += bytes.len();
            }
            return send(&gathered[..length]);
        }
        let turn = self.state.turn;
        let mut gathered = mem::take(&mut self.state.sends[turn][index].memory);
        self.gather(parts, &mut gathered);
        let is_sent = send(&gathered);
        self.state.sends[turn][index].memory = gathered;
        is_sent
    }

    /// Copies the values of a message into `into`, one after the other.
    fn gather(&mut self, parts: &[Part<P>], into: &mut Vec<u8>) {
        into.clear();
        let values = self.memory();
        for &part in parts {
            into.extend_from_slice(P::read(part, &values));
        }
    }

    /// Continues until the run is over or `patience` is exhausted. Returns whether the run is over.
    pub(super) fn go_on(&mut self, patience: Patience) -> Result<bool, comm::Error> {
        loop {
            match self.state.phase {
                Phase::Idle => return Ok(true),
                Phase::Step(index) => {
                    for receive in self.program().steps[index].receives.clone() {
                        if !self.receive(index, receive, patience)? {
                            return Ok(false);
                        }
                    }
                    if !self.state.at_once {
                        for send in sends_to_complete(self.program(), self.state, index) {
                            let buffer = &mut self.state.sends[self.state.turn][send];
                            if !buffer.reclaim_sent(self.comm, patience)? {
                                return Ok(false);
                            }
                            self.state.sent = send + 1;
                        }
                    }
                    self.enter(index + 1)?;
                }
                Phase::Sending => {
                    let turns = if self.state.at_once {
                        0..0
                    } else {
                        turns_to_complete(self.state, self.delivers_alone, self.strips.count)
                    };
                    for turn in turns {
                        for buffer in &mut self.state.sends[turn] {
                            if !buffer.reclaim_sent(self.comm, patience)? {
                                return Ok(false);
                            }
                        }
                    }
                    if self.state.strip + 1 == self.strips.count {
                        self.state.phase = Phase::Idle;
                    } else {
                        self.state.first_column += self.program().width;
                        self.state.strip += 1;
                        self.begin_strip()?;
                    }
                }
            }
        }
    }

    /// Receives message `index` of a step. Returns whether the message has been received.
    #[inline]
    fn receive(
        &mut self,
        step: usize,
        index: usize,
        patience: Patience,
    ) -> Result<bool, comm::Error> {
        if self.state.at_once {
            if self.receive_at_once(step, index) {
                return Ok(true);
            }
            // The message may take long to arrive, so the run continues with requests.
            self.state.at_once = false;
            self.post(step + STEPS_AHEAD)?;
        }
        self.receive_by_request(index, patience)
    }

    #[inline(never)]
    fn receive_by_request(
        &mut self,
        index: usize,
        patience: Patience,
    ) -> Result<bool, comm::Error> {
        let program = self.program();
        let (message, buffer) = (&program.receives[index], &mut self.state.receives[index]);
        if buffer.request.is_none() {
            return Ok(true);
        }
        span!("waiting");
        match unless_given_up(buffer.reclaim(self.comm, patience))? {
            Ok(true) => {}
            Ok(false) => return Ok(false),
            Err(failed) => {
                self.state.failed.get_or_insert(failed);
                return Ok(true);
            }
        }
        if buffer.memory.len() == message.length {
            let part = program.parts[message.parts.start];
            let alignment = self.alignment;
            P::take_in(part, buffer, self.state.workspace.bytes_mut(), alignment);
        } else {
            let notice = read_notice(&buffer.memory);
            self.note_failure(message.peer, notice);
        }
        Ok(true)
    }

    /// Receives a message without a request, if it arrives at once. Returns whether it arrived.
    fn receive_at_once(&mut self, step: usize, index: usize) -> bool {
        let message = &self.program().receives[index];
        let capacity_bytes = capacity_bytes(message.length);
        let (comm, tag) = (self.comm, self.tag);
        let is_received = comm.try_receive(message.peer, tag, capacity_bytes, &mut |bytes| {
            self.take_in(step, index, bytes);
        });
        if is_received {
            self.state.received = index + 1;
        }
        is_received
    }

    /// Combines the values of a message in place, or copies them.
    #[inline]
    fn take_in(&mut self, step: usize, index: usize, bytes: &[u8]) {
        let program = self.program();
        let message = &program.receives[index];
        if bytes.len() != message.length {
            self.note_failure(message.peer, read_notice(bytes));
            return;
        }
        let alignment = self.alignment;
        if program.steps[step].is_combined_on_arrival
            && bytes.as_ptr().addr().is_multiple_of(alignment)
        {
            self.combine(program.combines_after(step), Some((index, bytes)));
            self.state.is_combined = true;
            return;
        }
        let part = program.parts[message.parts.start];
        let RunState {
            receives,
            workspace,
            ..
        } = &mut *self.state;
        let workspace = workspace.bytes_mut();
        P::take_in_bytes(part, bytes, &mut receives[index], workspace, alignment);
    }

    /// Unless an earlier failure is known, records the rank that a peer's notice names, or the peer if the notice is invalid.
    #[cold]
    fn note_failure(&mut self, peer: usize, notice: Option<usize>) {
        let failed = notice.filter(|&rank| rank < self.comm.size());
        self.state.failed.get_or_insert(failed.unwrap_or(peer));
    }
}

/// The sends that must be complete before the next step begins.
pub(super) fn sends_to_complete<P>(
    program: &Program<P>,
    state: &RunState,
    index: usize,
) -> Range<usize> {
    let begun = program.steps[index].sends.end;
    let over = state.sent.min(begun);
    over..begun.saturating_sub(SENDS_AHEAD).max(over)
}

/// The numbers of the sets of send buffers whose sends must be complete before the next strip or before the end.
pub(super) fn turns_to_complete(
    state: &RunState,
    delivers_alone: bool,
    strips: usize,
) -> Range<usize> {
    let (own, other) = (state.turn, state.turn ^ 1);
    match delivers_alone {
        false => own..own + 1,
        true if state.strip + 1 < strips => other..other + 1,
        true => 0..0,
    }
}

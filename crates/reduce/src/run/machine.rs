//! The machine itself: folds, combines, sends and receives, step by step, wherever it had stopped.

use std::mem;
use std::ops::Range;

use bytemuck::Pod;
use comm::Communicator;

use super::Run;
use super::state::{Lent, Phase, State};
use crate::buffer::{Patience, buffer_bytes, read_notice, write_notice};
use crate::memory::{Memory, Sources};
use crate::operator::Operator;
use crate::program::Combine;
use crate::trace::{message, span};

/// Receives are posted so many steps ahead, so that messages find their buffers when they come early: after the sends, which others wait for.
const STEPS_AHEAD: usize = 16;

/// So many sends may be under way when a step begins. Of more, MPI libraries keep lists that they search again and again; and schedules are
/// checked to end even if every send waits for its receiver.
const SENDS_AHEAD: usize = 32;

impl<T: Pod, O: Operator<T>> Run<T, O> {
    /// Reduces the own nodes.
    pub(super) fn fold(&self, state: &mut State<T>, rows: &[T]) {
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
    pub(super) fn begin(
        &self,
        state: &mut State<T>,
        comm: &dyn Communicator,
        lent: &mut Lent<'_, T>,
    ) -> Result<(), comm::Error> {
        state.sent = 0;
        if comm.delivers_alone() {
            state.turn ^= 1;
            state.sent = usize::MAX;
        }
        state.posted = 0;
        self.enter(state, comm, lent, 0)
    }

    pub(super) fn memory<'m>(
        &'m self,
        state: &'m mut State<T>,
        lent: &'m mut Lent<'_, T>,
    ) -> Memory<'m, T> {
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
                let mut memory = mem::take(&mut buffer.memory);
                let length_bytes = buffer_bytes::<T>(message);
                memory.resize(length_bytes, 0);
                let tag = comm.tag_for(self.tag, length_bytes);
                buffer.request = Some(comm.start_receive(message.peer, tag, memory)?);
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
            None => mem::take(&mut buffer.memory),
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
        let tag = comm.tag_for(self.tag, buffer_bytes::<T>(message));
        let request = comm.start_send(message.peer, tag, memory)?;
        state.sends[turn][index].request = Some(request);
        Ok(())
    }

    pub(super) fn go_on(
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
                    for send in self.sends_to_end(state, index) {
                        if !state.sends[state.turn][send].reclaim(comm, patience)? {
                            return Ok(false);
                        }
                        state.sent = send + 1;
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
                    if state.strip + 1 == self.strips {
                        state.phase = Phase::Done;
                    } else {
                        state.first_column += self.program_of(state.strip).width;
                        state.strip += 1;
                        self.begin(state, comm, lent)?;
                    }
                }
            }
        }
    }

    /// The sends that must be over before the step behind this one begins.
    pub(super) fn sends_to_end(&self, state: &State<T>, index: usize) -> Range<usize> {
        let begun = self.program_of(state.strip).steps[index].sends.end;
        let over = state.sent.min(begun);
        over..begun.saturating_sub(SENDS_AHEAD).max(over)
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
}

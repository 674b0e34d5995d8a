//! A run in flight: the messages that it waits for, and how waits drive it.

use std::ops::Range;

use comm::RequestId;

use super::buffer::Buffer;
use super::machine::{sends_to_complete, turns_to_complete};
use super::memory::Place;
use super::program::Message;
use super::run::Run;
use super::state::{Phase, RunState};
use crate::engines::Flight;
use crate::error::RunError;
use crate::world::Progress;
use crate::world::patience::Patience;

/// The messages that a run waits for, as ranges of its program's lists.
enum Awaited {
    Nothing,
    Receives(Range<usize>),
    /// Sends that must complete first, and the number of their set of buffers.
    Sends(usize, Range<usize>),
}

impl<P: Place> Flight for Run<P> {
    fn drive(&self, patience: Patience) -> Result<bool, RunError> {
        self.drive_by(patience, &mut |patience| self.advance(patience))
    }

    fn is_over(&self) -> bool {
        let state = self.state.try_borrow();
        state.is_ok_and(|state| state.phase == Phase::Idle)
    }

    fn awaited_ranks(&self) -> Vec<usize> {
        // If the state is borrowed, this run's operator is making this call, so the run is not waiting for any rank.
        let Ok(state) = self.state.try_borrow() else {
            return Vec::new();
        };
        let state = &*state;
        let program = self.strips.program(state.strip);
        let peers = |messages: &[Message], buffers: &[Buffer]| -> Vec<usize> {
            let messages = messages.iter().zip(buffers);
            let messages = messages.filter(|(_, buffer)| buffer.request.is_some());
            messages.map(|(message, _)| message.peer).collect()
        };
        let mut ranks = match self.pending(state) {
            Awaited::Nothing => Vec::new(),
            Awaited::Receives(range) => {
                peers(&program.receives[range.clone()], &state.receives[range])
            }
            Awaited::Sends(turn, range) => {
                peers(&program.sends[range.clone()], &state.sends[turn][range])
            }
        };
        ranks.sort_unstable();
        ranks.dedup();
        ranks
    }

    fn wait_without_result(&self) -> Result<(), RunError> {
        self.complete(&mut |patience| self.advance(patience))
    }

    fn wait_and_deliver(&self, result: &mut [u8]) -> Result<bool, RunError> {
        self.wait_without_result()?;
        self.deliver_flight(result)
    }

    fn abandon(&self) {
        self.abandon_or_note();
    }
}

impl<P: Place> Progress for Run<P> {
    fn progress(&self) {
        // If the state is borrowed, this run's operator makes the call, and the outer call continues the run. An error stays in the
        // state until a wait for this run returns it.
        if self.state.try_borrow_mut().is_ok() {
            let _ = self.advance(Patience::InPassing);
        }
    }

    fn awaited(&self, requests: &mut Vec<RequestId>) {
        let Ok(state) = self.state.try_borrow() else {
            return;
        };
        let buffers = match self.pending(&state) {
            Awaited::Nothing => return,
            Awaited::Receives(range) => &state.receives[range],
            Awaited::Sends(turn, range) => &state.sends[turn][range],
        };
        // The machine processes messages in order. The arrival of a later message must not end the wait, since the run could not continue.
        let first = buffers.iter().find_map(|buffer| buffer.request.as_ref());
        requests.extend(first.map(comm::Request::id));
    }
}

impl<P: Place> Run<P> {
    /// The messages that the run waits for.
    fn pending(&self, state: &RunState) -> Awaited {
        let has_pending =
            |buffers: &[Buffer]| buffers.iter().any(|buffer| buffer.request.is_some());
        match state.phase {
            Phase::Idle => Awaited::Nothing,
            Phase::Step(index) => {
                let program = self.strips.program(state.strip);
                let receives = program.steps[index].receives.clone();
                if has_pending(&state.receives[receives.clone()]) {
                    Awaited::Receives(receives)
                } else {
                    let sends = sends_to_complete(program, state, index);
                    Awaited::Sends(state.turn, sends)
                }
            }
            Phase::Sending => {
                let mut turns = turns_to_complete(state, self.delivers_alone, self.strips.count);
                let turn = turns.find(|&turn| has_pending(&state.sends[turn]));
                turn.map_or(Awaited::Nothing, |turn| {
                    Awaited::Sends(turn, 0..state.sends[turn].len())
                })
            }
        }
    }
}

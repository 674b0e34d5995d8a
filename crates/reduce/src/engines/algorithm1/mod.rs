//! The engine for Algorithm 1 of the thesis, as published, with and without its message buffer (section 3.1.1). The engine reduces
//! single elements of contiguous distributions, in blocking calls.

mod machine;
mod outbox;
mod steps;
mod wire;

use std::cell::RefCell;
use std::rc::Rc;

use comm::collective;

use crate::algorithm::Algorithm;
use crate::engines::terms::Terms;
use crate::engines::values::Values;
use crate::engines::{Engine, Flight, not_offered};
use crate::error::RunError;
use crate::message_buffer::MessageBuffer;
use crate::operation::Operation;
use crate::world::World;
use crate::world::conversation::Conversation;
use machine::Room;
use steps::{StackStep, steps};

/// Algorithm 1, prepared for one rank.
pub(crate) struct Algorithm1 {
    world: World,
    terms: Rc<Terms>,
    values: Rc<dyn Values>,
    conversation: Rc<Conversation>,
    buffer: MessageBuffer,
    /// This rank's steps in every run.
    steps: Vec<StackStep>,
    /// The rank that has the result after the last step.
    holder: usize,
    room: RefCell<Room>,
}

impl Algorithm1 {
    pub(crate) fn new(
        world: &World,
        terms: Rc<Terms>,
        values: Rc<dyn Values>,
        conversation: Rc<Conversation>,
    ) -> Self {
        let distribution = terms.ownership.as_distribution();
        let distribution = distribution.expect("the builder has checked it");
        Self {
            world: world.clone(),
            buffer: match terms.choice.algorithm {
                Algorithm::Algorithm1Unbuffered => MessageBuffer::UNBUFFERED,
                _ => terms.message_buffer,
            },
            steps: steps(distribution, world.rank()),
            holder: match distribution.items() {
                0 => terms.root,
                _ => distribution.rank_of(0),
            },
            terms,
            room: RefCell::new(Room::for_items(values.item().size())),
            values,
            conversation,
        }
    }
}

impl Engine for Algorithm1 {
    fn run(
        &self,
        operation: Operation,
        rows: Result<&[u8], RunError>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        if !self.is_offered(operation) {
            return Err(not_offered(&self.world, &self.terms));
        }
        let room = &mut *self.room.borrow_mut();
        let outcome = self.reduce_to_holder(rows, room);
        let is_mine = match operation {
            Operation::Allreduce => self.pass_to_all(outcome, room)?,
            _ => self.pass_to_root(outcome, room)?,
        };
        if is_mine {
            result.copy_from_slice(room.result());
            self.values.make_canonical(result);
        }
        Ok(is_mine)
    }

    fn start(
        &self,
        _operation: Operation,
        _rows: Option<&[u8]>,
    ) -> Result<Rc<dyn Flight>, RunError> {
        Err(not_offered(&self.world, &self.terms))
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        self.is_offered(operation)
            .then_some(self.terms.choice.algorithm)
    }
}

impl Algorithm1 {
    fn is_offered(&self, operation: Operation) -> bool {
        matches!(operation, Operation::Reduce | Operation::Allreduce)
    }

    /// Leaves the result in `room` on the holder. Returns whether this rank is the holder.
    fn reduce_to_holder(
        &self,
        rows: Result<&[u8], RunError>,
        room: &mut Room,
    ) -> Result<bool, RunError> {
        if self.terms.ownership.items() == 0 {
            self.values.write_empty(room.result_mut());
            return rows.map(|_| self.world.rank() == self.holder);
        }
        let comm = self.world.transport();
        machine::run(
            comm,
            self.conversation.tag(),
            &*self.values,
            &self.steps,
            self.buffer,
            rows,
            room,
        )
    }

    /// Broadcasts the holder's result or failure. Returns true, because every rank gets the result.
    fn pass_to_all(
        &self,
        outcome: Result<bool, RunError>,
        room: &mut Room,
    ) -> Result<bool, RunError> {
        let (comm, holder) = (self.world.transport(), self.holder);
        let mut frame = self.frame(&outcome, room);
        let sent = collective::broadcast(
            comm,
            holder,
            self.conversation.tag(),
            &mut frame,
            wire::frame_bytes(self.values.item().size()),
        );
        // This rank's own failure takes precedence over another rank's failure.
        outcome?;
        sent?;
        self.read(&frame, room)?;
        Ok(true)
    }

    /// Sends the holder's result or failure to the root. Returns whether this rank is the root.
    fn pass_to_root(
        &self,
        outcome: Result<bool, RunError>,
        room: &mut Room,
    ) -> Result<bool, RunError> {
        let (comm, tag) = (self.world.transport(), self.conversation.tag());
        let (rank, holder, root) = (self.world.rank(), self.holder, self.terms.root);
        if holder == root || (rank != holder && rank != root) {
            return outcome;
        }
        let capacity_bytes = wire::frame_bytes(self.values.item().size());
        if rank == holder {
            let frame = self.frame(&outcome, room);
            let sent = collective::send(comm, root, tag, frame, capacity_bytes);
            outcome?;
            sent?;
            return Ok(false);
        }
        let frame = collective::receive(comm, holder, tag, capacity_bytes);
        outcome?;
        self.read(&frame?, room)?;
        Ok(true)
    }

    /// The message with this rank's result or failure; empty if the rank has neither.
    fn frame(&self, outcome: &Result<bool, RunError>, room: &Room) -> Vec<u8> {
        match outcome {
            Ok(true) => wire::delivered(room.result()),
            Ok(false) => Vec::new(),
            Err(RunError::RankFailed { rank }) => wire::failed(*rank),
            Err(_) => wire::failed(self.world.rank()),
        }
    }

    /// Copies the holder's result from its message to `room`.
    fn read(&self, frame: &[u8], room: &mut Room) -> Result<(), RunError> {
        let (rank, from) = (self.world.rank(), self.holder);
        let value = wire::payload(frame, rank, from)?;
        let result = room.result_mut();
        wire::check_length(value, result.len(), rank, from)?;
        result.copy_from_slice(value);
        Ok(())
    }
}

//! The engine for Algorithm 1 of the thesis, kept faithful, with and without its message buffer (section 3.1.1). It reduces single
//! elements of contiguous distributions, in blocking calls.

mod machine;
mod outbox;
mod steps;
mod wire;

use std::rc::Rc;

use comm::collective;

use crate::algorithm::Algorithm;
use crate::engines::terms::Terms;
use crate::engines::values::{Memory, Values};
use crate::engines::{Engine, Flight, not_offered};
use crate::error::RunError;
use crate::message_buffer::MessageBuffer;
use crate::operation::Operation;
use crate::world::World;
use crate::world::conversation::Conversation;
use steps::{Step, steps};

/// The engine: everything that a rank knows before a run.
pub(crate) struct Algorithm1 {
    world: World,
    terms: Rc<Terms>,
    values: Rc<dyn Values>,
    conversation: Rc<Conversation>,
    buffer: MessageBuffer,
    /// What this rank does.
    steps: Vec<Step>,
    /// The rank where the reduction ends.
    holder: usize,
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
        let total = match operation {
            Operation::Allreduce => self.pass_to_all(self.reduce_to_holder(rows)).map(Some),
            Operation::Reduce => self.pass_to_root(self.reduce_to_holder(rows)),
            _ => return Err(not_offered(&self.world, &self.terms)),
        };
        let Some(total) = total? else {
            return Ok(false);
        };
        result.copy_from_slice(&total);
        self.values.make_canonical(result);
        Ok(true)
    }

    fn start(
        &self,
        _operation: Operation,
        _rows: Option<&[u8]>,
    ) -> Result<Rc<dyn Flight>, RunError> {
        Err(not_offered(&self.world, &self.terms))
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        let is_offered = matches!(operation, Operation::Reduce | Operation::Allreduce);
        is_offered.then_some(self.terms.choice.algorithm)
    }
}

impl Algorithm1 {
    /// Leaves the result on the holder; the others get `None`.
    fn reduce_to_holder(&self, rows: Result<&[u8], RunError>) -> Result<Option<Vec<u8>>, RunError> {
        if self.terms.ownership.items() == 0 {
            let is_holder = self.world.rank() == self.holder;
            let mut empty = Memory::zeroed(self.values.item().size());
            self.values.write_empty(empty.bytes_mut());
            return rows.map(|_| is_holder.then(|| empty.bytes().to_vec()));
        }
        let comm = self.world.transport();
        machine::run(
            comm,
            self.conversation.tag(),
            &*self.values,
            &self.steps,
            self.buffer,
            rows,
        )
    }

    /// Brings the holder's result, or its failure, to every rank.
    fn pass_to_all(&self, outcome: Result<Option<Vec<u8>>, RunError>) -> Result<Vec<u8>, RunError> {
        let (comm, holder) = (self.world.transport(), self.holder);
        let mut frame = self.frame(&outcome);
        let capacity_bytes = wire::frame_bytes(self.values.item().size());
        let sent = collective::broadcast(
            comm,
            holder,
            self.conversation.tag(),
            &mut frame,
            capacity_bytes,
        );
        // This rank's own failure takes precedence over what it heard.
        outcome?;
        sent?;
        self.read(&frame)
    }

    /// Brings the holder's result, or its failure, to the root.
    fn pass_to_root(
        &self,
        outcome: Result<Option<Vec<u8>>, RunError>,
    ) -> Result<Option<Vec<u8>>, RunError> {
        let (comm, holder, root) = (self.world.transport(), self.holder, self.terms.root);
        let rank = self.world.rank();
        if holder == root || (rank != holder && rank != root) {
            return outcome;
        }
        let capacity_bytes = wire::frame_bytes(self.values.item().size());
        if rank == holder {
            let frame = self.frame(&outcome);
            let sent = collective::send(comm, root, self.conversation.tag(), frame, capacity_bytes);
            outcome?;
            sent?;
            return Ok(None);
        }
        let frame = collective::receive(comm, holder, self.conversation.tag(), capacity_bytes);
        outcome?;
        self.read(&frame?).map(Some)
    }

    /// The result, or the failure, as a message; empty on a rank that has neither.
    fn frame(&self, outcome: &Result<Option<Vec<u8>>, RunError>) -> Vec<u8> {
        match outcome {
            Ok(Some(total)) => wire::delivered(total.clone()),
            Ok(None) => Vec::new(),
            Err(RunError::RankFailed { rank }) => wire::failed(*rank),
            Err(_) => wire::failed(self.world.rank()),
        }
    }

    /// The holder's result.
    fn read(&self, frame: &[u8]) -> Result<Vec<u8>, RunError> {
        let (rank, from) = (self.world.rank(), self.holder);
        let value = wire::payload(frame, rank, from)?;
        wire::check_length(value, self.values.item().size(), rank, from)?;
        Ok(value.to_vec())
    }
}

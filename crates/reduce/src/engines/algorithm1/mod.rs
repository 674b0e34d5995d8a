//! The engine for Algorithm 1 of the thesis, kept faithful, with and without its message buffer (section 3.1.1). It reduces single
//! elements of contiguous distributions, in blocking calls.

mod machine;
mod outbox;
mod steps;
mod wire;

use std::rc::Rc;

use bytemuck::Pod;
use comm::collective;

use crate::algorithm::Algorithm;
use crate::engines::terms::Terms;
use crate::engines::{Engine, Flight, not_offered};
use crate::error::RunError;
use crate::message_buffer::MessageBuffer;
use crate::operation::Operation;
use crate::operator::Operator;
use crate::world::World;
use crate::world::conversation::Conversation;
use steps::{Step, steps};

/// The engine: everything that a rank knows before a run.
pub(crate) struct Algorithm1<O> {
    world: World,
    terms: Rc<Terms>,
    operator: Rc<O>,
    conversation: Rc<Conversation>,
    buffer: MessageBuffer,
    /// What this rank does.
    steps: Vec<Step>,
    /// The rank where the reduction ends.
    holder: usize,
}

impl<O> Algorithm1<O> {
    pub(crate) fn new(
        world: &World,
        terms: Rc<Terms>,
        operator: Rc<O>,
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
            operator,
            conversation,
        }
    }
}

impl<T: Pod, O: Operator<T>> Engine<T> for Algorithm1<O> {
    fn run(
        &self,
        operation: Operation,
        rows: Result<&[T], RunError>,
        result: &mut [T],
    ) -> Result<bool, RunError> {
        let total = match operation {
            Operation::Allreduce => self.pass_to_all(self.reduce_to_holder(rows)).map(Some),
            Operation::Reduce => self.pass_to_root(self.reduce_to_holder(rows)),
            _ => return Err(not_offered(&self.world, &self.terms)),
        };
        let total: Option<T> = total?;
        if let Some(total) = total {
            result[0] = self.operator.canonical(total);
        }
        Ok(total.is_some())
    }

    fn start(
        &self,
        _operation: Operation,
        _rows: Option<&[T]>,
    ) -> Result<Rc<dyn Flight<T>>, RunError> {
        Err(not_offered(&self.world, &self.terms))
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        let is_offered = matches!(operation, Operation::Reduce | Operation::Allreduce);
        is_offered.then_some(self.terms.choice.algorithm)
    }
}

impl<O> Algorithm1<O> {
    /// Leaves the result on the holder; the others get `None`.
    fn reduce_to_holder<T: Pod>(&self, rows: Result<&[T], RunError>) -> Result<Option<T>, RunError>
    where
        O: Operator<T>,
    {
        if self.terms.ownership.items() == 0 {
            let is_holder = self.world.rank() == self.holder;
            return rows.map(|_| self.operator.empty().filter(|_| is_holder));
        }
        let comm = self.world.transport();
        machine::run(
            comm,
            self.conversation.tag(),
            &*self.operator,
            &self.steps,
            self.buffer,
            rows,
        )
    }

    /// Brings the holder's result, or its failure, to every rank.
    fn pass_to_all<T: Pod>(&self, outcome: Result<Option<T>, RunError>) -> Result<T, RunError> {
        let (comm, holder) = (self.world.transport(), self.holder);
        let mut frame = self.frame(&outcome);
        let capacity_bytes = wire::frame_bytes(size_of::<T>());
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
    fn pass_to_root<T: Pod>(
        &self,
        outcome: Result<Option<T>, RunError>,
    ) -> Result<Option<T>, RunError> {
        let (comm, holder, root) = (self.world.transport(), self.holder, self.terms.root);
        let rank = self.world.rank();
        if holder == root || (rank != holder && rank != root) {
            return outcome;
        }
        let capacity_bytes = wire::frame_bytes(size_of::<T>());
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
    fn frame<T: Pod>(&self, outcome: &Result<Option<T>, RunError>) -> Vec<u8> {
        match outcome {
            Ok(Some(total)) => wire::delivered(bytemuck::bytes_of(total).to_vec()),
            Ok(None) => Vec::new(),
            Err(RunError::RankFailed { rank }) => wire::failed(*rank),
            Err(_) => wire::failed(self.world.rank()),
        }
    }

    /// The holder's result.
    fn read<T: Pod>(&self, frame: &[u8]) -> Result<T, RunError> {
        let (rank, from) = (self.world.rank(), self.holder);
        wire::value(wire::payload(frame, rank, from)?, rank, from)
    }
}

//! The ways to run a plan that are no schedules: Algorithm 1 of the thesis, kept faithful as the baseline, and what all are
//! measured against. They reduce single elements of contiguous distributions, in blocking calls.

use bytemuck::Pod;
use comm::{Tag, collective};
use distribution::Distribution;

use crate::algorithm::Algorithm;
use crate::algorithm1::{self, Step};
use crate::baseline;
use crate::environment;
use crate::error::RunError;
use crate::operator::Operator;
use crate::outbox::MessageBuffer;
use crate::plan::{Kind, Plan};
use crate::wire;

/// What a rank knows beforehand.
#[derive(Debug)]
pub(crate) struct ScalarEngine {
    distribution: Distribution,
    /// What this rank does in Algorithm 1.
    steps: Vec<Step>,
}

impl<T: Pod, O: Operator<T> + 'static> Plan<'_, T, O> {
    fn engine(&self) -> &ScalarEngine {
        self.scalar.get_or_init(|| {
            let distribution = self.terms.ownership.as_distribution();
            let distribution = distribution.expect("the builder has checked it").clone();
            ScalarEngine {
                steps: algorithm1::steps(&distribution, self.comm.rank()),
                distribution,
            }
        })
    }

    /// Says whether this rank gets a result, and leaves it in `result`.
    pub(crate) fn run_scalar(
        &self,
        kind: Kind,
        local: &[T],
        result: &mut [T],
    ) -> Result<bool, RunError> {
        let total = match kind {
            Kind::Allreduce => self.allreduce_scalar(local).map(Some),
            Kind::Reduce => self.reduce_scalar(local),
            _ => {
                return Err(RunError::NotOffered {
                    rank: self.comm.rank(),
                    algorithm: self.terms.choice.algorithm,
                });
            }
        };
        let total = self.settle(total)?;
        if let Some(total) = total {
            result[0] = self.operator.canonical(total);
        }
        Ok(total.is_some())
    }

    fn is_plain_allreduce(&self) -> bool {
        self.terms.choice.algorithm == Algorithm::Unordered && self.terms.ownership.items() > 0
    }

    fn allreduce_scalar(&self, local: &[T]) -> Result<T, RunError> {
        if self.is_plain_allreduce() {
            return self.unordered(local);
        }
        let holder = self.holder();
        let outcome = self.reduce_to_holder(local);
        self.pass_to_all(holder, outcome)
    }

    fn reduce_scalar(&self, local: &[T]) -> Result<Option<T>, RunError> {
        if self.is_plain_allreduce() {
            let total = self.unordered(local)?;
            return Ok((self.comm.rank() == self.terms.root).then_some(total));
        }
        let holder = self.holder();
        let outcome = self.reduce_to_holder(local);
        self.pass_to_root(holder, outcome)
    }

    fn checked<'l>(&self, local: &'l [T]) -> Result<&'l [T], RunError> {
        let rank = self.comm.rank();
        if self.is_spent() {
            return Err(RunError::Spent { rank });
        }
        let (planned, given) = (self.terms.ownership.count(rank), local.len() as u64);
        if planned != given {
            return Err(RunError::WrongLength {
                rank,
                planned,
                given,
            });
        }
        environment::check().map_err(|error| RunError::Environment { rank, error })?;
        Ok(local)
    }

    /// The rank where the reduction ends.
    fn holder(&self) -> usize {
        match self.terms.choice.algorithm {
            Algorithm::Algorithm1 | Algorithm::Algorithm1Unbuffered
                if self.terms.ownership.items() > 0 =>
            {
                self.terms.ownership.rank_of(0)
            }
            _ => self.terms.root,
        }
    }

    /// Leaves the result on the holder; the others get `None`.
    fn reduce_to_holder(&self, local: &[T]) -> Result<Option<T>, RunError> {
        let local = self.checked(local);
        let engine = self.engine();
        if engine.distribution.items() == 0 {
            let is_holder = self.comm.rank() == self.holder();
            return local.map(|_| self.operator.empty().filter(|_| is_holder));
        }
        match self.terms.choice.algorithm {
            Algorithm::LeftToRight => baseline::left_to_right(
                self.comm,
                self.tag,
                &*self.operator,
                &engine.distribution,
                self.terms.root,
                local,
            ),
            algorithm => algorithm1::run(
                self.comm,
                self.tag,
                &*self.operator,
                &engine.steps,
                match algorithm {
                    Algorithm::Algorithm1 => self.terms.message_buffer,
                    _ => MessageBuffer::UNBUFFERED,
                },
                local,
            ),
        }
    }

    fn unordered(&self, local: &[T]) -> Result<T, RunError> {
        baseline::unordered(
            self.comm,
            &*self.operator,
            &self.engine().distribution,
            self.checked(local),
        )
    }

    /// Brings the holder's result, or its failure, to every rank.
    fn pass_to_all(
        &self,
        holder: usize,
        outcome: Result<Option<T>, RunError>,
    ) -> Result<T, RunError> {
        let mut frame = self.frame(&outcome);
        let (tag, capacity_bytes) = self.result_frame();
        let sent = collective::broadcast(self.comm, holder, tag, &mut frame, capacity_bytes);
        // What this rank knows of its own failure is more than what it hears.
        outcome?;
        sent?;
        self.read(&frame, holder)
    }

    /// Brings the holder's result, or its failure, to the root.
    fn pass_to_root(
        &self,
        holder: usize,
        outcome: Result<Option<T>, RunError>,
    ) -> Result<Option<T>, RunError> {
        let (rank, root) = (self.comm.rank(), self.terms.root);
        if holder == root || (rank != holder && rank != root) {
            return outcome;
        }
        let (tag, capacity_bytes) = self.result_frame();
        if rank == holder {
            let sent = collective::send(self.comm, root, tag, self.frame(&outcome));
            outcome?;
            sent?;
            return Ok(None);
        }
        let frame = collective::receive(self.comm, holder, tag, capacity_bytes);
        outcome?;
        self.read(&frame?, holder).map(Some)
    }

    /// The tag under which a result travels, and the length of its message in bytes.
    fn result_frame(&self) -> (Tag, usize) {
        let length_bytes = wire::frame_bytes(size_of::<T>());
        (self.comm.tag_for(self.tag, length_bytes), length_bytes)
    }

    /// The result, or the failure, as a message; empty on a rank that has neither.
    fn frame(&self, outcome: &Result<Option<T>, RunError>) -> Vec<u8> {
        match outcome {
            Ok(Some(total)) => wire::delivered(bytemuck::bytes_of(total).to_vec()),
            Ok(None) => Vec::new(),
            Err(RunError::RankFailed { rank }) => wire::failed(*rank),
            Err(_) => wire::failed(self.comm.rank()),
        }
    }

    fn read(&self, frame: &[u8], from: usize) -> Result<T, RunError> {
        let rank = self.comm.rank();
        wire::value(wire::payload(frame, rank, from)?, rank, from)
    }
}

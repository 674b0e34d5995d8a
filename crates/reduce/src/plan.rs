//! A reduction that ranks have agreed on: built once, run many times.

use std::cell::Cell;
use std::fmt;
use std::marker::PhantomData;

use bytemuck::Pod;
use comm::{Communicator, Tag, collective};
use distribution::Distribution;

use crate::algorithm::Algorithm;
use crate::algorithm1::{self, Step};
use crate::baseline;
use crate::builder::Builder;
use crate::environment;
use crate::error::RunError;
use crate::operator::Operator;
use crate::wire;

/// A reduction of so many items of type `T` on each rank of a communicator, by operator `O`.
///
/// All ranks build it together and run it together, as often as they like, each with its own items.
pub struct Plan<'c, T, O> {
    comm: &'c dyn Communicator,
    operator: O,
    algorithm: Algorithm,
    root: usize,
    distribution: Distribution,
    tag: Tag,
    /// What this rank does in Algorithm 1.
    steps: Vec<Step>,
    spent: Cell<bool>,
    items: PhantomData<fn(T) -> T>,
}

impl<'c> Plan<'c, (), ()> {
    /// Begins a plan for the ranks of `comm`.
    pub fn builder(comm: &'c dyn Communicator) -> Builder<'c> {
        Builder::new(comm)
    }
}

impl<T, O> fmt::Debug for Plan<'_, T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("comm", &self.comm)
            .field("algorithm", &self.algorithm)
            .field("root", &self.root)
            .field("distribution", &self.distribution)
            .finish_non_exhaustive()
    }
}

impl<'c, T: Pod, O: Operator<T>> Plan<'c, T, O> {
    pub(crate) fn new(
        comm: &'c dyn Communicator,
        operator: O,
        algorithm: Algorithm,
        root: usize,
        distribution: Distribution,
    ) -> Self {
        Self {
            steps: algorithm1::steps(&distribution, comm.rank()),
            tag: comm.fresh_tag(),
            comm,
            operator,
            algorithm,
            root,
            distribution,
            spent: Cell::new(false),
            items: PhantomData,
        }
    }

    /// How the items are spread over the ranks.
    pub fn distribution(&self) -> &Distribution {
        &self.distribution
    }

    /// The algorithm that runs.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Reduces the ranks' items; every rank gets the result. Collective.
    ///
    /// `local` are this rank's items, as many as it planned.
    ///
    /// # Errors
    /// The slice has another length, the floating-point environment has changed, another rank failed in this run,
    /// or the transport did. The plan is spent then.
    pub fn allreduce(&self, local: &[T]) -> Result<T, RunError> {
        let total = if self.algorithm == Algorithm::Unordered && self.distribution.items() > 0 {
            self.spend(self.unordered(local))?
        } else {
            let holder = self.holder();
            let outcome = self.reduce_to_holder(local);
            self.spend(self.broadcast(holder, outcome))?
        };
        Ok(self.operator.canonical(total))
    }

    /// Reduces the ranks' items; the root gets the result, the others `None`. Collective.
    ///
    /// `local` are this rank's items, as many as it planned.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce). A rank that the failed one does not depend on, and that does not get the
    /// result, may not hear of the failure in this run.
    pub fn reduce(&self, local: &[T]) -> Result<Option<T>, RunError> {
        let is_root = self.comm.rank() == self.root;
        let total = if self.algorithm == Algorithm::Unordered && self.distribution.items() > 0 {
            let total = self.spend(self.unordered(local))?;
            is_root.then_some(total)
        } else {
            let holder = self.holder();
            let outcome = self.reduce_to_holder(local);
            self.spend(self.pass_to_root(holder, outcome))?
        };
        Ok(total.map(|total| self.operator.canonical(total)))
    }

    /// Remembers a failure: later runs would meet this one's messages.
    fn spend<R>(&self, result: Result<R, RunError>) -> Result<R, RunError> {
        self.spent.set(self.spent.get() || result.is_err());
        result
    }

    fn check<'l>(&self, local: &'l [T]) -> Result<&'l [T], RunError> {
        let rank = self.comm.rank();
        if self.spent.get() {
            return Err(RunError::Spent { rank });
        }
        let (planned, given) = (self.distribution.count(rank), local.len() as u64);
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
        match self.algorithm {
            _ if self.distribution.items() == 0 => self.root,
            Algorithm::Algorithm1 | Algorithm::Algorithm1Unbuffered => self.distribution.rank_of(0),
            Algorithm::LeftToRight | Algorithm::Unordered => self.root,
        }
    }

    /// Leaves the result on the holder; the others get `None`.
    fn reduce_to_holder(&self, local: &[T]) -> Result<Option<T>, RunError> {
        let local = self.check(local);
        if self.distribution.items() == 0 {
            let is_holder = self.comm.rank() == self.holder();
            return local.map(|_| self.operator.empty().filter(|_| is_holder));
        }
        match self.algorithm {
            Algorithm::Algorithm1 | Algorithm::Algorithm1Unbuffered => algorithm1::run(
                self.comm,
                self.tag,
                &self.operator,
                &self.steps,
                self.algorithm == Algorithm::Algorithm1,
                local,
            ),
            Algorithm::LeftToRight => baseline::left_to_right(
                self.comm,
                self.tag,
                &self.operator,
                &self.distribution,
                self.root,
                local,
            ),
            Algorithm::Unordered => unreachable!("the transport's allreduce has no holder"),
        }
    }

    fn unordered(&self, local: &[T]) -> Result<T, RunError> {
        baseline::unordered(
            self.comm,
            &self.operator,
            &self.distribution,
            self.check(local),
        )
    }

    /// Brings the holder's result, or its failure, to every rank.
    fn broadcast(
        &self,
        holder: usize,
        outcome: Result<Option<T>, RunError>,
    ) -> Result<T, RunError> {
        let mut frame = self.frame(&outcome);
        let capacity_bytes = wire::frame_bytes(size_of::<T>());
        let sent = collective::broadcast(self.comm, holder, self.tag, &mut frame, capacity_bytes);
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
        let rank = self.comm.rank();
        if holder == self.root || (rank != holder && rank != self.root) {
            return outcome;
        }
        if rank == holder {
            let sent = collective::send(self.comm, self.root, self.tag, self.frame(&outcome));
            outcome?;
            sent?;
            return Ok(None);
        }
        let capacity_bytes = wire::frame_bytes(size_of::<T>());
        let frame = collective::receive(self.comm, holder, self.tag, capacity_bytes);
        outcome?;
        self.read(&frame?, holder).map(Some)
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

//! A reduction that ranks have agreed on: built once, run many times.

mod agreement;
mod builder;
pub mod call;
mod choice;
mod display;
mod pending;
mod status;

use std::cell::Cell;
use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use bytemuck::Pod;
use distribution::Ownership;

use crate::algorithm::Algorithm;
use crate::engine::{Engine, Operation};
use crate::environment;
use crate::error::RunError;
use crate::operator::Operator;
use crate::scheduled::columns;
use crate::terms::{Choice, Terms};
use crate::world::World;
use pending::Expected;
use status::Status;

pub use builder::Builder;
pub use choice::ALGORITHM_VARIABLE;
pub use pending::Pending;

/// A reduction of items of type `T` on each rank of a [`World`], by operator `O`.
///
/// All ranks build it together and run it together, as often as they like, each with its own items: `local` is
/// always this rank's rows, as many as it planned, in the order in which it owns them. The first run of each
/// collective operation compiles it, and the first two make its buffers; later ones allocate nothing.
///
/// It owns what it needs, and stays on its world's thread. Dropping it communicates nothing.
///
/// `{}` prints who sends what to whom, and when.
pub struct Plan<T: Pod, O: Operator<T> + 'static> {
    world: World,
    operator: Rc<O>,
    terms: Rc<Terms>,
    /// The elements of this rank's slice.
    local_length: u64,
    /// Whether a reduction is a fold of `local`, which holds all items, in order: there is nothing for the engine to do.
    is_local: bool,
    engine: Box<dyn Engine<T>>,
    /// Shared with a run under way.
    status: Rc<Cell<Status>>,
}

impl Plan<f64, crate::Sum> {
    /// Begins a plan for the ranks of a world.
    pub fn builder(world: &World) -> Builder {
        Builder::new(world)
    }
}

impl<T: Pod, O: Operator<T> + 'static> fmt::Debug for Plan<T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("world", &self.world)
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}

impl<T: Pod, O: Operator<T> + 'static> Plan<T, O> {
    fn new(world: &World, operator: Rc<O>, terms: Rc<Terms>, engine: Box<dyn Engine<T>>) -> Self {
        let count = terms.ownership.count(world.rank());
        Self {
            world: world.clone(),
            operator,
            local_length: count.saturating_mul(terms.width as u64),
            terms,
            is_local: engine.is_local_fold(),
            engine,
            status: Rc::new(Cell::new(Status::Ready)),
        }
    }

    /// The world that it was built on.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Who owns which items.
    pub fn ownership(&self) -> &Ownership {
        &self.terms.ownership
    }

    /// The algorithm that runs for an operation; `None` if the plan does not offer the operation.
    ///
    /// Not every algorithm has a program for every operation: a plan by `ring` reduces along a binomial tree.
    /// [`Schedule::effective`](schedule::Schedule::effective) has the table.
    ///
    /// ```
    /// use reduce::{Algorithm, Operation, Plan, threads};
    ///
    /// threads::run(2, |world| {
    ///     let builder = Plan::builder(world).local_items(1).algorithm(Algorithm::Ring);
    ///     let plan = builder.build::<f64>().unwrap();
    ///     assert_eq!(plan.algorithm(Operation::Allreduce), Some(Algorithm::Ring));
    ///     assert_eq!(plan.algorithm(Operation::Reduce), Some(Algorithm::Binomial));
    /// })?;
    /// # Ok::<(), threads::RunError>(())
    /// ```
    pub fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        self.engine.algorithm(operation)
    }

    /// The column blocks in which an allreduce treats a row.
    pub fn blocks(&self) -> usize {
        let Choice {
            parameters, strips, ..
        } = self.terms.choice;
        parameters.blocks.max(strips)
    }

    /// The number of elements of an item: 1, or more where items are rows.
    pub fn width(&self) -> usize {
        self.terms.width
    }

    /// The columns that this rank gets from [`reduce_scatter`](Plan::reduce_scatter).
    pub fn scattered_columns(&self) -> Range<usize> {
        columns(self.terms.width, self.world.size(), self.world.rank())
    }

    /// Reduces the ranks' items; every rank gets the result. Collective.
    ///
    /// # Errors
    /// The slice has another length, items are rows, the floating-point environment has changed, another rank failed in this run,
    /// or the transport did. The plan is spent then.
    pub fn allreduce(&self, local: &[T]) -> Result<T, RunError> {
        if let Some(result) = self.fold(local) {
            return Ok(result);
        }
        let mut result = [T::zeroed()];
        self.run(Operation::Allreduce, local, &mut result)?;
        Ok(result[0])
    }

    /// Reduces the ranks' rows element by element; every rank gets the resulting row. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or `result` has not [`width`](Plan::width) elements. It may be overwritten in part then.
    pub fn allreduce_into(&self, local: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.run(Operation::Allreduce, local, result).map(drop)
    }

    /// Reduces the ranks' items; the root gets the result, the others `None`. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce). A rank that the failed one does not depend on, and that does not get the
    /// result, may not hear of the failure in this run.
    pub fn reduce(&self, local: &[T]) -> Result<Option<T>, RunError> {
        if let Some(result) = self.fold(local) {
            return Ok(Some(result));
        }
        let mut result = [T::zeroed()];
        let is_root = self.run(Operation::Reduce, local, &mut result)?;
        Ok(is_root.then_some(result[0]))
    }

    /// Reduces the ranks' rows element by element; the root gets the resulting row. Collective.
    ///
    /// Says whether this rank is the root. On the others `result` stays as it is, but has the same length; after an error
    /// the root's may be overwritten in part.
    ///
    /// # Errors
    /// As [`reduce`](Plan::reduce), or `result` has not [`width`](Plan::width) elements.
    pub fn reduce_into(&self, local: &[T], result: &mut [T]) -> Result<bool, RunError> {
        self.run(Operation::Reduce, local, result)
    }

    /// Reduces the ranks' rows element by element; every rank gets its
    /// [`scattered_columns`](Plan::scattered_columns) of the resulting row. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or `result` is not as long as the columns.
    pub fn reduce_scatter(&self, local: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.run(Operation::ReduceScatter, local, result).map(drop)
    }

    /// For each of this rank's items i, the reduction of the items 0 to i, i included: its bits are those of
    /// the reduction of these items alone. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or `result` is not as long as `local`.
    pub fn scan(&self, local: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.run(Operation::Scan, local, result).map(drop)
    }

    /// For each of this rank's items i, the reduction of the items 0 to i, i excluded; for item 0 the operator's
    /// empty value. Collective.
    ///
    /// # Errors
    /// As [`scan`](Plan::scan), or the operator has no empty value.
    pub fn exscan(&self, local: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.run(Operation::Exscan, local, result).map(drop)
    }

    /// Brings the root's row to every rank, as it is. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or `row` has not [`width`](Plan::width) elements.
    pub fn broadcast(&self, row: &mut [T]) -> Result<(), RunError> {
        self.run(Operation::Broadcast, &[], row).map(drop)
    }

    /// Starts [`allreduce`](Plan::allreduce) and returns when this rank's items are
    /// folded; `local` is not needed any more then. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or a run of this plan is under way, or the algorithm only offers blocking calls. What is wrong with
    /// `local` is returned by the wait.
    pub fn start_allreduce(&self, local: &[T]) -> Result<Pending<call::Allreduce, T>, RunError> {
        self.start(Operation::Allreduce, local, 1)
    }

    /// Starts [`allreduce_into`](Plan::allreduce_into), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_allreduce_row(
        &self,
        local: &[T],
    ) -> Result<Pending<call::AllreduceRow, T>, RunError> {
        self.start(Operation::Allreduce, local, self.terms.width)
    }

    /// Starts [`reduce`](Plan::reduce), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce(&self, local: &[T]) -> Result<Pending<call::Reduce, T>, RunError> {
        self.start(Operation::Reduce, local, 1)
    }

    /// Starts [`reduce_into`](Plan::reduce_into), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce_row(&self, local: &[T]) -> Result<Pending<call::ReduceRow, T>, RunError> {
        self.start(Operation::Reduce, local, self.terms.width)
    }

    /// Starts [`reduce_scatter`](Plan::reduce_scatter), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce_scatter(
        &self,
        local: &[T],
    ) -> Result<Pending<call::ReduceScatter, T>, RunError> {
        let length = self.scattered_columns().len();
        self.start(Operation::ReduceScatter, local, length)
    }

    /// Starts [`scan`](Plan::scan); the wait takes the items again. Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_scan(&self, local: &[T]) -> Result<Pending<call::Scan, T>, RunError> {
        self.start(Operation::Scan, local, self.local_length_on_this_machine())
    }

    /// Starts [`exscan`](Plan::exscan); the wait takes the items again. Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce), or the operator has no empty value.
    pub fn start_exscan(&self, local: &[T]) -> Result<Pending<call::Scan, T>, RunError> {
        self.start(
            Operation::Exscan,
            local,
            self.local_length_on_this_machine(),
        )
    }

    /// The steps in which this rank communicated in the last run; `None` before the first, and for an algorithm that is no
    /// schedule.
    pub fn rounds(&self) -> Option<u64> {
        match self.is_local {
            true => Some(0),
            false => self.engine.rounds(),
        }
    }

    /// The reduction of a rank that has all items. Leaves everything else, and whatever is wrong, to the engine.
    ///
    /// A call between other work finds nothing of a plan in cache, so this touches as little of it as can be.
    #[inline]
    fn fold(&self, local: &[T]) -> Option<T> {
        let is_ready = self.is_local
            && self.status.get() == Status::Ready
            && local.len() as u64 == self.local_length
            && environment::check().is_ok();
        if !is_ready {
            return None;
        }
        // The operator may be the caller's, and try to run this plan.
        self.status.set(Status::UnderWay);
        let value = self.operator.fold(local)?;
        let result = self.operator.canonical(value);
        self.status.set(Status::Ready);
        Some(result)
    }

    /// A blocking call: says whether this rank gets a result, and leaves it in `result`.
    fn run(&self, operation: Operation, local: &[T], result: &mut [T]) -> Result<bool, RunError> {
        self.begin()?;
        let checked = self.check(operation, local.len(), result.len());
        let outcome = self.engine.run(operation, checked.map(|()| local), result);
        self.settle(outcome)
    }

    /// As [`run`](Plan::run), without the wait, for a result of `result_length`.
    fn start<C>(
        &self,
        operation: Operation,
        local: &[T],
        result_length: usize,
    ) -> Result<Pending<C, T>, RunError> {
        self.begin()?;
        let failure = self.check(operation, local.len(), result_length).err();
        let rows = failure.is_none().then_some(local);
        match self.engine.start(operation, rows) {
            Ok(flight) => {
                let is_scan = matches!(operation, Operation::Scan | Operation::Exscan);
                let expected = Expected {
                    result: result_length,
                    rows: if is_scan { self.local_length } else { 0 },
                };
                let (world, status) = (&self.world, &self.status);
                Ok(Pending::new(world, flight, status, failure, expected))
            }
            Err(error) => self.settle(Err(error)),
        }
    }

    /// Looks whether the plan can be run now, and notes that it is.
    #[inline]
    fn begin(&self) -> Result<(), RunError> {
        match self.status.replace(Status::UnderWay) {
            Status::Ready => Ok(()),
            Status::UnderWay => Err(RunError::UnderWay {
                rank: self.world.rank(),
            }),
            Status::Spent => {
                self.status.set(Status::Spent);
                Err(RunError::Spent {
                    rank: self.world.rank(),
                })
            }
        }
    }

    /// Ends a run, for good or ill.
    fn settle<R>(&self, outcome: Result<R, RunError>) -> Result<R, RunError> {
        self.status.set(match outcome {
            // Nothing was sent where nothing is offered.
            Ok(_) | Err(RunError::NotOffered { .. }) => Status::Ready,
            Err(_) => Status::Spent,
        });
        outcome
    }

    /// What can be wrong on one rank alone.
    fn check(
        &self,
        operation: Operation,
        given: usize,
        result_length: usize,
    ) -> Result<(), RunError> {
        let rank = || self.world.rank();
        let given = given as u64;
        if operation != Operation::Broadcast && given != self.local_length {
            return Err(RunError::WrongLength {
                rank: rank(),
                planned: self.local_length,
                given,
            });
        }
        if operation == Operation::Exscan && self.operator.empty().is_none() {
            return Err(RunError::NoEmptyValue {
                rank: rank(),
                operator: self.operator.name().to_owned(),
            });
        }
        let expected = match operation {
            Operation::Reduce | Operation::Allreduce | Operation::Broadcast => self.terms.width,
            Operation::ReduceScatter => self.scattered_columns().len(),
            Operation::Scan | Operation::Exscan => self.local_length_on_this_machine(),
        };
        if expected != result_length {
            return Err(RunError::WrongResultLength {
                rank: rank(),
                expected,
                given: result_length,
            });
        }
        environment::check().map_err(|error| RunError::Environment {
            rank: rank(),
            error,
        })
    }

    /// The elements of this rank's slice: of one that can be in memory.
    fn local_length_on_this_machine(&self) -> usize {
        usize::try_from(self.local_length).unwrap_or(usize::MAX)
    }
}

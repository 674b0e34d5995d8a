//! A reduction that ranks have agreed on: built once, run many times.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

use bytemuck::Pod;
use comm::{Communicator, RequestId, Tag};
use distribution::Ownership;

use crate::algorithm::Algorithm;
use crate::builder::Builder;
use crate::error::RunError;
use crate::native::NativeEngine;
use crate::operator::Operator;
use crate::outbox::MessageBuffer;
use crate::pending::Pending;
use crate::program::columns;
use crate::run::Run;
use crate::scalar::ScalarEngine;
use crate::scan::Scan;
use crate::tuner::Choice;

/// A reduction of so many items of type `T` on each rank of a communicator, by operator `O`.
///
/// All ranks build it together and run it together, as often as they like, each with its own items: `local` is
/// always this rank's rows, as many as it planned, in the order in which it owns them. The first run of each
/// collective operation compiles it, and the first two make its buffers; later ones allocate nothing.
///
/// `{}` prints who sends what to whom, and when.
pub struct Plan<'c, T: Pod, O: Operator<T> + 'static> {
    pub(crate) comm: &'c dyn Communicator,
    pub(crate) operator: Rc<O>,
    pub(crate) tag: Tag,
    pub(crate) terms: Terms,
    /// The elements of this rank's slice.
    pub(crate) local_length: u64,
    pub(crate) compiled: [OnceCell<Rc<Run<T, O>>>; Kind::COUNT],
    pub(crate) scan: OnceCell<Scan<T>>,
    pub(crate) scalar: OnceCell<ScalarEngine>,
    pub(crate) native: OnceCell<NativeEngine<T>>,
    /// Whether a failed or abandoned run has left its messages behind.
    pub(crate) spent: Cell<bool>,
    pub(crate) is_running: Cell<bool>,
    pub(crate) rounds: Cell<Option<u64>>,
    /// Kept for its memory.
    pub(crate) awaited: RefCell<Vec<RequestId>>,
    items: PhantomData<fn(T) -> T>,
}

/// What the ranks have agreed on, beside type and operator.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) choice: Choice,
    pub(crate) root: usize,
    pub(crate) width: usize,
    pub(crate) ownership: Ownership,
    pub(crate) message_limit: usize,
    pub(crate) message_buffer: MessageBuffer,
}

/// The collective operations of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Reduce,
    Allreduce,
    ReduceScatter,
    Scan,
    Exscan,
    Broadcast,
}

impl Kind {
    const COUNT: usize = 6;
}

impl<'c> Plan<'c, f64, crate::Sum> {
    /// Begins a plan for the ranks of `comm`.
    pub fn builder(comm: &'c dyn Communicator) -> Builder<'c> {
        Builder::new(comm)
    }
}

impl<T: Pod, O: Operator<T> + 'static> fmt::Debug for Plan<'_, T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("comm", &self.comm)
            .field("terms", &self.terms)
            .finish_non_exhaustive()
    }
}

impl<'c, T: Pod, O: Operator<T> + 'static> Plan<'c, T, O> {
    pub(crate) fn new(comm: &'c dyn Communicator, operator: O, terms: Terms) -> Self {
        let count = terms.ownership.count(comm.rank());
        Self {
            tag: comm.fresh_tag(),
            comm,
            operator: Rc::new(operator),
            local_length: count.saturating_mul(terms.width as u64),
            terms,
            compiled: Default::default(),
            scan: OnceCell::new(),
            scalar: OnceCell::new(),
            native: OnceCell::new(),
            spent: Cell::new(false),
            is_running: Cell::new(false),
            rounds: Cell::new(None),
            awaited: RefCell::default(),
            items: PhantomData,
        }
    }

    /// Who owns which items.
    pub fn ownership(&self) -> &Ownership {
        &self.terms.ownership
    }

    /// The algorithm that runs.
    pub fn algorithm(&self) -> Algorithm {
        self.terms.choice.algorithm
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
        columns(self.terms.width, self.comm.size(), self.comm.rank())
    }

    /// Reduces the ranks' items; every rank gets the result. Collective.
    ///
    /// # Errors
    /// The slice has another length, items are rows, the floating-point environment has changed, another rank failed in this run,
    /// or the transport did. The plan is spent then.
    pub fn allreduce(&self, local: &[T]) -> Result<T, RunError> {
        let mut result = [T::zeroed()];
        self.run(Kind::Allreduce, local, &mut result)?;
        Ok(result[0])
    }

    /// Reduces the ranks' rows element by element; every rank gets the resulting row. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or `result` has not [`width`](Plan::width) elements. It may be overwritten in part then.
    pub fn allreduce_into(&self, local: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.run(Kind::Allreduce, local, result).map(drop)
    }

    /// Reduces the ranks' items; the root gets the result, the others `None`. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce). A rank that the failed one does not depend on, and that does not get the
    /// result, may not hear of the failure in this run.
    pub fn reduce(&self, local: &[T]) -> Result<Option<T>, RunError> {
        let mut result = [T::zeroed()];
        let is_root = self.run(Kind::Reduce, local, &mut result)?;
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
        self.run(Kind::Reduce, local, result)
    }

    /// Reduces the ranks' rows element by element; every rank gets its
    /// [`scattered_columns`](Plan::scattered_columns) of the resulting row. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or `result` is not as long as the columns.
    pub fn reduce_scatter(&self, local: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.run(Kind::ReduceScatter, local, result).map(drop)
    }

    /// For each of this rank's items i, the reduction of the items 0 to i, i included: its bits are those of
    /// the reduction of these items alone. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or `result` is not as long as `local`.
    pub fn scan(&self, local: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.run(Kind::Scan, local, result).map(drop)
    }

    /// For each of this rank's items i, the reduction of the items 0 to i, i excluded; for item 0 the operator's
    /// empty value. Collective.
    ///
    /// # Errors
    /// As [`scan`](Plan::scan), or the operator has no empty value.
    pub fn exscan(&self, local: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.run(Kind::Exscan, local, result).map(drop)
    }

    /// Brings the root's row to every rank, as it is. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or `row` has not [`width`](Plan::width) elements.
    pub fn broadcast(&self, row: &mut [T]) -> Result<(), RunError> {
        self.run(Kind::Broadcast, &[], row).map(drop)
    }

    /// Starts [`allreduce`](Plan::allreduce) or [`allreduce_into`](Plan::allreduce_into) and returns when this rank's items are
    /// folded; `local` is not needed any more then. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or a run of this plan is under way, or the algorithm only offers blocking calls.
    pub fn start_allreduce(&self, local: &[T]) -> Result<Pending<'_, 'c, T, O>, RunError> {
        self.start(Kind::Allreduce, local)
    }

    /// Starts [`reduce`](Plan::reduce) or [`reduce_into`](Plan::reduce_into), as
    /// [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce(&self, local: &[T]) -> Result<Pending<'_, 'c, T, O>, RunError> {
        self.start(Kind::Reduce, local)
    }

    /// Starts [`reduce_scatter`](Plan::reduce_scatter), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce_scatter(&self, local: &[T]) -> Result<Pending<'_, 'c, T, O>, RunError> {
        self.start(Kind::ReduceScatter, local)
    }

    /// Starts [`scan`](Plan::scan), whose last part needs the items again. Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_scan<'a>(&'a self, local: &'a [T]) -> Result<Pending<'a, 'c, T, O>, RunError> {
        Ok(self.start(Kind::Scan, local)?.with_local(local))
    }

    /// Starts [`exscan`](Plan::exscan), whose last part needs the items again. Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce), or the operator has no empty value.
    pub fn start_exscan<'a>(&'a self, local: &'a [T]) -> Result<Pending<'a, 'c, T, O>, RunError> {
        Ok(self.start(Kind::Exscan, local)?.with_local(local))
    }

    /// The steps of the last run in which this rank communicated; `None` before the first, and for an algorithm that is no
    /// schedule.
    pub fn rounds(&self) -> Option<u64> {
        self.rounds.get()
    }
}

impl<T: Pod, O: Operator<T> + 'static> Drop for Plan<'_, T, O> {
    fn drop(&mut self) {
        for run in self.compiled.iter().filter_map(OnceCell::get) {
            run.cancel(self.comm);
            self.comm.release(run.messages());
        }
    }
}

//! A reduction that ranks have agreed on: built once, run many times.

use std::cell::{Cell, OnceCell, RefCell};
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

use bytemuck::Pod;
use comm::{Communicator, RequestId, Tag};
use distribution::Ownership;
use schedule::{Collective, Schedule};

use crate::algorithm::{Algorithm, Engine};
use crate::builder::Builder;
use crate::environment;
use crate::error::RunError;
use crate::native::NativeEngine;
use crate::operator::Operator;
use crate::pending::Pending;
use crate::program::{Program, Source, Wanted, columns};
use crate::run::{Input, Patience, Run};
use crate::scalar::ScalarEngine;
use crate::scan::Scan;

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
    local_length: u64,
    compiled: [OnceCell<Rc<Run<T, O>>>; Kind::COUNT],
    scan: OnceCell<Scan<T>>,
    pub(crate) scalar: OnceCell<ScalarEngine>,
    pub(crate) native: OnceCell<NativeEngine<T>>,
    /// Whether a failed or abandoned run has left its messages behind.
    spent: Cell<bool>,
    is_running: Cell<bool>,
    pub(crate) rounds: Cell<Option<u64>>,
    /// Kept for its memory.
    awaited: RefCell<Vec<RequestId>>,
    items: PhantomData<fn(T) -> T>,
}

/// What the ranks have agreed on, beside type and operator.
#[derive(Clone, Debug)]
pub(crate) struct Terms {
    pub(crate) algorithm: Algorithm,
    pub(crate) root: usize,
    pub(crate) width: usize,
    pub(crate) ownership: Ownership,
    pub(crate) message_limit: usize,
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

/// Rows of a slice.
struct Rows<'l, T, O> {
    rows: &'l [T],
    operator: &'l O,
}

impl<T: Pod, O: Operator<T>> Input<T> for Rows<'_, T, O> {
    fn fold(&self, rows: Range<usize>, scratch: &mut Vec<T>, row: &mut [T]) {
        let width = row.len();
        let items = &self.rows[rows.start * width..rows.end * width];
        if let [total] = row {
            *total = self.operator.fold(items).expect("a leaf has items");
            return;
        }
        self.operator.fold_rows(items, width, scratch, row);
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
        self.terms.algorithm
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
    /// As [`allreduce`](Plan::allreduce), or `result` has not [`width`](Plan::width) elements.
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
    /// Says whether this rank is the root. On the others `result` stays as it is, but has the same length.
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
        let pending = self.start(Kind::Broadcast, &[], row)?;
        pending.wait_into(row).map(drop)
    }

    /// Starts [`allreduce`](Plan::allreduce) or [`allreduce_into`](Plan::allreduce_into) and returns when this rank's items are
    /// folded; `local` is not needed any more then. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](Plan::allreduce), or a run of this plan is under way, or the algorithm only offers blocking calls.
    pub fn start_allreduce(&self, local: &[T]) -> Result<Pending<'_, 'c, T, O>, RunError> {
        self.start(Kind::Allreduce, local, &[])
    }

    /// Starts [`reduce`](Plan::reduce) or [`reduce_into`](Plan::reduce_into), as
    /// [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce(&self, local: &[T]) -> Result<Pending<'_, 'c, T, O>, RunError> {
        self.start(Kind::Reduce, local, &[])
    }

    /// Starts [`reduce_scatter`](Plan::reduce_scatter), as [`start_allreduce`](Plan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_reduce_scatter(&self, local: &[T]) -> Result<Pending<'_, 'c, T, O>, RunError> {
        self.start(Kind::ReduceScatter, local, &[])
    }

    /// Starts [`scan`](Plan::scan), whose last part needs the items again. Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce).
    pub fn start_scan<'a>(&'a self, local: &'a [T]) -> Result<Pending<'a, 'c, T, O>, RunError> {
        Ok(self.start(Kind::Scan, local, &[])?.with_local(local))
    }

    /// Starts [`exscan`](Plan::exscan), whose last part needs the items again. Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](Plan::start_allreduce), or the operator has no empty value.
    pub fn start_exscan<'a>(&'a self, local: &'a [T]) -> Result<Pending<'a, 'c, T, O>, RunError> {
        Ok(self.start(Kind::Exscan, local, &[])?.with_local(local))
    }

    /// The steps of the last run in which this rank communicated; `None` before the first, and for an algorithm that is no
    /// schedule.
    pub fn rounds(&self) -> Option<u64> {
        self.rounds.get()
    }

    /// A blocking call: says whether this rank gets a result, and leaves it in `result`.
    fn run(&self, kind: Kind, local: &[T], result: &mut [T]) -> Result<bool, RunError> {
        match self.terms.algorithm.engine() {
            Engine::Schedule(_) => {
                let pending = self.begin(kind, local, &[], Some(result.len()))?;
                pending.with_local(local).wait_into(result)
            }
            Engine::Native => self.run_native(kind, local, result),
            Engine::Scalar => self.run_scalar(kind, local, result),
        }
    }

    fn start<'a>(
        &'a self,
        kind: Kind,
        local: &[T],
        row: &[T],
    ) -> Result<Pending<'a, 'c, T, O>, RunError> {
        let result_length = (kind == Kind::Broadcast).then_some(row.len());
        Ok(self.begin(kind, local, row, result_length)?.enter())
    }

    /// Starts a run of a schedule. A rank with wrong arguments takes part, so that the others hear of it.
    fn begin<'a>(
        &'a self,
        kind: Kind,
        local: &[T],
        row: &[T],
        result_length: Option<usize>,
    ) -> Result<Pending<'a, 'c, T, O>, RunError> {
        if self.spent.get() {
            return Err(RunError::Spent {
                rank: self.comm.rank(),
            });
        }
        if self.is_running.get() {
            return Err(RunError::UnderWay {
                rank: self.comm.rank(),
            });
        }
        let run = self.compiled(kind)?;
        let checked = self.check(kind, local, result_length);
        let rows = if kind == Kind::Broadcast { row } else { local };
        let input = Rows {
            rows,
            operator: &*self.operator,
        };
        let input: Option<&dyn Input<T>> = match &checked {
            Ok(()) => Some(&input),
            Err(_) => None,
        };
        let started = run.start(self.comm, input);
        self.is_running.set(true);
        let pending = Pending::new(self, kind, run, checked.err());
        started?;
        Ok(pending)
    }

    /// What can be wrong on one rank alone.
    pub(crate) fn check(
        &self,
        kind: Kind,
        local: &[T],
        result_length: Option<usize>,
    ) -> Result<(), RunError> {
        let rank = self.comm.rank();
        let width = self.terms.width;
        let planned = match kind {
            Kind::Broadcast => 0,
            _ => self
                .terms
                .ownership
                .count(rank)
                .saturating_mul(width as u64),
        };
        let given = local.len() as u64;
        if planned != given {
            return Err(RunError::WrongLength {
                rank,
                planned,
                given,
            });
        }
        if kind == Kind::Exscan && self.operator.empty().is_none() {
            return Err(RunError::NoEmptyValue {
                rank,
                operator: self.operator.name().to_owned(),
            });
        }
        if let Some(given) = result_length {
            self.check_result(kind, given)?;
        }
        environment::check().map_err(|error| RunError::Environment { rank, error })
    }

    pub(crate) fn check_result(&self, kind: Kind, given: usize) -> Result<(), RunError> {
        let rank = self.comm.rank();
        let expected = match kind {
            Kind::Reduce | Kind::Allreduce | Kind::Broadcast => self.terms.width,
            Kind::ReduceScatter => self.scattered_columns().len(),
            Kind::Scan | Kind::Exscan => usize::try_from(self.local_length).unwrap_or(usize::MAX),
        };
        if expected == given {
            return Ok(());
        }
        Err(RunError::WrongResultLength {
            rank,
            expected,
            given,
        })
    }

    pub(crate) fn compiled(&self, kind: Kind) -> Result<Rc<Run<T, O>>, RunError> {
        // Both kinds of scan need the same messages.
        let kind = if kind == Kind::Exscan {
            Kind::Scan
        } else {
            kind
        };
        let cell = &self.compiled[kind as usize];
        if let Some(run) = cell.get() {
            return Ok(Rc::clone(run));
        }
        let program = self.compile(kind)?;
        // A send's buffer may be away until the run after the next one.
        self.comm
            .reserve(3 * (program.sends.len() + program.receives.len()));
        let run = Run::new(program, Rc::clone(&self.operator), self.tag);
        Ok(Rc::clone(cell.get_or_init(|| Rc::new(run))))
    }

    fn compile(&self, kind: Kind) -> Result<Program, RunError> {
        let (terms, rank) = (&self.terms, self.comm.rank());
        let Engine::Schedule(algorithm) = terms.algorithm.engine() else {
            return Err(RunError::NotOffered {
                rank,
                algorithm: terms.algorithm,
            });
        };
        // A broadcast is the same for every distribution.
        let one_each;
        let ownership = if kind == Kind::Broadcast {
            one_each = Ownership::one_item_each(self.comm.size())
                .expect("a communicator has at least one rank");
            &one_each
        } else {
            &terms.ownership
        };
        let collective = match kind {
            Kind::Reduce => Collective::Reduce {
                root: ownership.position_of(terms.root),
            },
            Kind::Broadcast => Collective::Broadcast { root: terms.root },
            Kind::Allreduce => Collective::Allreduce,
            Kind::ReduceScatter => Collective::ReduceScatter,
            Kind::Scan | Kind::Exscan => Collective::Scan,
        };
        let is_scan = collective == Collective::Scan;
        let (algorithm, collective) = if is_scan && !ownership.is_one_stretch_each() {
            // Prefixes of scattered items are made of everyone's.
            (schedule::Algorithm::Direct, Collective::Allreduce)
        } else {
            (algorithm, collective)
        };
        let schedule = Schedule::new(algorithm, collective, self.comm.size())
            .expect("the communicator has ranks, and the root is one of them");
        let source = Source {
            schedule: &schedule,
            ownership,
            width: terms.width,
            message_limit: terms.message_limit,
            wanted: if is_scan {
                Wanted::Prefixes
            } else {
                Wanted::Reduction
            },
        };
        Ok(source.compile(rank))
    }

    /// Goes on with a run until it is over or patience is; looks after whatever else is in flight.
    pub(crate) fn drive(&self, run: &Run<T, O>, patience: Patience) -> Result<bool, RunError> {
        let in_flight = self.comm.in_flight();
        if in_flight.is_only(std::ptr::from_ref(run).cast()) {
            return run.advance(self.comm, patience);
        }
        let mut awaited = self.awaited.borrow_mut();
        loop {
            in_flight.progress(self.comm);
            if run.advance(self.comm, Patience::None)? {
                return Ok(true);
            }
            awaited.clear();
            in_flight.awaited(&mut awaited);
            if !run.wait_any(self.comm, &mut awaited, patience)? {
                return Ok(false);
            }
        }
    }

    /// Ends a run, for good or ill.
    pub(crate) fn settle<R>(&self, result: Result<R, RunError>) -> Result<R, RunError> {
        self.is_running.set(false);
        self.spent.set(self.spent.get() || result.is_err());
        result
    }

    /// Whether an earlier run failed.
    pub(crate) fn is_spent(&self) -> bool {
        self.spent.get()
    }

    /// The memory of scans.
    pub(crate) fn scan_state(&self) -> &Scan<T> {
        self.scan.get_or_init(|| Scan::new(self.terms.width))
    }
}

impl<T: Pod, O: Operator<T> + 'static> Drop for Plan<'_, T, O> {
    fn drop(&mut self) {
        for run in self.compiled.iter().filter_map(OnceCell::get) {
            run.cancel(self.comm);
        }
    }
}

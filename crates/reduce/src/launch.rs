//! How a run of a plan begins, goes on and ends: the part of [`Plan`] that its users do not see.

use std::ops::Range;
use std::rc::Rc;

use bytemuck::Pod;
use distribution::Ownership;
use schedule::{Collective, Schedule};

use crate::algorithm::Engine;
use crate::buffer::Patience;
use crate::compile::{Source, Wanted};
use crate::environment;
use crate::error::RunError;
use crate::operator::Operator;
use crate::pending::Pending;
use crate::plan::{Kind, Plan};
use crate::program::Program;
use crate::run::{Input, Run};
use crate::scan::Scan;

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
    /// A blocking call: says whether this rank gets a result, and leaves it in `result`.
    pub(crate) fn run(&self, kind: Kind, local: &[T], result: &mut [T]) -> Result<bool, RunError> {
        match self.terms.algorithm.engine() {
            Engine::Schedule(_) => {
                let pending = self.begin(kind, local, &[], Some(result.len()))?;
                pending.with_local(local).wait_into(result)
            }
            Engine::Native => self.run_native(kind, local, result),
            Engine::Scalar => self.run_scalar(kind, local, result),
        }
    }

    pub(crate) fn start<'a>(
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

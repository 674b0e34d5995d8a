//! How a run of a plan begins, goes on and ends: the part of [`Plan`] that its users do not see.

use std::rc::Rc;

use bytemuck::Pod;
use distribution::Ownership;
use schedule::{Collective, Schedule};

use crate::algorithm::Engine;
use crate::buffer::Patience;
use crate::compile::{Placing, Source, Wanted};
use crate::environment;
use crate::error::RunError;
use crate::operator::Operator;
use crate::pending::Pending;
use crate::plan::{Kind, Plan};
use crate::run::{Lent, Run};
use crate::scan::Scan;

/// Rows of so many bytes are worth the search for them that copying them saves.
const LENT_BYTES: usize = 2048;

impl<'c, T: Pod, O: Operator<T> + 'static> Plan<'c, T, O> {
    /// A blocking call: says whether this rank gets a result, and leaves it in `result`.
    pub(crate) fn run(&self, kind: Kind, local: &[T], result: &mut [T]) -> Result<bool, RunError> {
        match self.terms.choice.algorithm.engine() {
            Engine::Schedule(_) => self.run_schedule(kind, local, result),
            Engine::Native => self.run_native(kind, local, result),
            Engine::Scalar => self.run_scalar(kind, local, result),
        }
    }

    fn run_schedule(&self, kind: Kind, local: &[T], result: &mut [T]) -> Result<bool, RunError> {
        let run = self.ready(kind)?;
        let length = Some(result.len());
        let outcome = if run.is_lent() {
            let mut lent = Lent {
                leaves: run.program().leaves_are_rows().then_some(local),
                result: Some(result),
            };
            self.begin(run, kind, local, length, &mut lent)
                .and_then(|failure| self.complete(run, failure, &mut lent))
                .map(|()| self.gets_result(kind))
        } else {
            let rows = if kind == Kind::Broadcast {
                &*result
            } else {
                local
            };
            self.begin(run, kind, rows, length, &mut Lent::default())
                .and_then(|failure| self.finish(run, kind, failure, local, result))
        };
        self.settle(outcome)
    }

    /// As [`run`](Plan::run), without the wait.
    pub(crate) fn start<'a>(
        &'a self,
        kind: Kind,
        rows: &[T],
    ) -> Result<Pending<'a, 'c, T, O>, RunError> {
        let run = self.ready(kind)?;
        match self.begin(run, kind, rows, None, &mut Lent::default()) {
            Ok(failure) => Ok(Pending::new(self, kind, Rc::clone(run), failure)),
            Err(error) => self.settle(Err(error)),
        }
    }

    /// The compiled collective operation, if the plan can be run now.
    fn ready(&self, kind: Kind) -> Result<&Rc<Run<T, O>>, RunError> {
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
        self.compiled(kind)
    }

    /// Starts a run. A rank with wrong arguments takes part, so that the others hear of it: its own failure is what is
    /// returned.
    fn begin(
        &self,
        run: &Run<T, O>,
        kind: Kind,
        rows: &[T],
        result_length: Option<usize>,
        lent: &mut Lent<'_, T>,
    ) -> Result<Option<RunError>, RunError> {
        // Where the operator panics, the run never ends.
        self.is_running.set(true);
        let failure = self.check(kind, rows, result_length).err();
        let is_sound = failure.is_none();
        run.start(self.comm, is_sound.then_some(rows), lent)?;
        Ok(failure)
    }

    /// Waits for a run.
    fn complete(
        &self,
        run: &Run<T, O>,
        failure: Option<RunError>,
        lent: &mut Lent<'_, T>,
    ) -> Result<(), RunError> {
        let driven = self.drive(run, Patience::Unlimited, lent);
        // What this rank knows of its own failure is more than what it hears.
        if let Some(failure) = failure {
            return Err(failure);
        }
        driven?;
        self.rounds.set(Some(run.rounds()));
        run.outcome()
    }

    /// Waits for a run that nothing was lent to and leaves its result in `result`. Says whether this rank gets one.
    pub(crate) fn finish(
        &self,
        run: &Run<T, O>,
        kind: Kind,
        failure: Option<RunError>,
        local: &[T],
        result: &mut [T],
    ) -> Result<bool, RunError> {
        self.complete(run, failure, &mut Lent::default())?;
        self.check_result(kind, result.len())?;
        if !self.gets_result(kind) {
            return Ok(false);
        }
        match kind {
            Kind::Scan | Kind::Exscan => {
                let is_exclusive = kind == Kind::Exscan;
                self.scan_state()
                    .finish(&*self.operator, run, local, is_exclusive, result);
                for value in result {
                    *value = self.operator.canonical(*value);
                }
            }
            Kind::Broadcast => run.copy_result(result, |row, into| into.copy_from_slice(row)),
            _ if self.terms.ownership.items() == 0 => {
                let empty = self.operator.empty();
                let empty = empty.expect("a plan without items has an empty value");
                result.fill(self.operator.canonical(empty));
            }
            _ => run.copy_result(result, |row, into| self.operator.copy_canonical(row, into)),
        }
        Ok(true)
    }

    fn gets_result(&self, kind: Kind) -> bool {
        kind != Kind::Reduce || self.comm.rank() == self.terms.root
    }

    /// What can be wrong on one rank alone.
    pub(crate) fn check(
        &self,
        kind: Kind,
        rows: &[T],
        result_length: Option<usize>,
    ) -> Result<(), RunError> {
        let rank = self.comm.rank();
        let given = rows.len() as u64;
        if kind != Kind::Broadcast && given != self.local_length {
            return Err(RunError::WrongLength {
                rank,
                planned: self.local_length,
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

    pub(crate) fn compiled(&self, kind: Kind) -> Result<&Rc<Run<T, O>>, RunError> {
        // Both kinds of scan need the same messages.
        let kind = if kind == Kind::Exscan {
            Kind::Scan
        } else {
            kind
        };
        let cell = &self.compiled[kind as usize];
        if let Some(run) = cell.get() {
            return Ok(run);
        }
        let run = self.compile(kind)?;
        self.comm.reserve(run.messages());
        Ok(cell.get_or_init(|| Rc::new(run)))
    }

    fn compile(&self, kind: Kind) -> Result<Run<T, O>, RunError> {
        let (terms, rank) = (&self.terms, self.comm.rank());
        let Engine::Schedule(algorithm) = terms.choice.algorithm.engine() else {
            return Err(RunError::NotOffered {
                rank,
                algorithm: terms.choice.algorithm,
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
            .and_then(|schedule| schedule.with(terms.choice.parameters))
            .expect(
                "the communicator has ranks, the root is one of them, the parameters were checked",
            );
        let is_reduced = matches!(kind, Kind::Reduce | Kind::Allreduce);
        let has_items = ownership.items() > 0;
        let strips = match kind {
            // Where a send never waits, a rank that needs no answer would be strips ahead of its receivers, and need memory for all.
            Kind::Reduce if self.comm.delivers_alone() => 1,
            Kind::Reduce | Kind::Allreduce if has_items => terms.choice.strips,
            _ => 1,
        };
        let can_be_lent = has_items && (is_reduced || kind == Kind::ReduceScatter);
        let is_long = terms.width / strips * size_of::<T>() >= LENT_BYTES;
        let source = |width: usize| Source {
            schedule: &schedule,
            ownership,
            width,
            message_limit: terms.message_limit,
            eager_limit: (self.comm.eager_bytes() / size_of::<T>()).max(1),
            memory: match (is_long, can_be_lent) {
                (true, true) => Placing::Lent,
                (true, false) => Placing::Kept,
                // Strips are of rows elsewhere.
                (false, _) if strips > 1 => Placing::Lent,
                (false, _) => Placing::Copied,
            },
            wanted: if is_scan {
                Wanted::Prefixes
            } else {
                Wanted::Reduction
            },
        };
        // The strips' widths: the first may have a column more than the others.
        let widths = [terms.width.div_ceil(strips), terms.width / strips];
        let differ = usize::from(widths[0] != widths[1]);
        let programs = widths[..=differ].iter();
        let programs = programs.map(|&width| source(width).compile(rank)).collect();
        let operator = Rc::clone(&self.operator);
        Ok(Run::new(programs, strips, terms.width, operator, self.tag))
    }

    /// What is to be said of the schedule of an allreduce beyond its name.
    pub(crate) fn remark(&self) -> Option<String> {
        let Engine::Schedule(algorithm) = self.terms.choice.algorithm.engine() else {
            return None;
        };
        let schedule = Schedule::new(algorithm, Collective::Allreduce, self.comm.size());
        schedule
            .and_then(|schedule| schedule.with(self.terms.choice.parameters))
            .ok()?
            .remark()
    }

    /// Goes on with a run until it is over or patience is; looks after whatever else is in flight.
    pub(crate) fn drive(
        &self,
        run: &Run<T, O>,
        patience: Patience,
        lent: &mut Lent<'_, T>,
    ) -> Result<bool, RunError> {
        let in_flight = self.comm.in_flight();
        if in_flight.is_only(std::ptr::from_ref(run).cast()) {
            return run.advance(self.comm, patience, lent);
        }
        let mut awaited = self.awaited.borrow_mut();
        loop {
            in_flight.progress(self.comm);
            if run.advance(self.comm, Patience::None, lent)? {
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

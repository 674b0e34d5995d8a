//! A reduction under way. The program can do other work until the reduction is over (paper 4's split phase).

use std::any::Any;
use std::fmt;
use std::ops::Deref;
use std::rc::Rc;
use std::time::Duration;

use bytemuck::Pod;

use super::engine_run::EngineRun;
use super::form::EncodedEnding;
use super::operands::{check_result, not_taken};
use super::stages::{Outcome, Stages, UnderWay};
use crate::engines::values::Memory;
use crate::error::RunError;
use crate::world::patience::Patience;
use crate::world::{Listed, World};

/// A run of a plan between its start and its end, with a result of type `R`; made by
/// [`Plan::start_allreduce`](crate::Plan::start_allreduce) and the other `start_` methods.
///
/// A `Pending` owns what it needs, so it may be stored anywhere, and may outlive its plan. Runs of several plans may be under way at once, and
/// waiting for one run drives all of them. Dropping a `Pending` abandons the run and spends the plan. A drop does not communicate; this rank's
/// next call on the world notifies the other ranks.
#[must_use = "a run that is dropped is abandoned"]
pub struct Pending<R> {
    run: AnyPending,
    /// Waits for the run, and returns its result.
    read: Box<dyn FnOnce(AnyPending) -> Result<R, RunError>>,
    /// Whether the result is the engine's, which [`map`](Self::map) has not changed.
    is_own: bool,
}

/// A [`Pending`] with any type of result; `Pending` dereferences to this type. [`wait_all`](crate::wait_all) waits for several runs.
#[must_use = "a run that is dropped is abandoned"]
pub struct AnyPending {
    course: Course,
    listed: Listed,
}

enum Course {
    /// One run of an engine.
    Run(EngineRun, Option<Box<EncodedEnding>>),
    /// Several runs.
    Stages(Rc<Stages>, UnderWay),
}

impl fmt::Debug for AnyPending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("world", self.world())
            .field("awaited", &self.awaited_ranks())
            .finish_non_exhaustive()
    }
}

impl<R> fmt::Debug for Pending<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.run.fmt(f)
    }
}

impl<R> Deref for Pending<R> {
    type Target = AnyPending;

    fn deref(&self) -> &AnyPending {
        &self.run
    }
}

impl AnyPending {
    /// Makes the handle of an engine's run. From now on, waits for other runs drive this run, too.
    pub(super) fn of_engine_run(run: EngineRun, ending: Option<Box<EncodedEnding>>) -> Self {
        let listed = Listed::new(&run.world, Rc::clone(&run.flight) as _);
        let course = Course::Run(run, ending);
        Self { course, listed }
    }

    /// Like [`of_engine_run`](Self::of_engine_run), for a run in stages.
    pub(super) fn of_stages(world: &World, stages: Stages, under_way: UnderWay) -> Self {
        let stages = Rc::new(stages);
        let listed = Listed::new(world, Rc::clone(&stages) as _);
        let course = Course::Stages(stages, under_way);
        Self { course, listed }
    }

    fn world(&self) -> &World {
        self.listed.world()
    }

    fn awaited_ranks(&self) -> Vec<usize> {
        match &self.course {
            Course::Run(run, _) => run.awaited_ranks(),
            Course::Stages(stages, _) => stages.awaited_ranks(),
        }
    }

    /// Makes progress without blocking. Returns true if `wait` would return at once.
    ///
    /// # Errors
    /// The transport failed; or, for sums by key, the run failed. Under MPI, the [silence limit](crate::World::set_silence_limit) bounds a
    /// loop of tests as it bounds a wait: the time between two tests counts as at most one second.
    pub fn test(&self) -> Result<bool, RunError> {
        self.drive(Patience::None)
    }

    fn drive(&self, patience: Patience) -> Result<bool, RunError> {
        let _busy = self.world().enter()?;
        match &self.course {
            Course::Run(run, _) => run.drive(patience),
            Course::Stages(stages, _) => {
                let is_over = stages.drive(patience);
                stages.error().map_or(Ok(is_over), Err)
            }
        }
    }

    /// Waits until the run is over, for at most `timeout`.
    ///
    /// # Errors
    /// [`RunError::TimedOut`], which names the ranks that the run waits for. The run continues, and a later call can wait for it. Other errors
    /// are those of [`test`](AnyPending::test).
    pub fn wait_timeout(&self, timeout: Duration) -> Result<(), RunError> {
        if self.drive(Patience::of(timeout))? {
            return Ok(());
        }
        Err(RunError::TimedOut {
            rank: self.world().rank(),
            awaited: self.awaited_ranks(),
            after: timeout,
        })
    }

    /// Waits until the run is over; returns an error if it failed. The result is kept for [`wait`](Self::wait).
    #[doc(hidden)]
    pub fn wait_until_over(&self) -> Result<(), RunError> {
        let run = match &self.course {
            Course::Run(run, _) => run,
            Course::Stages(..) => return self.drive(Patience::Unlimited).map(drop),
        };
        let _busy = self.world().enter()?;
        let waited = run.flight.wait_without_result();
        match &run.failure {
            // The run is over on this rank, which has notified the others.
            Some(failure) => Err((**failure).clone()),
            None => waited.map_err(|error| run.explain(error)),
        }
    }

    /// Waits for the run, and leaves its result in `result`. Returns whether this rank gets a result.
    ///
    /// If the slice has another length, no result is written, but the run completes and the plan can be run again.
    #[doc(hidden)]
    pub fn wait(self, result: &mut [u8]) -> Result<bool, RunError> {
        let Self { course, listed } = self;
        let _busy = listed.world().enter()?;
        match course {
            Course::Run(run, None) => run.deliver(result),
            Course::Run(run, Some(ending)) => {
                let mut values = Memory::zeroed(run.result_length * run.item_bytes);
                let is_mine = run.deliver(values.bytes_mut())?;
                if is_mine {
                    let (rank, values) = (listed.world().rank(), values.bytes());
                    let items = ending.items.bytes();
                    let encoding = &*ending.encoding;
                    encoding.decode(rank, ending.operation, items, values, result)?;
                }
                Ok(is_mine)
            }
            Course::Stages(stages, _) => match stages.wait()? {
                Some(total) => stages.form().write_values(total, result).map(|()| true),
                None => Ok(false),
            },
        }
    }

    /// Whether `state` has the type of the states that the run reduces.
    #[doc(hidden)]
    pub fn takes_state(&self, state: &dyn Any) -> bool {
        matches!(&self.course, Course::Stages(stages, _) if stages.form().takes(state))
    }

    /// Waits for a run of states, such as sums by key, and replaces `state` by its result. Returns whether this rank gets a result.
    #[doc(hidden)]
    pub fn wait_state(self, state: &mut dyn Any) -> Result<bool, RunError> {
        let (total, stages) = self.wait_for_stages()?;
        match total {
            Some(total) => stages.form().replace(state, total).map(|()| true),
            None => Ok(false),
        }
    }

    /// Waits for a run of states, and returns its result.
    pub(crate) fn wait_for_state(self) -> Result<Outcome, RunError> {
        let (total, stages) = self.wait_for_stages()?;
        total.map(|total| stages.form().state(total)).transpose()
    }

    fn wait_for_stages(self) -> Result<(Outcome, Rc<Stages>), RunError> {
        let Self { course, listed } = self;
        let _busy = listed.world().enter()?;
        match course {
            Course::Stages(stages, under_way) => {
                let outcome = stages.wait();
                drop(under_way);
                Ok((outcome?, stages))
            }
            Course::Run(..) => Err(not_taken(listed.world().rank())),
        }
    }

    /// Waits for the engine's values, and returns them with this rank's number; `None` on a rank that gets no values.
    pub(crate) fn wait_for_values<T: Pod>(self) -> Result<Option<(usize, Vec<T>)>, RunError> {
        let rank = self.world().rank();
        let length = match &self.course {
            Course::Run(run, _) => run.result_length,
            Course::Stages(..) => return Err(not_taken(rank)),
        };
        let mut values = vec![T::zeroed(); length];
        let is_mine = self.wait(bytemuck::cast_slice_mut(&mut values))?;
        Ok(is_mine.then_some((rank, values)))
    }
}

impl<R> Pending<R> {
    pub(crate) fn new(
        run: AnyPending,
        read: impl FnOnce(AnyPending) -> Result<R, RunError> + 'static,
    ) -> Self {
        // A box of a function that captures nothing allocates no memory.
        Self {
            run,
            read: Box::new(read),
            is_own: true,
        }
    }

    /// The same run, with a result that `change` converts.
    ///
    /// ```
    /// use reduce::{Plan, threads};
    ///
    /// let means = threads::run(2, |world| {
    ///     let plan = Plan::builder(world).local_items(2).build::<f64>().unwrap();
    ///     let mean = plan.start_allreduce(&[0.5, 1.0]).unwrap().map(|sum| sum / 4.0);
    ///     mean.wait().unwrap()
    /// })?;
    /// assert_eq!(means, [0.75; 2]);
    /// # Ok::<(), threads::RunError>(())
    /// ```
    pub fn map<S>(self, change: impl FnOnce(R) -> S + 'static) -> Pending<S>
    where
        R: 'static,
    {
        let read = self.read;
        Pending {
            run: self.run,
            read: Box::new(|run| read(run).map(change)),
            is_own: false,
        }
    }

    /// Abandons the run. The plan is then spent; build another plan.
    pub fn cancel(self) {
        drop(self);
    }

    /// Waits for the run and returns its result, or `None` on a rank that gets no result.
    ///
    /// # Errors
    /// Those of the blocking call.
    pub fn wait(self) -> Result<R, RunError> {
        (self.read)(self.run)
    }
}

impl<T: Pod> Pending<Vec<T>> {
    /// Waits for the run and leaves its result in `result`: a row, columns or prefixes.
    ///
    /// # Errors
    /// Those of the blocking call. If `result` has another length, the run still completes, and the plan can be run again.
    pub fn wait_into(self, result: &mut [T]) -> Result<(), RunError> {
        if self.is_own {
            return self.run.wait(bytemuck::cast_slice_mut(result)).map(drop);
        }
        self.map(Some).wait_into(result).map(drop)
    }
}

impl<T: Pod> Pending<Option<Vec<T>>> {
    /// Waits for the run and, on the root, leaves the row in `result`. Returns whether this rank is the root.
    ///
    /// # Errors
    /// Those of the blocking call. If `result` has another length, the run still completes, and the plan can be run again.
    pub fn wait_into(self, result: &mut [T]) -> Result<bool, RunError> {
        if self.is_own {
            return self.run.wait(bytemuck::cast_slice_mut(result));
        }
        let rank = self.run.world().rank();
        let Some(changed) = self.wait()? else {
            return Ok(false);
        };
        check_result(rank, changed.len(), result.len())?;
        result.copy_from_slice(&changed);
        Ok(true)
    }
}

/// Waits for a result of one item that every rank gets.
pub(super) fn item<T: Pod>(run: AnyPending) -> Result<T, RunError> {
    let mut result = [T::zeroed()];
    run.wait(bytemuck::cast_slice_mut(&mut result))?;
    Ok(result[0])
}

/// Waits for a result of one item that only the root gets.
pub(super) fn item_of_root<T: Pod>(run: AnyPending) -> Result<Option<T>, RunError> {
    let mut result = [T::zeroed()];
    let is_mine = run.wait(bytemuck::cast_slice_mut(&mut result))?;
    Ok(is_mine.then_some(result[0]))
}

/// Waits for a result of several items; `None` on a rank that gets no result.
pub(super) fn items_of_root<T: Pod>(run: AnyPending) -> Result<Option<Vec<T>>, RunError> {
    Ok(run.wait_for_values()?.map(|(_, values)| values))
}

/// Waits for a result of several items that every rank gets.
pub(super) fn items<T: Pod>(run: AnyPending) -> Result<Vec<T>, RunError> {
    items_of_root(run).map(Option::unwrap_or_default)
}

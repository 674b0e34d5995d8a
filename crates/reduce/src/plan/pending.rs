//! A reduction under way: other work can be done until it is over (paper 4's split phase).

use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::time::Duration;

use bytemuck::Pod;

use super::call;
use super::part::Part;
use super::wait_all::AnyPending;
use crate::error::RunError;
use crate::world::Listed;
use crate::world::patience::Patience;

/// A run of a plan between its start and its end; made by [`Plan::start_allreduce`](crate::Plan::start_allreduce) and its like, `C` being the
/// [`call`].
///
/// It owns what it needs: it may be stored anywhere, and outlive its plan. Several plans may be under way at once, and waiting for
/// one drives all. Dropping it abandons the run: the plan is spent then. The other ranks hear of it in this rank's next call on the
/// world, because a drop does not communicate.
#[must_use = "a run that is dropped is abandoned"]
pub struct Pending<C, T: Pod> {
    run: AnyRun,
    call: PhantomData<(C, T)>,
}

/// A [`Pending`] whatever its call and its type.
#[doc(hidden)]
#[must_use = "a run that is dropped is abandoned"]
pub struct AnyRun {
    part: Part,
    listed: Listed,
}

impl AnyRun {
    /// From now on, waits for other plans drive this run, too.
    pub(super) fn new(part: Part) -> Self {
        let listed = Listed::new(&part.world, Rc::clone(&part.flight) as _);
        Self { part, listed }
    }

    /// [`Pending::test`].
    pub fn test(&self) -> Result<bool, RunError> {
        self.drive(Patience::None)
    }

    fn drive(&self, patience: Patience) -> Result<bool, RunError> {
        let _busy = self.part.world.enter()?;
        self.part.drive(patience)
    }

    /// [`Pending::wait_timeout`].
    pub fn wait_timeout(&self, timeout: Duration) -> Result<(), RunError> {
        if self.drive(Patience::of(timeout))? {
            return Ok(());
        }
        Err(RunError::TimedOut {
            rank: self.part.world.rank(),
            awaited: self.part.awaited_ranks(),
            after: timeout,
        })
    }

    /// Waits for the run, and leaves its result in a slice of so many elements. Says whether this rank gets one.
    pub fn wait(self, given: usize, result: &mut [u8]) -> Result<bool, RunError> {
        let Self { part, listed } = self;
        let _busy = listed.world().enter()?;
        part.deliver(given, result)
    }

    fn wait_until_over(&self) -> Result<(), RunError> {
        let _busy = self.part.world.enter()?;
        let waited = self.part.flight.wait_without_result();
        match &self.part.failure {
            // The run is over on this rank, which has told the others.
            Some(failure) => Err(failure.clone()),
            None => waited.map_err(|error| self.part.explain(error)),
        }
    }
}

impl fmt::Debug for AnyRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("world", &self.part.world)
            .field("awaited", &self.part.awaited_ranks())
            .finish_non_exhaustive()
    }
}

impl<C, T: Pod> fmt::Debug for Pending<C, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.run.fmt(f)
    }
}

impl<C, T: Pod> Pending<C, T> {
    pub(crate) fn rank(&self) -> usize {
        self.run.part.world.rank()
    }

    pub(super) fn new(run: AnyRun) -> Self {
        Self {
            run,
            call: PhantomData,
        }
    }

    /// Makes progress without blocking; true if `wait` would return at once.
    ///
    /// # Errors
    /// The transport failed. Under MPI, a loop of tests meets the [silence limit](crate::World::set_silence_limit) as a wait does: the time between
    /// two tests counts as a second at most.
    pub fn test(&self) -> Result<bool, RunError> {
        self.run.test()
    }

    /// Waits until the run is over, at most `timeout`.
    ///
    /// # Errors
    /// [`RunError::TimedOut`] says which ranks are awaited: the run continues, and may be waited for again. Or the transport failed.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<(), RunError> {
        self.run.wait_timeout(timeout)
    }

    /// Abandons the run. The plan is spent then: build another.
    pub fn cancel(self) {
        drop(self);
    }

    fn wait_and_deliver(self, result: &mut [T]) -> Result<bool, RunError> {
        let given = result.len();
        self.run.wait(given, bytemuck::cast_slice_mut(result))
    }

    /// A result of the planned length.
    fn zeros(&self) -> Vec<T> {
        vec![T::zeroed(); self.run.part.result_length]
    }
}

impl<C, T: Pod> super::wait_all::Sealed for Pending<C, T> {
    fn wait_until_over(&self) -> Result<(), RunError> {
        self.run.wait_until_over()
    }
}

impl<C, T: Pod> AnyPending for Pending<C, T> {
    fn test(&self) -> Result<bool, RunError> {
        self.test()
    }
}

impl<T: Pod> Pending<call::Allreduce, T> {
    /// Waits for the run and returns its result.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<T, RunError> {
        let mut result = [T::zeroed()];
        self.wait_and_deliver(&mut result)?;
        Ok(result[0])
    }
}

impl<T: Pod> Pending<call::Reduce, T> {
    /// Waits for the run and returns its result on the root, `None` on the others.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<Option<T>, RunError> {
        let mut result = [T::zeroed()];
        let is_mine = self.wait_and_deliver(&mut result)?;
        Ok(is_mine.then_some(result[0]))
    }
}

impl<T: Pod> Pending<call::AllreduceRow, T> {
    /// Waits for the run and returns the row.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<Vec<T>, RunError> {
        let mut row = self.zeros();
        self.wait_into(&mut row).map(|()| row)
    }

    /// Waits for the run and leaves the row in `result`.
    ///
    /// # Errors
    /// As the blocking call. If `result` has another length, the run ends well, and the plan can be run again.
    pub fn wait_into(self, result: &mut [T]) -> Result<(), RunError> {
        self.wait_and_deliver(result).map(drop)
    }
}

impl<T: Pod> Pending<call::ReduceRow, T> {
    /// Waits for the run and returns the row on the root, `None` on the others.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<Option<Vec<T>>, RunError> {
        let mut row = self.zeros();
        let is_mine = self.wait_into(&mut row)?;
        Ok(is_mine.then_some(row))
    }

    /// Waits for the run and leaves the row in `result` on the root, on which it returns true.
    ///
    /// # Errors
    /// As the blocking call. If `result` has another length, the run ends well, and the plan can be run again.
    pub fn wait_into(self, result: &mut [T]) -> Result<bool, RunError> {
        self.wait_and_deliver(result)
    }
}

impl<T: Pod> Pending<call::ReduceScatter, T> {
    /// Waits for the run and returns this rank's columns of the row.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<Vec<T>, RunError> {
        let mut columns = self.zeros();
        self.wait_into(&mut columns).map(|()| columns)
    }

    /// Waits for the run and leaves this rank's columns of the row in `result`.
    ///
    /// # Errors
    /// As the blocking call. If `result` has another length, the run ends well, and the plan can be run again.
    pub fn wait_into(self, result: &mut [T]) -> Result<(), RunError> {
        self.wait_and_deliver(result).map(drop)
    }
}

impl<T: Pod> Pending<call::Scan, T> {
    /// Waits for the run and returns a prefix for each of this rank's items.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<Vec<T>, RunError> {
        let mut prefixes = self.zeros();
        self.wait_into(&mut prefixes).map(|()| prefixes)
    }

    /// Waits for the run and leaves a prefix for each of this rank's items in `result`. The items are those that the run was started with.
    ///
    /// # Errors
    /// As the blocking call. If `result` has another length, the run ends well, and the plan can be run again.
    pub fn wait_into(self, result: &mut [T]) -> Result<(), RunError> {
        self.wait_and_deliver(result).map(drop)
    }
}

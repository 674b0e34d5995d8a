//! A run of a keyed plan under way.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;
use std::time::Duration;

use exact_sum::KeyedAccumulator;

use super::shared::Shared;
use super::steps::Steps;
use crate::error::RunError;
use crate::plan::call;
use crate::plan::wait_all::{AnyPending, Sealed};
use crate::world::Listed;
use crate::world::patience::Patience;

/// A run of a [`KeyedPlan`](super::KeyedPlan) between its start and its end, as [`Pending`](crate::Pending) is of a plan.
#[must_use = "a run that is dropped is abandoned"]
pub struct KeyedPending<C, A: KeyedAccumulator> {
    steps: Rc<Steps<A>>,
    shared: Rc<Shared<A>>,
    /// The keys that this rank gets.
    keys: Range<usize>,
    listed: Listed,
    call: PhantomData<C>,
}

impl<C, A: KeyedAccumulator> fmt::Debug for KeyedPending<C, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyedPending")
            .field("world", self.listed.world())
            .field("awaited", &self.steps.awaited_ranks())
            .finish_non_exhaustive()
    }
}

impl<C, A: KeyedAccumulator> KeyedPending<C, A> {
    pub(super) fn new(steps: Steps<A>, shared: &Rc<Shared<A>>, keys: Range<usize>) -> Self {
        shared.is_under_way.set(true);
        let steps = Rc::new(steps);
        Self {
            listed: Listed::new(shared.world(), Rc::clone(&steps) as _),
            steps,
            shared: Rc::clone(shared),
            keys,
            call: PhantomData,
        }
    }

    /// Makes progress without blocking; true if `wait` would return at once.
    ///
    /// # Errors
    /// The run has failed.
    pub fn test(&self) -> Result<bool, RunError> {
        self.drive(Patience::None)
    }

    fn drive(&self, patience: Patience) -> Result<bool, RunError> {
        let _busy = self.listed.world().enter()?;
        let is_over = self.steps.drive(patience);
        self.steps.error().map_or(Ok(is_over), Err)
    }

    /// Waits until the run is over, at most `timeout`.
    ///
    /// # Errors
    /// [`RunError::TimedOut`] says which ranks are awaited: the run continues, and may be waited for again. Or the run has failed.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<(), RunError> {
        if self.drive(Patience::of(timeout))? {
            return Ok(());
        }
        Err(RunError::TimedOut {
            rank: self.listed.world().rank(),
            awaited: self.steps.awaited_ranks(),
            after: timeout,
        })
    }

    /// Abandons the run. The plan is spent then: build another.
    pub fn cancel(self) {
        drop(self);
    }

    /// The sums that this rank gets, if it gets any.
    fn wait_for_sums(&self) -> Result<Option<A>, RunError> {
        self.drive(Patience::Unlimited)?;
        let total = self.steps.outcome()?;
        total
            .map(|total| self.shared.sums(total, self.keys.start))
            .transpose()
    }
}

impl<C, A: KeyedAccumulator> Drop for KeyedPending<C, A> {
    fn drop(&mut self) {
        self.shared.is_under_way.set(false);
    }
}

impl<C, A: KeyedAccumulator> Sealed for KeyedPending<C, A> {
    fn wait_until_over(&self) -> Result<(), RunError> {
        self.drive(Patience::Unlimited).map(drop)
    }
}

impl<C, A: KeyedAccumulator> AnyPending for KeyedPending<C, A> {
    fn test(&self) -> Result<bool, RunError> {
        self.test()
    }
}

impl<A: KeyedAccumulator> KeyedPending<call::Allreduce, A> {
    /// Waits for the run and returns the sums of all keys.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<A, RunError> {
        self.wait_for_sums()
            .map(|sums| sums.expect("every rank gets the sums"))
    }
}

impl<A: KeyedAccumulator> KeyedPending<call::Reduce, A> {
    /// Waits for the run and returns the sums of all keys on the root, `None` on the others.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<Option<A>, RunError> {
        self.wait_for_sums()
    }
}

impl<A: KeyedAccumulator> KeyedPending<call::ReduceScatter, A> {
    /// Waits for the run and returns the sums of this rank's keys.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<A, RunError> {
        self.wait_for_sums()
            .map(|sums| sums.expect("every rank gets some sums"))
    }
}

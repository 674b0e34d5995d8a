//! A reduction under way: other work can be done until it is over (paper 4's split phase).

use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use bytemuck::Pod;

use crate::buffer::Patience;
use crate::error::RunError;
use crate::operator::Operator;
use crate::plan::{Kind, Plan};
use crate::run::{Lent, Run};

/// A run of a plan between its start and its end; made by [`Plan::start_allreduce`] and its like.
///
/// Several plans may be under way at once, and waiting for one goes on with all. Dropping it gives the run up:
/// the plan is spent then, here and soon on the other ranks, which miss this one's messages.
#[must_use = "a run that is dropped is given up"]
pub struct Pending<'a, 'c, T: Pod, O: Operator<T> + 'static> {
    plan: &'a Plan<'c, T, O>,
    kind: Kind,
    run: Rc<Run<T, O>>,
    /// This rank's own failure, which the others have been told of.
    failure: Option<RunError>,
    /// What a scan needs again.
    local: &'a [T],
    is_over: bool,
}

impl<T: Pod, O: Operator<T> + 'static> fmt::Debug for Pending<'_, '_, T, O> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pending")
            .field("plan", self.plan)
            .field("kind", &self.kind)
            .finish_non_exhaustive()
    }
}

impl<'a, 'c, T: Pod, O: Operator<T> + 'static> Pending<'a, 'c, T, O> {
    /// From now on waits for other plans look after this run, too.
    pub(crate) fn new(
        plan: &'a Plan<'c, T, O>,
        kind: Kind,
        run: Rc<Run<T, O>>,
        failure: Option<RunError>,
    ) -> Self {
        let in_flight: Rc<Run<T, O>> = Rc::clone(&run);
        plan.comm.in_flight().enter(in_flight);
        Self {
            plan,
            kind,
            run,
            failure,
            local: &[],
            is_over: false,
        }
    }

    pub(crate) fn with_local(mut self, local: &'a [T]) -> Self {
        self.local = local;
        self
    }

    /// Whether the run is over, so that [`wait`](Pending::wait) would not wait. Goes on with it as far as that is possible.
    ///
    /// # Errors
    /// The transport failed.
    pub fn test(&self) -> Result<bool, RunError> {
        self.plan
            .drive(&self.run, Patience::None, &mut Lent::default())
    }

    /// Waits until the run is over, at most `timeout`.
    ///
    /// # Errors
    /// [`RunError::TimedOut`] says which ranks are awaited: the run goes on, and may be waited for again. Or the transport failed.
    pub fn wait_timeout(&self, timeout: Duration) -> Result<(), RunError> {
        let (plan, patience) = (self.plan, Patience::of(timeout));
        if plan.drive(&self.run, patience, &mut Lent::default())? {
            return Ok(());
        }
        Err(RunError::TimedOut {
            rank: plan.comm.rank(),
            awaited: self.run.awaited_ranks(),
            after: timeout,
        })
    }

    /// Waits for the run and returns its result, of items of one element: `None` on a rank that gets none.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait(self) -> Result<Option<T>, RunError> {
        let mut result = [T::zeroed()];
        let is_mine = self.wait_into(&mut result)?;
        Ok(is_mine.then_some(result[0]))
    }

    /// Waits for the run and leaves its result in `result`, as long as the blocking call's. Says whether this rank
    /// gets one.
    ///
    /// # Errors
    /// As the blocking call.
    pub fn wait_into(mut self, result: &mut [T]) -> Result<bool, RunError> {
        let (plan, failure) = (self.plan, self.failure.take());
        let outcome = plan.finish(&self.run, self.kind, failure, self.local, result);
        self.is_over = true;
        plan.settle(outcome)
    }

    /// Gives the run up. The plan is spent then: build another.
    pub fn cancel(self) {
        drop(self);
    }
}

impl<T: Pod, O: Operator<T> + 'static> Drop for Pending<'_, '_, T, O> {
    fn drop(&mut self) {
        let address = Rc::as_ptr(&self.run).cast();
        self.plan.comm.in_flight().leave(address);
        if !self.is_over {
            // The plan, which is not run any more, takes back what is posted when it ends.
            let rank = self.plan.comm.rank();
            let _ = self.plan.settle(Err::<(), _>(RunError::Spent { rank }));
        }
    }
}

//! Runs that have been started and have not ended.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use treefold::{Algorithm, AnyPending, RunError, World};
use treefold_c::boundary::treefold_keyed;
use treefold_c::failure::{Code, Failure};
use treefold_c::states;

use crate::failure::of_run;
use crate::handle::handle;
use crate::items::Items;
use crate::operands::{NOT_BY_KEY, Takes};

handle!(
    /// `treefold_run`: a run under way.
    pub treefold_run, Run, 4, "run"
);

/// An output array: its address and length.
pub(crate) type Output = (*mut c_void, usize);

/// The plan and algorithm of a run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The handle of the run's plan, which may have been destroyed.
    pub(crate) plan: *const c_void,
    /// The algorithm that runs.
    pub(crate) algorithm: Option<Algorithm>,
}

/// A run of a plan.
pub(crate) struct Run {
    pub(crate) world: World,
    pub(crate) items: Items,
    /// `None` after a wait.
    pub(crate) started: RefCell<Option<AnyPending>>,
    /// The kind of input that the run's plan accepts.
    pub(crate) takes: Takes,
    /// The length of a result, if this rank gets no result and may omit the buffer; otherwise `None`.
    pub(crate) unused_result: Option<usize>,
    /// The result buffer that was passed to the start.
    pub(crate) place: Option<Output>,
    pub(crate) origin: Origin,
    /// Whether the plan has a pending run; shared with the plan. Until this run ends, the pending run is this one.
    pub(crate) is_pending: Rc<Cell<bool>>,
}

impl Drop for Run {
    fn drop(&mut self) {
        self.end();
    }
}

impl Run {
    /// Takes the pending run, and marks the plan as free. If the run has already ended, does neither and returns `None`.
    fn end(&self) -> Option<AnyPending> {
        let started = self.started.try_borrow_mut().ok();
        let started = started.and_then(|mut started| started.take())?;
        self.is_pending.set(false);
        Some(started)
    }

    fn under_way<R>(
        &self,
        body: impl FnOnce(&AnyPending) -> Result<R, RunError>,
    ) -> Result<R, Failure> {
        let started = self.started.try_borrow().ok();
        let started = started.as_ref().and_then(|started| started.as_ref());
        let started = started.ok_or_else(is_waited_for)?;
        body(started).map_err(|error| of_run(&error))
    }

    fn take(&self) -> Result<AnyPending, Failure> {
        self.end().ok_or_else(is_waited_for)
    }

    /// Makes progress. Returns true if a wait would return at once.
    pub(crate) fn test(&self) -> Result<bool, Failure> {
        self.under_way(|started| started.test())
    }

    /// Waits for at most `timeout`.
    pub(crate) fn wait_timeout(&self, timeout: Duration) -> Result<(), Failure> {
        self.under_way(|started| started.wait_timeout(timeout))
    }

    /// Whether this rank gets no result and needs no buffer.
    pub(crate) fn may_lack_result(&self) -> bool {
        self.unused_result.is_some()
    }

    /// The result buffer that was passed to the wait, or else to the start.
    ///
    /// # Errors
    /// A buffer was passed to both the start and the wait.
    pub(crate) fn place(&self, result: Output) -> Result<Output, Failure> {
        match self.place {
            Some(_) if is_place(result) => Err(is_given("result")),
            Some(place) => Ok(place),
            None => Ok(result),
        }
    }

    /// Returns `result`. If `result` is an error, first completes the run, and returns the run's own error if there is one.
    pub(crate) fn or_end<R>(&self, result: Result<R, Failure>) -> Result<R, Failure> {
        if result.is_err() {
            self.wait_without_arrays()?;
        }
        result
    }

    /// Waits. Returns whether this rank gets the result.
    pub(crate) fn wait(&self, result: &mut [u8]) -> Result<bool, Failure> {
        let _notify = NotifyOnPanic(&self.world);
        let started = self.take()?;
        if let Err(failure) = self.takes.check_values()
            && !(self.may_lack_result() && result.is_empty())
        {
            end(started);
            return Err(failure);
        }
        let wait = |started: AnyPending, result: &mut [u8]| {
            let outcome = started.wait(result);
            outcome.map_err(|error| of_run(&error))
        };
        if let (Some(length), true) = (self.unused_result, result.is_empty()) {
            return wait(started, self.items.room(length, &mut Vec::new()));
        }
        let mut started = Some(started);
        let outcome = self.items.into("result", result, |result| {
            wait(started.take().expect("it is run once"), result)
        });
        if let Some(started) = started {
            end(started);
        }
        outcome
    }

    /// Waits, and replaces a state by key with the result. Returns whether this rank gets a result.
    pub(crate) fn wait_keyed(&self, keyed: *const treefold_keyed) -> Result<bool, Failure> {
        let _notify = NotifyOnPanic(&self.world);
        let started = self.take()?;
        let refused = match self.place {
            Some(_) => Some(is_given("keyed")),
            None if matches!(self.takes, Takes::ByKey(..)) => None,
            None => Some(Failure::argument("run", NOT_BY_KEY)),
        };
        if let Some(failure) = refused {
            end(started);
            return Err(failure);
        }
        let ended = started.wait_until_over();
        ended.map_err(|error| of_run(&error))?;
        if self.may_lack_result() {
            return started.wait(&mut []).map_err(|error| of_run(&error));
        }
        // The state is locked only after the wait.
        states::change(keyed, |state| {
            if !started.takes_state(state) {
                return Err(states::of_another_type());
            }
            started.wait_state(state).map_err(|error| of_run(&error))
        })
    }

    /// Cancels the run and notifies the other ranks.
    pub(crate) fn cancel(&self) {
        // A run that is being waited for ends in the wait.
        drop(self.take());
        self.world.tell_abandoned();
    }

    /// Waits without a result buffer: the run completes, or fails with its own error.
    fn wait_without_arrays(&self) -> Result<(), Failure> {
        let outcome = self.take()?.wait(&mut []);
        match outcome.map_err(|error| of_run(&error)) {
            // There is no buffer, so an error about its length is expected.
            Err(failure) if failure.code == Code::Length => Ok(()),
            outcome => outcome.map(drop),
        }
    }
}

/// Completes a run whose result is not wanted.
fn end(started: AnyPending) {
    let _ = started.wait(&mut []);
}

/// Whether an output array was passed.
pub(crate) fn is_place((pointer, m): Output) -> bool {
    !pointer.is_null() || m != 0
}

#[cold]
fn is_given(name: &str) -> Failure {
    Failure::argument(
        name,
        "an array for the result was already passed to the start of this run",
    )
}

#[cold]
fn is_waited_for() -> Failure {
    Failure::argument("run", "another call is waiting for it")
}

/// Notifies the other ranks if a panic unwinds. Otherwise they might notice only at this rank's next call, which could be much later.
pub(crate) struct NotifyOnPanic<'w>(pub(crate) &'w World);

impl Drop for NotifyOnPanic<'_> {
    #[inline]
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.tell_abandoned();
        }
    }
}

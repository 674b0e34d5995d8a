//! Runs between start and end, without the type of their items.

use std::cell::{Cell, RefCell};
use std::ffi::c_void;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use bytemuck::Zeroable;
use treefold::{Algorithm, RunError, World};
use treefold_c::boundary::treefold_keyed;
use treefold_c::failure::{Code, Failure};

use crate::failure::of_run;
use crate::handle::handle;
use crate::items::{Layout, into};

handle!(
    /// `treefold_run`: a run under way.
    pub treefold_run, dyn AnyRun, 4, "run"
);

/// What a run is of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin {
    /// The handle of its plan, which may have been destroyed.
    pub(crate) plan: *const c_void,
    /// What runs.
    pub(crate) algorithm: Option<Algorithm>,
}

/// A run of a plan.
pub(crate) trait AnyRun {
    /// What it is of.
    fn origin(&self) -> Origin;

    /// The bytes of an item in an array.
    fn item_bytes(&self) -> usize;

    /// Makes progress; true if a wait would return at once.
    fn test(&self) -> Result<bool, Failure>;

    /// Waits for so long at most.
    fn wait_timeout(&self, timeout: Duration) -> Result<(), Failure>;

    /// Whether this rank gets no result, and need not have room for one.
    fn may_lack_result(&self) -> bool;

    /// Waits, and says whether this rank gets the result.
    fn wait(&self, result: &mut [u8]) -> Result<bool, Failure>;

    /// Waits, and makes a state by key the result: says whether this rank gets one.
    fn wait_keyed(&self, keyed: *const treefold_keyed) -> Result<bool, Failure>;

    /// Abandons the run, and tells the other ranks.
    fn cancel(&self);

    /// Waits without an array: the run ends well, or with its own failure.
    fn wait_without_arrays(&self) -> Result<(), Failure>;
}

/// A run between its start and its end, on items of a type.
pub(crate) trait UnderWay<T> {
    fn test(&self) -> Result<bool, RunError>;

    fn wait_timeout(&self, timeout: Duration) -> Result<(), RunError>;

    /// Waits, and says whether this rank gets the result.
    fn wait(self, result: &mut [T]) -> Result<bool, RunError>;

    /// The same where a state by key becomes the result, which runs by key alone have.
    fn wait_keyed(self, _: *const treefold_keyed) -> Result<bool, Failure>
    where
        Self: Sized,
    {
        let failure = Failure::argument("run", "it is not by key");
        Err(end(self, failure))
    }
}

impl<T: bytemuck::Pod> UnderWay<T> for treefold::AnyRun {
    fn test(&self) -> Result<bool, RunError> {
        self.test()
    }

    fn wait_timeout(&self, timeout: Duration) -> Result<(), RunError> {
        self.wait_timeout(timeout)
    }

    fn wait(self, result: &mut [T]) -> Result<bool, RunError> {
        let given = result.len();
        self.wait(given, bytemuck::cast_slice_mut(result))
    }
}

/// A run of a plan whose items lie as a layout says.
pub(crate) struct TypedRun<L, S> {
    pub(crate) world: World,
    pub(crate) layout: L,
    /// `None` once it was waited for.
    pub(crate) started: RefCell<Option<S>>,
    /// The length of the result on a rank that gets none, and may leave it out.
    pub(crate) unused_result: Option<usize>,
    pub(crate) origin: Origin,
    /// Whether the plan has a run that nobody has waited for: this one, until it ends.
    pub(crate) is_pending: Rc<Cell<bool>>,
}

impl<L, S> Drop for TypedRun<L, S> {
    fn drop(&mut self) {
        self.end();
    }
}

impl<L, S> TypedRun<L, S> {
    /// The plan has no run any more, unless this one ended before, and another is its run now.
    fn end(&self) -> Option<S> {
        let started = self.started.try_borrow_mut().ok();
        let started = started.and_then(|mut started| started.take())?;
        self.is_pending.set(false);
        Some(started)
    }
}

impl<L: Layout, S: UnderWay<L::Item>> TypedRun<L, S> {
    fn under_way<R>(&self, body: impl FnOnce(&S) -> Result<R, RunError>) -> Result<R, Failure> {
        let started = self.started.try_borrow().ok();
        let started = started.as_ref().and_then(|started| started.as_ref());
        let started = started.ok_or_else(|| Failure::argument("run", "it is being waited for"))?;
        body(started).map_err(|error| of_run(&error))
    }

    fn take(&self) -> Result<S, Failure> {
        let taken = self.end();
        taken.ok_or_else(|| Failure::argument("run", "it is being waited for"))
    }
}

impl<L: Layout, S: UnderWay<L::Item>> AnyRun for TypedRun<L, S> {
    fn origin(&self) -> Origin {
        self.origin
    }

    fn item_bytes(&self) -> usize {
        self.layout.bytes()
    }

    fn test(&self) -> Result<bool, Failure> {
        self.under_way(S::test)
    }

    fn wait_timeout(&self, timeout: Duration) -> Result<(), Failure> {
        self.under_way(|started| started.wait_timeout(timeout))
    }

    fn may_lack_result(&self) -> bool {
        self.unused_result.is_some()
    }

    fn wait(&self, result: &mut [u8]) -> Result<bool, Failure> {
        let _told = ToldOfPanics(&self.world);
        let started = self.take()?;
        if let (Some(length), true) = (self.unused_result, result.is_empty()) {
            let mut unused = vec![L::Item::zeroed(); length];
            let outcome = started.wait(&mut unused);
            return outcome.map_err(|error| of_run(&error));
        }
        let mut started = Some(started);
        let outcome = into(&self.layout, "result", result, |result| {
            let started = started.take().expect("it is run once");
            started.wait(result).map_err(|error| of_run(&error))
        });
        match (started, outcome) {
            (Some(started), Err(failure)) => Err(end(started, failure)),
            (_, outcome) => outcome,
        }
    }

    fn wait_keyed(&self, keyed: *const treefold_keyed) -> Result<bool, Failure> {
        let _told = ToldOfPanics(&self.world);
        self.take()?.wait_keyed(keyed)
    }

    fn cancel(&self) {
        // One that is being waited for ends there.
        drop(self.take());
        self.world.tell_abandoned();
    }

    fn wait_without_arrays(&self) -> Result<(), Failure> {
        match self.take()?.wait(&mut []).map_err(|error| of_run(&error)) {
            // There are none: that the result is too short is no news.
            Err(failure) if failure.code == Code::Length => Ok(()),
            outcome => outcome.map(drop),
        }
    }
}

/// Lets a run end well that cannot deliver its result here.
fn end<T>(started: impl UnderWay<T>, failure: Failure) -> Failure {
    let _ = started.wait(&mut []);
    failure
}

/// While an operator's failure unwinds, tells the other ranks of it: the program may make no other call for long.
pub(crate) struct ToldOfPanics<'w>(pub(crate) &'w World);

impl Drop for ToldOfPanics<'_> {
    #[inline]
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.tell_abandoned();
        }
    }
}

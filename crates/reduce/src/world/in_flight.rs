//! The runs under way on a world.
//!
//! A reduction in several rounds moves only while its rank works on it. A rank that waits for one of
//! several must drive all of them, or two ranks that wait in different orders wait for ever. So every run in flight is added
//! here, and a wait drives the whole list.

use std::cell::RefCell;
use std::fmt;
use std::mem;
use std::rc::Rc;
use std::time::Duration;

use comm::{Communicator, RequestId};

use super::World;

/// A run in flight, which makes progress when messages arrive.
pub(crate) trait Progress {
    /// Makes progress without blocking. The run keeps an error until its owner waits for it.
    fn progress(&self);

    /// Adds the requests that it waits for.
    fn awaited(&self, requests: &mut Vec<RequestId>);
}

/// The runs in flight on one rank.
#[derive(Default)]
pub(crate) struct InFlight {
    running: RefCell<Vec<Rc<dyn Progress>>>,
    /// Kept for its memory.
    awaited: RefCell<Vec<RequestId>>,
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "InFlight({})", self.running.borrow().len())
    }
}

/// A run's place in the list of its world.
pub(crate) struct Listed {
    world: World,
    run: *const (),
}

impl Listed {
    pub(crate) fn new(world: &World, run: Rc<dyn Progress>) -> Self {
        let listed = Self {
            world: world.clone(),
            run: Rc::as_ptr(&run).cast(),
        };
        world.in_flight().add(run);
        listed
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.world.in_flight().remove(self.run);
    }
}

/// Takes a run off the list whose operator panics: a wait for another run, which may follow, does not run into it again.
struct EndOnPanic<'f>(&'f InFlight, *const ());

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        self.0.remove(self.1);
    }
}

impl InFlight {
    /// Whether nothing is in flight but, perhaps, this run.
    #[inline]
    pub(crate) fn is_only(&self, one: *const ()) -> bool {
        let is_it = |running: &Rc<dyn Progress>| Rc::as_ptr(running).cast::<()>() == one;
        self.running.borrow().iter().all(is_it)
    }

    /// Adds a run.
    pub(crate) fn add(&self, running: Rc<dyn Progress>) {
        self.running.borrow_mut().push(running);
    }

    /// Removes a run; it need not be there.
    pub(crate) fn remove(&self, removed: *const ()) {
        let is_other = |running: &Rc<dyn Progress>| Rc::as_ptr(running).cast::<()>() != removed;
        self.running.borrow_mut().retain(is_other);
    }

    /// Makes progress on all runs without blocking. The list may change meanwhile: a run's operator may end another run.
    pub(crate) fn progress(&self) {
        let mut index = 0;
        loop {
            let running = self.running.borrow().get(index).cloned();
            let Some(running) = running else { return };
            let unwinding = EndOnPanic(self, Rc::as_ptr(&running).cast());
            running.progress();
            mem::forget(unwinding);
            index += 1;
        }
    }

    /// Waits until one of the requests is complete that `own` and the runs wait for; false if none is within the time. `own`'s comes
    /// first: if it cannot come, the wait fails, while another run that cannot go on is a matter of its own.
    pub(crate) fn wait_any(
        &self,
        own: &dyn Progress,
        transport: &dyn Communicator,
        timeout: Option<Duration>,
    ) -> Result<bool, comm::Error> {
        let mut awaited = self.awaited.take();
        awaited.clear();
        own.awaited(&mut awaited);
        for running in self.running.borrow().iter() {
            running.awaited(&mut awaited);
        }
        let waited = transport.wait_any(&awaited, timeout);
        self.awaited.replace(awaited);
        waited
    }
}

//! The runs under way on a world.
//!
//! A reduction in several rounds makes progress only while its rank works on it. A rank that waits for one of several runs must therefore
//! drive all of them; otherwise two ranks that wait in different orders would wait forever. Every run in flight is added to a list here,
//! and a wait drives the whole list, its own run first. No run is driven from within another run.
//!
//! Checking all runs for each message that arrives would take quadratic time. A wait for one of many runs therefore
//! first gathers messages, for as long as the last check took, and then checks all runs again.

use std::cell::RefCell;
use std::fmt;
use std::mem;
use std::rc::Rc;
use std::time::{Duration, Instant};

use comm::{Communicator, RequestId};

use super::World;
use super::patience::Patience;

/// A run in flight, which makes progress when messages arrive.
pub(crate) trait Progress {
    /// Makes progress without blocking. The run keeps an error until its owner waits for it.
    fn progress(&self);

    /// Adds the requests that the run waits for.
    fn awaited(&self, requests: &mut Vec<RequestId>);
}

/// If more than this number of runs are in flight, a wait gathers messages. Checking this number of runs takes a microsecond or two.
const FEW: usize = 16;

/// The runs in flight on one rank.
#[derive(Default)]
pub(crate) struct InFlight {
    /// The runs by index. Free entries hold `None`.
    running: RefCell<Vec<Option<Rc<dyn Progress>>>>,
    free: RefCell<Vec<usize>>,
    /// The requests of one wait. The list is kept so that the next wait reuses its memory.
    awaited: RefCell<Vec<RequestId>>,
}

impl fmt::Debug for InFlight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = self.running.borrow().len();
        write!(f, "InFlight({})", places - self.free.borrow().len())
    }
}

/// A run's entry in the list of its world. Dropping the entry removes the run.
pub(crate) struct Listed {
    world: World,
    place: usize,
    run: *const (),
}

impl Listed {
    pub(crate) fn new(world: &World, run: Rc<dyn Progress>) -> Self {
        let address = Rc::as_ptr(&run).cast();
        Self {
            world: world.clone(),
            place: world.in_flight().add(run),
            run: address,
        }
    }

    pub(crate) fn world(&self) -> &World {
        &self.world
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        self.world.in_flight().remove(self.place, self.run);
    }
}

/// Removes a run from the list if its operator panics, so that later waits for other runs do not drive it again.
struct EndOnPanic<'f>(&'f InFlight, usize, *const ());

impl Drop for EndOnPanic<'_> {
    fn drop(&mut self) {
        self.0.remove(self.1, self.2);
    }
}

impl InFlight {
    /// Whether no run other than `one` is in flight.
    #[inline]
    pub(crate) fn is_only(&self, one: *const ()) -> bool {
        let is_it = |running: &Rc<dyn Progress>| Rc::as_ptr(running).cast::<()>() == one;
        self.running.borrow().iter().flatten().all(is_it)
    }

    /// Adds a run, and returns its place.
    fn add(&self, running: Rc<dyn Progress>) -> usize {
        let all = &mut *self.running.borrow_mut();
        match self.free.borrow_mut().pop() {
            Some(place) => {
                all[place] = Some(running);
                place
            }
            None => {
                all.push(Some(running));
                all.len() - 1
            }
        }
    }

    /// Removes a run, which may already be gone.
    fn remove(&self, place: usize, removed: *const ()) {
        let is_it = |running: &mut Rc<dyn Progress>| Rc::as_ptr(running).cast::<()>() == removed;
        let (mut all, mut free) = (self.running.borrow_mut(), self.free.borrow_mut());
        let running = all
            .get_mut(place)
            .and_then(|running| running.take_if(is_it));
        if running.is_some() {
            free.push(place);
            if free.len() == all.len() {
                all.clear();
                free.clear();
            }
        }
        drop((all, free));
        // The run's operator, which is dropped with it, may own other runs. Their removal borrows the lists again.
        drop(running);
    }

    /// Makes progress on all runs without blocking. The list may change meanwhile, because a run's operator may end another run. If there are
    /// many runs, returns how long checking them took.
    fn progress(&self) -> Option<Duration> {
        let are_many = self.running.borrow().len() > FEW;
        let begin = are_many.then(Instant::now);
        let mut place = 0;
        loop {
            let running = self.running.borrow().get(place).cloned();
            let Some(running) = running else {
                return begin.map(|begin| begin.elapsed());
            };
            if let Some(running) = running {
                let unwinding = EndOnPanic(self, place, Rc::as_ptr(&running).cast());
                running.progress();
                mem::forget(unwinding);
            }
            place += 1;
        }
    }

    /// Drives all runs in flight, and `own` by `advance`, until `own` is over or `patience` is exhausted. Returns whether `own` is over.
    /// `failed` records and converts an error of the transport.
    pub(crate) fn drive<E>(
        &self,
        own: &dyn Progress,
        transport: &dyn Communicator,
        patience: Patience,
        advance: &mut dyn FnMut() -> Result<bool, E>,
        failed: &dyn Fn(comm::Error) -> E,
    ) -> Result<bool, E> {
        // Once its own run is over, a wait drives no other run, because another run's operator could panic and thus lose the result.
        while !advance()? {
            let took = self.progress();
            // The loop over all runs may have driven this run, too.
            if advance()? {
                break;
            }
            let timeout = patience.left();
            if timeout.is_some_and(|timeout| timeout.is_zero()) {
                return Ok(false);
            }
            if !self.wait_any(own, transport, timeout).map_err(failed)? {
                return Ok(false);
            }
            if let Some(took) = took {
                let pause = patience.left().map_or(took, |left| left.min(took));
                self.wait_for(own, transport, pause).map_err(failed)?;
            }
        }
        Ok(true)
    }

    /// Waits for the messages of `own`, for at most `pause`.
    fn wait_for(
        &self,
        own: &dyn Progress,
        transport: &dyn Communicator,
        pause: Duration,
    ) -> Result<(), comm::Error> {
        let mut awaited = self.awaited.take();
        awaited.clear();
        own.awaited(&mut awaited);
        let waited = match awaited[..] {
            [] => Ok(false),
            _ => transport.wait_any(&awaited, Some(pause)),
        };
        self.awaited.replace(awaited);
        waited.map(drop)
    }

    /// Waits until one of the requests of `own` or of another run is complete; returns false if none is complete in time. The requests of
    /// `own` come first in the list, so the wait fails if a message of `own` cannot arrive, but not if another run cannot continue.
    fn wait_any(
        &self,
        own: &dyn Progress,
        transport: &dyn Communicator,
        timeout: Option<Duration>,
    ) -> Result<bool, comm::Error> {
        let mut awaited = self.awaited.take();
        awaited.clear();
        own.awaited(&mut awaited);
        for running in self.running.borrow().iter().flatten() {
            running.awaited(&mut awaited);
        }
        let waited = transport.wait_any(&awaited, timeout);
        self.awaited.replace(awaited);
        waited
    }
}

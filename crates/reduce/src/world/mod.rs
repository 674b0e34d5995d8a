//! A rank's place among the others: what every plan is built on.

mod in_flight;
mod link;
#[cfg(feature = "mpi")]
pub mod mpi;
pub mod threads;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use comm::{Communicator, Request, Tag, Traffic};
use schedule::Link;

pub(crate) use in_flight::{InFlight, Progress};
pub use link::DEFAULT_LINK;

/// One rank's handle of a transport, of the runs in flight on it, and of what a message costs.
///
/// Clones are handles of the same world. A plan holds one, so it can be stored beside its world, or without it, in any
/// struct; they may be dropped in any order, at any time. No drop communicates or fails.
///
/// A world, its plans and its runs stay on one thread: none of them is [`Send`].
///
/// ```
/// use reduce::{Pending, Plan, Sum, World, call, threads};
///
/// struct Solver {
///     world: World,
///     dot: Plan<f64, Sum>,
///     in_flight: Option<Pending<call::Allreduce, f64>>,
/// }
///
/// let sums = threads::run(3, |world| {
///     let dot = Plan::builder(world).local_items(1).build::<f64>().unwrap();
///     let mut solver = Solver { world: world.clone(), dot, in_flight: None };
///     let own = solver.world.rank() as f64;
///     solver.in_flight = Some(solver.dot.start_allreduce(&[own]).unwrap());
///     solver.in_flight.take().unwrap().wait().unwrap()
/// })?;
/// assert_eq!(sums, [3.0; 3]);
/// # Ok::<(), threads::RunError>(())
/// ```
///
/// ```compile_fail
/// fn moves<T: Send>() {}
/// moves::<reduce::World>();
/// ```
#[derive(Clone)]
pub struct World {
    shared: Rc<Shared>,
}

struct Shared {
    transport: Box<dyn Communicator>,
    in_flight: InFlight,
    last_tag: Cell<Tag>,
    link: Cell<Option<Link>>,
    /// The requests of abandoned runs: they are cancelled when a plan is built.
    abandoned: RefCell<Vec<Request>>,
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "World({:?})", self.shared.transport)
    }
}

impl World {
    /// The world of a transport's ranks. Every rank makes its own, from its end of the transport.
    pub fn new(transport: impl Communicator + 'static) -> Self {
        Self {
            shared: Rc::new(Shared {
                transport: Box::new(transport),
                in_flight: InFlight::default(),
                last_tag: Cell::new(Tag::CONTROL),
                link: Cell::new(None),
                abandoned: RefCell::default(),
            }),
        }
    }

    /// This rank, `0..size`.
    pub fn rank(&self) -> usize {
        self.shared.transport.rank()
    }

    /// The number of ranks.
    pub fn size(&self) -> usize {
        self.shared.transport.size()
    }

    /// The transport, for messages of the program's own. Give them a [`fresh_tag`](World::fresh_tag).
    #[inline]
    pub fn transport(&self) -> &dyn Communicator {
        &*self.shared.transport
    }

    /// A tag that no plan of this world has. Tags are reused after `tag_limit - 1` calls, plans included.
    ///
    /// Collective in effect: every rank must call it equally often, in the same order with regard to the plans that are built. It
    /// does not communicate.
    pub fn fresh_tag(&self) -> Tag {
        let Shared {
            last_tag,
            transport,
            ..
        } = &*self.shared;
        // After the last one, the first that is not `Tag::CONTROL`.
        let next = last_tag.get().number() % (transport.tag_limit() - 1) + 1;
        last_tag.set(Tag::new(next));
        last_tag.get()
    }

    /// The messages that this rank has sent.
    pub fn traffic(&self) -> Traffic {
        self.shared.transport.traffic()
    }

    /// Sets how long a wait tolerates a silent peer, on transports that have such a limit; see
    /// [`Communicator::silence_limit`].
    pub fn set_silence_limit(&self, limit: Duration) {
        self.shared.transport.set_silence_limit(limit);
    }

    /// What messages and combinations cost here: as measured by [`measure_link`](World::measure_link), else [`DEFAULT_LINK`].
    pub fn link(&self) -> Link {
        self.shared.link.get().unwrap_or(DEFAULT_LINK)
    }

    /// Measures the link between ranks 0 and 1, which takes some milliseconds. Plans that are built later choose their schedule by it.
    /// Collective; the same on every rank.
    ///
    /// # Errors
    /// The transport failed.
    pub fn measure_link(&self) -> Result<Link, comm::Error> {
        let link = link::measure(self)?;
        self.shared.link.set(Some(link));
        Ok(link)
    }

    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.shared.in_flight
    }

    /// Takes the requests of a run that is abandoned.
    pub(crate) fn abandon(&self, requests: impl Iterator<Item = Request>) {
        self.shared.abandoned.borrow_mut().extend(requests);
    }

    /// Cancels the requests of abandoned runs.
    pub(crate) fn cancel_abandoned(&self) {
        for request in self.shared.abandoned.take() {
            self.shared.transport.cancel(request);
        }
    }
}

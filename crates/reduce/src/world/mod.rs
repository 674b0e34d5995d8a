//! Worlds: a rank's handle to all ranks that reduce together. Plans are built on a world.

pub(crate) mod conversation;
mod in_flight;
mod link;
#[cfg(feature = "mpi")]
pub mod mpi;
pub(crate) mod patience;
pub mod threads;

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::time::Duration;

use comm::{Communicator, Interruption, Request, Tag, Traffic};
use schedule::Network;

pub(crate) use in_flight::{InFlight, Listed, Progress};
pub use link::DEFAULT_LINK;

use crate::error::RunError;

/// One rank's handle to all ranks that reduce together. It holds the transport, the runs in flight, and the cost of messages.
///
/// Clones are handles to the same world. A plan holds a handle, so any struct can store the plan, with or without its
/// world. Plans and worlds may be dropped in any order, at any time. No drop communicates or fails.
///
/// A world, its plans and its runs stay on one thread: none of them is [`Send`]; see [`OneWorldPerThread`].
///
/// ```
/// use reduce::{Pending, Plan, Sum, World, threads};
///
/// struct Solver {
///     world: World,
///     dot: Plan<f64, Sum>,
///     in_flight: Option<Pending<f64>>,
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
/// ```compile_fail,E0277
/// fn moves<T: Send>() {}
/// moves::<reduce::World>();
/// ```
#[derive(Clone)]
pub struct World {
    shared: Rc<OneWorldPerThread>,
}

/// The result of [`World::shrink`].
#[derive(Debug)]
pub struct Shrunk {
    /// The world of the surviving ranks.
    pub world: World,
    /// The old numbers of the surviving ranks, in ascending order: rank `i` was rank `left[i]`. All surviving ranks have the same list.
    pub left: Vec<usize>,
    /// The lost ranks, by their old numbers.
    pub lost: Vec<usize>,
}

/// Marks its world as busy while a call on a plan, or the building of a plan, is on this thread's stack.
#[derive(Debug)]
pub(crate) struct Busy<'w>(&'w Cell<bool>);

impl Drop for Busy<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// What a [`World`] holds. The compiler's error names this type if a program moves a world, a plan or a run to another thread.
///
/// Only the thread that has initialised MPI may call MPI, and a rank's messages are matched without locks. Worlds, plans and runs therefore
/// stay on the thread that made them. A thread that reduces needs its own world: [`threads::run`] gives one to each thread that it starts.
/// Other threads send their items to the thread that has the world, for example by a channel. They can fold the items first, and send
/// [`Partial`](crate::Partial)s or exact [`Sum`](crate::exact::Sum)s.
pub struct OneWorldPerThread {
    transport: Box<dyn Communicator>,
    in_flight: InFlight,
    /// Whether a call on a plan of this world, or the building of a plan, is on this thread's stack.
    is_busy: Cell<bool>,
    /// Whether there are `notices` to send.
    owes: Cell<bool>,
    /// The tags of abandoned runs that the other ranks have not been notified of.
    notices: RefCell<Vec<Tag>>,
    /// Whether the surviving ranks continue in another world.
    is_over: Cell<bool>,
    last_number: Cell<u64>,
    network: Cell<Option<Network>>,
    /// The requests of abandoned runs, which are cancelled when a plan is built.
    abandoned: RefCell<Vec<Request>>,
}

impl fmt::Debug for OneWorldPerThread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "OneWorldPerThread({:?})", self.transport)
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "World({:?})", self.shared.transport)
    }
}

impl World {
    /// The world of a transport's ranks. Every rank makes its own handle, from its end of the transport.
    pub fn new(transport: impl Communicator + 'static) -> Self {
        Self::of(Box::new(transport))
    }

    fn of(transport: Box<dyn Communicator>) -> Self {
        Self {
            shared: Rc::new(OneWorldPerThread {
                transport,
                in_flight: InFlight::default(),
                is_busy: Cell::new(false),
                owes: Cell::new(false),
                is_over: Cell::new(false),
                notices: RefCell::default(),
                last_number: Cell::new(Tag::CONTROL.number()),
                network: Cell::new(None),
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

    /// The transport, for the program's own messages. Give these messages a [`fresh_tag`](World::fresh_tag).
    #[inline]
    pub fn transport(&self) -> &dyn Communicator {
        &*self.shared.transport
    }

    /// A tag that no plan of this world has, has had or will have.
    ///
    /// Collective: all ranks must make these calls and build plans in the same order. In a few of these calls, some transports
    /// [synchronise](Communicator::open) the ranks: MPI does so in every 32768th call, or more often if its tags have fewer than 26 bits.
    ///
    /// # Errors
    /// The transport failed, or an operator [makes the call](comm::Error::Nested).
    pub fn fresh_tag(&self) -> Result<Tag, comm::Error> {
        self.check_not_nested()?;
        self.next_tag()
    }

    /// The tag of the next conversation. Unlike [`fresh_tag`](World::fresh_tag), this works while a plan is built.
    pub(crate) fn next_tag(&self) -> Result<Tag, comm::Error> {
        self.check_not_over()?;
        let number = self.shared.last_number.get() + 1;
        self.shared.last_number.set(number);
        let tag = Tag::new(number);
        self.transport().open(tag)?;
        Ok(tag)
    }

    /// Whether all ranks pass `true`; `false` if a rank of this world is lost. Collective among the ranks that are not lost, with the same
    /// result on all of them. A rank that calls [`shrink`](World::shrink) instead counts as one that passes `false`.
    ///
    /// If a rank is lost, a run may succeed on one rank and fail on another. Therefore, before a rank ends, or discards data that another
    /// rank may need, the ranks should agree that all of them have what they need.
    ///
    /// # Errors
    /// [`NotSurvivable`](comm::Error::NotSurvivable), on all ranks, if the transport cannot continue without a rank that is lost; or
    /// [`Nested`](comm::Error::Nested), on this rank, if an operator makes the call.
    pub fn agree(&self, flag: bool) -> Result<bool, comm::Error> {
        self.check_not_nested()?;
        self.transport().agree(flag)
    }

    /// The world of the surviving ranks, after some ranks are lost. Collective among the ranks that are not lost: each of them calls `shrink`
    /// when a call has failed with an error that has [`lost_ranks`](RunError::lost_ranks), or when [`agree`](World::agree) has returned
    /// `false`.
    ///
    /// The call ends this world. All pending calls in it fail on the other ranks, so these call `shrink`, too, and no rank waits for a lost
    /// rank. Plans of this world can no longer be run; the program builds new plans on the new world. These give the same bits for the same
    /// items, whichever ranks now have them. [`Ownership::rebalanced`](distribution::Ownership::rebalanced) computes their new owners.
    ///
    /// ```
    /// use reduce::{Plan, threads};
    ///
    /// let outcomes = threads::run_each(4, |world| {
    ///     let plan = Plan::builder(world).local_items(1).build::<f64>().unwrap();
    ///     // All ranks have built the plan before rank 1 is lost.
    ///     assert_eq!(world.agree(true), Ok(true));
    ///     if world.rank() == 1 {
    ///         panic!("rank 1 is lost");
    ///     }
    ///     let error = plan.allreduce(&[1.0]).unwrap_err();
    ///     assert_eq!(error.lost_ranks(), Some(&[1][..]));
    ///     let shrunk = world.shrink().unwrap();
    ///     assert_eq!((shrunk.lost, shrunk.left), (vec![1], vec![0, 2, 3]));
    ///     let plan = Plan::builder(&shrunk.world).local_items(1).build::<f64>().unwrap();
    ///     plan.allreduce(&[1.0]).unwrap()
    /// })?;
    /// assert_eq!(outcomes[0], Ok(3.0));
    /// assert_eq!(outcomes[1].as_ref().unwrap_err().lost_ranks(), Some(&[1][..]));
    /// # Ok::<(), threads::RunError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`agree`](World::agree), or an error on all ranks if the new world cannot be set up for a reason other than a loss.
    pub fn shrink(&self) -> Result<Shrunk, comm::Error> {
        self.check_not_nested()?;
        // Pending notices for this world's ranks no longer matter.
        self.shared.owes.set(false);
        self.shared.notices.take();
        let comm::Shrunk { communicator, left } = self.transport().shrink()?;
        self.shared.is_over.set(true);
        let lost = (0..self.size()).filter(|rank| !left.contains(rank));
        let lost = lost.collect();
        let world = Self::of(communicator);
        world.take_after(self);
        Ok(Shrunk { world, left, lost })
    }

    /// Copies what is known about the network from another world.
    fn take_after(&self, other: &World) {
        self.shared.network.set(other.shared.network.get());
    }

    /// The numbers of messages and of bytes that this rank has sent.
    pub fn traffic(&self) -> Traffic {
        self.shared.transport.traffic()
    }

    /// Sets how long a wait tolerates a silent peer, on transports that have such a limit; see
    /// [`Communicator::silence_limit`]. If a rank tests a run repeatedly, or waits several times, the limit applies to the sum of the times.
    pub fn set_silence_limit(&self, limit: Duration) {
        self.shared.transport.set_silence_limit(limit);
    }

    /// Sets a function by which the program ends long waits, on transports that call such a function: see
    /// [`Communicator::set_interruption`]. A run whose wait is interrupted has failed.
    pub fn set_interruption(&self, interruption: Option<Interruption>) {
        self.shared.transport.set_interruption(interruption);
    }

    /// The measured cost of messages and combinations on this world; [`DEFAULT_LINK`] before [`measure_link`](World::measure_link).
    pub fn network(&self) -> Network {
        let measured = self.shared.network.get();
        measured.unwrap_or(DEFAULT_LINK.into())
    }

    /// Measures what messages cost within a node, between nodes, and between nodes if many ranks send at once. This takes some tens of
    /// milliseconds, or some tens of times the latency between nodes if that is longer. Plans that are built later choose their schedules
    /// by the result. Collective; every rank gets the same result.
    ///
    /// # Errors
    /// The transport failed, or an operator [makes the call](comm::Error::Nested).
    pub fn measure_link(&self) -> Result<Network, comm::Error> {
        let network = link::measure(self)?;
        self.shared.network.set(Some(network));
        Ok(network)
    }

    /// Begins a call that may run an operator. Returns an error if such a call is on the stack, because an operator then makes this call.
    #[inline]
    pub(crate) fn enter(&self) -> Result<Busy<'_>, RunError> {
        if !self.is_idle() {
            self.settle_first()?;
        }
        self.shared.is_busy.set(true);
        Ok(Busy(&self.shared.is_busy))
    }

    /// Whether a call can begin and end at once, because [`enter`](Self::enter) has nothing to do.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        let shared = &*self.shared;
        // The three flags are adjacent in memory.
        !(shared.is_busy.get() | shared.owes.get() | shared.is_over.get())
    }

    /// Whether a call that may run an operator is on this thread's stack. If so, an operator makes this call, and cannot communicate on this
    /// world.
    #[must_use]
    pub fn is_in_operator(&self) -> bool {
        self.shared.is_busy.get()
    }

    fn check_not_nested(&self) -> Result<(), comm::Error> {
        if self.is_in_operator() {
            Err(comm::Error::Nested { rank: self.rank() })
        } else {
            Ok(())
        }
    }

    #[cold]
    fn settle_first(&self) -> Result<(), RunError> {
        if self.shared.is_busy.get() {
            let rank = self.rank();
            return Err(RunError::Nested { rank });
        }
        self.check_not_over()?;
        self.send_notices();
        Ok(())
    }

    fn check_not_over(&self) -> Result<(), comm::Error> {
        if self.shared.is_over.get() {
            Err(comm::Error::Revoked { rank: self.rank() })
        } else {
            Ok(())
        }
    }

    /// Notifies the other ranks at once of the runs that were abandoned on this rank. Without this call, the next call on the world does so.
    /// This is for programs that compute for a long time after they have dropped a run or caught an operator's panic. The call does not wait.
    /// In an operator, it does nothing, and the next call on the world notifies the ranks.
    pub fn tell_abandoned(&self) {
        if self.shared.owes.get() && !self.shared.is_busy.get() {
            self.send_notices();
        }
    }

    /// Notifies the other ranks of the runs that were abandoned on this rank.
    pub(crate) fn send_notices(&self) {
        self.shared.owes.set(false);
        for tag in self.shared.notices.take() {
            self.transport().give_up(tag);
        }
    }

    /// Makes the next call notify the other ranks that this rank takes no part in the run of this tag, or in later runs of its plan.
    pub(crate) fn owe_notice(&self, tag: Tag) {
        self.shared.owes.set(true);
        self.shared.notices.borrow_mut().push(tag);
    }

    pub(crate) fn in_flight(&self) -> &InFlight {
        &self.shared.in_flight
    }

    /// Keeps the requests of an abandoned run until they are cancelled.
    pub(crate) fn abandon(&self, requests: impl Iterator<Item = Request>) {
        self.shared.abandoned.borrow_mut().extend(requests);
    }

    /// Cancels the requests of abandoned runs, and notifies the other ranks of these runs.
    pub(crate) fn cancel_abandoned(&self) {
        self.send_notices();
        for request in self.shared.abandoned.take() {
            self.shared.transport.cancel(request);
        }
    }
}

//! The communicator of the in-process backend.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use super::group::Group;
use super::matching::{Matching, WhoLeft};
use super::network::{Awaited, CollectWait, Envelope, Letter, Network, Outcome, Purpose, Return};
use super::shelf::Shelf;
use crate::communicator::{Communicator, Hints, Shrunk};
use crate::error::Error;
use crate::fork::Process;
use crate::request::{Request, RequestId};
use crate::tag::Tag;
use crate::traffic::Traffic;

/// A rank's communicator in the in-process backend.
pub struct ThreadCommunicator {
    rank: usize,
    size: usize,
    group: Group,
    network: Arc<dyn Network>,
    /// This rank's number in the network.
    own: usize,
    /// Shared with this rank's other communicators on the network.
    shelf: Rc<Shelf>,
    matching: RefCell<Matching>,
    traffic: Cell<Traffic>,
    process: Process,
}

impl fmt::Debug for ThreadCommunicator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ThreadCommunicator(rank {} of {})", self.rank, self.size)
    }
}

impl ThreadCommunicator {
    pub(super) fn new(network: Arc<dyn Network>, rank: usize, size: usize) -> Self {
        Self::of(network, rank, size, Group::ALL, Rc::default())
    }

    fn of(
        network: Arc<dyn Network>,
        rank: usize,
        size: usize,
        group: Group,
        shelf: Rc<Shelf>,
    ) -> Self {
        Self {
            rank,
            size,
            own: group.in_network(rank),
            group,
            network,
            shelf,
            matching: RefCell::default(),
            traffic: Cell::default(),
            process: Process::current(),
        }
    }

    #[inline]
    fn check(&self, call: &'static str, peer: usize) -> Result<(), Error> {
        if !self.process.is_current() {
            return Err(Error::Forked { rank: self.rank });
        }
        if peer >= self.size {
            return Err(Error::NoSuchRank {
                call,
                peer,
                size: self.size,
            });
        }
        Ok(())
    }

    /// Collects and matches messages until one of the requests is complete or `wait` is over.
    fn progress(
        &self,
        requests: &[RequestId],
        wait: impl Fn(Awaited) -> CollectWait,
    ) -> Result<bool, Error> {
        let mut matching = self.matching.borrow_mut();
        loop {
            // A rank that waits for several requests counts as waiting for the first.
            let mut first = None;
            for request in requests.iter().rev() {
                first = matching.awaited(*request);
                if first.is_none() {
                    return Ok(true);
                }
            }
            let awaited = Awaited {
                rank: self.group.in_network(first.expect("a request is pending")),
                or_others: requests.len() > 1,
            };
            let collect = |arrived: &mut Vec<Envelope>| self.collect(wait(awaited), arrived);
            let give_back = |to, buffer| self.give_back(to, buffer);
            let came = matching.match_arrivals(collect, give_back);
            if let Err(Error::Left { rank, .. }) = came {
                matching.note_left(rank, requests[0]);
            }
            if !came? {
                return Ok(false);
            }
        }
    }
}

impl ThreadCommunicator {
    /// Fetches this communicator's messages, and keeps messages for this rank's other communicators.
    fn collect(&self, wait: CollectWait, arrived: &mut Vec<Envelope>) -> Result<bool, Error> {
        if self.shelf.take(&self.group, arrived) {
            return Ok(true);
        }
        let came = self.network.collect(self.own, wait, arrived);
        self.shelf.put_aside(&self.group, arrived);
        came.map_err(|error| self.group.localised(self.rank, error))
    }

    fn give_back(&self, to: usize, buffer: Return) {
        self.network.give_back(self.group.in_network(to), buffer);
    }

    fn envelope(&self, tag: Tag, letter: Letter) -> Envelope {
        Envelope {
            from: self.own,
            context: self.group.context.clone(),
            tag,
            letter,
        }
    }

    fn deliver(&self, to: usize, tag: Tag, letter: Letter) -> Result<(), Error> {
        let envelope = self.envelope(tag, letter);
        let delivered = self.network.deliver(self.group.in_network(to), envelope);
        delivered.map_err(|error| self.group.localised(self.rank, error))
    }

    fn meet(&self, purpose: Purpose) -> Result<Outcome, Error> {
        let outcome = self.network.meet(self.own, &self.group, purpose);
        match outcome.failure {
            Some(failure) => Err(failure),
            None => Ok(outcome),
        }
    }
}

impl Communicator for ThreadCommunicator {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn start_send(
        &self,
        to: usize,
        tag: Tag,
        message: Vec<u8>,
        _capacity_bytes: usize,
    ) -> Result<Request, Error> {
        self.check("start_send", to)?;
        Traffic::count(&self.traffic, &message);
        let (request, letter) = self.matching.borrow_mut().send(message);
        match self.deliver(to, tag, letter) {
            Ok(()) => Ok(request),
            Err(error) => {
                self.matching.borrow_mut().cancel(request);
                Err(error)
            }
        }
    }

    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error> {
        self.check("start_receive", from)?;
        let give_back = |to, buffer| self.give_back(to, buffer);
        let mut matching = self.matching.borrow_mut();
        Ok(matching.post(from, tag, buffer, give_back))
    }

    fn test(&self, request: &Request) -> Result<bool, Error> {
        self.progress(&[request.id()], CollectWait::None)
    }

    fn wait(&self, request: Request) -> Result<Vec<u8>, Error> {
        let progress = self.progress(&[request.id()], CollectWait::Unlimited);
        let mut matching = self.matching.borrow_mut();
        let context = &self.group.context;
        matching.take_back(context, |returned| {
            self.network.take_back(self.own, returned)
        });
        progress.and(matching.take(self.rank, request))
    }

    fn wait_any(&self, requests: &[RequestId], timeout: Option<Duration>) -> Result<bool, Error> {
        // A time-out whose end the clock cannot represent is treated as no time-out.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        self.progress(requests, |awaited| match deadline {
            Some(deadline) => CollectWait::Until(awaited, deadline),
            None => CollectWait::Unlimited(awaited),
        })
    }

    fn cancel(&self, request: Request) {
        self.matching.borrow_mut().cancel(request);
    }

    fn open(&self, tag: Tag) -> Result<(), Error> {
        self.matching.borrow_mut().open(tag);
        Ok(())
    }

    fn close(&self, tag: Tag) {
        self.matching.borrow_mut().close(tag);
    }

    fn give_up(&self, tag: Tag) {
        let left = match self.matching.borrow().who_left(tag) {
            WhoLeft::Announced => return,
            WhoLeft::Nobody => None,
            WhoLeft::Rank(rank) => Some(rank),
        };
        let notice = |to: usize| {
            let letter = Letter::notice(left);
            (
                self.group.in_network(to),
                self.envelope(tag.notice(), letter),
            )
        };
        let others = (0..self.size).filter(|&to| to != self.rank);
        // If the network has failed, the other ranks know that.
        self.network
            .announce(self.own, others.map(notice).collect());
    }

    fn reserve(&self, messages: usize) {
        let room = self.matching.borrow_mut().reserve(messages);
        self.network.reserve(self.own, room);
    }

    fn release(&self, messages: usize) {
        self.matching.borrow_mut().release(messages);
    }

    fn delivers_alone(&self) -> bool {
        true
    }

    fn hints(&self) -> Hints {
        // Finding the number of cores takes a few microseconds, and reads files.
        static CORES: OnceLock<usize> = OnceLock::new();
        let cores = CORES.get_or_init(|| thread::available_parallelism().map_or(1, usize::from));
        Hints {
            eager_bytes: usize::MAX,
            concurrency: self.size.min(*cores),
            node_ranks: Some(self.size),
            shared_bytes: usize::MAX,
        }
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    fn split(&self, tag: Tag, ranks: &[usize]) -> Result<Box<dyn Communicator>, Error> {
        self.check("split", self.rank)?;
        self.network.note_split();
        let group = self.group.part(tag, ranks);
        let own = ranks.iter().position(|&rank| rank == self.rank);
        let own = own.expect("a rank is in its own part");
        let network = Arc::clone(&self.network);
        let shelf = Rc::clone(&self.shelf);
        Ok(Box::new(Self::of(network, own, ranks.len(), group, shelf)))
    }

    fn agree(&self, flag: bool) -> Result<bool, Error> {
        self.check("agree", self.rank)?;
        Ok(self.meet(Purpose::Agree(flag))?.all_agreed)
    }

    fn shrink(&self) -> Result<Shrunk, Error> {
        self.check("shrink", self.rank)?;
        // After this, all waits for messages fail, so every rank comes to the meeting or leaves.
        self.network.fail(Error::Revoked { rank: self.own });
        loop {
            // If a rank called `agree`, the meeting makes no network: `agree` returns `false`, and this rank waits for the next meeting.
            let outcome = self.meet(Purpose::Shrink)?;
            let Some(shrunk) = outcome.shrunk else {
                continue;
            };
            // For each survivor: its old number, and its number in the new network, which is its place among the ranks that came.
            let places = shrunk.ranks.iter().enumerate();
            let mut ranks: Vec<(usize, usize)> = places
                .filter_map(|(place, &rank)| Some((self.group.here(rank)?, place)))
                .collect();
            ranks.sort_unstable();
            let (left, places): (Vec<usize>, Vec<usize>) = ranks.into_iter().unzip();
            let rank = left.binary_search(&self.rank);
            let rank = rank.expect("this rank has come to the meeting");
            shrunk.network.enter(places[rank]);
            let (network, group) = (shrunk.network, Group::ordered(places));
            let communicator = Self::of(network, rank, left.len(), group, Rc::default());
            return Ok(Shrunk {
                communicator: Box::new(communicator),
                left,
            });
        }
    }
}

//! A rank's end.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use super::matching::Matching;
use super::meetings::Wish;
use super::network::{Awaited, Envelope, Letter, Network, Patience};
use crate::communicator::{Communicator, Hints, Shrunk};
use crate::error::Error;
use crate::fork::Process;
use crate::request::{Request, RequestId};
use crate::tag::Tag;
use crate::traffic::Traffic;

/// A rank's end of the in-process backend.
pub struct ThreadCommunicator {
    rank: usize,
    size: usize,
    network: Arc<dyn Network>,
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
        Self {
            rank,
            size,
            network,
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

    /// Collects and matches messages until one of the requests is complete or patience ends.
    fn progress(
        &self,
        requests: &[RequestId],
        patience: impl Fn(Awaited) -> Patience,
    ) -> Result<bool, Error> {
        let mut matching = self.matching.borrow_mut();
        loop {
            // Whoever waits for several is said to wait for the first.
            let mut first = None;
            for request in requests.iter().rev() {
                first = matching.awaited(*request);
                if first.is_none() {
                    return Ok(true);
                }
            }
            let awaited = Awaited {
                rank: first.expect("one waits for something"),
                or_others: requests.len() > 1,
            };
            let collect =
                |arrived: &mut _| self.network.collect(self.rank, patience(awaited), arrived);
            let give_back = |to, buffer| self.network.give_back(to, buffer);
            if !matching.match_arrivals(collect, give_back)? {
                return Ok(false);
            }
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
        let envelope = Envelope {
            from: self.rank,
            tag,
            letter,
        };
        match self.network.deliver(to, envelope) {
            Ok(()) => Ok(request),
            Err(error) => {
                self.matching.borrow_mut().cancel(request);
                Err(error)
            }
        }
    }

    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error> {
        self.check("start_receive", from)?;
        let give_back = |to, buffer| self.network.give_back(to, buffer);
        let mut matching = self.matching.borrow_mut();
        Ok(matching.post(from, tag, buffer, give_back))
    }

    fn test(&self, request: &Request) -> Result<bool, Error> {
        self.progress(&[request.id()], Patience::None)
    }

    fn wait(&self, request: Request) -> Result<Vec<u8>, Error> {
        let progress = self.progress(&[request.id()], Patience::Unlimited);
        let mut matching = self.matching.borrow_mut();
        matching.take_back(|returned| self.network.take_back(self.rank, returned));
        progress.and(matching.take(self.rank, request))
    }

    fn wait_any(&self, requests: &[RequestId], timeout: Option<Duration>) -> Result<bool, Error> {
        // A time-out beyond what a clock can express is none.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        self.progress(requests, |awaited| match deadline {
            Some(deadline) => Patience::Until(awaited, deadline),
            None => Patience::Unlimited(awaited),
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
        for to in (0..self.size).filter(|&to| to != self.rank) {
            let envelope = Envelope {
                from: self.rank,
                tag: tag.notice(),
                letter: Letter::EMPTY,
            };
            // Where the network has failed, the others know.
            let _ = self.network.deliver(to, envelope);
        }
    }

    fn reserve(&self, messages: usize) {
        let room = self.matching.borrow_mut().reserve(messages);
        self.network.reserve(self.rank, room);
    }

    fn release(&self, messages: usize) {
        self.matching.borrow_mut().release(messages);
    }

    fn delivers_alone(&self) -> bool {
        true
    }

    fn hints(&self) -> Hints {
        // Asking takes some microseconds, and reads files.
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

    fn agree(&self, flag: bool) -> Result<bool, Error> {
        self.check("agree", self.rank)?;
        Ok(self.network.meet(self.rank, Wish::Agree(flag)).all_agreed)
    }

    fn shrink(&self) -> Result<Shrunk, Error> {
        self.check("shrink", self.rank)?;
        // Nobody waits for messages here any more: all come to the meeting, or leave.
        self.network.fail(Error::Revoked { rank: self.rank });
        loop {
            // Others that wanted to agree know now that they cannot.
            let outcome = self.network.meet(self.rank, Wish::Shrink);
            let Some(shrunk) = outcome.shrunk else {
                continue;
            };
            let left = shrunk.ranks.to_vec();
            let rank = left.binary_search(&self.rank);
            let rank = rank.expect("whoever comes is among those that came");
            shrunk.network.enter(rank);
            let communicator = Self::new(shrunk.network, rank, left.len());
            return Ok(Shrunk {
                communicator: Box::new(communicator),
                left,
            });
        }
    }
}

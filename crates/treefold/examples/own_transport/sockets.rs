//! Implements [`Communicator`] with a socket to each of the other ranks.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

use treefold::transport::{Communicator, Error, Request, RequestId, Requests, Tag, Traffic};

use crate::wire::{Failure, Wire};

/// A waiting rank checks its sockets this many times, and yields after each check. From then on, it sleeps after each check.
const LOOKS_BEFORE_SLEEP: usize = 100;
const SLEEP: Duration = Duration::from_micros(50);

/// A rank's end of the transport.
#[derive(Debug)]
pub(crate) struct Sockets {
    rank: usize,
    state: RefCell<State>,
    traffic: Cell<Traffic>,
}

#[derive(Debug)]
struct State {
    /// The wire to every other rank; `None` for this rank.
    wires: Vec<Option<Wire>>,
    /// One meeting for each sender.
    meetings: Vec<Meeting>,
    /// Treefold's table of the operations under way, which makes the handles that callers get.
    requests: Requests<Operation>,
}

/// The operation behind a request.
#[derive(Debug)]
enum Operation {
    Send {
        to: usize,
        /// The send is over when the wire has written this number of bytes in total.
        end_bytes: u64,
        /// The message's memory, which goes back to the caller.
        message: Vec<u8>,
    },
    Receive {
        from: usize,
        capacity_bytes: usize,
        message: Option<Vec<u8>>,
    },
}

/// Matches messages from one rank with receives. For each tag, there are either messages without a receive or receives without a
/// message, in order.
#[derive(Debug, Default)]
struct Meeting {
    early: VecDeque<(Tag, Vec<u8>)>,
    posted: VecDeque<(Tag, RequestId)>,
}

impl Sockets {
    /// The end of rank `rank`, with a wire to every other rank.
    pub(crate) fn new(rank: usize, wires: Vec<Option<Wire>>) -> Self {
        let state = State {
            meetings: wires.iter().map(|_| Meeting::default()).collect(),
            wires,
            requests: Requests::default(),
        };
        Self {
            rank,
            state: RefCell::new(state),
            traffic: Cell::default(),
        }
    }

    fn check(&self, call: &'static str, peer: usize) -> Result<(), Error> {
        let size = self.size();
        if peer >= size {
            return Err(Error::NoSuchRank { call, peer, size });
        }
        Ok(())
    }
}

impl Communicator for Sockets {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.state.borrow().wires.len()
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
        let state = &mut *self.state.borrow_mut();
        let end_bytes = match &mut state.wires[to] {
            Some(wire) => wire.queue(tag, &message),
            None => {
                state.meetings[to].arrive(tag, message.clone(), &mut state.requests);
                0
            }
        };
        state.progress();
        Ok(state.requests.insert(Operation::Send {
            to,
            end_bytes,
            message,
        }))
    }

    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error> {
        self.check("start_receive", from)?;
        let State {
            meetings, requests, ..
        } = &mut *self.state.borrow_mut();
        let meeting = &mut meetings[from];
        let message = taken(&mut meeting.early, |(early, _)| *early == tag);
        let has_come = message.is_some();
        let request = requests.insert(Operation::Receive {
            from,
            capacity_bytes: buffer.len(),
            message: message.map(|(_, message)| message),
        });
        if !has_come {
            meeting.posted.push_back((tag, request.id()));
        }
        Ok(request)
    }

    fn test(&self, request: &Request) -> Result<bool, Error> {
        self.wait_any(&[request.id()], Some(Duration::ZERO))
    }

    fn wait(&self, request: Request) -> Result<Vec<u8>, Error> {
        self.wait_any(&[request.id()], None)?;
        self.state.borrow_mut().end(self.rank, request)
    }

    /// A request that has failed counts as complete: waiting for it returns the reason.
    fn wait_any(&self, requests: &[RequestId], timeout: Option<Duration>) -> Result<bool, Error> {
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        for look in 0.. {
            let state = &mut *self.state.borrow_mut();
            state.progress();
            if requests.iter().any(|&request| state.is_over(request)) {
                return Ok(true);
            }
            if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                break;
            }
            if look < LOOKS_BEFORE_SLEEP {
                thread::yield_now();
            } else {
                thread::sleep(SLEEP);
            }
        }
        Ok(false)
    }

    fn cancel(&self, request: Request) {
        let state = &mut *self.state.borrow_mut();
        let id = request.id();
        // A send's frame stays in the queue, since a part of it may have been written.
        if let Operation::Receive { from, .. } = state.requests.remove(request) {
            taken(&mut state.meetings[from].posted, |(_, posted)| {
                *posted == id
            });
        }
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }
}

impl State {
    /// Moves all bytes that can be moved, to and from all ranks, because a rank that waits for one rank must not make other ranks wait.
    fn progress(&mut self) {
        for (wire, meeting) in self.wires.iter_mut().zip(&mut self.meetings) {
            if let Some(wire) = wire {
                wire.progress(|tag, message| meeting.arrive(tag, message, &mut self.requests));
            }
        }
    }

    /// Whether an operation is complete, or never will be.
    fn is_over(&mut self, request: RequestId) -> bool {
        let (peer, is_complete) = match self.requests.get_mut(request) {
            Operation::Send { to, end_bytes, .. } => {
                let wire = self.wires[*to].as_ref();
                let is_written = wire.is_none_or(|wire| wire.written_bytes() >= *end_bytes);
                (*to, is_written)
            }
            Operation::Receive { from, message, .. } => (*from, message.is_some()),
        };
        is_complete || self.failure(peer).is_some()
    }

    /// The result of an operation that is over.
    fn end(&mut self, rank: usize, request: Request) -> Result<Vec<u8>, Error> {
        let id = request.id();
        let peer = match self.requests.remove(request) {
            Operation::Send {
                to,
                end_bytes,
                message,
            } => {
                let wire = self.wires[to].as_ref();
                if wire.is_none_or(|wire| wire.written_bytes() >= end_bytes) {
                    return Ok(message);
                }
                to
            }
            Operation::Receive {
                from,
                capacity_bytes,
                message,
            } => match message {
                Some(message) if message.len() <= capacity_bytes => return Ok(message),
                Some(_) => {
                    return Err(Error::Truncated {
                        rank,
                        from,
                        capacity_bytes,
                    });
                }
                None => {
                    taken(&mut self.meetings[from].posted, |(_, posted)| *posted == id);
                    from
                }
            },
        };
        Err(match self.failure(peer) {
            Some(Failure::Io(reason)) => Error::Connection {
                rank,
                peer,
                reason: reason.clone(),
            },
            _ => Error::Left {
                rank: peer,
                awaited_by: rank,
            },
        })
    }

    fn failure(&self, peer: usize) -> Option<&Failure> {
        self.wires[peer].as_ref()?.failure()
    }
}

impl Meeting {
    /// Handles a message that has arrived. The first matching receive gets the message. Without such a receive, the message waits.
    fn arrive(&mut self, tag: Tag, message: Vec<u8>, requests: &mut Requests<Operation>) {
        let receive = taken(&mut self.posted, |(posted, _)| *posted == tag);
        match receive.map(|(_, request)| requests.get_mut(request)) {
            Some(Operation::Receive { message: slot, .. }) => *slot = Some(message),
            _ => self.early.push_back((tag, message)),
        }
    }
}

/// Removes the first matching element from a queue, and returns it.
fn taken<T>(queue: &mut VecDeque<T>, fits: impl Fn(&T) -> bool) -> Option<T> {
    let place = queue.iter().position(fits)?;
    queue.remove(place)
}

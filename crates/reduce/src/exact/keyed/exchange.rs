//! Messages of any lengths from every rank to every other.

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

use comm::{Communicator, Request, RequestId, Tag};

use crate::error::RunError;
use crate::operation::Operation;
use crate::world::conversation::Conversation;
use crate::world::patience::Patience;
use crate::world::{Progress, World};

/// A message goes in pieces of so many words.
const PIECE_WORDS: usize = 1 << 27;

const WORD_BYTES: usize = size_of::<u64>();

/// An exchange under way: each rank has given a list of words for every rank. First go the lists' lengths, then the lists that are not empty.
pub(super) struct Exchange {
    world: World,
    conversation: Rc<Conversation>,
    state: RefCell<State>,
    /// Why the transport ended it.
    broken: RefCell<Option<comm::Error>>,
    is_over: bool,
}

#[derive(Default)]
struct State {
    /// Whether nothing is missing any more.
    is_over: bool,
    sends: Vec<Request>,
    /// By rank.
    receives: Vec<Receive>,
}

#[derive(Default)]
struct Receive {
    /// `None` where the list is complete.
    request: Option<Request>,
    /// The words of the list; `None` as long as that is not known.
    length: Option<usize>,
    list: Vec<u64>,
}

impl Exchange {
    /// Starts an exchange, in a call that has entered the world. The lists are by rank.
    pub(super) fn start(
        world: &World,
        conversation: &Rc<Conversation>,
        operation: Operation,
        lists: &[&[u64]],
    ) -> Result<Self, RunError> {
        let claim = conversation.begin_within(operation)?;
        let mut state = State::default();
        if let Err(error) = state.begin(world, conversation.tag(), lists) {
            world.abandon(state.abort().into_iter());
            return claim.end(Err(RunError::Transport(error)));
        }
        claim.hand_over();
        Ok(Self {
            world: world.clone(),
            conversation: Rc::clone(conversation),
            state: RefCell::new(state),
            broken: RefCell::default(),
            is_over: false,
        })
    }

    /// Makes progress, and says whether the exchange is over. Drives all runs in flight, too, unless only in passing.
    pub(super) fn drive(&self, patience: Patience) -> Result<bool, comm::Error> {
        let broken = self.broken.borrow().clone();
        let driven = broken.map_or_else(|| self.drive_on(patience), Err);
        driven.inspect_err(|error| *self.broken.borrow_mut() = Some(error.clone()))
    }

    fn drive_on(&self, patience: Patience) -> Result<bool, comm::Error> {
        let (tag, transport) = (self.conversation.tag(), self.world.transport());
        if let Patience::InPassing = patience {
            return self.state.borrow_mut().go_on(transport, tag, patience);
        }
        let advance = &mut || {
            let state = &mut *self.state.borrow_mut();
            state.go_on(transport, tag, Patience::None)
        };
        self.world
            .in_flight()
            .drive(self, transport, patience, advance, &|error| error)
    }

    /// Waits for the lists that the ranks have for this one. The caller has entered the world.
    pub(super) fn deliver(mut self) -> Result<Vec<Vec<u64>>, RunError> {
        let driven = self.drive(Patience::Unlimited);
        self.is_over = true;
        match driven {
            Ok(_) => {
                self.conversation.settle();
                let receives = &mut self.state.borrow_mut().receives;
                let lists = receives
                    .iter_mut()
                    .map(|receive| mem::take(&mut receive.list));
                Ok(lists.collect())
            }
            Err(error) => {
                self.conversation.give_up_for(&error);
                self.cancel();
                let error = self.conversation.explain(error);
                self.conversation.spend(&error);
                Err(self.conversation.own_first(error))
            }
        }
    }

    pub(super) fn awaited_ranks(&self) -> Vec<usize> {
        let state = self.state.borrow();
        let receives = state.receives.iter().enumerate();
        let awaited = receives.filter(|(_, receive)| receive.request.is_some());
        awaited.map(|(rank, _)| rank).collect()
    }

    fn cancel(&self) {
        for request in self.state.borrow_mut().abort() {
            self.world.transport().cancel(request);
        }
    }
}

impl Progress for Exchange {
    /// Its owner is in the list of what is in flight.
    fn progress(&self) {}

    fn awaited(&self, requests: &mut Vec<RequestId>) {
        let state = self.state.borrow();
        let receives = state.receives.iter();
        let receives = receives.filter_map(|receive| receive.request.as_ref());
        requests.extend(receives.chain(&state.sends).map(Request::id));
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        if !self.is_over {
            self.world.abandon(self.state.get_mut().abort().into_iter());
            self.conversation.abandon();
        }
    }
}

impl State {
    /// Posts receives of all lengths, and sends everything.
    fn begin(&mut self, world: &World, tag: Tag, lists: &[&[u64]]) -> Result<(), comm::Error> {
        let (rank, ranks, transport) = (world.rank(), world.size(), world.transport());
        self.receives.resize_with(ranks, Receive::default);
        self.receives[rank].list = lists[rank].to_vec();
        for distance in 1..ranks {
            let from = (rank + ranks - distance) % ranks;
            let request = transport.start_receive(from, tag, vec![0; WORD_BYTES])?;
            self.receives[from].request = Some(request);
        }
        for distance in 1..ranks {
            let to = (rank + distance) % ranks;
            let list = lists[to];
            let length = [list.len() as u64];
            for piece in [&length[..]].into_iter().chain(list.chunks(PIECE_WORDS)) {
                let bytes: Vec<u8> = bytemuck::cast_slice(piece).to_vec();
                let length_bytes = bytes.len();
                let request = transport.start_send(to, tag, bytes, length_bytes)?;
                self.sends.push(request);
            }
        }
        Ok(())
    }

    /// Takes in what has come, and says whether nothing is missing any more.
    fn go_on(
        &mut self,
        transport: &dyn Communicator,
        tag: Tag,
        patience: Patience,
    ) -> Result<bool, comm::Error> {
        if self.is_over {
            return Ok(true);
        }
        let is_complete = |request: &Request| match patience {
            Patience::InPassing => transport.test_in_passing(request),
            _ => transport.test(request),
        };
        let mut is_over = true;
        for (from, receive) in self.receives.iter_mut().enumerate() {
            while let Some(request) = &receive.request {
                if !is_complete(request)? {
                    is_over = false;
                    break;
                }
                receive.take_in(transport)?;
                let left = receive.left();
                if left > 0 {
                    let buffer = vec![0; left.min(PIECE_WORDS) * WORD_BYTES];
                    receive.request = Some(transport.start_receive(from, tag, buffer)?);
                }
            }
        }
        let mut index = 0;
        while let Some(request) = self.sends.get(index) {
            if is_complete(request)? {
                transport.wait(self.sends.swap_remove(index))?;
            } else {
                index += 1;
            }
        }
        self.is_over = is_over && self.sends.is_empty();
        Ok(self.is_over)
    }

    fn abort(&mut self) -> Vec<Request> {
        let receives = self.receives.iter_mut();
        let receives = receives.filter_map(|receive| receive.request.take());
        receives.chain(self.sends.drain(..)).collect()
    }
}

impl Receive {
    /// The words that are still to come.
    fn left(&self) -> usize {
        self.length
            .map_or(0, |length| length.saturating_sub(self.list.len()))
    }

    /// Takes in the message that has come.
    fn take_in(&mut self, transport: &dyn Communicator) -> Result<(), comm::Error> {
        let request = self.request.take().expect("a message has come");
        let message = transport.wait(request)?;
        let words = message.as_chunks::<WORD_BYTES>().0.iter();
        let mut words = words.map(|bytes| u64::from_ne_bytes(*bytes));
        if self.length.is_none() {
            let length = words.next().expect("a length is a word");
            self.length = Some(usize::try_from(length).expect("a list is in memory"));
        } else {
            self.list.extend(words);
        }
        Ok(())
    }
}

//! An exchange in which every rank sends every other rank a message of any length.
//!
//! First the ranks exchange the lengths of their lists, in ceil(log2 p) rounds (Bruck and others, Efficient algorithms for all-to-all
//! communications in multiport message-passing systems, 1997, section 3.2). In the round of distance d = 1, 2, 4, …, rank r sends rank
//! r + d the lengths that it holds for all ranks r + i where i & d is not 0, and receives as many lengths from rank r - d. Then the ranks
//! send the lists that are not empty.

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

use comm::{Communicator, Request, RequestId, Tag};

use crate::error::RunError;
use crate::operation::Operation;
use crate::world::conversation::Conversation;
use crate::world::patience::Patience;
use crate::world::{Progress, World};

/// Lists of more than this number of words are sent in pieces of this length.
const PIECE_WORDS: usize = 1 << 27;

const WORD_BYTES: usize = size_of::<u64>();

/// An exchange under way: each rank has given a list of words for every rank.
pub(crate) struct Exchange {
    world: World,
    conversation: Rc<Conversation>,
    state: RefCell<ExchangeState>,
    /// The transport's error, if one ended the exchange.
    broken: RefCell<Option<comm::Error>>,
    is_over: bool,
}

#[derive(Default)]
struct ExchangeState {
    /// Whether everything has arrived, and all sends are complete.
    is_over: bool,
    /// The distance of the round of lengths that is under way; p or more once all lengths are known.
    distance: usize,
    /// The receive of the round under way.
    round: Option<Request>,
    /// Lengths of lists, in words. At first, index i is for the list to rank r + i; in the end, for the list from rank r - i.
    lengths: Vec<u64>,
    /// This rank's lists that are not empty and have not been sent yet, each with its receiver.
    lists: Vec<(usize, Vec<u64>)>,
    sends: Vec<Request>,
    /// The lists of all ranks, by sender.
    receives: Vec<Receive>,
}

#[derive(Default)]
struct Receive {
    /// `None` once the list is complete.
    request: Option<Request>,
    /// Number of words of the complete list.
    length: usize,
    list: Vec<u64>,
}

impl Exchange {
    /// Starts an exchange; `lists` has one list for each rank. The caller must have entered the world.
    pub(crate) fn start(
        world: &World,
        conversation: &Rc<Conversation>,
        operation: Operation,
        lists: &[&[u64]],
    ) -> Result<Self, RunError> {
        let claim = conversation.begin_within(operation)?;
        let mut state = ExchangeState::default();
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

    /// Makes progress, and returns whether the exchange is over. Also drives all runs in flight, unless `patience` is `InPassing`.
    pub(crate) fn drive(&self, patience: Patience) -> Result<bool, comm::Error> {
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

    /// Waits for the lists for this rank, and returns them by sender. The caller must have entered the world.
    pub(crate) fn deliver(mut self) -> Result<Vec<Vec<u64>>, RunError> {
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

    pub(crate) fn awaited_ranks(&self) -> Vec<usize> {
        let state = self.state.borrow();
        let receives = state.receives.iter().enumerate();
        let awaited = receives.filter(|(_, receive)| receive.request.is_some());
        let ranks = self.world.size();
        let below = || (self.world.rank() + ranks - state.distance) % ranks;
        let in_round = state.round.as_ref().map(|_| below());
        in_round
            .into_iter()
            .chain(awaited.map(|(rank, _)| rank))
            .collect()
    }

    fn cancel(&self) {
        for request in self.state.borrow_mut().abort() {
            self.world.transport().cancel(request);
        }
    }
}

impl Progress for Exchange {
    /// Does nothing: the owner of the exchange is in the list of runs in flight, and drives the exchange.
    fn progress(&self) {}

    fn awaited(&self, requests: &mut Vec<RequestId>) {
        let state = self.state.borrow();
        let receives = state.receives.iter();
        let receives = receives.filter_map(|receive| receive.request.as_ref());
        let receives = state.round.iter().chain(receives);
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

impl ExchangeState {
    /// Begins the first round.
    fn begin(&mut self, world: &World, tag: Tag, lists: &[&[u64]]) -> Result<(), comm::Error> {
        let (rank, ranks) = (world.rank(), world.size());
        self.receives.resize_with(ranks, Receive::default);
        self.receives[rank].list = lists[rank].to_vec();
        let above = (0..ranks).map(|distance| (rank + distance) % ranks);
        self.lengths = above.map(|to| lists[to].len() as u64).collect();
        let others = (1..ranks).map(|distance| (rank + distance) % ranks);
        let with_words = others.filter(|&to| !lists[to].is_empty());
        self.lists = with_words.map(|to| (to, lists[to].to_vec())).collect();
        self.distance = 1;
        self.begin_round(world.transport(), tag)
    }

    /// The indices of the lengths that are sent in the round under way.
    fn in_round(&self) -> impl Iterator<Item = usize> + use<> {
        let distance = self.distance;
        (0..self.lengths.len()).filter(move |index| index & distance != 0)
    }

    /// Begins the round of `self.distance`. After the last round, posts the receives of all lists and sends this rank's lists.
    fn begin_round(&mut self, transport: &dyn Communicator, tag: Tag) -> Result<(), comm::Error> {
        let (rank, ranks) = (transport.rank(), transport.size());
        let at = |distance: usize| (rank + distance) % ranks;
        if self.distance < ranks {
            let lengths: Vec<u64> = self.in_round().map(|index| self.lengths[index]).collect();
            let bytes = bytemuck::cast_slice(&lengths).to_vec();
            let length_bytes = bytes.len();
            let from = at(ranks - self.distance);
            let request = transport.start_receive(from, tag, vec![0; length_bytes])?;
            self.round = Some(request);
            let send = transport.start_send(at(self.distance), tag, bytes, length_bytes)?;
            self.sends.push(send);
            return Ok(());
        }
        for below in 1..ranks {
            let from = at(ranks - below);
            let length =
                usize::try_from(self.lengths[below]).expect("the length of a list in memory");
            self.receives[from].length = length;
            self.receives[from].post(transport, from, tag)?;
        }
        for (to, list) in mem::take(&mut self.lists) {
            for piece in list.chunks(PIECE_WORDS) {
                let bytes: Vec<u8> = bytemuck::cast_slice(piece).to_vec();
                let length_bytes = bytes.len();
                let send = transport.start_send(to, tag, bytes, length_bytes)?;
                self.sends.push(send);
            }
        }
        Ok(())
    }

    /// Makes progress. Returns whether the exchange is over.
    fn go_on(
        &mut self,
        transport: &dyn Communicator,
        tag: Tag,
        patience: Patience,
    ) -> Result<bool, comm::Error> {
        if self.is_over {
            return Ok(true);
        }
        let is_complete = &|request: &Request| match patience {
            Patience::InPassing => transport.test_in_passing(request),
            _ => transport.test(request),
        };
        let has_all = self.take_in(transport, tag, is_complete)?;
        // Completed sends are removed even if receives are missing, because a completed send would end every wait at once.
        let mut index = 0;
        while let Some(request) = self.sends.get(index) {
            if is_complete(request)? {
                transport.wait(self.sends.swap_remove(index))?;
            } else {
                index += 1;
            }
        }
        self.is_over = has_all && self.sends.is_empty();
        Ok(self.is_over)
    }

    /// Receives the messages that have arrived. Returns whether everything has arrived.
    fn take_in(
        &mut self,
        transport: &dyn Communicator,
        tag: Tag,
        is_complete: &dyn Fn(&Request) -> Result<bool, comm::Error>,
    ) -> Result<bool, comm::Error> {
        while let Some(request) = &self.round {
            if !is_complete(request)? {
                return Ok(false);
            }
            let request = self.round.take().expect("it is complete");
            let words = words_of(&transport.wait(request)?);
            for (index, length) in self.in_round().zip(words) {
                self.lengths[index] = length;
            }
            self.distance *= 2;
            self.begin_round(transport, tag)?;
        }
        let mut has_all = true;
        for (from, receive) in self.receives.iter_mut().enumerate() {
            while let Some(request) = &receive.request {
                if !is_complete(request)? {
                    has_all = false;
                    break;
                }
                let request = receive.request.take().expect("it is complete");
                receive.list.extend(words_of(&transport.wait(request)?));
                receive.post(transport, from, tag)?;
            }
        }
        Ok(has_all)
    }

    fn abort(&mut self) -> Vec<Request> {
        let receives = self.receives.iter_mut();
        let receives = receives.filter_map(|receive| receive.request.take());
        let receives = self.round.take().into_iter().chain(receives);
        receives.chain(self.sends.drain(..)).collect()
    }
}

impl Receive {
    /// Posts a receive of the next words, if any are missing.
    fn post(
        &mut self,
        transport: &dyn Communicator,
        from: usize,
        tag: Tag,
    ) -> Result<(), comm::Error> {
        let left = self.length.saturating_sub(self.list.len());
        if left > 0 {
            let buffer = vec![0; left.min(PIECE_WORDS) * WORD_BYTES];
            self.request = Some(transport.start_receive(from, tag, buffer)?);
        }
        Ok(())
    }
}

/// The words of a message.
fn words_of(message: &[u8]) -> Vec<u64> {
    let words = message.as_chunks::<WORD_BYTES>().0.iter();
    words.map(|bytes| u64::from_ne_bytes(*bytes)).collect()
}

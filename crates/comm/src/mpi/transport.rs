//! [`Communicator`] and [`NativeReductions`] for the MPI backend.

use std::ffi::c_int;
use std::time::Duration;

use mpi_library::Comm;

use crate::communicator::{Communicator, Hints, Interruption, Shrunk};
use crate::error::Error;
use crate::mpi::channels::lifetime;
use crate::mpi::communicator::MpiCommunicator;
use crate::mpi::messages::message::{LocalMessage, LocalState, Message, Trouble};
use crate::mpi::messages::notice::Notice;
use crate::mpi::messages::poll_limits::WaitLimit;
use crate::mpi::messages::wait_time::WaitTime;
use crate::native::{CombineSlots, NativeReductions};
use crate::request::{Request, RequestId};
use crate::tag::Tag;
use crate::traffic::Traffic;

/// The word that a rank passes to an agreement if it calls `agree` with `true`.
const AGREES: c_int = 1;

/// The word that a rank passes to an agreement if it calls `shrink`.
const SHRINKS: c_int = 2;

impl Communicator for MpiCommunicator {
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
        capacity_bytes: usize,
    ) -> Result<Request, Error> {
        let number = self.peer("start_send", to)?;
        let mut requests = self.requests.borrow_mut();
        let channels = &mut *self.free_channels()?;
        let (channel, conversations) = channels.of(tag).ok_or(Error::NotOpened {
            call: "start_send",
            tag,
        })?;
        Traffic::count(&self.traffic, &message);
        let local = &mut channel.local;
        if let Some(node_rank) = local.node_rank_of(to, capacity_bytes) {
            return Ok(local.start_send(&mut requests, conversations, node_rank, tag, message));
        }
        let count = self.count(message.len())?;
        let pending = channel
            .raw
            .start_send(message, count, number, channel.mpi_tag(tag));
        self.insert(&mut requests, tag, pending)
    }

    fn start_receive(&self, from: usize, tag: Tag, buffer: Vec<u8>) -> Result<Request, Error> {
        let number = self.peer("start_receive", from)?;
        let mut requests = self.requests.borrow_mut();
        let channels = &mut *self.free_channels()?;
        let (channel, conversations) = channels.of(tag).ok_or(Error::NotOpened {
            call: "start_receive",
            tag,
        })?;
        let local = &mut channel.local;
        if let Some(node_rank) = local.node_rank_of(from, buffer.len()) {
            return Ok(local.start_receive(&mut requests, conversations, node_rank, tag, buffer));
        }
        if let Some(given_up) = conversations.who_gave_up(tag) {
            return Ok(requests.insert(Message::Local(LocalMessage {
                buffer,
                peer: from,
                node_rank: 0,
                tag,
                state: LocalState::Failed(Trouble::GivenUp(given_up)),
                wait_time: WaitTime::default(),
            })));
        }
        let capacity = self.count(buffer.len())?;
        let pending = channel
            .raw
            .start_receive(buffer, capacity, number, channel.mpi_tag(tag));
        self.insert(&mut requests, tag, pending)
    }

    fn test(&self, request: &Request) -> Result<bool, Error> {
        self.poll_until(&[request.id()], WaitLimit::Test)
    }

    fn test_in_passing(&self, request: &Request) -> Result<bool, Error> {
        self.poll_until(&[request.id()], WaitLimit::InPassing)
    }

    fn wait(&self, request: Request) -> Result<Vec<u8>, Error> {
        match self.poll_until(&[request.id()], WaitLimit::Unlimited) {
            Ok(_) => {
                let message = self.requests.borrow_mut().remove(request);
                match message.error(self.rank, self.silence_limit.get()) {
                    None => Ok(message.into_buffer()),
                    Some(mut error) => {
                        if let Error::Silent { peers, .. } = &mut error
                            && !self.are_silent(peers)
                        {
                            // The other rank blames a rank from which this rank has received something.
                            *peers = 0..0;
                        }
                        // The receive is not cancelled: its message, if it still comes, must not match a later receive.
                        if let Message::Mpi(message) = message {
                            self.abandoned.borrow_mut().push(message.pending);
                        }
                        Err(error)
                    }
                }
            }
            Err(error) => {
                self.cancel(request);
                Err(error)
            }
        }
    }

    fn wait_any(&self, requests: &[RequestId], timeout: Option<Duration>) -> Result<bool, Error> {
        let limit = match timeout {
            None => WaitLimit::Unlimited,
            Some(Duration::ZERO) => WaitLimit::Test,
            Some(timeout) => WaitLimit::For(timeout),
        };
        self.poll_until(requests, limit)
    }

    fn cancel(&self, request: Request) {
        if self.check_not_nested().is_err() {
            self.to_cancel.borrow_mut().push(request);
            return;
        }
        let id = request.id();
        let message = self.requests.borrow_mut().remove(request);
        match message {
            Message::Local(message) => self.channels.borrow_mut().forget_request(message.tag, id),
            Message::Mpi(mut message) if !lifetime::is_finalised() => {
                // A cancelled receive completes without its sender. A receive that cannot be cancelled stays among the abandoned requests.
                let _ = message.pending.cancel_receive();
                self.abandoned.borrow_mut().push(message.pending);
                self.sweep();
            }
            Message::Mpi(_) => {}
        }
    }

    fn open(&self, tag: Tag) -> Result<(), Error> {
        self.check_not_nested()?;
        self.sweep_notices();
        for request in self.to_cancel.take() {
            self.cancel(request);
        }
        for over in self.to_close.take() {
            self.close(over);
        }
        let opened = self.channels.borrow_mut().open(tag, self.rank, self.size);
        opened.map_err(|error| match error {
            Error::Revoked { .. } => self.loss(),
            error => error,
        })
    }

    fn close(&self, tag: Tag) {
        // An operator within the `take` of `try_receive` may drop a plan.
        match self.channels.try_borrow_mut() {
            Ok(mut channels) => channels.close(tag),
            Err(_) => self.to_close.borrow_mut().push(tag),
        }
    }

    fn try_send(&self, to: usize, tag: Tag, message: &[u8], capacity_bytes: usize) -> bool {
        let looks = self.poll_limits.before_request;
        // A message that is too long for its receiver is an error of the receiver, not of this rank.
        let is_sent = message.len() <= capacity_bytes
            && self.locally(to, tag, capacity_bytes, |local, node_rank| {
                local.try_send(node_rank, tag, message, looks)
            }) == Some(true);
        if is_sent {
            Traffic::count(&self.traffic, message);
        }
        is_sent
    }

    fn try_receive(
        &self,
        from: usize,
        tag: Tag,
        capacity_bytes: usize,
        take: &mut dyn FnMut(&[u8]),
    ) -> bool {
        let looks = self.poll_limits.before_request;
        self.locally(from, tag, capacity_bytes, |local, node_rank| {
            local.try_receive(node_rank, tag, capacity_bytes, looks, take)
        }) == Some(true)
    }

    fn give_up(&self, tag: Tag) {
        // If an operator calls this function, the channels are in use, so it cannot notify the other ranks.
        let Ok(channels) = self.channels.try_borrow() else {
            return;
        };
        let heard = channels.conversations.who_gave_up(tag);
        drop(channels);
        if heard.is_some_and(|given_up| given_up.silent.is_some()) {
            // The rank that gave up has notified all others that a rank is silent.
            return;
        }
        let notice = Notice::GivenUp {
            exchange: tag.exchange(),
            silent: self.blamed_in(tag),
        };
        let mut others = (0..self.size).filter(|&to| to != self.rank);
        let notified: Result<(), Error> = others.try_for_each(|to| {
            let (mut requests, mut channels) =
                (self.requests.borrow_mut(), self.channels.borrow_mut());
            self.send_notice(&mut requests, &mut channels, to, tag, &notice)?;
            Ok(())
        });
        // If not all are notified, MPI has failed or is finalised: the others will detect that this rank is silent.
        if notified.is_ok() {
            self.sweep_notices();
        }
    }

    fn mpi_handle(&self) -> Option<Comm> {
        Some(self.handle())
    }

    fn traffic(&self) -> Traffic {
        self.traffic.get()
    }

    fn reserve(&self, messages: usize) {
        let room = self.room.get() + messages;
        self.room.set(room);
        self.requests.borrow_mut().reserve(room);
        // If an operator prints a plan, the plan is compiled and calls this function. The next reservation then allocates the memory.
        if let Ok(mut channels) = self.free_channels() {
            channels.reserve(room);
        }
    }

    fn release(&self, messages: usize) {
        self.room.set(self.room.get().saturating_sub(messages));
    }

    fn hints(&self) -> Hints {
        self.hints
    }

    fn native_reductions(&self) -> Option<&dyn NativeReductions> {
        Some(self)
    }

    fn silence_limit(&self) -> Option<Duration> {
        Some(self.silence_limit.get())
    }

    fn agree(&self, flag: bool) -> Result<bool, Error> {
        self.check_not_nested()?;
        let word = if flag { AGREES } else { 0 };
        let agreed = self.ulfm()?.agree(self.raw, word);
        let (word, is_complete) = agreed.map_err(|failure| self.explain(failure))?;
        Ok(is_complete && word == AGREES)
    }

    fn shrink(&self) -> Result<Shrunk, Error> {
        self.check_not_nested()?;
        let ulfm = self.ulfm()?;
        // After this, all waits for messages fail, so every rank that is not lost comes here.
        self.revoke(&ulfm);
        let mut size_before = self.size + 1;
        loop {
            // If a rank called `agree`, the agreed word is 0: that call returns `false`, and this rank waits for the next agreement.
            let agreed = ulfm.agree(self.raw, SHRINKS);
            let (word, _) = agreed.map_err(|failure| failure.on(self.rank))?;
            if word != SHRINKS {
                continue;
            }
            let raw = ulfm.shrink(self.raw);
            let raw = raw.map_err(|failure| failure.on(self.rank))?;
            let size = raw.size().map_err(|failure| failure.on(self.rank))?;
            let made = self.of_survivors(raw);
            if made.is_err() {
                // The other ranks may wait for this rank.
                let _ = ulfm.revoke(raw);
            }
            let verdict = ulfm.agree(raw, made.is_ok().into());
            let (all_have_it, _) = verdict.map_err(|failure| failure.on(self.rank))?;
            match made {
                Ok((communicator, left)) if all_have_it == 1 => {
                    return Ok(Shrunk {
                        communicator: Box::new(communicator),
                        left,
                    });
                }
                // Another rank was lost meanwhile: the loop continues with fewer ranks.
                Ok(_) | Err(Error::Revoked { .. }) if size < size_before => size_before = size,
                Ok(_) => return Err(Error::Revoked { rank: self.rank }),
                Err(error) => return Err(error),
            }
        }
    }

    fn set_silence_limit(&self, limit: Duration) {
        self.limit_silence(limit);
    }

    fn set_interruption(&self, interruption: Option<Interruption>) {
        self.interruption.replace(interruption);
    }
}

impl NativeReductions for MpiCommunicator {
    fn reduce_slots(
        &self,
        root: Option<usize>,
        slots: &mut [u8],
        slot_bytes: usize,
        combine: &CombineSlots<'_>,
    ) -> Result<(), Error> {
        self.check_not_nested()?;
        // Without a root, this still checks that the call is possible now.
        let number = self.peer("reduce_slots", root.unwrap_or(self.rank))?;
        let count = self.count(slot_bytes)?;
        let register = |operation| {
            let channels = self.channels.borrow();
            channels.first().lifetime.register_operation(operation);
        };
        let root = root.map(|_| number);
        self.operations
            .reduce(&self.raw, root, slots, count, combine, register)
            .map_err(|failure| self.explain(failure))
    }

    fn add_integers(&self, root: Option<usize>, words: &mut [i64]) -> Result<(), Error> {
        self.check_not_nested()?;
        let number = self.peer("add_integers", root.unwrap_or(self.rank))?;
        self.raw
            .add_integers(root.map(|_| number), words)
            .map_err(|failure| self.explain(failure))
    }
}

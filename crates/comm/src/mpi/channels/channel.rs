//! Channels: duplicates of the caller's communicator, each for a range of conversations.
//!
//! Every MPI library has at least 32768 tags, and some have only a few more. If tags were reused, an unreceived message of an old
//! conversation could match a receive of a new conversation. So tags are never reused: when a channel's tags are used up, its successor is
//! a new duplicate of the communicator, with its own rings.

use crate::conversation::Conversations;
use crate::error::Error;
use crate::mpi::calls::collectives::Agreed;
use crate::mpi::calls::communicator::RawCommunicator;
use crate::mpi::calls::failure::Failure;
use crate::mpi::channels::lifetime::Lifetime;
use crate::mpi::messages::message::Message;
use crate::mpi::node::local::LocalMessages;
use crate::mpi::node::sharing::Node;
use crate::request::{RequestId, Requests};
use crate::tag::Tag;

/// The number of bits that MPI tags have in every library (MPI 4.1, section 9.1.2: `MPI_TAG_UB` is at least 32767).
const TAG_BITS_MIN: u32 = 15;

/// How the bits of a channel's MPI tags are divided. All ranks divide them in the same way.
#[derive(Clone, Copy, Debug)]
struct TagBits {
    /// The number of bits for the conversation within its channel.
    number: u32,
    /// The number of bits for the exchange: its kind, in the lowest four, and its turn.
    exchange: u32,
}

impl TagBits {
    /// The minimum number of bits for an exchange. With fewer, turns would wrap so soon that a rank that is ahead would seem to be behind.
    const COUNTING: u32 = 11;

    /// The division of tags of `tag_bits` bits.
    fn of(tag_bits: u32) -> Self {
        match tag_bits.saturating_sub(TAG_BITS_MIN) {
            // Even if conversations had fewer bits, there would be too few bits for exchanges.
            0..4 => Self {
                number: TAG_BITS_MIN,
                exchange: 0,
            },
            // Tags of the Intel MPI library have 19 bits, so its channels change more often.
            4..Self::COUNTING => Self {
                number: tag_bits - Self::COUNTING,
                exchange: Self::COUNTING,
            },
            rest => Self {
                number: TAG_BITS_MIN,
                exchange: rest.min(16),
            },
        }
    }

    /// The generation of a conversation's channel: the number of channels before it.
    #[inline]
    fn generation(self, tag: Tag) -> u64 {
        tag.number() >> self.number
    }
}

/// A duplicate of the caller's communicator, for some conversations.
#[derive(Debug)]
pub(crate) struct Channel {
    /// The number of channels before this one.
    generation: u64,
    /// The number of open conversations of this channel.
    open_count: usize,
    pub(crate) raw: RawCommunicator,
    /// The messages that MPI does not carry.
    pub(crate) local: LocalMessages,
    pub(crate) lifetime: Lifetime,
    bits: TagBits,
}

/// This rank's channels, and what this rank knows about their conversations.
#[derive(Debug)]
pub(crate) struct Channels {
    bits: TagBits,
    /// The first channel, which always exists, and the channels of open conversations.
    list: Vec<Channel>,
    pub(crate) conversations: Conversations,
    /// When each rank's last message came by MPI, in milliseconds of the [clock](crate::mpi::messages::wait_time::Clock). The list
    /// ends with the highest rank that has sent by MPI.
    heard_ms: Vec<u32>,
}

impl Channel {
    /// The first channel, on a duplicate of the caller's communicator. Collective.
    pub(crate) fn first(
        raw: RawCommunicator,
        lifetime: Lifetime,
        local: LocalMessages,
    ) -> Result<Self, Failure> {
        let own_bound = RawCommunicator::world().tag_upper_bound()?;
        let tag_bits = (raw.allreduce_u64(own_bound, Agreed::Least)? + 1).ilog2();
        let this = Self {
            generation: 0,
            open_count: 0,
            raw,
            local,
            lifetime,
            bits: TagBits::of(tag_bits),
        };
        Ok(this.registered())
    }

    /// Whether MPI's tags have bits for the exchange.
    pub(crate) fn tags_tell_exchanges(&self) -> bool {
        self.bits.exchange > 0
    }

    /// MPI's tag for a tag of this channel.
    pub(crate) fn mpi_tag(&self, tag: Tag) -> i32 {
        let number = tag.number() & ((1 << self.bits.number) - 1);
        let exchange = u64::from(tag.exchange()) & ((1 << self.bits.exchange) - 1);
        i32::try_from(number << self.bits.exchange | exchange).expect("MPI_TAG_UB is an int")
    }

    /// The conversation of a message with this MPI tag.
    pub(crate) fn conversation_of(&self, mpi_tag: i32) -> Tag {
        let number = u64::from(mpi_tag.unsigned_abs()) >> self.bits.exchange;
        Tag::new(self.generation << self.bits.number | number)
    }

    fn registered(self) -> Self {
        if let Some(window) = self.local.window() {
            self.lifetime.register_window(window);
        }
        self
    }

    /// A later channel, on a duplicate of this channel's communicator. Collective.
    fn successor(&self, generation: u64, rank: usize, size: usize) -> Result<Self, Error> {
        let failed = |failure: Failure| failure.on(rank);
        let raw = self.raw.duplicate().map_err(failed)?;
        let lifetime =
            Lifetime::register_after(Some(&self.lifetime), self.raw, raw).map_err(failed)?;
        let first_number = generation << self.bits.number;
        let node = Node::find(
            &raw,
            rank,
            size,
            first_number,
            self.local.window().is_some(),
        )?;
        Ok(Self {
            generation,
            open_count: 0,
            raw,
            local: node.local,
            lifetime,
            bits: self.bits,
        }
        .registered())
    }
}

impl Channels {
    pub(crate) fn new(first: Channel) -> Self {
        Self {
            bits: first.bits,
            list: vec![first],
            conversations: Conversations::default(),
            heard_ms: Vec::new(),
        }
    }

    /// Sets the time that is recorded for messages that arrive from now on.
    pub(crate) fn note_time(&mut self, now_ms: u32) {
        self.conversations.inquiries.now_ms = now_ms;
        for channel in &mut self.list {
            channel.local.note_time(now_ms);
        }
    }

    /// Notes that a message of a rank has come by MPI.
    pub(crate) fn note_heard(&mut self, rank: usize) {
        if self.heard_ms.len() <= rank {
            self.heard_ms.resize(rank + 1, 0);
        }
        self.heard_ms[rank] = self.conversations.inquiries.now_ms;
    }

    /// For how long no message has come from a rank, in any conversation, in milliseconds.
    pub(crate) fn silence_ms(&self, rank: usize) -> u32 {
        let now_ms = self.conversations.inquiries.now_ms;
        let by_mpi = self.heard_ms.get(rank).copied().unwrap_or(0);
        let through_rings = self.list.iter();
        let through_rings = through_rings.filter_map(|channel| channel.local.silence_ms(rank));
        through_rings.fold(now_ms.wrapping_sub(by_mpi), u32::min)
    }

    /// The channel of a tag; `None` if the conversation was not opened.
    #[inline]
    pub(crate) fn of(&mut self, tag: Tag) -> Option<(&mut Channel, &mut Conversations)> {
        let generation = self.bits.generation(tag);
        let channel = self
            .list
            .iter_mut()
            .find(|channel| channel.generation == generation);
        channel.map(|channel| (channel, &mut self.conversations))
    }

    pub(crate) fn first(&self) -> &Channel {
        &self.list[0]
    }

    /// Continues sends that wait for room in a ring.
    #[inline]
    pub(crate) fn go_on_sending(&mut self, requests: &mut Requests<Message>) {
        for channel in &mut self.list {
            channel
                .local
                .go_on_sending(requests, &mut self.conversations);
        }
    }

    /// Receives everything that has arrived in the rings.
    pub(crate) fn take_all_in(&mut self, requests: &mut Requests<Message>) {
        for channel in &mut self.list {
            channel.local.take_all_in(requests, &mut self.conversations);
        }
    }

    /// Finds a message of this conversation that came through a ring before its receive was posted, and whose tag `holds` accepts.
    /// Returns the message's sender and tag.
    pub(crate) fn unexpected_in_ring(
        &mut self,
        tag: Tag,
        holds: impl Fn(Tag) -> bool,
    ) -> Option<(usize, Tag)> {
        let (channel, _) = self.of(tag)?;
        channel.local.find_unexpected(tag, holds)
    }

    /// Removes a request from the lists of requests to complete.
    pub(crate) fn forget_request(&mut self, tag: Tag, request: RequestId) {
        if let Some((channel, _)) = self.of(tag) {
            channel.local.cancel(request);
        }
    }

    /// Allocates memory for this number of messages.
    pub(crate) fn reserve(&mut self, messages: usize) {
        for channel in &mut self.list {
            channel.local.reserve(messages);
        }
    }

    /// Opens a conversation, and makes a channel for it if there is none. Collective.
    pub(crate) fn open(&mut self, tag: Tag, rank: usize, size: usize) -> Result<(), Error> {
        self.conversations.open(tag);
        if self.of(tag).is_none() {
            let generation = self.bits.generation(tag);
            let channel = self.first().successor(generation, rank, size)?;
            self.list.push(channel);
        }
        let (channel, _) = self.of(tag).expect("the channel was just made");
        channel.open_count += 1;
        Ok(())
    }

    /// Closes a conversation, and drops its channel if no other conversation can use it.
    pub(crate) fn close(&mut self, tag: Tag) {
        self.conversations.close(tag);
        let newest = self.list.last().map(|channel| channel.generation);
        if let Some((channel, _)) = self.of(tag) {
            channel.open_count = channel.open_count.saturating_sub(1);
            channel.local.forget(tag);
        }
        self.list.retain(|channel| {
            let may_be_used = channel.generation == 0 || Some(channel.generation) == newest;
            may_be_used || channel.open_count > 0
        });
    }
}

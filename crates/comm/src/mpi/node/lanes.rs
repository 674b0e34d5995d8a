//! The rings between this rank and the other ranks of its node.

use crate::mpi::node::window::Window;
use crate::ring::{Reader, Ring, Writer};
use crate::tag::Tag;

/// This rank's ends of the rings to and from one rank of the node.
#[derive(Debug, Default)]
pub(super) struct Lane {
    pub(super) writer: Writer,
    pub(super) reader: Reader,
    /// Whether a send to that rank waits for room.
    pub(super) is_full: bool,
    /// When a message last came from that rank, in milliseconds of the [clock](crate::mpi::messages::wait_time::Clock).
    pub(super) heard_ms: u32,
}

impl Lane {
    /// Sends a message if there is room for it and no earlier send to that rank waits. Returns whether the message was sent.
    pub(super) fn send(&mut self, ring: Ring<'_>, tag: Tag, message: &[u8]) -> bool {
        self.is_full = self.is_full || !self.writer.write(ring, to_wire(tag), message);
        !self.is_full
    }
}

/// The rings of a node, and this rank's ends of them.
#[derive(Debug)]
pub(super) struct Rings {
    pub(super) window: Window,
    pub(super) own_node_rank: usize,
    pub(super) lanes: Vec<Lane>,
}

impl Rings {
    /// The ring to a rank of the node, and this rank's end of it.
    #[inline]
    pub(super) fn to(&mut self, node_rank: usize) -> (Ring<'_>, &mut Lane) {
        let ring = self.window.ring(self.own_node_rank, node_rank);
        (ring, &mut self.lanes[node_rank])
    }

    /// The ring from a rank of the node, and this rank's end of it.
    #[inline]
    pub(super) fn from(&mut self, node_rank: usize) -> (Ring<'_>, &mut Lane) {
        let ring = self.window.ring(node_rank, self.own_node_rank);
        (ring, &mut self.lanes[node_rank])
    }

    /// Tries up to `looks` times to send a message to a rank whose ring is full. Stops when a message from that rank arrives, since
    /// that rank may be waiting for room, too. Returns whether the message was sent.
    #[cold]
    pub(super) fn send_when_there_is_room(
        &mut self,
        node_rank: usize,
        tag: Tag,
        message: &[u8],
        looks: u32,
    ) -> bool {
        for _ in 1..looks {
            let (ring, lane) = self.from(node_rank);
            if lane.reader.next(ring).is_some() {
                return false;
            }
            let (ring, lane) = self.to(node_rank);
            if lane.writer.write(ring, to_wire(tag), message) {
                return true;
            }
        }
        false
    }
}

/// A tag as stored in a message's header: its exchange, and its number modulo 2^16, which distinguishes a channel's conversations.
#[expect(clippy::cast_possible_truncation, reason = "modulo 2^16")]
pub(super) fn to_wire(tag: Tag) -> u32 {
    u32::from(tag.number() as u16) << 16 | u32::from(tag.exchange())
}

/// The tag from a message's header, in the channel whose first conversation has this number.
#[expect(clippy::cast_possible_truncation, reason = "the parts of a word")]
pub(super) fn from_wire(wire: u32, first_number: u64) -> Tag {
    let number = first_number >> 16 << 16 | u64::from(wire >> 16);
    Tag::new(number).with_exchange_number(wire as u16)
}

//! The lengths of messages.

use std::ops::Range;

use super::outcome::Carried;
use crate::catalogue::Schedule;
use crate::cost::count;
use crate::vocabulary::{Piece, Transfer};

/// Computes the lengths of a schedule's messages.
pub(super) struct Sizes<'r> {
    ranks: usize,
    block_bytes: f64,
    rows: &'r dyn Fn(Range<usize>) -> u64,
    /// Whether a message keeps ranges that are not adjacent as separate rows, as tree order requires.
    is_ordered: bool,
}

/// A message's peer and length.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message {
    pub(super) peer: usize,
    pub(super) bytes: f64,
    /// The number of bytes that the receiver combines.
    pub(super) combined_bytes: f64,
}

impl<'r> Sizes<'r> {
    pub(super) fn new(
        schedule: &Schedule,
        row_bytes: f64,
        rows: &'r dyn Fn(Range<usize>) -> u64,
    ) -> Self {
        Self {
            ranks: schedule.ranks(),
            block_bytes: row_bytes / count(schedule.blocks()),
            rows,
            is_ordered: true,
        }
    }

    /// Sizes for reductions that keep no order and therefore combine even ranges that are not adjacent into one row.
    pub(super) fn unordered(self) -> Self {
        Self {
            is_ordered: false,
            ..self
        }
    }

    pub(super) fn message(&self, transfer: &Transfer, carried: &mut Carried) -> Message {
        let mut message = Message {
            peer: transfer.peer,
            bytes: 0.0,
            combined_bytes: 0.0,
        };
        let mut last: Option<(&Range<usize>, u64)> = None;
        for (index, Piece { positions, blocks }) in transfer.pieces.iter().enumerate() {
            let before = index.checked_sub(1).map(|index| &transfer.pieces[index]);
            if !self.is_ordered && before.is_some_and(|before| before.blocks == *blocks) {
                continue;
            }
            let is_whole = *positions == (0..self.ranks);
            let rows = match last {
                Some((range, rows)) if range == positions => rows,
                _ if is_whole => 1,
                _ => (self.rows)(positions.clone()),
            };
            last = Some((positions, rows));
            #[expect(
                clippy::cast_precision_loss,
                reason = "fragments have a few hundred nodes at most"
            )]
            let bytes = rows as f64 * count(blocks.len()) * self.block_bytes;
            message.bytes += bytes;
            if !is_whole {
                message.combined_bytes += bytes;
                carried.piece(rows);
            }
        }
        message
    }
}

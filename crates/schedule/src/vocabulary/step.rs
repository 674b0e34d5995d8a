//! What a position does: messages, and the steps that post them.

use std::fmt;
use std::ops::Range;

use super::piece::Piece;

/// A message, as one of its two ends sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The other end's position.
    pub peer: usize,
    /// The pieces that the message carries; both ends list them in the same order.
    pub pieces: Vec<Piece>,
}

/// Messages that a position posts together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// The messages sent, made of pieces that the position held before the step.
    pub sends: Vec<Transfer>,
    /// The messages received. The position holds their pieces after the step.
    pub receives: Vec<Transfer>,
}

/// A position's steps, in order, computed lazily.
pub(crate) type Steps = Box<dyn Iterator<Item = Step>>;

impl Transfer {
    pub(crate) fn new(peer: usize, pieces: impl Into<Vec<Piece>>) -> Self {
        Self {
            peer,
            pieces: pieces.into(),
        }
    }
}

impl Step {
    pub(crate) fn new(
        sends: impl IntoIterator<Item = Transfer>,
        receives: impl IntoIterator<Item = Transfer>,
    ) -> Self {
        Self {
            sends: sends.into_iter().collect(),
            receives: receives.into_iter().collect(),
        }
    }

    pub(crate) fn send(transfer: Transfer) -> Self {
        Self::new([transfer], [])
    }

    pub(crate) fn receive(transfer: Transfer) -> Self {
        Self::new([], [transfer])
    }

    pub(crate) fn exchange(send: Transfer, receive: Transfer) -> Self {
        Self::new([send], [receive])
    }

    /// The step in which every position sends to the one `distance` after it, cyclically; `sent` returns what a position sends.
    pub(crate) fn shift(
        ranks: usize,
        position: usize,
        distance: usize,
        sent: impl Fn(usize) -> Vec<Piece>,
    ) -> Self {
        let (to, from) = (position + distance, position + ranks - distance);
        let (to, from) = (to % ranks, from % ranks);
        Self::exchange(
            Transfer::new(to, sent(position)),
            Transfer::new(from, sent(from)),
        )
    }

    /// The step with `change` applied to every message.
    pub(crate) fn map(self, change: impl Fn(Transfer) -> Transfer) -> Self {
        Self::new(
            self.sends.into_iter().map(&change),
            self.receives.into_iter().map(&change),
        )
    }

    /// The step with the blocks of every piece replaced by the result of `blocks`.
    pub(crate) fn in_blocks(self, blocks: impl Fn(&Range<usize>) -> Range<usize>) -> Self {
        self.map(|mut transfer| {
            for piece in &mut transfer.pieces {
                piece.blocks = blocks(&piece.blocks);
            }
            transfer
        })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.sends.is_empty() && self.receives.is_empty()
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sends = self.sends.iter().map(|send| ("send", "to", send));
        let receives = self
            .receives
            .iter()
            .map(|receive| ("receive", "from", receive));
        for (index, (verb, preposition, transfer)) in sends.chain(receives).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{verb}")?;
            for (index, piece) in transfer.pieces.iter().enumerate() {
                let plus = if index > 0 { "+ " } else { "" };
                write!(f, " {plus}{piece}")?;
            }
            write!(f, " {preposition} {}", transfer.peer)?;
        }
        Ok(())
    }
}

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
    pub(crate) fn send(transfer: Transfer) -> Self {
        Self {
            sends: vec![transfer],
            receives: Vec::new(),
        }
    }

    pub(crate) fn receive(transfer: Transfer) -> Self {
        Self {
            sends: Vec::new(),
            receives: vec![transfer],
        }
    }

    pub(crate) fn exchange(send: Transfer, receive: Transfer) -> Self {
        Self {
            sends: vec![send],
            receives: vec![receive],
        }
    }

    /// The step with `blocks` set in every piece, for an algorithm that sends all blocks of a divided row together.
    pub(crate) fn in_blocks(mut self, blocks: &Range<usize>) -> Self {
        let transfers = self.sends.iter_mut().chain(&mut self.receives);
        for piece in transfers.flat_map(|transfer| &mut transfer.pieces) {
            piece.blocks.clone_from(blocks);
        }
        self
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

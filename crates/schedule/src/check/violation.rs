//! The faults that the checker finds.

use crate::vocabulary::Piece;

/// What is wrong with a schedule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Violation {
    /// A position sends a piece that it does not hold.
    #[error("position {position}, step {step}: sends {piece} to {to}, but does not hold it")]
    NotHeld {
        /// The sender.
        position: usize,
        /// The number of the sender's step, from 0.
        step: usize,
        /// The receiver.
        to: usize,
        /// The piece that the sender does not hold.
        piece: Piece,
    },
    /// A position ends without a piece that it wants.
    #[error("position {position} ends without the piece {piece}")]
    NotDelivered {
        /// The position.
        position: usize,
        /// The missing piece.
        piece: Piece,
    },
    /// The number of sends from one position to another differs from the number of receives at the other end.
    #[error("messages from position {from} to position {to}: {sent} sent, {received} received")]
    Unmatched {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The number of sends.
        sent: usize,
        /// The number of receives.
        received: usize,
    },
    /// The two ends of a message name different pieces.
    #[error(
        "message {number} from position {from} to {to}: {sent:?} sent, but {received:?} received"
    )]
    Different {
        /// The sender.
        from: usize,
        /// The receiver.
        to: usize,
        /// The number of the message from this sender to this receiver, from 0.
        number: usize,
        /// The pieces that the sender names.
        sent: Vec<Piece>,
        /// The pieces that the receiver names.
        received: Vec<Piece>,
    },
    /// Positions wait for each other in a cycle.
    #[error("positions wait for each other in a cycle: {0:?}")]
    Cycle(
        /// Pairs of positions; the first waits for the second.
        Vec<(usize, usize)>,
    ),
    /// The peer of a message does not exist, or is the position itself.
    #[error("position {position}, step {step}: peer {peer} does not exist, or is the position")]
    NoPeer {
        /// The position.
        position: usize,
        /// The number of the position's step, from 0.
        step: usize,
        /// The peer that is named.
        peer: usize,
    },
}

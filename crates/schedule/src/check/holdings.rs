//! Checks that a position holds every piece that it sends and, at the end, every piece that it wants.

use std::collections::BTreeMap;
use std::ops::Range;

use super::violation::Violation;
use crate::vocabulary::{Piece, Step, tile};

/// Checks one position: its peers are other positions, it sends only pieces that it holds, and it ends with the pieces that it wants.
pub(super) fn check_holdings(
    position: usize,
    program: &[Step],
    ranks: usize,
    held: Vec<Piece>,
    wanted: &[Piece],
) -> Result<(), Violation> {
    let mut holdings = Holdings::default();
    held.into_iter().for_each(|piece| holdings.add(piece));
    for (number, step) in program.iter().enumerate() {
        for transfer in step.sends.iter().chain(&step.receives) {
            let peer = transfer.peer;
            if peer >= ranks || peer == position {
                return Err(Violation::NoPeer {
                    position,
                    step: number,
                    peer,
                });
            }
        }
        for send in &step.sends {
            if let Some(piece) = send.pieces.iter().find(|&piece| !holdings.have(piece)) {
                return Err(Violation::NotHeld {
                    position,
                    step: number,
                    to: send.peer,
                    piece: piece.clone(),
                });
            }
        }
        let received = step.receives.iter().flat_map(|receive| &receive.pieces);
        received.for_each(|piece| holdings.add(piece.clone()));
    }
    match wanted.iter().find(|&piece| !holdings.have(piece)) {
        None => Ok(()),
        Some(piece) => Err(Violation::NotDelivered {
            position,
            piece: piece.clone(),
        }),
    }
}

/// The pieces that a position holds, keyed by the first position that they reduce.
#[derive(Default)]
struct Holdings(BTreeMap<usize, Vec<Piece>>);

impl Holdings {
    fn add(&mut self, piece: Piece) {
        self.0.entry(piece.positions.start).or_default().push(piece);
    }

    fn have(&self, piece: &Piece) -> bool {
        piece.positions.is_empty()
            || self.have_in(&piece.positions, &piece.blocks)
            || piece.blocks.len() > 1
                && piece
                    .blocks
                    .clone()
                    .all(|block| self.have_in(&piece.positions, &(block..block + 1)))
    }

    fn have_in(&self, positions: &Range<usize>, blocks: &Range<usize>) -> bool {
        let longest = |start, end_max| {
            self.0
                .get(&start)?
                .iter()
                .filter(|held| held.positions.end <= end_max)
                .filter(|held| held.blocks.start <= blocks.start && blocks.end <= held.blocks.end)
                .map(|held| (held.positions.end, ()))
                .max()
        };
        tile(positions, longest).is_some()
    }
}

//! Bruck's global combine with n ports (paper 4, eq. 20 to 24, where the update of c is missing).
//!
//! ```text
//! p = 5, n = 1, position 0   holds
//! p - 1 = 100 in base n + 1  0
//! digit 1: from 1            0 1
//! digit 0: from 1            0 1 2          1's block without its own piece
//! digit 0: from 2            0 1 2 3 4      2's block without its own piece
//! ```
//!
//! There is a round for each digit a of p - 1 in base n + 1, the first digit first. A position that holds its own piece and those
//! of c others receives n blocks, which follow each other: a blocks of c + 1 positions, each from its first position, then n - a
//! blocks of c positions, each from the position before it, which leaves out its own piece. The position then holds the pieces of
//! c (n + 1) + a others. K = ceil(log_(n+1) p) rounds for every p; p (a + (K - 1) n) messages, a being the first digit.

use crate::vocabulary::{Piece, Step, Transfer};

/// The steps of an allreduce.
pub(crate) fn allreduce(
    ports: usize,
    ranks: usize,
    position: usize,
) -> impl Iterator<Item = Step> + use<> {
    let base = ports + 1;
    let mut places = Vec::new();
    let mut rest = ranks - 1;
    while rest > 0 {
        places.push(rest % base);
        rest /= base;
    }
    let held_before = std::iter::once(0).chain(places.clone().into_iter().rev().scan(
        0,
        move |held, digit| {
            *held = *held * base + digit;
            Some(*held)
        },
    ));
    places
        .into_iter()
        .rev()
        .zip(held_before)
        .map(move |(digit, held)| {
            // The distance to a block's sender, and whether the sender sends its own piece, too.
            let whole = (1..=digit).map(|i| (i * (held + 1), true));
            // In the first round, a block without its sender's own piece is empty.
            let others_count = if held > 0 { ports - digit } else { 0 };
            let others = (1..=others_count).map(|i| (digit * (held + 1) + i * held, false));
            let blocks: Vec<(usize, bool)> = whole.chain(others).collect();
            let sent = |from: usize, with_own: bool| {
                let own = usize::from(with_own);
                Piece::cyclic(ranks, from + 1 - own, held + own, 0..1)
            };
            Step {
                sends: blocks
                    .iter()
                    .map(|&(distance, with_own)| {
                        let to = (position + ranks - distance) % ranks;
                        Transfer::new(to, sent(position, with_own))
                    })
                    .collect(),
                receives: blocks
                    .iter()
                    .map(|&(distance, with_own)| {
                        let from = (position + distance) % ranks;
                        Transfer::new(from, sent(from, with_own))
                    })
                    .collect(),
            }
        })
}

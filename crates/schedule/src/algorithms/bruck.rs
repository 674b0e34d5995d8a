//! Bruck's global combine with n ports (paper 4, eq. 20 to 24, which lack the update of c).
//!
//! ```text
//! p = 5, n = 1, position 0   holds
//! p - 1 = 100 in base n + 1  0
//! digit 1: from 1            0 1
//! digit 0: from 1            0 1 2          1's block without its own piece
//! digit 0: from 2            0 1 2 3 4      2's block without its own piece
//! ```
//!
//! There is a round for each digit a of p - 1 in base n + 1, most significant digit first. A position that holds the pieces of c others
//! and its own receives n adjacent blocks of positions. Each of the first a blocks has c + 1 positions and comes from the first of these.
//! Each other block has c positions and comes from the position before the block, which leaves out its own piece. The receiver then holds
//! the pieces of c (n + 1) + a others. There are K = ceil(log_(n+1) p) rounds and p (d + (K - 1) n) messages; d is the first digit.

use std::iter;

use crate::vocabulary::{Piece, Step, Transfer};

/// The digits of p - 1 in base n + 1, least significant digit first.
pub(crate) fn digits(ports: usize, ranks: usize) -> Vec<usize> {
    let base = ports + 1;
    let rests = iter::successors(Some(ranks - 1), |rest| Some(rest / base));
    rests
        .take_while(|&rest| rest > 0)
        .map(|rest| rest % base)
        .collect()
}

/// The steps of an allreduce.
pub(crate) fn allreduce(
    ports: usize,
    ranks: usize,
    position: usize,
) -> impl Iterator<Item = Step> + use<> {
    let mut held_next = 0;
    digits(ports, ranks).into_iter().rev().map(move |digit| {
        let held = held_next;
        held_next = held * (ports + 1) + digit;
        // The distance to a block's sender, and whether the sender sends its own piece, too.
        let whole = (1..=digit).map(|i| (i * (held + 1), true));
        // In the first round, a block without its sender's own piece is empty.
        let others_count = if held > 0 { ports - digit } else { 0 };
        let others = (1..=others_count).map(|i| (digit * (held + 1) + i * held, false));
        let blocks = whole.chain(others);
        let sent = |from: usize, with_own: bool| {
            let own = usize::from(with_own);
            Piece::cyclic(ranks, from + 1 - own, held + own, 0..1)
        };
        let sends = blocks.clone().map(|(distance, with_own)| {
            let to = (position + ranks - distance) % ranks;
            Transfer::new(to, sent(position, with_own))
        });
        let receives = blocks.map(|(distance, with_own)| {
            let from = (position + distance) % ranks;
            Transfer::new(from, sent(from, with_own))
        });
        Step::new(sends, receives)
    })
}

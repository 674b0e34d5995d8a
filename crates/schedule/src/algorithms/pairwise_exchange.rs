//! Pairwise exchange with leftover ranks (paper 4).
//!
//! ```text
//! p = 6      before     round 1    round 2    after
//!            4 ─► 0     0 ◄► 1     0 ◄► 2     0 ─► 4
//!            5 ─► 1     2 ◄► 3     1 ◄► 3     1 ─► 5
//! ```
//!
//! The first 2^k positions, k = floor(log2 p), run recursive doubling. Each position r of the other q = p - 2^k sends its piece to
//! position r - 2^k before the rounds, and gets the result back after the rounds. This takes k rounds, plus 2 if q > 0 (the paper's
//! ceil(log2 p) + 2 should be floor(log2 p) + 2), and k 2^k + 2q messages.
//!
//! A message carries two ranges with a gap between them, so it has twice the values of a message of `recursive-doubling`.

use crate::vocabulary::{Piece, Step, Transfer};

/// The steps of an allreduce.
pub(crate) fn allreduce(ranks: usize, position: usize) -> impl Iterator<Item = Step> + use<> {
    let rounds_count = ranks.ilog2();
    let core = 1 << rounds_count;
    let leftover = ranks - core;
    let is_core = position < core;
    let rounds = is_core.then_some(0..rounds_count).into_iter().flatten();
    let rounds = rounds.map(move |round| {
        let peer = position ^ 1 << round;
        // The pieces of a group of 2^round positions, and those that others sent to the group before the rounds.
        let held = |member: usize| -> Vec<Piece> {
            let first = member >> round << round;
            let group = Piece::whole(first..first + (1 << round));
            let handed = first.min(leftover)..(first + (1 << round)).min(leftover);
            let behind = Piece::whole(core + handed.start..core + handed.end);
            [group, behind]
                .into_iter()
                .filter(|piece| !piece.positions.is_empty())
                .collect()
        };
        Step::exchange(
            Transfer::new(peer, held(position)),
            Transfer::new(peer, held(peer)),
        )
    });
    let own = |of: usize| [Piece::whole(of..of + 1)];
    let all = || [Piece::whole(0..ranks)];
    let (begin, end) = if !is_core {
        let peer = position - core;
        (
            Some(Step::send(Transfer::new(peer, own(position)))),
            Some(Step::receive(Transfer::new(peer, all()))),
        )
    } else if position < leftover {
        let peer = position + core;
        (
            Some(Step::receive(Transfer::new(peer, own(peer)))),
            Some(Step::send(Transfer::new(peer, all()))),
        )
    } else {
        (None, None)
    };
    begin.into_iter().chain(rounds).chain(end)
}

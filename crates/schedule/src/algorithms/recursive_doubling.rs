//! Recursive doubling and halving, nearest partner first (paper 3, section 3), and the doubling scan of Hillis and Steele.
//!
//! ```text
//! allreduce, p = 4           0  1  2  3
//! step 1, partner v xor 1    01 01 23 23
//! step 2, partner v xor 2    0123 on all
//!
//! scan, p = 4                0  1  2  3
//! step 1, from r - 1         0  01 12 23
//! step 2, from r - 2         0  01 012 0123
//! ```
//!
//! The nearest partner comes first because neighbours hold adjacent ranges, so that a message carries one range. With the
//! farthest partner first, a message would carry up to p/2 separate ranges.
//!
//! Let k = floor(log2 p) and q = p - 2^k. Each odd position below 2q sends its piece to its left neighbour before the rounds, and
//! gets the result from that neighbour after the rounds ([`Fold`]). This takes k rounds, plus 2 if q > 0, and k 2^k + 2q messages.

use std::iter;

use crate::vocabulary::{Fold, Piece, Step, Transfer};

/// The steps of an allreduce.
pub(crate) fn allreduce(ranks: usize, position: usize) -> impl Iterator<Item = Step> + use<> {
    let fold = Fold::new(ranks);
    let held = move |sender, _, round| vec![Piece::whole(fold.group(sender, round))];
    let begin = fold.fold_in(position, 0..1);
    let end = fold.fold_out(position, |_| Piece::whole(0..ranks));
    begin
        .into_iter()
        .chain(fold.rounds(position, held))
        .chain(end)
}

/// The steps of a reduce-scatter, by recursive halving.
pub(crate) fn reduce_scatter(ranks: usize, position: usize) -> impl Iterator<Item = Step> + use<> {
    let fold = Fold::new(ranks);
    let end = fold.fold_out(position, |right| Piece::reduced(ranks, right..right + 1));
    fold.halving(ranks, position).chain(end)
}

/// The steps of a scan, in ceil(log2 p) rounds. In each round a position sends all that it holds, including its own piece.
/// The receiver is twice as far to the right as in the round before.
pub(crate) fn scan(ranks: usize, position: usize) -> impl Iterator<Item = Step> + use<> {
    // Before the step of distance d, position r holds the reduction of positions r - d + 1 to r.
    let held = |position: usize, distance: usize| {
        Piece::whole((position + 1).saturating_sub(distance)..position + 1)
    };
    iter::successors(Some(1_usize), |distance| distance.checked_mul(2))
        .take_while(move |&distance| distance < ranks)
        .map(move |distance| {
            let right = Some(position + distance).filter(|&right| right < ranks);
            let left = position.checked_sub(distance);
            Step::new(
                right.map(|right| Transfer::new(right, [held(position, distance)])),
                left.map(|left| Transfer::new(left, [held(left, distance)])),
            )
        })
}

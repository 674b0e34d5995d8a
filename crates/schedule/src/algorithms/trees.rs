//! Complete binary and Fibonacci trees (paper 5).
//!
//! Positions are numbered in pre-order. A node receives from its first child, then from its second.
//!
//! ```text
//! fibonacci, p = 7 (F_3)      round 1     round 2     round 3
//!     0                       1 ◄─ 2      0 ◄─ 1      0 ◄─ 3
//!     ├─ 1 ── 2               3 ◄─ 4      3 ◄─ 5
//!     └─ 3                    5 ◄─ 6
//!        ├─ 4
//!        └─ 5 ── 6
//! ```
//!
//! A parent receives one message per round. In a Fibonacci tree the smaller subtree is reduced a round before the larger one, so
//! no position waits: p - 1 messages in i rounds, for the least i with fib(i + 3) > p. No other tree with two children per node
//! takes fewer rounds. The binary tree's subtrees are of equal size and take two rounds a level: at most 2 floor(log2 p) rounds.

use std::ops::Range;

use crate::vocabulary::{Piece, Place, Shape, Step, Transfer};

/// The steps of a reduce to `root`.
pub(crate) fn reduce(
    shape: Shape,
    ranks: usize,
    root: usize,
    position: usize,
) -> impl Iterator<Item = Step> + use<> {
    let place = Place::find(shape, ranks, (position + ranks - root) % ranks);
    let pieces =
        move |below: &Range<usize>| Piece::cyclic(ranks, below.start + root, below.len(), 0..1);
    let at = move |turned: usize| (turned + root) % ranks;
    let send = place
        .parent
        .map(|parent| Step::send(Transfer::new(at(parent), pieces(&place.own))));
    let receives = place
        .children()
        .map(move |child| Step::receive(Transfer::new(at(child.start), pieces(&child))));
    receives.chain(send)
}

/// The steps of a broadcast from `root`; the second child is served first, because its subtree is deeper.
pub(crate) fn broadcast(
    shape: Shape,
    ranks: usize,
    root: usize,
    position: usize,
) -> impl Iterator<Item = Step> + use<> {
    let place = Place::find(shape, ranks, (position + ranks - root) % ranks);
    let all = move |turned: usize| Transfer::new((turned + root) % ranks, [Piece::whole(0..ranks)]);
    let receive = place.parent.map(|parent| Step::receive(all(parent)));
    let sends = place
        .children()
        .rev()
        .map(move |child| Step::send(all(child.start)));
    receive.into_iter().chain(sends)
}

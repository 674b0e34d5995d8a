//! The binomial tree (paper 5's B_i; paper 4's spanning tree).
//!
//! ```text
//! p = 8, root 0     step 1       step 2       step 3
//!                   0 ◄─ 1       0 ◄─── 2     0 ◄─────── 4
//!                   2 ◄─ 3
//!                   4 ◄─ 5       4 ◄─── 6
//!                   6 ◄─ 7
//! ```
//!
//! A reduce to any root and a broadcast from any take ceil(log2 p) rounds and p - 1 messages. Positions are counted from the
//! root, cyclically; where a subtree wraps around from position p - 1 to 0, a message carries two ranges.

use std::ops::Range;

use crate::vocabulary::{Piece, Step, Transfer};

/// One position's place in the tree.
#[derive(Clone, Copy)]
struct Place {
    ranks: usize,
    root: usize,
    /// The position, counted from the root.
    turned: usize,
}

impl Place {
    fn new(ranks: usize, root: usize, position: usize) -> Self {
        Self {
            ranks,
            root,
            turned: (position + ranks - root) % ranks,
        }
    }

    /// The position that is `turned` after the root.
    fn at(self, turned: usize) -> usize {
        (turned + self.root) % self.ranks
    }

    fn parent(self) -> Option<usize> {
        let turned = self.turned;
        (turned > 0).then(|| self.at(turned & (turned - 1)))
    }

    /// The children, counted from the root, in the order of a reduce: the child of step k lies 2^k after this position.
    fn children(self) -> impl DoubleEndedIterator<Item = usize> {
        let steps_count = match self.turned {
            0 => usize::BITS - 1,
            turned => turned.trailing_zeros(),
        };
        (0..steps_count)
            .map(move |k| self.turned + (1 << k))
            .filter(move |&child| child < self.ranks)
    }

    /// The subtree of `turned`; all counted from the root.
    fn span(self, turned: usize) -> Range<usize> {
        let size = match turned {
            0 => self.ranks,
            _ => 1 << turned.trailing_zeros(),
        };
        turned..(turned + size).min(self.ranks)
    }

    /// The reduction of the subtree of `turned`: one range, or two where it wraps around.
    fn pieces(self, turned: usize) -> Vec<Piece> {
        let span = self.span(turned);
        Piece::cyclic(self.ranks, span.start + self.root, span.len(), 0..1)
    }
}

/// The reduction of all to the root.
pub(crate) fn reduce(
    ranks: usize,
    root: usize,
    position: usize,
) -> impl Iterator<Item = Step> + use<> {
    let place = Place::new(ranks, root, position);
    let receives = place
        .children()
        .map(move |child| Step::receive(Transfer::new(place.at(child), place.pieces(child))));
    let send = place
        .parent()
        .map(|parent| Step::send(Transfer::new(parent, place.pieces(place.turned))));
    receives.chain(send)
}

/// The root's row to all.
pub(crate) fn broadcast(
    ranks: usize,
    root: usize,
    position: usize,
) -> impl Iterator<Item = Step> + use<> {
    let place = Place::new(ranks, root, position);
    let all = move |peer| Transfer::new(peer, [Piece::whole(0..ranks)]);
    let receive = place.parent().map(move |parent| Step::receive(all(parent)));
    let sends = place
        .children()
        .rev()
        .map(move |child| Step::send(all(place.at(child))));
    receive.into_iter().chain(sends)
}

/// The blocks of the reduction from position 0 to their positions; a child gets the blocks of its whole subtree.
pub(crate) fn scatter(ranks: usize, position: usize) -> impl Iterator<Item = Step> + use<> {
    let place = Place::new(ranks, 0, position);
    let blocks_below = move |peer, child| {
        let blocks = place.span(child);
        Transfer::new(
            peer,
            [Piece {
                positions: 0..ranks,
                blocks,
            }],
        )
    };
    let receive = place
        .parent()
        .map(move |parent| Step::receive(blocks_below(parent, position)));
    let sends = place
        .children()
        .rev()
        .map(move |child| Step::send(blocks_below(child, child)));
    receive.into_iter().chain(sends)
}

//! Pipelines along trees (paper 2): a row goes up block by block, and comes down the same way.
//!
//! A chain is a tree whose nodes have one child, so one description serves both. Pipelined, the whole row is reduced and then
//! broadcast; doubly pipelined, block j comes down while block j + d + 1 goes up, d being the depth:
//!
//! ```text
//! chain of 3, B = 2       doubly pipelined: position 1 (depth 1)
//!   0 ◄► 1 ◄► 2           with 2: ◄ up 0             with 0: up 0 ►
//!                         with 2: ◄ up 1             with 0: up 1 ►, down 0 ◄
//!                         with 2: down 0 ►           with 0: down 1 ◄
//!                         with 2: down 1 ►
//! ```
//!
//! Rounds, with h = ceil(log2(p + 1)): linear 2(p + B - 2), linear doubly 2p - 3 + 2B, binary at most 4(h - 1) + 4(B - 1), binary doubly at most
//! 4h - 3 + 3(B - 1), dual root at most 4 ceil(log2(p + 2)) - 7 + 3(B - 1); 2B(p - 1) messages each. The
//! paper's programs have no send beside a receive, and one of them stores what it should combine; the formulas are those of a
//! model, to which the tests hold this module.

use std::ops::Range;

use crate::cyclic;
use crate::model::{Piece, Step, Transfer};
use crate::reversed::reversed;
use crate::trees::{Place, Shape};

/// The reduction of all to the root, block by block.
pub(crate) fn reduce(
    shape: Shape,
    ranks: usize,
    root: usize,
    rank: usize,
    blocks: usize,
) -> impl DoubleEndedIterator<Item = Step> + use<> {
    let place = Place::find(shape, ranks, (rank + ranks - root) % ranks);
    let transfer = move |peer: usize, below: &Range<usize>, block: usize| {
        let pieces = cyclic::pieces(ranks, below.start + root, below.len(), block..block + 1);
        Transfer::new((peer + root) % ranks, pieces)
    };
    // A step for each child and block; a leaf has one for each block. The last block's way up comes behind.
    let children_count = place.children().count();
    let steps_count = match (children_count, place.parent) {
        (0, None) => 0,
        (0, Some(_)) => blocks,
        (children, parent) => blocks * children + usize::from(parent.is_some()),
    };
    (0..steps_count).map(move |step| {
        let up = |block: usize| {
            let parent = place.parent;
            parent.map(|parent| transfer(parent, &place.own, block))
        };
        if children_count == 0 {
            return exchange(up(step), None);
        }
        let (block, index) = (step / children_count, step % children_count);
        // A block goes on while the first child sends the next.
        let send = match (index, block.checked_sub(1)) {
            (0, Some(before)) => up(before),
            _ => None,
        };
        let child = place.children().nth(index).filter(|_| block < blocks);
        exchange(
            send,
            child.map(|child| transfer(child.start, &child, block)),
        )
    })
}

/// The root's row to all, block by block: the reduction, backwards.
pub(crate) fn broadcast(
    shape: Shape,
    ranks: usize,
    root: usize,
    rank: usize,
    blocks: usize,
) -> impl Iterator<Item = Step> + use<> {
    reversed(reduce(shape, ranks, root, rank, blocks), ranks, blocks)
}

/// The reduction of all to all, up and down at once.
pub(crate) fn doubly(
    shape: Shape,
    ranks: usize,
    rank: usize,
    blocks: usize,
) -> impl Iterator<Item = Step> + use<> {
    both_ways(shape, 0..ranks, None, ranks, rank, blocks)
}

/// Träff's dual root: each half of the positions is a tree, and the roots exchange what they have.
pub(crate) fn dual_root(
    ranks: usize,
    rank: usize,
    blocks: usize,
) -> impl Iterator<Item = Step> + use<> {
    let middle = ranks / 2;
    let (own, other) = if rank < middle {
        (0..middle, middle..ranks)
    } else {
        (middle..ranks, 0..middle)
    };
    let other = (!other.is_empty()).then_some(other);
    both_ways(Shape::Binary, own, other, ranks, rank, blocks)
}

/// A tree over `tree`, whose root meets that of the tree over `other`, if there is one, as others meet their parents.
fn both_ways(
    shape: Shape,
    tree: Range<usize>,
    other: Option<Range<usize>>,
    ranks: usize,
    rank: usize,
    blocks: usize,
) -> impl Iterator<Item = Step> + use<> {
    let place = Place::find(shape, tree.len(), rank - tree.start);
    let transfer = move |peer: usize, ranks: Range<usize>, block: Option<usize>| {
        let block = block.filter(|&block| block < blocks)?;
        let piece = Piece {
            ranks,
            blocks: block..block + 1,
        };
        Some(Transfer::new(peer, [piece]))
    };
    // Between the last block up and the first one down, nothing happens here.
    let down_from = blocks.max(place.depth);
    let times = (0..blocks).chain(down_from..=blocks + place.depth);
    let steps = times.flat_map(move |up| {
        let at = |below: &Range<usize>| below.start + tree.start..below.end + tree.start;
        let children = place.children().map(|child| {
            let down = up.checked_sub(place.depth + 1);
            let below = at(&child);
            let peer = below.start;
            exchange(
                transfer(peer, 0..ranks, down),
                transfer(peer, below, Some(up)),
            )
        });
        let above = match (place.parent, &other) {
            (Some(parent), _) => {
                let peer = parent + tree.start;
                let down = up.checked_sub(place.depth);
                Some(exchange(
                    transfer(peer, at(&place.own), Some(up)),
                    transfer(peer, 0..ranks, down),
                ))
            }
            (None, Some(other)) => Some(exchange(
                transfer(other.start, tree.clone(), Some(up)),
                transfer(other.start, other.clone(), Some(up)),
            )),
            (None, None) => None,
        };
        let met: Vec<Step> = children.chain(above).collect();
        met
    });
    steps.filter(|step| !step.sends.is_empty() || !step.receives.is_empty())
}

fn exchange(send: Option<Transfer>, receive: Option<Transfer>) -> Step {
    Step {
        sends: send.into_iter().collect(),
        receives: receive.into_iter().collect(),
    }
}

//! Pipelines along trees (paper 2): a row goes up block by block, and comes down the same way.
//!
//! A chain is a tree whose nodes have one child. A pipelined allreduce reduces the whole row, then broadcasts it. A doubly
//! pipelined allreduce does both at once; a node of depth d runs
//!
//! ```text
//! for t in 0..=B + d:
//!     with each child:   send result[t - d - 1], receive its partial[t]
//!     with the parent:   send partial[t],        receive result[t - d]
//! ```
//!
//! and skips blocks outside 0..B. The idea is that links carry messages both ways at once, so block t goes up while an
//! earlier block, already reduced, comes down the same link.
//!
//! - The delay is the depth. The root has result[j] at time j and sends it at time j + 1; each level below takes one step more. A
//!   node of depth d therefore receives result[j] at time j + d, and both ends of a link compute from t which blocks they exchange.
//! - A node has one step for each child, then one for its parent. What it sends up at time t contains what its children sent at
//!   time t. What it sends down at time t came from its parent at time t - 1.
//! - In `dual-root`, each half of the positions is a tree. Both roots have depth 0; they exchange partial[t] at time t, as other
//!   nodes do with their parents. Each root then holds both pieces of result[t]. Two trees of half the size are less deep.
//!
//! ```text
//! chain of 3, B = 2       doubly pipelined: position 1 (depth 1)
//!   0 ◄► 1 ◄► 2           with 2: ◄ up 0             with 0: up 0 ►
//!                         with 2: ◄ up 1             with 0: up 1 ►, down 0 ◄
//!                         with 2: down 0 ►           with 0: down 1 ◄
//!                         with 2: down 1 ►
//! ```
//!
//! Rounds of an allreduce of B blocks, with h = ceil(log2(p + 1)):
//!
//! - linear: 2(p + B - 2); linear doubly: 2p - 3 + 2B;
//! - binary: at most 4(h - 1) + 4(B - 1); binary doubly: at most 4h - 3 + 3(B - 1);
//! - dual root: at most 4 ceil(log2(p + 2)) - 7 + 3(B - 1).
//!
//! Each allreduce takes 2B(p - 1) messages. The formulas, which tests check, are those of the paper's model: a send and a receive
//! overlap. They do not overlap in the programs that the paper prints; one of these stores a block that it should combine.

use std::ops::Range;

use crate::vocabulary::{Piece, Place, Shape, Step, Transfer};

/// The steps of a reduce to `root`, block by block. A whole row may be one block.
pub(crate) fn reduce(
    shape: Shape,
    ranks: usize,
    root: usize,
    position: usize,
    blocks: usize,
) -> impl DoubleEndedIterator<Item = Step> + use<> {
    let place = Place::find(shape, ranks, (position + ranks - root) % ranks);
    let transfer = move |peer: usize, below: &Range<usize>, block: usize| {
        let pieces = Piece::cyclic(ranks, below.start + root, below.len(), block..block + 1);
        Transfer::new((peer + root) % ranks, pieces)
    };
    // There is a step for each child and block, and one to send the last block up; a leaf has one step for each block.
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
            return Step::new(up(step), None);
        }
        let (block, index) = (step / children_count, step % children_count);
        // A block is sent up while the first child sends the next block.
        let send = match (index, block.checked_sub(1)) {
            (0, Some(before)) => up(before),
            _ => None,
        };
        let child = place.children().nth(index).filter(|_| block < blocks);
        Step::new(
            send,
            child.map(|child| transfer(child.start, &child, block)),
        )
    })
}

/// The steps of an allreduce that sends blocks up and down at once.
pub(crate) fn doubly(
    shape: Shape,
    ranks: usize,
    position: usize,
    blocks: usize,
) -> impl Iterator<Item = Step> + use<> {
    both_ways(shape, 0..ranks, None, ranks, position, blocks)
}

/// The steps of an allreduce by Träff's dual root: each half of the positions is a tree, and the two roots exchange blocks.
pub(crate) fn dual_root(
    ranks: usize,
    position: usize,
    blocks: usize,
) -> impl Iterator<Item = Step> + use<> {
    let middle = ranks / 2;
    let (own, other) = if position < middle {
        (0..middle, middle..ranks)
    } else {
        (middle..ranks, 0..middle)
    };
    let other = (!other.is_empty()).then_some(other);
    both_ways(Shape::Binary, own, other, ranks, position, blocks)
}

/// The steps of an allreduce in a tree over the positions `tree`. If there is an `other` tree, the two roots exchange blocks, as
/// other nodes do with their parents.
fn both_ways(
    shape: Shape,
    tree: Range<usize>,
    other: Option<Range<usize>>,
    ranks: usize,
    position: usize,
    blocks: usize,
) -> impl Iterator<Item = Step> + use<> {
    let place = Place::find(shape, tree.len(), position - tree.start);
    let transfer = move |peer: usize, positions: Range<usize>, block: Option<usize>| {
        let block = block.filter(|&block| block < blocks)?;
        let piece = Piece {
            positions,
            blocks: block..block + 1,
        };
        Some(Transfer::new(peer, [piece]))
    };
    // A deep node has nothing to do between sending its last block up and receiving its first block.
    let down_from = blocks.max(place.depth);
    let times = (0..blocks).chain(down_from..=blocks + place.depth);
    let steps = times.flat_map(move |up| {
        let at = |below: &Range<usize>| below.start + tree.start..below.end + tree.start;
        let children = place.children().map(|child| {
            let down = up.checked_sub(place.depth + 1);
            let below = at(&child);
            let peer = below.start;
            Step::new(
                transfer(peer, 0..ranks, down),
                transfer(peer, below, Some(up)),
            )
        });
        let above = match (place.parent, &other) {
            (Some(parent), _) => {
                let peer = parent + tree.start;
                let down = up.checked_sub(place.depth);
                Some(Step::new(
                    transfer(peer, at(&place.own), Some(up)),
                    transfer(peer, 0..ranks, down),
                ))
            }
            (None, Some(other)) => Some(Step::new(
                transfer(other.start, tree.clone(), Some(up)),
                transfer(other.start, other.clone(), Some(up)),
            )),
            (None, None) => None,
        };
        let met: Vec<Step> = children.chain(above).collect();
        met
    });
    steps.filter(|step| !step.is_empty())
}

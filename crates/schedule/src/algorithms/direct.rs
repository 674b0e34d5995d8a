//! The direct algorithm: every position sends its piece to each position that needs it, in one step.
//!
//! ```text
//! reduce, p = 4          0 ◄─┬─ 1
//!                            ├─ 2
//!                            └─ 3
//! ```
//!
//! This takes one round. A reduce or a broadcast takes p - 1 messages, an allreduce or a reduce-scatter p(p - 1), and a scan
//! p(p - 1)/2. No other algorithm is faster on a handful of ranks.

use std::iter;
use std::ops::Range;

use crate::vocabulary::{Collective, Piece, Step, Transfer};

/// A position's only step.
pub(crate) fn steps(
    collective: Collective,
    ranks: usize,
    position: usize,
) -> impl Iterator<Item = Step> + use<> {
    let (all, none) = (0..ranks, 0..0);
    let (to, from) = match collective {
        Collective::Reduce { root } if root == position => (none, all),
        Collective::Reduce { root } => (root..root + 1, none),
        Collective::Allreduce | Collective::ReduceScatter => (all.clone(), all),
        Collective::Scan => (position + 1..ranks, 0..position),
        Collective::Broadcast { root } if root == position => (all, none),
        Collective::Broadcast { root } => (none, root..root + 1),
    };
    let piece = |sender: usize, receiver: usize| match collective {
        Collective::Broadcast { .. } => Piece::whole(0..ranks),
        Collective::ReduceScatter => Piece {
            positions: sender..sender + 1,
            blocks: receiver..receiver + 1,
        },
        _ => Piece::whole(sender..sender + 1),
    };
    let others = |peers: Range<usize>| peers.filter(|&peer| peer != position);
    iter::once(Step::new(
        others(to).map(|to| Transfer::new(to, [piece(position, to)])),
        others(from).map(|from| Transfer::new(from, [piece(from, position)])),
    ))
}

//! Every position sends its piece to each position that needs it, in one step.
//!
//! ```text
//! reduce, p = 4          0 ◄─┬─ 1
//!                            ├─ 2
//!                            └─ 3
//! ```
//!
//! One round; p - 1 messages for a reduce or a broadcast, p(p - 1) for an allreduce or a reduce-scatter, p(p - 1)/2 for a
//! scan. No other algorithm is faster on a handful of ranks.

use std::iter;

use crate::vocabulary::{Collective, Piece, Step, Transfer};

/// A position's only step.
pub(crate) fn steps(
    collective: Collective,
    ranks: usize,
    position: usize,
) -> impl Iterator<Item = Step> + use<> {
    let own = |peer| Transfer::new(peer, [Piece::whole(position..position + 1)]);
    let others = |peer: usize| Transfer::new(peer, [Piece::whole(peer..peer + 1)]);
    let all = |peer: usize| Transfer::new(peer, [Piece::whole(0..ranks)]);
    let peers = (0..ranks).filter(|&peer| peer != position);
    let step = match collective {
        Collective::Reduce { root } if root == position => Step {
            sends: Vec::new(),
            receives: peers.map(others).collect(),
        },
        Collective::Reduce { root } => Step::send(own(root)),
        Collective::Allreduce => Step {
            sends: peers.clone().map(own).collect(),
            receives: peers.map(others).collect(),
        },
        Collective::ReduceScatter => {
            let piece = |of: usize, block: usize| Piece {
                positions: of..of + 1,
                blocks: block..block + 1,
            };
            Step {
                sends: peers
                    .clone()
                    .map(|peer| Transfer::new(peer, [piece(position, peer)]))
                    .collect(),
                receives: peers
                    .map(|peer| Transfer::new(peer, [piece(peer, position)]))
                    .collect(),
            }
        }
        Collective::Scan => Step {
            sends: (position + 1..ranks).map(own).collect(),
            receives: (0..position).map(others).collect(),
        },
        Collective::Broadcast { root } if root == position => Step {
            sends: peers.map(all).collect(),
            receives: Vec::new(),
        },
        Collective::Broadcast { root } => Step::receive(all(root)),
    };
    iter::once(step)
}

//! Recursive doubling and halving, nearest partner first, and the doubling scan (paper 3, section 3; Hillis and
//! Steele for the scan).
//!
//! ```text
//! allreduce, p = 4           0  1  2  3
//! step 1, partner v xor 1    01 01 23 23
//! step 2, partner v xor 2    0123 on all
//! ```
//!
//! Nearest first, because then partners hold neighbouring ranges, and pieces stay whole: farthest first would leave up to
//! p/2 separate ranges a message. With k = floor(log2 p) and q = p - 2^k leftover positions, the first q odd ones of the
//! 2q lowest send theirs to their left neighbour beforehand, and get the result back: k rounds, and 2 more if q > 0;
//! k 2^k + 2q messages.

use std::iter;
use std::ops::Range;

use crate::model::{Piece, Step, Transfer};

/// p positions as 2^k virtual ones: the first q stand for two each.
#[derive(Clone, Copy)]
struct Fold {
    rounds: u32,
    leftover: usize,
}

impl Fold {
    fn new(ranks: usize) -> Self {
        let rounds = ranks.ilog2();
        Self {
            rounds,
            leftover: ranks - (1 << rounds),
        }
    }

    /// The first position of a virtual one; of 2^k, p.
    fn start(self, virtual_rank: usize) -> usize {
        virtual_rank + virtual_rank.min(self.leftover)
    }

    /// The positions of virtual ones.
    fn positions(self, virtual_ranks: Range<usize>) -> Range<usize> {
        self.start(virtual_ranks.start)..self.start(virtual_ranks.end)
    }

    /// The virtual rank that a position acts for; `None` for one that has passed its own to the left.
    fn actor(self, rank: usize) -> Option<usize> {
        if rank >= 2 * self.leftover {
            Some(rank - self.leftover)
        } else {
            rank.is_multiple_of(2).then_some(rank / 2)
        }
    }

    /// Whether a position acts for its right neighbour, too.
    fn acts_for_two(self, rank: usize) -> bool {
        rank < 2 * self.leftover && rank.is_multiple_of(2)
    }

    /// The step before the rounds: of those of the lowest 2q, to the left.
    fn fold_in(self, rank: usize, blocks: Range<usize>) -> Option<Step> {
        let piece = |of: usize| Piece {
            ranks: of..of + 1,
            blocks: blocks.clone(),
        };
        if self.actor(rank).is_none() {
            Some(Step::send(Transfer::new(rank - 1, [piece(rank)])))
        } else if self.acts_for_two(rank) {
            Some(Step::receive(Transfer::new(rank + 1, [piece(rank + 1)])))
        } else {
            None
        }
    }

    /// The step after the rounds: of those of the lowest 2q, to the right.
    fn fold_out(self, rank: usize, piece: Piece) -> Option<Step> {
        if self.actor(rank).is_none() {
            Some(Step::receive(Transfer::new(rank - 1, [piece])))
        } else if self.acts_for_two(rank) {
            Some(Step::send(Transfer::new(rank + 1, [piece])))
        } else {
            None
        }
    }

    /// The rounds that leave every virtual rank with its own blocks, reduced.
    ///
    /// Partners are near first, so the blocks that a virtual rank keeps are those whose number ends in the same bits as its
    /// own: its last one is its own.
    fn halving(self, ranks: usize, rank: usize) -> impl Iterator<Item = Step> + use<> {
        let rounds = self.actor(rank).map(|own| {
            (0..self.rounds).map(move |round| {
                let partner = own ^ 1 << round;
                let pieces = |holder: usize, target: usize| {
                    let first = holder >> round << round;
                    let held = self.positions(first..first + (1 << round));
                    self.blocks_of(target, round, &held)
                };
                let peer = self.start(partner);
                Step::exchange(
                    Transfer::new(peer, pieces(own, partner)),
                    Transfer::new(peer, pieces(partner, own)),
                )
            })
        });
        let begin = self.fold_in(rank, 0..ranks);
        begin.into_iter().chain(rounds.into_iter().flatten())
    }

    /// The blocks of the virtual ranks that agree with `target` in the bits up to this round's, reduced over `held`.
    fn blocks_of(self, target: usize, round: u32, held: &Range<usize>) -> Vec<Piece> {
        let stride = 2 << round;
        (target % stride..1 << self.rounds)
            .step_by(stride)
            .map(|owner| Piece {
                ranks: held.clone(),
                blocks: self.positions(owner..owner + 1),
            })
            .collect()
    }

    /// What a virtual rank has on the way back before this round: whole blocks.
    fn gathered(self, ranks: usize, holder: usize, round: u32) -> Vec<Piece> {
        self.blocks_of(holder, round, &(0..ranks))
    }
}

/// The reduction of all to all.
pub(crate) fn allreduce(ranks: usize, rank: usize) -> impl Iterator<Item = Step> + use<> {
    let fold = Fold::new(ranks);
    let rounds = fold.actor(rank).map(|own| {
        (0..fold.rounds).map(move |round| {
            let partner = own ^ 1 << round;
            // What a virtual rank holds before this round: its group of 2^round.
            let group = |member: usize| {
                let first = member >> round << round;
                Piece::whole(fold.positions(first..first + (1 << round)))
            };
            let peer = fold.start(partner);
            Step::exchange(
                Transfer::new(peer, [group(own)]),
                Transfer::new(peer, [group(partner)]),
            )
        })
    });
    let begin = fold.fold_in(rank, 0..1);
    let end = fold.fold_out(rank, Piece::whole(0..ranks));
    begin
        .into_iter()
        .chain(rounds.into_iter().flatten())
        .chain(end)
}

/// The reduction of all, block b to position b, by recursive halving of the blocks.
pub(crate) fn reduce_scatter(ranks: usize, rank: usize) -> impl Iterator<Item = Step> + use<> {
    let fold = Fold::new(ranks);
    // The right neighbour's block, whichever of the two this is.
    let right = if fold.acts_for_two(rank) {
        rank + 1
    } else {
        rank
    };
    let end = fold.fold_out(
        rank,
        Piece {
            ranks: 0..ranks,
            blocks: right..right + 1,
        },
    );
    fold.halving(ranks, rank).chain(end)
}

/// Rabenseifner's allreduce: a reduce-scatter, and the same way back. 2k rounds, and 2 more if q > 0; 2k 2^k + 2q messages, and twice a
/// row to move.
pub(crate) fn rabenseifner(ranks: usize, rank: usize) -> impl Iterator<Item = Step> + use<> {
    let fold = Fold::new(ranks);
    let back = fold.actor(rank).map(|own| {
        (0..fold.rounds).rev().map(move |round| {
            let peer = fold.start(own ^ 1 << round);
            Step::exchange(
                Transfer::new(peer, fold.gathered(ranks, own, round)),
                Transfer::new(peer, fold.gathered(ranks, own ^ 1 << round, round)),
            )
        })
    });
    let all = Piece {
        ranks: 0..ranks,
        blocks: 0..ranks,
    };
    fold.halving(ranks, rank)
        .chain(back.into_iter().flatten())
        .chain(fold.fold_out(rank, all))
}

/// A reduce by reduce-scatter and a binomial gather of the blocks: 2k rounds, and 1 more if q > 0; k 2^k + 2^k - 1 + q messages. A root
/// that has passed its own to the left gets the row from there, in one more.
pub(crate) fn reduce_scatter_gather(
    ranks: usize,
    root: usize,
    rank: usize,
) -> impl Iterator<Item = Step> + use<> {
    let fold = Fold::new(ranks);
    let root_actor = if root < 2 * fold.leftover {
        root / 2
    } else {
        root - fold.leftover
    };
    let gather = fold.actor(rank).map(|own| {
        // Counted from the root's actor, so that those go first who are farthest.
        let turned = own ^ root_actor;
        (0..fold.rounds).rev().filter_map(move |round| {
            if turned >> round > 1 {
                return None;
            }
            let peer = fold.start(own ^ 1 << round);
            Some(if turned >> round == 1 {
                Step::send(Transfer::new(peer, fold.gathered(ranks, own, round)))
            } else {
                let pieces = fold.gathered(ranks, own ^ 1 << round, round);
                Step::receive(Transfer::new(peer, pieces))
            })
        })
    });
    let all = [Piece {
        ranks: 0..ranks,
        blocks: 0..ranks,
    }];
    let is_passed_on = fold.actor(root).is_none();
    let end = if is_passed_on && rank == root {
        Some(Step::receive(Transfer::new(root - 1, all)))
    } else if is_passed_on && rank + 1 == root {
        Some(Step::send(Transfer::new(root, all)))
    } else {
        None
    };
    fold.halving(ranks, rank)
        .chain(gather.into_iter().flatten())
        .chain(end)
}

/// The reduction of 0..r to position r: first everyone's own to the right neighbour, then what was received and held, twice
/// as far each time. ceil(log2 p) rounds for p > 2, as a position passes on what it has with its own.
pub(crate) fn scan(ranks: usize, rank: usize) -> impl Iterator<Item = Step> + use<> {
    // What position r holds before the step of distance d: r - d + 1 to r.
    let held = |position: usize, distance: usize| {
        Piece::whole((position + 1).saturating_sub(distance)..position + 1)
    };
    iter::successors(Some(1_usize), |distance| distance.checked_mul(2))
        .take_while(move |&distance| distance < ranks)
        .map(move |distance| Step {
            sends: (rank + distance < ranks)
                .then(|| Transfer::new(rank + distance, [held(rank, distance)]))
                .into_iter()
                .collect(),
            receives: rank
                .checked_sub(distance)
                .map(|peer| Transfer::new(peer, [held(peer, distance)]))
                .into_iter()
                .collect(),
        })
}

//! Maps any number of positions to a power of two of virtual ranks, for algorithms whose rounds halve or double.

use std::ops::Range;

use super::piece::Piece;
use super::step::{Step, Transfer};

/// p positions as 2^k virtual ranks, k = floor(log2 p): each of the first q = p - 2^k virtual ranks stands for two positions.
///
/// The left one of the two acts for both. The right one sends it its own piece before the rounds, and gets the result back
/// after them.
#[derive(Clone, Copy)]
pub(crate) struct Fold {
    /// k, the number of rounds.
    pub(crate) rounds: u32,
    /// q, the number of virtual ranks that stand for two positions.
    leftover: usize,
}

impl Fold {
    pub(crate) fn new(ranks: usize) -> Self {
        let rounds = ranks.ilog2();
        Self {
            rounds,
            leftover: ranks - (1 << rounds),
        }
    }

    /// The first position of a virtual rank; p for the virtual rank 2^k.
    pub(crate) fn start(self, virtual_rank: usize) -> usize {
        virtual_rank + virtual_rank.min(self.leftover)
    }

    /// The positions of a range of virtual ranks.
    pub(crate) fn positions(self, virtual_ranks: Range<usize>) -> Range<usize> {
        self.start(virtual_ranks.start)..self.start(virtual_ranks.end)
    }

    /// The virtual rank that a position belongs to, whether the position or its left neighbour acts for it.
    pub(crate) fn virtual_rank(self, position: usize) -> usize {
        if position < 2 * self.leftover {
            position / 2
        } else {
            position - self.leftover
        }
    }

    /// The virtual rank that a position acts for; `None` if its left neighbour acts for it.
    pub(crate) fn actor(self, position: usize) -> Option<usize> {
        let is_passive = position < 2 * self.leftover && !position.is_multiple_of(2);
        (!is_passive).then(|| self.virtual_rank(position))
    }

    /// Whether a position acts for its right neighbour, too.
    pub(crate) fn acts_for_two(self, position: usize) -> bool {
        position < 2 * self.leftover && position.is_multiple_of(2)
    }

    /// The step before the rounds: the right one of two positions sends its own piece to the left one.
    pub(crate) fn fold_in(self, position: usize, blocks: Range<usize>) -> Option<Step> {
        let piece = |of: usize| Piece {
            positions: of..of + 1,
            blocks: blocks.clone(),
        };
        if self.actor(position).is_none() {
            Some(Step::send(Transfer::new(position - 1, [piece(position)])))
        } else if self.acts_for_two(position) {
            Some(Step::receive(Transfer::new(
                position + 1,
                [piece(position + 1)],
            )))
        } else {
            None
        }
    }

    /// The step after the rounds: the left one of two positions sends `piece` to the right one.
    pub(crate) fn fold_out(self, position: usize, piece: Piece) -> Option<Step> {
        if self.actor(position).is_none() {
            Some(Step::receive(Transfer::new(position - 1, [piece])))
        } else if self.acts_for_two(position) {
            Some(Step::send(Transfer::new(position + 1, [piece])))
        } else {
            None
        }
    }

    /// The steps of recursive halving. Afterwards every virtual rank holds the reduction of all positions, in the blocks of its
    /// own one or two positions.
    ///
    /// Near partners come first, so after round l a virtual rank keeps the blocks of those virtual ranks whose numbers agree
    /// with its own in the lowest l + 1 bits. After the last round only its own blocks are left.
    pub(crate) fn halving(
        self,
        ranks: usize,
        position: usize,
    ) -> impl Iterator<Item = Step> + use<> {
        let rounds = self.actor(position).map(|own| {
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
        let begin = self.fold_in(position, 0..ranks);
        begin.into_iter().chain(rounds.into_iter().flatten())
    }

    /// The fully reduced blocks that `holder` has when a gather, which runs the halving's rounds backwards, comes to `round`.
    pub(crate) fn gathered(self, ranks: usize, holder: usize, round: u32) -> Vec<Piece> {
        self.blocks_of(holder, round, &(0..ranks))
    }

    /// The reduction over positions `held`, in the blocks of all virtual ranks that agree with `target` in the lowest
    /// `round` + 1 bits.
    fn blocks_of(self, target: usize, round: u32, held: &Range<usize>) -> Vec<Piece> {
        let stride = 2 << round;
        (target % stride..1 << self.rounds)
            .step_by(stride)
            .map(|owner| Piece {
                positions: held.clone(),
                blocks: self.positions(owner..owner + 1),
            })
            .collect()
    }
}

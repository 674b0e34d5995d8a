//! Maps any number of positions to a power of two of virtual ranks, for algorithms whose rounds halve or double.

use std::ops::Range;

use super::piece::Piece;
use super::step::{Step, Transfer};

/// p positions as 2^k virtual ranks, k = floor(log2 p): each of the first q = p - 2^k virtual ranks stands for two positions.
///
/// The left position acts for both. The right position sends its own piece to the left one before the rounds, and gets the
/// result from the left one after the rounds.
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

    /// The step before the rounds: the right position of two sends its own piece to the left one.
    pub(crate) fn fold_in(self, position: usize, blocks: Range<usize>) -> Option<Step> {
        self.between_two(position, Step::send, Step::receive, |right| Piece {
            positions: right..right + 1,
            blocks,
        })
    }

    /// The step after the rounds: the left position of two sends `piece(right)` to the right one.
    pub(crate) fn fold_out(
        self,
        position: usize,
        piece: impl FnOnce(usize) -> Piece,
    ) -> Option<Step> {
        self.between_two(position, Step::receive, Step::send, piece)
    }

    /// The step of one of a virtual rank's two positions, before or after the rounds.
    fn between_two(
        self,
        position: usize,
        of_right: fn(Transfer) -> Step,
        of_left: fn(Transfer) -> Step,
        piece: impl FnOnce(usize) -> Piece,
    ) -> Option<Step> {
        if self.actor(position).is_none() {
            return Some(of_right(Transfer::new(position - 1, [piece(position)])));
        }
        let right = position + 1;
        let is_left = position < 2 * self.leftover;
        is_left.then(|| of_left(Transfer::new(right, [piece(right)])))
    }

    /// The rounds, in which each virtual rank exchanges messages with the one whose number differs in one bit, the lowest bit
    /// first. `pieces(sender, receiver, round)` returns what the virtual rank `sender` sends.
    pub(crate) fn rounds(
        self,
        position: usize,
        pieces: impl Fn(usize, usize, u32) -> Vec<Piece>,
    ) -> impl DoubleEndedIterator<Item = Step> {
        let rounds = self.actor(position).map(|own| {
            (0..self.rounds).map(move |round| {
                let partner = own ^ 1 << round;
                let peer = self.start(partner);
                Step::exchange(
                    Transfer::new(peer, pieces(own, partner, round)),
                    Transfer::new(peer, pieces(partner, own, round)),
                )
            })
        });
        rounds.into_iter().flatten()
    }

    /// The positions of the 2^round virtual ranks whose reduction a virtual rank holds before a round.
    pub(crate) fn group(self, member: usize, round: u32) -> Range<usize> {
        let first = member >> round << round;
        self.positions(first..first + (1 << round))
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
    ) -> impl DoubleEndedIterator<Item = Step> + use<> {
        let pieces = move |holder: usize, target: usize, round: u32| {
            self.blocks_of(target, round, &self.group(holder, round))
        };
        let begin = self.fold_in(position, 0..ranks);
        begin.into_iter().chain(self.rounds(position, pieces))
    }

    /// The fully reduced blocks that `holder` has when a gather, which runs the halving's rounds backwards, reaches `round`.
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

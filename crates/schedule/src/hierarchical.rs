//! Two levels: within nodes first, then between them (paper 3's topology-aware reductions).
//!
//! ```text
//! p = 6, nodes of 2      0 ◄─ 1   2 ◄─ 3   4 ◄─ 5      inner reduce
//!                        0 ◄────► 2 ◄────► 4           outer allreduce, among the nodes' first
//!                        0 ─► 1   2 ─► 3   4 ─► 5      inner broadcast
//! ```
//!
//! Any schedule inside, any outside. A node is a stretch of neighbouring positions; slow links between nodes carry each node's
//! reduction once, instead of one for every position. If both levels cut rows into blocks, each inner block is cut into the
//! outer ones.

use std::ops::Range;

use crate::model::{Collective, Parameters, Piece, Schedule, Step, Transfer};

/// One position's part in both levels.
#[derive(Clone, Copy)]
struct Levels {
    parameters: Parameters,
    ranks: usize,
    rank: usize,
    /// Where the reduction ends or the broadcast begins, whoever's it is.
    root: usize,
}

/// Which blocks of a row an inner and an outer block are.
#[derive(Clone, Copy)]
struct Cut {
    inner: usize,
    outer: usize,
}

impl Levels {
    fn nodes(self) -> usize {
        self.ranks.div_ceil(self.parameters.node_ranks)
    }

    fn node(self) -> usize {
        self.rank / self.parameters.node_ranks
    }

    /// The first position of a node; of one behind the last, p.
    fn start(self, node: usize) -> usize {
        (node * self.parameters.node_ranks).min(self.ranks)
    }

    /// The position that stands for a node outside.
    fn leader(self, node: usize) -> usize {
        if self.root / self.parameters.node_ranks == node {
            self.root
        } else {
            self.start(node)
        }
    }

    fn inner(self, collective: fn(usize) -> Collective) -> Schedule {
        let start = self.start(self.node());
        let size = self.start(self.node() + 1) - start;
        let collective = collective(self.leader(self.node()) - start);
        self.schedule(self.parameters.inner, collective, size)
    }

    fn outer(self, collective: Collective) -> Schedule {
        self.schedule(self.parameters.outer, collective, self.nodes())
    }

    fn schedule(
        self,
        algorithm: crate::Algorithm,
        collective: Collective,
        ranks: usize,
    ) -> Schedule {
        let schedule = Schedule::new(algorithm, collective, ranks);
        schedule
            .and_then(|schedule| schedule.with(self.parameters))
            .expect("both levels were checked")
    }

    /// The steps within this node. `is_whole`: what moves is the reduction of all.
    fn inside(
        self,
        collective: fn(usize) -> Collective,
        cut: Cut,
        is_whole: bool,
    ) -> impl Iterator<Item = Step> {
        let start = self.start(self.node());
        let schedule = self.inner(collective);
        let (own_blocks, all) = (schedule.blocks(), self.ranks);
        schedule.steps(self.rank - start).map(move |step| {
            map(
                step,
                |peer| start + peer,
                |piece| {
                    let Range { start: first, end } = piece.ranks;
                    // A smaller node cuts rows into fewer blocks of its own.
                    let block = |own: usize| own * cut.inner / own_blocks * cut.outer;
                    vec![Piece {
                        ranks: if is_whole {
                            0..all
                        } else {
                            start + first..start + end
                        },
                        blocks: block(piece.blocks.start)..block(piece.blocks.end),
                    }]
                },
            )
        })
    }

    /// The steps between nodes, of their leaders.
    fn outside(self, collective: Collective, cut: Cut) -> impl Iterator<Item = Step> {
        let is_leader = self.leader(self.node()) == self.rank;
        let steps = is_leader.then(|| self.outer(collective).steps(self.node()));
        let is_broadcast = matches!(collective, Collective::Broadcast { .. });
        steps.into_iter().flatten().map(move |step| {
            map(
                step,
                |node| self.leader(node),
                |piece| {
                    let ranks = if is_broadcast {
                        0..self.ranks
                    } else {
                        self.start(piece.ranks.start)..self.start(piece.ranks.end)
                    };
                    let all = piece.blocks.len() == cut.outer;
                    let inner_blocks = if all { 0..1 } else { 0..cut.inner };
                    inner_blocks
                        .map(|inner| Piece {
                            ranks: ranks.clone(),
                            blocks: if all {
                                0..cut.inner * cut.outer
                            } else {
                                inner * cut.outer + piece.blocks.start
                                    ..inner * cut.outer + piece.blocks.end
                            },
                        })
                        .collect()
                },
            )
        })
    }
}

fn map(step: Step, peer: impl Fn(usize) -> usize, pieces: impl Fn(Piece) -> Vec<Piece>) -> Step {
    let mapped = |transfers: Vec<Transfer>| -> Vec<Transfer> {
        let transfer = |transfer: Transfer| {
            let pieces: Vec<Piece> = transfer.pieces.into_iter().flat_map(&pieces).collect();
            Transfer::new(peer(transfer.peer), pieces)
        };
        transfers.into_iter().map(transfer).collect()
    };
    Step {
        sends: mapped(step.sends),
        receives: mapped(step.receives),
    }
}

fn cut(parameters: Parameters, ranks: usize, collective: Collective) -> Cut {
    let blocks = |algorithm, collective, ranks| {
        let schedule = Schedule::new(algorithm, collective, ranks);
        schedule
            .and_then(|schedule| schedule.with(parameters))
            .map_or(1, |schedule| schedule.blocks())
    };
    let size = parameters.node_ranks.min(ranks);
    // A reduce and a broadcast may cut differently: the finer one is a multiple, or the only one.
    let up = blocks(parameters.inner, Collective::Reduce { root: 0 }, size);
    let down = blocks(parameters.inner, Collective::Broadcast { root: 0 }, size);
    let collective = match collective {
        Collective::Reduce { .. } => Collective::Reduce { root: 0 },
        Collective::Broadcast { .. } => Collective::Broadcast { root: 0 },
        other => other,
    };
    Cut {
        inner: up.max(down),
        outer: blocks(
            parameters.outer,
            collective,
            ranks.div_ceil(parameters.node_ranks),
        ),
    }
}

/// The number of column blocks of both levels together.
pub(crate) fn blocks(parameters: Parameters, ranks: usize, collective: Collective) -> usize {
    let cut = cut(parameters, ranks, collective);
    cut.inner * cut.outer
}

/// The steps of a position for a reduce, an allreduce or a broadcast.
pub(crate) fn steps(
    parameters: Parameters,
    collective: Collective,
    ranks: usize,
    rank: usize,
) -> Box<dyn Iterator<Item = Step>> {
    let root = match collective {
        Collective::Reduce { root } | Collective::Broadcast { root } => root,
        _ => 0,
    };
    let cut = cut(parameters, ranks, collective);
    let levels = Levels {
        parameters,
        ranks,
        rank,
        root,
    };
    let root_node = root / parameters.node_ranks;
    let outside = levels.outside(
        match collective {
            Collective::Reduce { .. } => Collective::Reduce { root: root_node },
            Collective::Broadcast { .. } => Collective::Broadcast { root: root_node },
            other => other,
        },
        cut,
    );
    let up = !matches!(collective, Collective::Broadcast { .. });
    let up = up.then(|| levels.inside(|root| Collective::Reduce { root }, cut, false));
    let down = !matches!(collective, Collective::Reduce { .. });
    let down = down.then(|| levels.inside(|root| Collective::Broadcast { root }, cut, true));
    Box::new(
        up.into_iter()
            .flatten()
            .chain(outside)
            .chain(down.into_iter().flatten()),
    )
}

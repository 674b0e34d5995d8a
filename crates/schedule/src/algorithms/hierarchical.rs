//! Reduces on two levels: first within nodes, then between nodes (paper 3's topology-aware reductions).
//!
//! ```text
//! p = 6, nodes of 2      0 ◄─ 1   2 ◄─ 3   4 ◄─ 5      inner reduce
//!                        0 ◄────► 2 ◄────► 4           outer allreduce, among the nodes' leaders
//!                        0 ─► 1   2 ─► 3   4 ─► 5      inner broadcast
//! ```
//!
//! A node is a range of neighbouring positions. Each level can run any other algorithm, whose steps [`Levels`] returns. A slow
//! link between nodes carries one message with the node's reduction, instead of one for each position. If both levels divide
//! rows into blocks, each inner block is subdivided into the outer level's blocks.

use std::ops::Range;

use crate::vocabulary::{Collective, Piece, Step, Steps, Transfer};

/// One of the two levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    /// Among the positions of a node.
    Inner,
    /// Among the nodes.
    Outer,
}

/// The schedules of the two levels, as functions of the level, the collective and the number of positions p.
pub(crate) struct Levels<'l> {
    /// Returns the number of blocks into which a row is divided.
    pub(crate) blocks: &'l dyn Fn(Level, Collective, usize) -> usize,
    /// Returns the steps of one position, which is the last argument.
    pub(crate) steps: &'l dyn Fn(Level, Collective, usize, usize) -> Steps,
}

/// How positions are grouped into nodes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nodes {
    /// The number of ranks, p.
    pub(crate) ranks: usize,
    /// The number of positions in a node; the last node may have fewer.
    pub(crate) node_ranks: usize,
}

impl Nodes {
    fn count(self) -> usize {
        self.ranks.div_ceil(self.node_ranks)
    }

    fn node(self, position: usize) -> usize {
        position / self.node_ranks
    }

    /// The first position of a node; p for the node after the last.
    fn start(self, node: usize) -> usize {
        (node * self.node_ranks).min(self.ranks)
    }

    /// The positions of a range of nodes.
    fn positions(self, nodes: &Range<usize>) -> Range<usize> {
        self.start(nodes.start)..self.start(nodes.end)
    }

    fn members(self, node: usize) -> Range<usize> {
        self.positions(&(node..node + 1))
    }

    /// The position that takes part in the outer level for its node; in the root's node, the root itself.
    fn leader(self, node: usize, root: usize) -> usize {
        if self.node(root) == node {
            root
        } else {
            self.start(node)
        }
    }

    /// The number of column blocks of a row: the inner blocks times the outer blocks.
    pub(crate) fn blocks(self, collective: Collective, levels: &Levels<'_>) -> usize {
        let cut = Cut::new(self, collective, levels);
        cut.inner * cut.outer
    }

    /// The steps of a position in a reduce, an allreduce or a broadcast.
    pub(crate) fn steps(
        self,
        collective: Collective,
        position: usize,
        levels: &Levels<'_>,
    ) -> Steps {
        let part = Part {
            nodes: self,
            position,
            root: collective.root().unwrap_or(0),
            cut: Cut::new(self, collective, levels),
        };
        let has_reduce = !matches!(collective, Collective::Broadcast { .. });
        let has_broadcast = !matches!(collective, Collective::Reduce { .. });
        let reduce = Collective::Reduce { root: 0 };
        let broadcast = Collective::Broadcast { root: 0 };
        let up = has_reduce.then(|| part.inside(reduce, levels));
        let between = part.outside(collective, levels);
        let down = has_broadcast.then(|| part.inside(broadcast, levels));
        let (up, down) = (up.into_iter().flatten(), down.into_iter().flatten());
        Box::new(up.chain(between).chain(down))
    }
}

/// The number of blocks into which each level divides a row.
#[derive(Clone, Copy)]
struct Cut {
    inner: usize,
    outer: usize,
}

impl Cut {
    fn new(nodes: Nodes, collective: Collective, levels: &Levels<'_>) -> Self {
        let size = nodes.node_ranks.min(nodes.ranks);
        let inner = |collective| (levels.blocks)(Level::Inner, collective, size);
        let reduce = inner(Collective::Reduce { root: 0 });
        let broadcast = inner(Collective::Broadcast { root: 0 });
        let outer = collective.with_root(nodes.node(collective.root().unwrap_or(0)));
        Self {
            // If `reduce` and `broadcast` differ, one of them is 1.
            inner: reduce.max(broadcast),
            outer: (levels.blocks)(Level::Outer, outer, nodes.count()),
        }
    }
}

/// One position's role on both levels.
#[derive(Clone, Copy)]
struct Part {
    nodes: Nodes,
    position: usize,
    /// The position at which a reduction ends or a broadcast begins; 0 for an allreduce.
    root: usize,
    cut: Cut,
}

impl Part {
    /// The steps within this position's node: a reduce to the node's leader, or a broadcast from the leader.
    fn inside(
        self,
        collective: Collective,
        levels: &Levels<'_>,
    ) -> impl Iterator<Item = Step> + use<> {
        let (nodes, cut) = (self.nodes, self.cut);
        let node = nodes.node(self.position);
        let (start, size) = (nodes.start(node), nodes.members(node).len());
        let collective = collective.with_root(nodes.leader(node, self.root) - start);
        let is_whole = matches!(collective, Collective::Broadcast { .. });
        let own_blocks = (levels.blocks)(Level::Inner, collective, size);
        // A node of fewer positions may divide rows into fewer blocks of its own.
        let block = move |own: usize| own * cut.inner / own_blocks * cut.outer;
        let piece = move |Piece { positions, blocks }| {
            vec![Piece {
                positions: if is_whole {
                    0..nodes.ranks
                } else {
                    start + positions.start..start + positions.end
                },
                blocks: block(blocks.start)..block(blocks.end),
            }]
        };
        let steps = (levels.steps)(Level::Inner, collective, size, self.position - start);
        steps.map(move |step| mapped(step, |peer| start + peer, piece))
    }

    /// The steps between nodes, if this position is its node's leader.
    fn outside(
        self,
        collective: Collective,
        levels: &Levels<'_>,
    ) -> impl Iterator<Item = Step> + use<> {
        let (nodes, cut, root) = (self.nodes, self.cut, self.root);
        let node = nodes.node(self.position);
        let is_whole = matches!(collective, Collective::Broadcast { .. });
        let collective = collective.with_root(nodes.node(root));
        let piece = move |Piece { positions, blocks }: Piece| {
            let positions = if is_whole {
                0..nodes.ranks
            } else {
                nodes.positions(&positions)
            };
            if blocks.len() == cut.outer {
                let blocks = 0..cut.inner * cut.outer;
                return vec![Piece { positions, blocks }];
            }
            // The translated pieces hold the same outer blocks of every inner block.
            (0..cut.inner)
                .map(|inner| inner * cut.outer)
                .map(|first| Piece {
                    positions: positions.clone(),
                    blocks: first + blocks.start..first + blocks.end,
                })
                .collect()
        };
        let is_leader = nodes.leader(node, root) == self.position;
        let steps = is_leader
            .then(|| (levels.steps)(Level::Outer, collective, nodes.count(), node))
            .into_iter()
            .flatten();
        steps.map(move |step| mapped(step, |node| nodes.leader(node, root), piece))
    }
}

/// Translates a level's step to the positions and blocks of the whole schedule.
fn mapped(step: Step, peer: impl Fn(usize) -> usize, pieces: impl Fn(Piece) -> Vec<Piece>) -> Step {
    step.map(|transfer| {
        let pieces: Vec<Piece> = transfer.pieces.into_iter().flat_map(&pieces).collect();
        Transfer::new(peer(transfer.peer), pieces)
    })
}

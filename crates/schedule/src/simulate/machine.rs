//! The machine that a schedule is simulated on.

use crate::cost::Link;

/// A machine of nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// The link between ranks of the same node.
    pub near: Link,
    /// The link between nodes.
    pub far: Link,
    /// The ranks of a node; 1 where all links are far.
    pub node_ranks: usize,
    /// How many messages a rank can send, and how many it can receive, at the same time.
    pub ports: usize,
    /// Whether all ranks of a node share one port to other nodes, which takes the bytes of one message after those of another,
    /// outwards and inwards.
    pub is_node_port: bool,
    /// Which ranks share a node.
    pub placement: Placement,
}

/// Which ranks share a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Ranks that lie side by side.
    Block,
    /// Nodes get ranks in turn.
    RoundRobin {
        /// The number of nodes.
        nodes: usize,
        /// How many ranks, side by side, a node gets at a time.
        ranks_at_once: usize,
    },
}

impl Machine {
    /// A machine of one kind of link, one port a rank.
    #[must_use]
    pub fn flat(link: Link) -> Self {
        Self {
            near: link,
            far: link,
            node_ranks: 1,
            ports: 1,
            is_node_port: false,
            placement: Placement::Block,
        }
    }

    /// The node of a rank.
    pub(super) fn node(&self, rank: usize) -> usize {
        match self.placement {
            Placement::Block => rank / self.node_ranks,
            Placement::RoundRobin {
                nodes,
                ranks_at_once,
            } => rank / ranks_at_once % nodes,
        }
    }

    pub(super) fn link(&self, a: usize, b: usize) -> &Link {
        if self.node(a) == self.node(b) {
            &self.near
        } else {
            &self.far
        }
    }
}

//! The parameters that some algorithms have in addition to p.

use super::algorithm::Algorithm;
use super::error::{Count, Error};

/// The parameters of those algorithms that have any.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// The column blocks of a row that pipelined algorithms send one after the other.
    pub blocks: usize,
    /// n: how many messages a position of `bruck` and `dissemination` sends and receives at once; `None` stands for 1 and 2, respectively.
    pub ports: Option<usize>,
    /// The positions of a node of `hierarchical`, which lie side by side; the last node may have fewer.
    pub node_ranks: usize,
    /// What `hierarchical` runs within nodes, as a reduce and a broadcast.
    pub inner: Algorithm,
    /// What `hierarchical` runs between nodes.
    pub outer: Algorithm,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            blocks: 1,
            ports: None,
            node_ranks: 4,
            inner: Algorithm::Binomial,
            outer: Algorithm::RecursiveDoubling,
        }
    }
}

impl Parameters {
    /// The most blocks, and the most ports. Where both levels of `hierarchical` are pipelined, a message has a piece for every block.
    pub const COUNT_MAX: usize = 1 << 20;

    pub(super) fn check(&self) -> Result<(), Error> {
        let ports = self.ports.unwrap_or(1);
        for (value, count) in [
            (self.blocks, Count::Blocks),
            (ports, Count::Ports),
            (self.node_ranks, Count::NodeRanks),
        ] {
            if value == 0 {
                return Err(Error::Zero { count });
            }
        }
        Count::Blocks.at_most(self.blocks, Self::COUNT_MAX)?;
        Count::Ports.at_most(ports, Self::COUNT_MAX)
    }

    /// n of an algorithm.
    pub(super) fn ports_of(&self, algorithm: Algorithm) -> usize {
        let default = match algorithm {
            Algorithm::Dissemination => 2,
            _ => 1,
        };
        self.ports.unwrap_or(default)
    }
}

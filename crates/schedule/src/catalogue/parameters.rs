//! The parameters that some algorithms have in addition to p.

use super::algorithm::Algorithm;
use super::error::{Count, Error};

/// The parameters of all algorithms; each algorithm uses only some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// The number of column blocks of a row, which pipelined algorithms send one after the other.
    pub blocks: usize,
    /// n: the number of messages that a position of `bruck` or `dissemination` sends and receives at once; `None` stands for 1 in
    /// `bruck` and 2 in `dissemination`.
    pub ports: Option<usize>,
    /// The number of neighbouring positions that form a node of `hierarchical`; the last node may have fewer.
    pub node_ranks: usize,
    /// The algorithm of the reduce and the broadcast that `hierarchical` runs within nodes.
    pub inner: Algorithm,
    /// The algorithm that `hierarchical` runs between nodes.
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
    /// The largest number of blocks, and of ports. If both levels of `hierarchical` are pipelined, a message can have one piece for
    /// each block, and so as many pieces as this.
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

    /// n for `algorithm`: the given number, or the algorithm's default.
    pub(super) fn ports_of(&self, algorithm: Algorithm) -> usize {
        let default = match algorithm {
            Algorithm::Dissemination => 2,
            _ => 1,
        };
        self.ports.unwrap_or(default)
    }
}

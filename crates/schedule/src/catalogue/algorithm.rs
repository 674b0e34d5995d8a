//! The algorithms' names.

use std::fmt;
use std::str::FromStr;

/// A named algorithm: who sends to whom, in which order.
///
/// Not every algorithm has a program of its own for every [`Collective`](crate::Collective);
/// [`Schedule::effective`](crate::Schedule::effective) returns the schedule that runs instead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// One step: every position sends to each position that needs its piece.
    Direct,
    /// A binomial tree.
    Binomial,
    /// A Fibonacci tree.
    Fibonacci,
    /// A complete binary tree.
    Binary,
    /// A reduce and a broadcast, one after the other, by binomial trees.
    ReduceBroadcast,
    /// A chain along which a row goes block by block, first up, then down.
    LinearPipelined,
    /// A complete binary tree along which a row goes block by block, first up, then down.
    BinaryPipelined,
    /// A chain along which blocks go up and down at the same time.
    LinearDoublyPipelined,
    /// A complete binary tree along which blocks go up and down at the same time.
    BinaryDoublyPipelined,
    /// Two complete binary trees along which blocks go up and down at the same time. The two roots exchange blocks.
    DualRoot,
    /// Two in-order trees, each for half of the blocks.
    TwoTree,
    /// Recursive doubling and halving, nearest partner first.
    RecursiveDoubling,
    /// A reduce-scatter by recursive halving, then a gather to the root.
    ReduceScatterGather,
    /// A reduce-scatter by recursive halving, then an allgather with the same partners in reverse order.
    Rabenseifner,
    /// Recursive doubling among the first 2^floor(log2 p) positions, to which the others first send their pieces.
    PairwiseExchange,
    /// n-way dissemination, if it can be adapted to p; otherwise Bruck's combine.
    Dissemination,
    /// Bruck's global combine.
    Bruck,
    /// A ring around which a row goes block by block.
    Ring,
    /// A circulant graph, in doubling order.
    Circulant,
    /// Two other algorithms, one within nodes and one between nodes.
    Hierarchical,
}

impl Algorithm {
    /// All algorithms.
    pub const ALL: &'static [Self] = &[
        Self::Direct,
        Self::Binomial,
        Self::Fibonacci,
        Self::Binary,
        Self::ReduceBroadcast,
        Self::LinearPipelined,
        Self::BinaryPipelined,
        Self::LinearDoublyPipelined,
        Self::BinaryDoublyPipelined,
        Self::DualRoot,
        Self::TwoTree,
        Self::RecursiveDoubling,
        Self::ReduceScatterGather,
        Self::Rabenseifner,
        Self::PairwiseExchange,
        Self::Dissemination,
        Self::Bruck,
        Self::Ring,
        Self::Circulant,
        Self::Hierarchical,
    ];

    /// The algorithm's name, which [`Algorithm::from_str`] parses.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Binomial => "binomial",
            Self::Fibonacci => "fibonacci",
            Self::Binary => "binary",
            Self::ReduceBroadcast => "reduce-broadcast",
            Self::LinearPipelined => "linear-pipelined",
            Self::BinaryPipelined => "binary-pipelined",
            Self::LinearDoublyPipelined => "linear-doubly-pipelined",
            Self::BinaryDoublyPipelined => "binary-doubly-pipelined",
            Self::DualRoot => "dual-root",
            Self::TwoTree => "two-tree",
            Self::RecursiveDoubling => "recursive-doubling",
            Self::ReduceScatterGather => "reduce-scatter-gather",
            Self::Rabenseifner => "rabenseifner",
            Self::PairwiseExchange => "pairwise-exchange",
            Self::Dissemination => "dissemination",
            Self::Bruck => "bruck",
            Self::Ring => "ring",
            Self::Circulant => "circulant",
            Self::Hierarchical => "hierarchical",
        }
    }

    /// Whether the algorithm sends the blocks of a row one after the other, so that the number of blocks can be chosen.
    #[must_use]
    pub fn is_pipelined(self) -> bool {
        matches!(
            self,
            Self::LinearPipelined
                | Self::BinaryPipelined
                | Self::LinearDoublyPipelined
                | Self::BinaryDoublyPipelined
                | Self::DualRoot
                | Self::TwoTree
        )
    }

    /// Whether the algorithm divides a row into p blocks, one for each position.
    pub(crate) fn has_block_per_position(self) -> bool {
        matches!(
            self,
            Self::ReduceScatterGather | Self::Rabenseifner | Self::Ring | Self::Circulant
        )
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no [`Algorithm`] has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown schedule `{}`; known: {}", name.escape_debug(), known())]
pub struct UnknownAlgorithm {
    /// The name that was given.
    pub name: String,
}

fn known() -> String {
    let names: Vec<&str> = Algorithm::ALL.iter().map(|known| known.name()).collect();
    names.join(", ")
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let named = Self::ALL.iter().find(|algorithm| algorithm.name() == name);
        named
            .copied()
            .ok_or_else(|| UnknownAlgorithm { name: name.into() })
    }
}

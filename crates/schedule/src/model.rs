//! Pieces, transfers, steps, and the closed set of algorithms.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use crate::trees::{self, Shape};
use crate::{
    binomial, bruck, circulant, direct, dissemination, hierarchical, pairwise_exchange, pipeline,
    recursive_doubling, ring, two_tree,
};

/// The reduction of a range of positions, in some of the row's column blocks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Piece {
    /// The positions that are reduced.
    pub ranks: Range<usize>,
    /// The column blocks that it has.
    pub blocks: Range<usize>,
}

/// A message: pieces, in the order in which both ends name them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transfer {
    /// The other end's position.
    pub peer: usize,
    /// What is sent or received.
    pub pieces: Vec<Piece>,
}

/// What a position does at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Of what was held before the step.
    pub sends: Vec<Transfer>,
    /// Held after the step.
    pub receives: Vec<Transfer>,
}

/// What all positions do together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Collective {
    /// The reduction of all, on one position.
    Reduce {
        /// The position.
        root: usize,
    },
    /// The reduction of all, on every position.
    Allreduce,
    /// The reduction of all, block b of p on position b.
    ReduceScatter,
    /// The reduction of 0..r, on position r: the exclusive scan of positions.
    Scan,
    /// The root's own, on every position. It stands as the reduction of all, which the root holds.
    Broadcast {
        /// The position.
        root: usize,
    },
}

/// Who talks to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Algorithm {
    /// One step: everyone to whoever wants it.
    Direct,
    /// A binomial tree.
    Binomial,
    /// A Fibonacci tree.
    Fibonacci,
    /// A complete binary tree.
    Binary,
    /// Two collectives one after the other, by binomial trees.
    ReduceBroadcast,
    /// A chain, block by block.
    LinearPipelined,
    /// A complete binary tree, block by block.
    BinaryPipelined,
    /// A chain, up and down at once.
    LinearDoublyPipelined,
    /// A complete binary tree, up and down at once.
    BinaryDoublyPipelined,
    /// Two complete binary trees, up and down at once, whose roots exchange.
    DualRoot,
    /// Two in-order trees for half of the blocks each.
    TwoTree,
    /// Recursive doubling and halving, nearest partner first.
    RecursiveDoubling,
    /// A reduce-scatter by recursive halving, then a gather to the root.
    ReduceScatterGather,
    /// A reduce-scatter by recursive halving, then the same way back.
    Rabenseifner,
    /// Recursive doubling among a power of two, the others behind it.
    PairwiseExchange,
    /// n-way dissemination, where it adapts to p; otherwise Bruck's combine.
    Dissemination,
    /// Bruck's global combine.
    Bruck,
    /// Block by block around a ring.
    Ring,
    /// A circulant graph, in doubling order.
    Circulant,
    /// Within nodes, and between them.
    Hierarchical,
}

/// What some algorithms can be told beyond p.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    /// The column blocks of a row that pipelines send one after the other.
    pub blocks: usize,
    /// n: how many messages a position of `bruck` and `dissemination` sends and receives at once; `None` for 1 and 2.
    pub ports: Option<usize>,
    /// The positions of a node of `hierarchical`, which lie side by side; the last node may have fewer.
    pub node_ranks: usize,
    /// What `hierarchical` does within nodes, by reduce and broadcast.
    pub inner: Algorithm,
    /// What `hierarchical` does between nodes.
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

/// A collective operation by an algorithm on p positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    algorithm: Algorithm,
    collective: Collective,
    ranks: usize,
    parameters: Parameters,
}

/// Why there is no such schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Nobody is there.
    #[error("a schedule needs at least one rank, but p = 0")]
    NoRanks,
    /// The root is nobody.
    #[error("root {root} does not exist, there are {ranks} ranks")]
    Root {
        /// The position that was named.
        root: usize,
        /// p.
        ranks: usize,
    },
    /// A number of blocks, ports or positions of a node that is 0.
    #[error("{parameter} must be at least 1")]
    Zero {
        /// Which.
        parameter: &'static str,
    },
    /// Nodes within nodes.
    #[error("the levels of `hierarchical` cannot be hierarchical themselves")]
    Nested,
}

impl Piece {
    /// Some positions, in a row of one block.
    pub(crate) fn whole(ranks: Range<usize>) -> Self {
        Self {
            ranks,
            blocks: 0..1,
        }
    }
}

impl Transfer {
    pub(crate) fn new(peer: usize, pieces: impl Into<Vec<Piece>>) -> Self {
        Self {
            peer,
            pieces: pieces.into(),
        }
    }
}

impl Step {
    pub(crate) fn send(transfer: Transfer) -> Self {
        Self {
            sends: vec![transfer],
            receives: Vec::new(),
        }
    }

    pub(crate) fn receive(transfer: Transfer) -> Self {
        Self {
            sends: Vec::new(),
            receives: vec![transfer],
        }
    }

    /// The same, of rows in these blocks.
    pub(crate) fn in_blocks(mut self, blocks: &Range<usize>) -> Self {
        let transfers = self.sends.iter_mut().chain(&mut self.receives);
        for piece in transfers.flat_map(|transfer| &mut transfer.pieces) {
            piece.blocks.clone_from(blocks);
        }
        self
    }

    pub(crate) fn exchange(send: Transfer, receive: Transfer) -> Self {
        Self {
            sends: vec![send],
            receives: vec![receive],
        }
    }
}

impl Schedule {
    /// A schedule for p = `ranks` positions.
    ///
    /// # Errors
    ///
    /// [`Error::NoRanks`] for p = 0, [`Error::Root`] for a root that is no position.
    pub fn new(algorithm: Algorithm, collective: Collective, ranks: usize) -> Result<Self, Error> {
        match collective {
            _ if ranks == 0 => Err(Error::NoRanks),
            Collective::Reduce { root } | Collective::Broadcast { root } if root >= ranks => {
                Err(Error::Root { root, ranks })
            }
            _ => Ok(Self {
                algorithm,
                collective,
                ranks,
                parameters: Parameters::default(),
            }),
        }
    }

    /// The same with other parameters.
    ///
    /// # Errors
    ///
    /// [`Error::Zero`] for a parameter that is 0, [`Error::Nested`] for a level that is hierarchical.
    pub fn with(self, parameters: Parameters) -> Result<Self, Error> {
        let Parameters {
            blocks,
            ports,
            node_ranks,
            inner,
            outer,
        } = parameters;
        for (number, parameter) in [
            (blocks, "the number of blocks"),
            (ports.unwrap_or(1), "the number of ports"),
            (node_ranks, "the number of ranks of a node"),
        ] {
            if number == 0 {
                return Err(Error::Zero { parameter });
            }
        }
        let is_nested = [inner, outer].contains(&Algorithm::Hierarchical);
        if is_nested && self.algorithm == Algorithm::Hierarchical {
            return Err(Error::Nested);
        }
        Ok(Self { parameters, ..self })
    }

    /// Who talks to whom.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// What is said of it beyond its name: blocks, ports, nodes, or that another schedule stands in.
    #[must_use]
    pub fn remark(&self) -> Option<String> {
        let Parameters {
            node_ranks,
            inner,
            outer,
            ..
        } = self.parameters;
        match self.algorithm {
            Algorithm::Hierarchical => Some(format!(
                "nodes of {node_ranks}, {inner} within, {outer} between"
            )),
            Algorithm::Bruck => Some(format!("n = {}", self.ports())),
            Algorithm::Dissemination if self.adaption().is_some() => {
                Some(format!("n = {}", self.ports()))
            }
            Algorithm::Dissemination => {
                let (ports, ranks) = (self.ports(), self.ranks);
                Some(format!(
                    "n = {ports} does not adapt to {ranks} ranks: bruck with the same n"
                ))
            }
            _ if self.algorithm.is_pipelined() => Some(format!("{} blocks", self.blocks())),
            _ => None,
        }
    }

    pub(crate) fn ports(&self) -> usize {
        let default = match self.algorithm {
            Algorithm::Dissemination => 2,
            _ => 1,
        };
        self.parameters.ports.unwrap_or(default)
    }

    fn adaption(&self) -> Option<dissemination::Adaption> {
        dissemination::adaption(self.ports(), self.ranks)
    }

    /// p, the number of positions.
    #[must_use]
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// What is done.
    #[must_use]
    pub fn collective(&self) -> Collective {
        self.collective
    }

    /// The number of column blocks of a row: p where blocks go different ways, as many as was said where they go one after the
    /// other, otherwise 1.
    #[must_use]
    pub fn blocks(&self) -> usize {
        match (self.algorithm, self.collective) {
            (_, Collective::ReduceScatter)
            | (Algorithm::ReduceScatterGather, Collective::Reduce { .. } | Collective::Allreduce)
            | (
                Algorithm::Rabenseifner | Algorithm::Ring | Algorithm::Circulant,
                Collective::Allreduce,
            ) => self.ranks,
            (Algorithm::Hierarchical, Collective::Scan) => 1,
            (Algorithm::Hierarchical, collective) => {
                hierarchical::blocks(self.parameters, self.ranks, collective)
            }
            (algorithm, Collective::Scan) if algorithm.is_pipelined() => 1,
            (algorithm, _) if algorithm.is_pipelined() => self.parameters.blocks,
            _ => 1,
        }
    }

    /// What a position holds at the start.
    ///
    /// # Panics
    ///
    /// If there is no such position.
    #[must_use]
    pub fn held(&self, rank: usize) -> Vec<Piece> {
        assert!(rank < self.ranks, "position {rank} of {}", self.ranks);
        let blocks = 0..self.blocks();
        match self.collective {
            Collective::Broadcast { root } if root == rank => vec![Piece {
                ranks: 0..self.ranks,
                blocks,
            }],
            Collective::Broadcast { .. } => Vec::new(),
            _ => vec![Piece {
                ranks: rank..rank + 1,
                blocks,
            }],
        }
    }

    /// What a position must hold at the end, joined from pieces or whole.
    ///
    /// # Panics
    ///
    /// If there is no such position.
    #[must_use]
    pub fn wanted(&self, rank: usize) -> Vec<Piece> {
        assert!(rank < self.ranks, "position {rank} of {}", self.ranks);
        let all = 0..self.ranks;
        match self.collective {
            Collective::Reduce { root } if root != rank => Vec::new(),
            Collective::Reduce { .. } | Collective::Allreduce | Collective::Broadcast { .. } => {
                vec![Piece {
                    ranks: all,
                    blocks: 0..self.blocks(),
                }]
            }
            Collective::ReduceScatter => vec![Piece {
                ranks: all,
                blocks: rank..rank + 1,
            }],
            Collective::Scan if rank == 0 => Vec::new(),
            Collective::Scan => vec![Piece::whole(0..rank)],
        }
    }

    /// A position's steps, in order. Each is made when it is asked for.
    ///
    /// # Panics
    ///
    /// If there is no such position.
    pub fn steps(&self, rank: usize) -> Box<dyn Iterator<Item = Step>> {
        let ranks = self.ranks;
        assert!(rank < ranks, "position {rank} of {ranks}");
        match self.collective {
            collective if self.algorithm == Algorithm::Direct => {
                Box::new(direct::steps(collective, ranks, rank))
            }
            Collective::Reduce { root } => self.reduce(root, rank),
            Collective::Broadcast { root } => self.broadcast(root, rank),
            Collective::Allreduce => self.allreduce(rank),
            Collective::ReduceScatter => self.reduce_scatter(rank),
            Collective::Scan => Box::new(recursive_doubling::scan(ranks, rank)),
        }
    }

    fn reduce(&self, root: usize, rank: usize) -> Steps {
        let (ranks, blocks) = (self.ranks, self.blocks());
        match self.algorithm {
            Algorithm::Fibonacci => Box::new(trees::reduce(Shape::Fibonacci, ranks, root, rank)),
            Algorithm::Binary => Box::new(trees::reduce(Shape::Binary, ranks, root, rank)),
            Algorithm::ReduceScatterGather => {
                Box::new(recursive_doubling::reduce_scatter_gather(ranks, root, rank))
            }
            Algorithm::Hierarchical => {
                let reduce = Collective::Reduce { root };
                hierarchical::steps(self.parameters, reduce, ranks, rank)
            }
            _ => match self.algorithm.pipeline() {
                Some(shape) => Box::new(pipeline::reduce(shape, ranks, root, rank, blocks)),
                None => Box::new(binomial::reduce(ranks, root, rank)),
            },
        }
    }

    fn broadcast(&self, root: usize, rank: usize) -> Steps {
        let (ranks, blocks) = (self.ranks, self.blocks());
        match self.algorithm {
            Algorithm::Fibonacci => Box::new(trees::broadcast(Shape::Fibonacci, ranks, root, rank)),
            Algorithm::Binary => Box::new(trees::broadcast(Shape::Binary, ranks, root, rank)),
            Algorithm::Hierarchical => {
                let broadcast = Collective::Broadcast { root };
                hierarchical::steps(self.parameters, broadcast, ranks, rank)
            }
            _ => match self.algorithm.pipeline() {
                Some(shape) => Box::new(pipeline::broadcast(shape, ranks, root, rank, blocks)),
                None => Box::new(binomial::broadcast(ranks, root, rank)),
            },
        }
    }

    fn allreduce(&self, rank: usize) -> Steps {
        let (ranks, blocks) = (self.ranks, self.blocks());
        match self.algorithm {
            Algorithm::Direct
            | Algorithm::Binomial
            | Algorithm::Fibonacci
            | Algorithm::Binary
            | Algorithm::ReduceBroadcast
            | Algorithm::LinearPipelined
            | Algorithm::BinaryPipelined => {
                Box::new(self.reduce(0, rank).chain(self.broadcast(0, rank)))
            }
            Algorithm::LinearDoublyPipelined => {
                Box::new(pipeline::doubly(Shape::Linear, ranks, rank, blocks))
            }
            Algorithm::BinaryDoublyPipelined => {
                Box::new(pipeline::doubly(Shape::Binary, ranks, rank, blocks))
            }
            Algorithm::DualRoot => Box::new(pipeline::dual_root(ranks, rank, blocks)),
            Algorithm::TwoTree => Box::new(two_tree::allreduce(ranks, rank, blocks)),
            Algorithm::RecursiveDoubling => Box::new(recursive_doubling::allreduce(ranks, rank)),
            Algorithm::ReduceScatterGather => {
                let blocks = 0..self.blocks();
                let spread = self
                    .broadcast(0, rank)
                    .map(move |step| step.in_blocks(&blocks));
                Box::new(self.reduce(0, rank).chain(spread))
            }
            Algorithm::Rabenseifner => Box::new(recursive_doubling::rabenseifner(ranks, rank)),
            Algorithm::PairwiseExchange => Box::new(pairwise_exchange::allreduce(ranks, rank)),
            Algorithm::Dissemination => match self.adaption() {
                Some(adaption) => {
                    let ports = self.ports();
                    Box::new(dissemination::allreduce(ports, adaption, ranks, rank))
                }
                None => Box::new(bruck::allreduce(self.ports(), ranks, rank)),
            },
            Algorithm::Bruck => Box::new(bruck::allreduce(self.ports(), ranks, rank)),
            Algorithm::Hierarchical => {
                hierarchical::steps(self.parameters, Collective::Allreduce, ranks, rank)
            }
            Algorithm::Ring => {
                Box::new(ring::reduce_scatter(ranks, rank).chain(ring::allgather(ranks, rank)))
            }
            Algorithm::Circulant => {
                let scatter = circulant::reduce_scatter(ranks, rank);
                Box::new(scatter.chain(circulant::allgather(ranks, rank)))
            }
        }
    }

    fn reduce_scatter(&self, rank: usize) -> Steps {
        let ranks = self.ranks;
        match self.algorithm {
            Algorithm::Binomial
            | Algorithm::ReduceBroadcast
            | Algorithm::Fibonacci
            | Algorithm::Binary => {
                let blocks = 0..ranks;
                let reduce = self
                    .reduce(0, rank)
                    .map(move |step| step.in_blocks(&blocks));
                Box::new(reduce.chain(binomial::scatter(ranks, rank)))
            }
            Algorithm::Ring => Box::new(ring::reduce_scatter(ranks, rank)),
            Algorithm::Circulant => Box::new(circulant::reduce_scatter(ranks, rank)),
            _ => Box::new(recursive_doubling::reduce_scatter(ranks, rank)),
        }
    }
}

type Steps = Box<dyn Iterator<Item = Step>>;

impl Algorithm {
    /// All of them.
    pub const ALL: [Self; 20] = [
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

    /// Its name on the command line.
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

    /// Whether it sends a row in blocks, one after the other.
    #[must_use]
    pub fn is_pipelined(self) -> bool {
        self.pipeline().is_some()
    }

    /// The tree of a pipelined reduce or broadcast.
    fn pipeline(self) -> Option<Shape> {
        match self {
            Self::LinearPipelined | Self::LinearDoublyPipelined => Some(Shape::Linear),
            Self::BinaryPipelined
            | Self::BinaryDoublyPipelined
            | Self::DualRoot
            | Self::TwoTree => Some(Shape::Binary),
            _ => None,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A name that no schedule has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown schedule `{name}`; known are {}", Algorithm::ALL.map(Algorithm::name).join(", "))]
pub struct UnknownAlgorithm {
    /// What was given.
    pub name: String,
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, UnknownAlgorithm> {
        let named = Self::ALL
            .into_iter()
            .find(|algorithm| algorithm.name() == name);
        named.ok_or_else(|| UnknownAlgorithm { name: name.into() })
    }
}

/// Block 0, the only one of most rows, goes without saying.
impl fmt::Display for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.ranks)?;
        if self.blocks != (0..1) {
            write!(f, " in blocks {:?}", self.blocks)?;
        }
        Ok(())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sends = self.sends.iter().map(|send| ("send", "to", send));
        let receives = self
            .receives
            .iter()
            .map(|receive| ("receive", "from", receive));
        for (index, (verb, preposition, transfer)) in sends.chain(receives).enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{verb}")?;
            for (index, piece) in transfer.pieces.iter().enumerate() {
                let plus = if index > 0 { "+ " } else { "" };
                write!(f, " {plus}{piece}")?;
            }
            write!(f, " {preposition} {}", transfer.peer)?;
        }
        Ok(())
    }
}

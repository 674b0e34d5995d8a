//! The program of each position: the pieces it holds at the start, its steps, and the pieces it must hold at the end.

use super::algorithm::Algorithm;
use super::schedule::Schedule;
use crate::algorithms::hierarchical::{Levels, Nodes};
use crate::algorithms::{
    binomial, bruck, circulant, direct, dissemination, pairwise_exchange, pipeline, rabenseifner,
    recursive_doubling, reduce_scatter_gather, ring, two_tree,
};
use crate::vocabulary::{Collective, Piece, Shape, Step, Steps, reversed};

impl Schedule {
    /// The number of column blocks of a row: p if every position has a block of its own; [`Parameters::blocks`](crate::Parameters::blocks)
    /// in a pipeline; the product of both levels' numbers in `hierarchical`; otherwise 1.
    #[must_use]
    pub fn blocks(&self) -> usize {
        let runs = self.effective();
        match (runs.algorithm, runs.collective) {
            (_, Collective::ReduceScatter) => runs.ranks,
            (algorithm, _) if algorithm.has_block_per_position() => runs.ranks,
            (Algorithm::Hierarchical, collective) => {
                runs.on_levels(|nodes, levels| nodes.blocks(collective, levels))
            }
            (algorithm, _) if algorithm.is_pipelined() => runs.parameters.blocks,
            _ => 1,
        }
    }

    #[track_caller]
    fn assert_has(&self, position: usize) {
        let ranks = self.ranks;
        assert!(position < ranks, "position {position} >= p = {ranks}");
    }

    /// The pieces that a position holds at the start.
    ///
    /// # Panics
    ///
    /// If there is no such position.
    #[must_use]
    pub fn held(&self, position: usize) -> Vec<Piece> {
        self.assert_has(position);
        let blocks = 0..self.blocks();
        match self.collective {
            Collective::Broadcast { root } if root == position => {
                vec![Piece::reduced(self.ranks, blocks)]
            }
            Collective::Broadcast { .. } => Vec::new(),
            _ => vec![Piece {
                positions: position..position + 1,
                blocks,
            }],
        }
    }

    /// The pieces that a position must hold at the end; several held pieces may together make up a wanted piece.
    ///
    /// # Panics
    ///
    /// If there is no such position.
    #[must_use]
    pub fn wanted(&self, position: usize) -> Vec<Piece> {
        self.assert_has(position);
        let reduced = |blocks| vec![Piece::reduced(self.ranks, blocks)];
        match self.collective {
            Collective::Reduce { root } if root != position => Vec::new(),
            Collective::Reduce { .. } | Collective::Allreduce | Collective::Broadcast { .. } => {
                reduced(0..self.blocks())
            }
            Collective::ReduceScatter => reduced(position..position + 1),
            Collective::Scan if position == 0 => Vec::new(),
            Collective::Scan => vec![Piece::whole(0..position)],
        }
    }

    /// A position's steps, in order, computed lazily.
    ///
    /// # Panics
    ///
    /// If there is no such position.
    pub fn steps(&self, position: usize) -> Box<dyn Iterator<Item = Step>> {
        self.assert_has(position);
        let (ranks, runs) = (self.ranks, self.effective());
        match runs.collective {
            collective if runs.algorithm == Algorithm::Direct => {
                Box::new(direct::steps(collective, ranks, position))
            }
            collective if runs.algorithm == Algorithm::Hierarchical => {
                runs.on_levels(|nodes, levels| nodes.steps(collective, position, levels))
            }
            Collective::Reduce { root } => runs.reduce(root, position),
            Collective::Broadcast { root } => {
                Box::new(reversed(runs.reduce(root, position), ranks, runs.blocks()))
            }
            Collective::Allreduce => runs.allreduce(position),
            Collective::ReduceScatter => runs.reduce_scatter(position),
            Collective::Scan => Box::new(recursive_doubling::scan(ranks, position)),
        }
    }

    fn reduce(&self, root: usize, position: usize) -> Box<dyn DoubleEndedIterator<Item = Step>> {
        let (ranks, blocks) = (self.ranks, self.blocks());
        let shape = match self.algorithm {
            Algorithm::Binomial => return Box::new(binomial::reduce(ranks, root, position)),
            Algorithm::ReduceScatterGather => {
                return Box::new(reduce_scatter_gather::reduce(ranks, root, position));
            }
            Algorithm::Fibonacci => Shape::Fibonacci,
            Algorithm::Binary | Algorithm::BinaryPipelined => Shape::Binary,
            Algorithm::LinearPipelined => Shape::Linear,
            _ => self.no_program(),
        };
        Box::new(pipeline::reduce(shape, ranks, root, position, blocks))
    }

    fn allreduce(&self, position: usize) -> Steps {
        let (ranks, blocks, ports) = (self.ranks, self.blocks(), self.ports());
        match self.algorithm {
            Algorithm::Binomial
            | Algorithm::Fibonacci
            | Algorithm::Binary
            | Algorithm::ReduceBroadcast
            | Algorithm::LinearPipelined
            | Algorithm::BinaryPipelined => {
                let broadcast = self.part(Collective::Broadcast { root: 0 });
                Box::new(
                    self.reduce_to_first(position)
                        .chain(broadcast.steps(position)),
                )
            }
            Algorithm::ReduceScatterGather => {
                // A binomial broadcast sends the blocks together.
                let broadcast = self.part(Collective::Broadcast { root: 0 });
                let spread = broadcast.steps(position);
                let spread = spread.map(move |step| step.in_blocks(|_| 0..blocks));
                Box::new(self.reduce_to_first(position).chain(spread))
            }
            Algorithm::LinearDoublyPipelined => {
                Box::new(pipeline::doubly(Shape::Linear, ranks, position, blocks))
            }
            Algorithm::BinaryDoublyPipelined => {
                Box::new(pipeline::doubly(Shape::Binary, ranks, position, blocks))
            }
            Algorithm::DualRoot => Box::new(pipeline::dual_root(ranks, position, blocks)),
            Algorithm::TwoTree => Box::new(two_tree::allreduce(ranks, position, blocks)),
            Algorithm::RecursiveDoubling => {
                Box::new(recursive_doubling::allreduce(ranks, position))
            }
            Algorithm::Rabenseifner => Box::new(rabenseifner::allreduce(ranks, position)),
            Algorithm::PairwiseExchange => Box::new(pairwise_exchange::allreduce(ranks, position)),
            Algorithm::Dissemination => match self.adaption() {
                Some(adaption) => {
                    Box::new(dissemination::allreduce(ports, adaption, ranks, position))
                }
                None => self.no_program(),
            },
            Algorithm::Bruck => Box::new(bruck::allreduce(ports, ranks, position)),
            Algorithm::Ring => Box::new(
                ring::reduce_scatter(ranks, position).chain(ring::allgather(ranks, position)),
            ),
            Algorithm::Circulant => {
                let scatter = circulant::reduce_scatter(ranks, position);
                Box::new(scatter.chain(circulant::allgather(ranks, position)))
            }
            Algorithm::Direct | Algorithm::Hierarchical => self.no_program(),
        }
    }

    fn reduce_scatter(&self, position: usize) -> Steps {
        let ranks = self.ranks;
        match self.algorithm {
            Algorithm::Binomial | Algorithm::Fibonacci | Algorithm::Binary => {
                // Whole rows are reduced to position 0, and a binomial tree scatters the blocks.
                let reduce = self.reduce_to_first(position);
                let reduce = reduce.map(move |step| step.in_blocks(|_| 0..ranks));
                Box::new(reduce.chain(binomial::scatter(ranks, position)))
            }
            Algorithm::RecursiveDoubling => {
                Box::new(recursive_doubling::reduce_scatter(ranks, position))
            }
            Algorithm::Ring => Box::new(ring::reduce_scatter(ranks, position)),
            Algorithm::Circulant => Box::new(circulant::reduce_scatter(ranks, position)),
            _ => self.no_program(),
        }
    }

    /// The steps of a reduce to position 0, by the same algorithm.
    fn reduce_to_first(&self, position: usize) -> Steps {
        self.part(Collective::Reduce { root: 0 }).steps(position)
    }

    /// Calls `run` with the nodes and the level schedules of `hierarchical`.
    fn on_levels<R>(&self, run: impl FnOnce(Nodes, &Levels<'_>) -> R) -> R {
        let nodes = Nodes {
            ranks: self.ranks,
            node_ranks: self.parameters.node_ranks,
        };
        let levels = Levels {
            blocks: &|level, collective, ranks| self.level(level, collective, ranks).blocks(),
            steps: &|level, collective, ranks, position| {
                self.level(level, collective, ranks).steps(position)
            },
        };
        run(nodes, &levels)
    }

    fn no_program(&self) -> ! {
        let (algorithm, collective) = (self.algorithm, self.collective);
        unreachable!("{algorithm} has no program for {collective}, so its stand-in runs")
    }
}

//! What each position holds, does and wants.

use super::algorithm::Algorithm;
use super::schedule::Schedule;
use crate::algorithms::hierarchical::{Levels, Nodes};
use crate::algorithms::{
    binomial, bruck, circulant, direct, dissemination, pairwise_exchange, pipeline, rabenseifner,
    recursive_doubling, reduce_scatter_gather, ring, trees, two_tree,
};
use crate::vocabulary::{Collective, Piece, Shape, Step, Steps};

impl Schedule {
    /// The number of column blocks of a row: p where every position has a block of its own, the number that
    /// [`Parameters`](crate::Parameters) say where blocks follow each other in a pipeline, otherwise 1.
    #[must_use]
    pub fn blocks(&self) -> usize {
        let runs = self.effective();
        match (runs.algorithm, runs.collective) {
            (_, Collective::ReduceScatter)
            | (
                Algorithm::ReduceScatterGather
                | Algorithm::Rabenseifner
                | Algorithm::Ring
                | Algorithm::Circulant,
                _,
            ) => runs.ranks,
            (Algorithm::Hierarchical, collective) => {
                runs.on_levels(|nodes, levels| nodes.blocks(collective, levels))
            }
            (algorithm, _) if algorithm.is_pipelined() => runs.parameters.blocks,
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

    /// What a position must hold at the end, in one piece or in several that together make it up.
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
        let runs = self.effective();
        match runs.collective {
            collective if runs.algorithm == Algorithm::Direct => {
                Box::new(direct::steps(collective, ranks, rank))
            }
            collective if runs.algorithm == Algorithm::Hierarchical => {
                runs.on_levels(|nodes, levels| nodes.steps(collective, rank, levels))
            }
            Collective::Reduce { root } => runs.reduce(root, rank),
            Collective::Broadcast { root } => runs.broadcast(root, rank),
            Collective::Allreduce => runs.allreduce(rank),
            Collective::ReduceScatter => runs.reduce_scatter(rank),
            Collective::Scan => Box::new(recursive_doubling::scan(ranks, rank)),
        }
    }

    fn reduce(&self, root: usize, rank: usize) -> Steps {
        let (ranks, blocks) = (self.ranks, self.blocks());
        let pipelined = |shape| Box::new(pipeline::reduce(shape, ranks, root, rank, blocks));
        match self.algorithm {
            Algorithm::Binomial => Box::new(binomial::reduce(ranks, root, rank)),
            Algorithm::Fibonacci => Box::new(trees::reduce(Shape::Fibonacci, ranks, root, rank)),
            Algorithm::Binary => Box::new(trees::reduce(Shape::Binary, ranks, root, rank)),
            Algorithm::LinearPipelined => pipelined(Shape::Linear),
            Algorithm::BinaryPipelined => pipelined(Shape::Binary),
            Algorithm::ReduceScatterGather => {
                Box::new(reduce_scatter_gather::reduce(ranks, root, rank))
            }
            _ => self.no_program(),
        }
    }

    fn broadcast(&self, root: usize, rank: usize) -> Steps {
        let (ranks, blocks) = (self.ranks, self.blocks());
        let pipelined = |shape| Box::new(pipeline::broadcast(shape, ranks, root, rank, blocks));
        match self.algorithm {
            Algorithm::Binomial => Box::new(binomial::broadcast(ranks, root, rank)),
            Algorithm::Fibonacci => Box::new(trees::broadcast(Shape::Fibonacci, ranks, root, rank)),
            Algorithm::Binary => Box::new(trees::broadcast(Shape::Binary, ranks, root, rank)),
            Algorithm::LinearPipelined => pipelined(Shape::Linear),
            Algorithm::BinaryPipelined => pipelined(Shape::Binary),
            _ => self.no_program(),
        }
    }

    fn allreduce(&self, rank: usize) -> Steps {
        let (ranks, blocks, ports) = (self.ranks, self.blocks(), self.ports());
        match self.algorithm {
            Algorithm::Binomial
            | Algorithm::Fibonacci
            | Algorithm::Binary
            | Algorithm::ReduceBroadcast
            | Algorithm::LinearPipelined
            | Algorithm::BinaryPipelined => {
                let broadcast = self.part(Collective::Broadcast { root: 0 });
                Box::new(self.reduce_to_first(rank).chain(broadcast.steps(rank)))
            }
            Algorithm::ReduceScatterGather => {
                // A binomial broadcast sends the blocks together.
                let broadcast = self.part(Collective::Broadcast { root: 0 });
                let spread = broadcast.steps(rank);
                let spread = spread.map(move |step| step.in_blocks(&(0..blocks)));
                Box::new(self.reduce_to_first(rank).chain(spread))
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
            Algorithm::Rabenseifner => Box::new(rabenseifner::allreduce(ranks, rank)),
            Algorithm::PairwiseExchange => Box::new(pairwise_exchange::allreduce(ranks, rank)),
            Algorithm::Dissemination => match self.adaption() {
                Some(adaption) => Box::new(dissemination::allreduce(ports, adaption, ranks, rank)),
                None => self.no_program(),
            },
            Algorithm::Bruck => Box::new(bruck::allreduce(ports, ranks, rank)),
            Algorithm::Ring => {
                Box::new(ring::reduce_scatter(ranks, rank).chain(ring::allgather(ranks, rank)))
            }
            Algorithm::Circulant => {
                let scatter = circulant::reduce_scatter(ranks, rank);
                Box::new(scatter.chain(circulant::allgather(ranks, rank)))
            }
            Algorithm::Direct | Algorithm::Hierarchical => self.no_program(),
        }
    }

    fn reduce_scatter(&self, rank: usize) -> Steps {
        let ranks = self.ranks;
        match self.algorithm {
            Algorithm::Binomial | Algorithm::Fibonacci | Algorithm::Binary => {
                // Whole rows go to position 0, and a binomial tree sends their blocks out.
                let reduce = self.reduce_to_first(rank);
                let reduce = reduce.map(move |step| step.in_blocks(&(0..ranks)));
                Box::new(reduce.chain(binomial::scatter(ranks, rank)))
            }
            Algorithm::RecursiveDoubling => {
                Box::new(recursive_doubling::reduce_scatter(ranks, rank))
            }
            Algorithm::Ring => Box::new(ring::reduce_scatter(ranks, rank)),
            Algorithm::Circulant => Box::new(circulant::reduce_scatter(ranks, rank)),
            _ => self.no_program(),
        }
    }

    /// The reduction of all to position 0, by the same algorithm.
    fn reduce_to_first(&self, rank: usize) -> Steps {
        self.part(Collective::Reduce { root: 0 }).steps(rank)
    }

    /// Hands `hierarchical` the schedules of its levels.
    fn on_levels<R>(&self, run: impl FnOnce(Nodes, &Levels<'_>) -> R) -> R {
        let nodes = Nodes {
            ranks: self.ranks,
            node_ranks: self.parameters.node_ranks,
        };
        let levels = Levels {
            blocks: &|level, collective, ranks| self.level(level, collective, ranks).blocks(),
            steps: &|level, collective, ranks, rank| {
                self.level(level, collective, ranks).steps(rank)
            },
        };
        run(nodes, &levels)
    }

    fn no_program(&self) -> ! {
        let (algorithm, collective) = (self.algorithm, self.collective);
        unreachable!("{algorithm} has no {collective} of its own, so another algorithm stands in")
    }
}

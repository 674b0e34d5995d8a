//! Simulated clusters: nodes of processes, and the times of schedules on them.
//!
//! Rows are not fragmented: each process has one row, and each message carries one row, as in reductions whose bits do not matter.

use std::fmt;
use std::ops::Range;

use distribution::Distribution;
use schedule::{Algorithm, Collective, Link, Load, Machine, Parameters, Schedule, simulate};
use tree_index::Tree;

/// A pipeline is full after this number of blocks. As many further blocks show the pipeline's rate.
const BLOCKS_FULL: usize = 64;

/// A link with this latency, and these times to send and to combine a byte, in ns.
pub(super) const fn link_of(latency_ns: f64, byte_ns: f64, combine_byte_ns: f64) -> Link {
    Link {
        latency_ns,
        byte_ns,
        combine_byte_ns,
    }
}

/// A link on which every message takes a nanosecond, so that times are numbers of rounds.
pub(super) const ROUND: Link = link_of(1.0, 0.0, 0.0);

/// The links of a cluster. The cost of combining is that of `near`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cluster {
    /// Between processes of a node.
    pub near: Link,
    /// Between nodes.
    pub far: Link,
}

/// A number of nodes with the same number of processes each. The ranks of a node are consecutive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub nodes: usize,
    pub processes: usize,
}

impl Shape {
    pub(super) const fn new(nodes: usize, processes: usize) -> Self {
        Self { nodes, processes }
    }

    pub(super) fn ranks(self) -> usize {
        self.nodes * self.processes
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.nodes, self.processes)
    }
}

impl Cluster {
    /// A cluster with these links within nodes (`near`) and between nodes (`far`): a latency and a time per byte each, in ns.
    pub(super) const fn new(near: [f64; 2], far: [f64; 2], combine_byte_ns: f64) -> Self {
        let near = link_of(near[0], near[1], combine_byte_ns);
        let far = link_of(far[0], far[1], combine_byte_ns);
        Self { near, far }
    }

    /// A machine whose nodes have this number of ranks, which do not share links.
    pub(super) fn machine(&self, node_ranks: usize) -> Machine {
        Machine {
            near: self.near,
            node_ranks,
            ..Machine::flat(self.far)
        }
    }

    /// The machine on which all processes of a node send to other nodes at once, through one interface.
    pub(super) fn crowded(&self, shape: Shape) -> Machine {
        let mut machine = self.machine(shape.processes);
        machine.far.byte_ns *= shape.processes as f64;
        machine
    }

    /// The slowest link between these processes. Lemma 1 chooses the number of blocks for this link.
    pub(super) fn slowest(&self, shape: Shape) -> Link {
        if shape.nodes > 1 { self.far } else { self.near }
    }

    /// The cluster's constants as text.
    pub(super) fn words(&self) -> String {
        let Self { near, far } = self;
        format!(
            "α = {} ns and β = {} ns a byte within a node, α = {} ns and β = {} ns a byte between nodes, γ = {} ns a byte combined",
            near.latency_ns, near.byte_ns, far.latency_ns, far.byte_ns, near.combine_byte_ns
        )
    }
}

/// The link between two ranks of a machine whose nodes have consecutive ranks.
pub(super) fn link(machine: &Machine, a: usize, b: usize) -> Link {
    if a / machine.node_ranks == b / machine.node_ranks {
        machine.near
    } else {
        machine.far
    }
}

/// The number of rows that represent the items of a range of ranks, in tree order.
pub(super) fn rows_of(distribution: &Distribution) -> impl Fn(Range<usize>) -> u64 {
    let tree = Tree::new(distribution.items());
    move |ranks| {
        let items = distribution.start(ranks.start)..distribution.start(ranks.end);
        u64::from(tree.fragment_len(items))
    }
}

/// A schedule on a machine. The number of blocks is a parameter of its methods.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub algorithm: Algorithm,
    pub collective: Collective,
    pub ranks: usize,
    pub machine: Machine,
}

/// The fastest number of blocks, and its time in ns.
pub(super) type Best = (usize, f64);

/// The fastest item; the first one if several are equally fast.
pub(super) fn fastest<T>(timed: impl IntoIterator<Item = (T, f64)>) -> (T, f64) {
    let least = timed.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
    least.expect("there is one")
}

impl Run {
    fn new(algorithm: Algorithm, collective: Collective, ranks: usize, machine: Machine) -> Self {
        Self {
            algorithm,
            collective,
            ranks,
            machine,
        }
    }

    /// A run in which each rank has the same link to every other.
    pub(super) fn flat(algorithm: Algorithm, of: Collective, ranks: usize, link: Link) -> Self {
        Self::new(algorithm, of, ranks, Machine::flat(link))
    }

    /// An allreduce by all processes of a cluster.
    pub(super) fn allreduce(algorithm: Algorithm, cluster: &Cluster, shape: Shape) -> Self {
        let machine = cluster.machine(shape.processes);
        Self::new(algorithm, Collective::Allreduce, shape.ranks(), machine)
    }

    /// A reduce to rank 0 by all processes of a cluster.
    pub(super) fn reduce(algorithm: Algorithm, cluster: &Cluster, shape: Shape) -> Self {
        let (to_first, machine) = (
            Collective::Reduce { root: 0 },
            cluster.machine(shape.processes),
        );
        Self::new(algorithm, to_first, shape.ranks(), machine)
    }

    pub(super) fn schedule(&self, blocks: usize) -> Schedule {
        let parameters = Parameters {
            blocks,
            ..Parameters::default()
        };
        Schedule::new(self.algorithm, self.collective, self.ranks)
            .and_then(|schedule| schedule.with(parameters))
            .expect("there are ranks and blocks")
    }

    /// The time to reduce a row in this number of blocks.
    ///
    /// Simulates every message until the pipeline is full; from then on, each block adds as much time as the one before.
    pub(super) fn time_ns(&self, row_bytes: f64, blocks: usize) -> f64 {
        let block_bytes = row_bytes / blocks as f64;
        let run = |blocks: usize| {
            let row_bytes = block_bytes * blocks as f64;
            simulate(&self.schedule(blocks), &self.machine, row_bytes, &|_| 1).time_ns
        };
        let full = match self.algorithm {
            // Nothing delays the reduction before the first block is broadcast.
            Algorithm::LinearDoublyPipelined => BLOCKS_FULL + self.ranks,
            _ => BLOCKS_FULL,
        };
        let known = full + BLOCKS_FULL;
        if !self.algorithm.is_pipelined() || blocks <= known {
            return run(blocks);
        }
        let known_ns = run(known);
        let rate = (known_ns - run(full)) / BLOCKS_FULL as f64;
        known_ns + rate * (blocks - known) as f64
    }

    /// Lemma 1's number of blocks, from 1 to `most`, for the slowest link.
    ///
    /// In an allreduce, a byte is combined on its way up but not down, so each direction has half of γ, and also half of d and s.
    pub(super) fn lemma_blocks(&self, row_bytes: f64, most: usize) -> usize {
        let Machine { near, far, .. } = self.machine;
        let is_beyond_node = self.ranks > self.machine.node_ranks;
        let mut link = if is_beyond_node { far } else { near };
        link.byte_ns += near.combine_byte_ns / 2.0;
        let load = Load {
            row_bytes,
            rows: 1.0,
        };
        let (algorithm, ranks) = (self.algorithm, self.ranks);
        algorithm.best_blocks(ranks, load, link, most.max(1))
    }

    /// The best number of blocks up to `most`: Lemma 1's number, halved or doubled as long as the time falls.
    pub(super) fn best(&self, row_bytes: f64, most: usize) -> Best {
        let at = |blocks: usize| (blocks, self.time_ns(row_bytes, blocks));
        if !self.algorithm.is_pipelined() {
            return at(1);
        }
        let mut best = at(self.lemma_blocks(row_bytes, most));
        for next in [|blocks: usize| blocks / 2, |blocks: usize| blocks * 2] {
            loop {
                let other = at(next(best.0).clamp(1, most.max(1)));
                if other.0 == best.0 || other.1 >= best.1 {
                    break;
                }
                best = other;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::{BLOCKS_FULL, Cluster, Run, Shape};
    use schedule::{Algorithm, simulate};

    const CLUSTER: Cluster = Cluster::new([500.0, 0.2], [1000.0, 0.08], 0.1);

    /// The time of a pipeline that is extrapolated at its rate equals the time of a complete simulation.
    #[test]
    fn a_full_pipeline_goes_on_at_its_rate() {
        let pipelined = Algorithm::ALL.iter().copied();
        for algorithm in pipelined.filter(|algorithm| algorithm.is_pipelined()) {
            for shape in [Shape::new(1, 16), Shape::new(20, 1), Shape::new(20, 16)] {
                for block_bytes in [40.0, 40_000.0] {
                    let run = Run::allreduce(algorithm, &CLUSTER, shape);
                    let blocks = 16 * BLOCKS_FULL;
                    let row_bytes = block_bytes * blocks as f64;
                    let whole = simulate(&run.schedule(blocks), &run.machine, row_bytes, &|_| 1);
                    let off = run.time_ns(row_bytes, blocks) / whole.time_ns - 1.0;
                    assert!(off.abs() < 1e-9, "{algorithm} {shape} {block_bytes}: {off}");
                }
            }
        }
    }

    #[test]
    fn the_best_is_no_worse_than_its_neighbours() {
        let run = Run::allreduce(Algorithm::LinearPipelined, &CLUSTER, Shape::new(20, 16));
        let (row_bytes, most) = (4e7, 10_000_000);
        let (best, best_ns) = run.best(row_bytes, most);
        for blocks in [1, best / 2, 2 * best, most] {
            assert!(best_ns <= run.time_ns(row_bytes, blocks), "{blocks}");
        }
        assert_eq!(run.best(4.0, 1).0, 1);
    }
}

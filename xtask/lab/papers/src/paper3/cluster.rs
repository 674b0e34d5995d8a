//! The paper's cluster as simulated, and the algorithms that MPICH uses there.

use schedule::{Algorithm, Collective, Machine, Parameters, Placement, Schedule, SharedPort};

use crate::cluster::Cluster;
use crate::page::Page;

/// Two sockets of four cores.
pub(super) const NODE_RANKS: usize = 8;

/// Two ranks of a node: a copy through shared memory, and how fast a core of 2009 adds one row in memory to another; two nodes: an MPI message
/// over InfiniBand QDR, 3.2 GB/s. Assumed.
const LINKS: Cluster = Cluster::new([500.0, 0.25], [1700.0, 0.31], 0.2);

/// Rows shorter than this go along trees (section III-A: 2 Kbytes by default).
const SHORT_BYTES: usize = 2048;

/// x2, x4 and x8.
pub(super) const FACTORS: [usize; 3] = [2, 4, 8];

/// The description of the machine.
pub(super) fn describe(page: &mut Page) {
    page.text(format!(
        "Simulated, as the paper's 320 nodes of {NODE_RANKS} cores are not here: {}. The constants are assumed for shared memory of 2009 and InfiniBand QDR, not published. A node has one port: the bytes of its ranks' \
         messages to other nodes go through it one after the other, and come in so. Contention within a node's memory, or in the network behind the port, is not simulated.",
        LINKS.words()
    ));
}

/// The description of the algorithms.
pub(super) fn describe_algorithms(page: &mut Page) {
    page.text(format!(
        "The flat schedule is MPICH's by section III: rows of less than {SHORT_BYTES} bytes, or shorter than a double a rank, take a binomial tree (allreduce: recursive doubling), others reduce-scatter \
         and gather (allreduce: Rabenseifner's). The two-level schedules take the same within nodes and between them, told to assume 2, 4 or 8 ranks a node. The paper does not say how its ranks lie on the \
         nodes: side by side, or dealt out in turn, so that neighbours are on other nodes. Ranks that are assumed to share a node do so in either case. Ratios below 1: two levels are faster."
    ));
}

/// The cluster, with its ranks side by side or dealt out to nodes round-robin; ranks that a schedule assumes to share a node do.
pub(super) fn machine(ranks: usize, assumed: usize, is_dealt: bool) -> Machine {
    Machine {
        shared_port: SharedPort::Node,
        placement: Placement::RoundRobin {
            nodes: ranks.div_ceil(NODE_RANKS),
            ranks_at_once: if is_dealt { assumed } else { NODE_RANKS },
        },
        ..LINKS.machine(NODE_RANKS)
    }
}

/// MPICH's algorithm without knowledge of nodes.
fn choice(collective: Collective, ranks: usize, doubles: usize) -> Algorithm {
    let is_long = doubles * 8 >= SHORT_BYTES && doubles >= ranks && ranks.is_power_of_two();
    match (collective, is_long) {
        (Collective::Reduce { .. }, false) => Algorithm::Binomial,
        (Collective::Reduce { .. }, true) => Algorithm::ReduceScatterGather,
        (_, false) => Algorithm::RecursiveDoubling,
        (_, true) => Algorithm::Rabenseifner,
    }
}

/// The schedule without knowledge of nodes.
pub(super) fn flat(collective: Collective, ranks: usize, doubles: usize) -> Schedule {
    let algorithm = choice(collective, ranks, doubles);
    Schedule::new(algorithm, collective, ranks).expect("there are ranks")
}

/// The schedule that assumes nodes of this number of ranks.
pub(super) fn aware(
    collective: Collective,
    ranks: usize,
    doubles: usize,
    node_ranks: usize,
) -> Schedule {
    let node_ranks = node_ranks.min(ranks);
    let parameters = Parameters {
        node_ranks,
        inner: choice(Collective::Reduce { root: 0 }, node_ranks, doubles),
        outer: choice(collective, ranks.div_ceil(node_ranks), doubles),
        ..Parameters::default()
    };
    Schedule::new(Algorithm::Hierarchical, collective, ranks)
        .and_then(|schedule| schedule.with(parameters))
        .expect("there are ranks, and two levels")
}

#[cfg(test)]
mod tests {
    use super::flat;
    use schedule::{Algorithm, Collective};

    #[test]
    fn section_3_chooses() {
        let reduce = Collective::Reduce { root: 0 };
        for (ranks, doubles, to_one, to_all) in [
            (64, 1, Algorithm::Binomial, Algorithm::RecursiveDoubling),
            (64, 255, Algorithm::Binomial, Algorithm::RecursiveDoubling),
            (
                64,
                256,
                Algorithm::ReduceScatterGather,
                Algorithm::Rabenseifner,
            ),
            (60, 256, Algorithm::Binomial, Algorithm::RecursiveDoubling),
            (2048, 256, Algorithm::Binomial, Algorithm::RecursiveDoubling),
        ] {
            assert_eq!(flat(reduce, ranks, doubles).algorithm(), to_one);
            let allreduce = flat(Collective::Allreduce, ranks, doubles);
            assert_eq!(allreduce.algorithm(), to_all);
        }
    }
}

//! Balaji and Kimpe, *On the Reproducibility of MPI Reduction Operations* (2013): the error of a sum, and the effect of topology on the sum's
//! bits and time.

mod figures;
mod orders;

use distribution::Scheme;
use harness::Error;
use harness::plot::{Axis, Line};
use schedule::{
    Algorithm, Collective, Machine, Parameters, Placement, Schedule, SharedPort, simulate,
    simulate_unordered,
};

use crate::cluster::{Cluster, rows_of};
use crate::page::Page;
use crate::said::{count, heights, line, range};
use crate::{Context, Exhibit, Paper};

const PAPER: Paper = Paper {
    name: "Paper 3",
    pictures: &["paper-3-error.svg", "paper-3-cost-512.svg"],
};

pub(super) const EXHIBITS: &[Exhibit] = &[
    PAPER.computed("paper-3-error", orders::over_ranks),
    PAPER.computed("paper-3-bits", orders::by_topology),
    PAPER.simulated("paper-3-figure-2", figures::reduce),
    PAPER.simulated("paper-3-figure-3", figures::allreduce),
    PAPER.simulated("paper-3-figure-4", figures::over_ranks),
    PAPER.simulated("paper-3-cost", of_order),
];

/// Two sockets of four cores.
const NODE_RANKS: usize = 8;

/// Assumed constants of a cluster of 2009. Ranks of a node copy through shared memory; nodes send MPI messages over InfiniBand QDR, 3.2
/// GB/s; a core adds one row in memory to another.
const LINKS: Cluster = Cluster::new([500.0, 0.25], [1700.0, 0.31], 0.2);

/// Shorter rows are reduced by trees (section III-A: 2 Kbytes by default).
const SHORT_BYTES: usize = 2048;

/// x2, x4 and x8: the numbers of ranks per node that a two-level schedule assumes.
const FACTORS: [usize; 3] = [2, 4, 8];

/// Describes the simulated machine.
fn describe(page: &mut Page) {
    page.text(format!(
        "Simulated, because the paper's 320 nodes of {NODE_RANKS} cores are not available: {}. These constants are assumed for shared memory of 2009 and InfiniBand QDR, not published. All \
         messages between a node and other nodes pass the node's only port, one after another in each direction. Contention within a node's memory, or in the network behind the port, is not simulated.",
        LINKS.words()
    ));
}

/// Describes the algorithms.
fn describe_algorithms(page: &mut Page) {
    page.text(format!(
        "The flat schedule is MPICH's, as section III describes it: rows of less than {SHORT_BYTES} bytes, or with fewer doubles than ranks, use a binomial tree (allreduce: recursive doubling), other rows \
         reduce-scatter and gather (allreduce: Rabenseifner's algorithm). The two-level schedules use the same algorithms within nodes and between them, and assume 2, 4 or 8 ranks per node. The paper does not \
         say how its ranks are placed: side by side, or dealt out round-robin, so that neighbours are on different nodes. Ranks that are assumed to share a node do so in either case. If a ratio is below 1, two levels are faster."
    ));
}

/// The cluster, with its ranks side by side or dealt out to nodes round-robin. Ranks that a schedule assumes to share a node do share one.
fn machine(ranks: usize, assumed: usize, is_dealt: bool) -> Machine {
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
fn flat(collective: Collective, ranks: usize, doubles: usize) -> Schedule {
    let algorithm = choice(collective, ranks, doubles);
    Schedule::new(algorithm, collective, ranks).expect("there are ranks")
}

/// The schedule that assumes nodes of this number of ranks.
fn aware(collective: Collective, ranks: usize, doubles: usize, node_ranks: usize) -> Schedule {
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

/// Rows, in doubles.
const WIDTHS: [usize; 4] = [1, 512, 32_768, 1_048_576];

/// A distribution of items: its name, its rule, and the number of items per rank.
#[derive(Clone, Copy, Debug)]
struct Spread(&'static str, Scheme, u64);

/// How many of the first `SPREADS` give each rank a subtree. The first one is the paper's.
const ALIGNED: usize = 2;
const SPREADS: [Spread; 4] = [
    Spread("one row per rank", Scheme::Lower, 1),
    Spread("2048 rows per rank", Scheme::Lower, 2048),
    Spread("1972 rows per rank", Scheme::Lower, 1972),
    Spread("1972 rows per rank, optimized", Scheme::Optimized, 1972),
];

impl Spread {
    /// The time of an allreduce in tree order, divided by the time of an unordered one. The fold of a rank's own rows, which both need, is
    /// left out.
    fn cost(self, ranks: usize, doubles: usize) -> Result<f64, Error> {
        let Self(_, scheme, share) = self;
        let distribution = scheme.distribute(share * ranks as u64, ranks)?;
        let rows = rows_of(&distribution);
        let schedule = aware(Collective::Allreduce, ranks, doubles, NODE_RANKS);
        let bytes = doubles as f64 * 8.0;
        let machine = machine(ranks, NODE_RANKS, false);
        let ordered_ns = simulate(&schedule, &machine, bytes, &rows).time_ns;
        Ok(ordered_ns / simulate_unordered(&schedule, &machine, bytes).time_ns)
    }
}

/// Simulates section VI-B: the cost of the tree order in a two-level allreduce.
fn of_order(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Section VI-B, the cost of equal bits in a topology-aware reduction (simulated)");
    describe(page);
    page.text(
        "This page shows how much equal bits for every topology cost an allreduce by `hierarchical` with 8 ranks per node. A message of an unordered reduction always carries one row; a message of a tree-ordered \
         reduction carries a row for each subtree of the items that it combines. This is one row if each rank has one item (as in all of the paper's runs) or a power of two of them.",
    );
    let powers = (3..=11).step_by(2).map(|log| 1_usize << log);
    let most = context.quick_or(32, 2048);
    let sizes: Vec<usize> = powers.filter(|&ranks| ranks <= most).collect();
    let mut costs_of_one = Vec::new();
    for doubles in WIDTHS {
        let mut lines: Vec<Line> = Vec::new();
        for spread in SPREADS {
            let costs = sizes.iter().map(|&ranks| spread.cost(ranks, doubles));
            let costs: Vec<f64> = costs.collect::<Result<_, _>>()?;
            let points = sizes.iter().zip(costs);
            lines.push(line(spread.0, points, |(&ranks, cost)| {
                (ranks as f64, cost)
            }));
        }
        costs_of_one.push((doubles, heights(&lines[..1]).last().unwrap_or(f64::NAN)));
        let (aligned, others) = lines.split_at(ALIGNED);
        let title = format!(
            "Tree order takes {} times the unordered time if shares are aligned, {} times if they are not",
            range(heights(aligned)),
            range(heights(others))
        );
        page.draw(
            &doubles.to_string(),
            format!(
                "Simulated allreduce of a row of {} doubles: time in tree order over unordered time",
                count(doubles)
            ),
            Axis::doublings("p, ranks"),
            Axis::linear("time over unordered time, ratio"),
            lines,
        );
        page.says(title);
    }
    let ranks = sizes[sizes.len() - 1];
    for (doubles, cost) in costs_of_one {
        page.compare(format!(
            "{ranks} ranks, one row of {doubles} doubles each: time of the reproducible topology-aware allreduce over the unordered one's | the library must do without topology, to give the same bits | {cost} \
             | the order follows the items, not the nodes: with one row per rank, messages have one row, and the schedule may use the topology"
        ));
    }
    Ok(())
}

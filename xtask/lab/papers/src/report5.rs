//! Winklehner and Friedl, *Reduction trees for MPI Reductions* (2016): three trees, their rounds, and a reduce by each tree and by NEC MPI
//! on *jupiter*, a cluster of 36 nodes of 16 cores.

mod measured;
mod trees;

use harness::Error;
use harness::plot::Axis;
use schedule::{Algorithm, Machine, Schedule};

use crate::cluster::{Best, Cluster, Run, Shape, fastest, link};
use crate::page::Page;
use crate::said::{count, least, line, mean, part_of};
use crate::{Context, Exhibit, Paper};

const PAPER: Paper = Paper {
    name: "Report 5",
    pictures: &[
        "report-5-process-count-eager.svg",
        "report-5-array-size.svg",
    ],
};

pub(super) const EXHIBITS: &[Exhibit] = &[
    PAPER.computed("report-5-trees", trees::fill),
    PAPER.simulated("report-5-process-count", process_count),
    PAPER.measured("report-5-process-count-measured", measured::process_count),
    PAPER.simulated("report-5-array-size", array_size),
    PAPER.measured("report-5-array-size-measured", measured::array_size),
];

/// The links of *jupiter*, with assumed constants: the report gives none, and names neither processors nor network.
///
/// The constants are typical of two eight-core Opterons per node with InfiniBand QDR, which were usual in clusters of that year and size:
/// 3.2 GB/s and 1.7 us between nodes; half of a copy's memory bandwidth and 0.8 us within a node; a sum of doubles at 4 GB/s.
const JUPITER: Cluster = Cluster::new([800.0, 0.4], [1700.0, 0.31], 0.25);

/// This number of nodes with 16 processes each.
fn nodes(nodes: usize) -> Shape {
    Shape::new(nodes, 16)
}

/// The number of all nodes.
const NODES: usize = 36;

/// The size of a double in bytes. The report does not say what its elements are.
const ELEMENT_BYTES: f64 = 8.0;

/// The report's trees.
const TREES: [Algorithm; 3] = [Algorithm::Binomial, Algorithm::Fibonacci, Algorithm::Binary];

/// Describes, on every simulated page, the machine and the two cost models of messages.
fn describe(page: &mut Page, what: &str) {
    page.text(format!(
        "{what}, simulated for *jupiter*, nodes of 16 processes, elements of {ELEMENT_BYTES} bytes: {}. The constants are assumed for InfiniBand QDR and processors of its time, not published. Links are not shared. \
         *Synchronous*: a message begins when both ranks are ready and occupies both for α + β b, so a parent receives from its children one after another. *Eager*, as libraries send short messages: a sender \
         continues at once, a message travels for α, and only its bytes occupy the receiver, one message after another.",
        JUPITER.words()
    ));
}

/// The times of the report's trees in ns.
type TreeTimes = [f64; TREES.len()];

/// The index of each tree in [`TREES`].
const BINOMIAL: usize = 0;
const FIBONACCI: usize = 1;
const BINARY: usize = 2;

/// The number of process counts for which one tree is faster than all others.
fn wins(sweep: &[TreeTimes], tree: usize, others: &[usize]) -> usize {
    let is_less = |times: &&TreeTimes| others.iter().all(|&other| times[tree] < times[other]);
    sweep.iter().filter(is_less).count()
}

/// The time of the best other tree relative to one tree, as a mean over all numbers of processes.
fn margin(sweep: &[TreeTimes], tree: usize, others: &[usize]) -> f64 {
    let best_ns = |times: &TreeTimes| least(others.iter().map(|&other| times[other]));
    mean(sweep.iter().map(|times| best_ns(times) / times[tree]))
}

/// The figure of section 3.1: a reduce of 1000 elements on 1 to 36 nodes.
fn process_count(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure of section 3.1, 16 to 576 processes, simulated");
    describe(
        page,
        "A reduce of 1000 elements to rank 0, on 1 to 36 nodes",
    );
    let row_bytes = 1000.0 * ELEMENT_BYTES;
    let rounds = "only rounds matter: two per level of a binary tree, one per level of a Fibonacci tree, which has 1.44 times as many levels";
    let depth = "latencies add up over the levels of a tree, not over its rounds, and a binary tree has the fewest levels; but each level receives and combines two arrays, so the result depends on the length";
    let sweep = |time_ns: &dyn Fn(&Run) -> f64| -> Vec<TreeTimes> {
        let run = |tree, count| Run::reduce(tree, &JUPITER, nodes(count));
        let times = (1..=NODES).map(|count| TREES.map(|tree| time_ns(&run(tree, count))));
        times.collect()
    };
    let synchronous = sweep(&|run| run.time_ns(row_bytes, 1));
    let [whole, half] = [1.0, 0.5].map(|size| sweep(&|run| eager_ns(run, size * row_bytes)));
    let sweeps = [
        ("synchronous", rounds, synchronous),
        ("eager", depth, whole),
        ("eager, elements of half the size", depth, half),
    ];
    let others = &[FIBONACCI, BINARY];
    for (name, _, sweep) in &sweeps[..2] {
        let lines = TREES.iter().enumerate().map(|(place, tree)| {
            let points = (1_u32..).zip(sweep);
            line(tree.name(), points, |(nodes, times)| {
                (f64::from(16 * nodes), times[place] / 1e3)
            })
        });
        page.draw(
            name,
            "Simulated reduce of 1000 elements on 1 to 36 nodes of 16 processes",
            Axis::linear("p, processes"),
            Axis::linear("time, µs"),
            lines,
        );
        let won = wins(sweep, BINOMIAL, others);
        page.says(format!(
            "With {name} messages, binomial is the fastest tree on {won} of 36 numbers of nodes"
        ));
    }
    for (name, why, sweep) in &sweeps {
        page.compare(format!(
            "{name}: binomial is the fastest of the three | yes | at {} of 36
            {name}: mean time of the best other tree over binomial | a big margin | {}
            {name}: binary is faster than Fibonacci | yes, a surprise | at {} of 36 | {why}
            {name}: mean time of Fibonacci over binary | – | {}",
            wins(sweep, BINOMIAL, others),
            margin(sweep, BINOMIAL, others),
            wins(sweep, BINARY, &[FIBONACCI]),
            margin(sweep, BINARY, &[FIBONACCI])
        ));
    }
    Ok(())
}

/// The algorithms that libraries use for long arrays instead of trees.
const IN_PIECES: [Algorithm; 3] = [
    Algorithm::LinearPipelined,
    Algorithm::BinaryPipelined,
    Algorithm::ReduceScatterGather,
];

/// The lengths of arrays: powers of ten, and three times each of them.
const ELEMENTS: [usize; 13] = [
    1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000,
];

/// The times for one length of the array.
struct Point {
    elements: usize,
    trees: [Best; TREES.len()],
    in_pieces: [Best; IN_PIECES.len()],
    eager_ns: TreeTimes,
}

impl Point {
    fn new(elements: usize) -> Self {
        let row_bytes = elements as f64 * ELEMENT_BYTES;
        let run = |algorithm| Run::reduce(algorithm, &JUPITER, nodes(NODES));
        // All processes of a node send their pieces to other nodes at the same time.
        let crowded = |algorithm| match algorithm {
            Algorithm::ReduceScatterGather => Run {
                machine: JUPITER.crowded(nodes(NODES)),
                ..run(algorithm)
            },
            _ => run(algorithm),
        };
        Self {
            elements,
            trees: TREES.map(|tree| run(tree).best(row_bytes, 1)),
            in_pieces: IN_PIECES.map(|algorithm| crowded(algorithm).best(row_bytes, elements)),
            eager_ns: TREES.map(|tree| eager_ns(&run(tree), row_bytes)),
        }
    }

    /// The fastest algorithm that cuts the array, and its time.
    fn best_in_pieces(&self) -> (Algorithm, f64) {
        let times = self.in_pieces.map(|best| best.1);
        fastest(IN_PIECES.into_iter().zip(times))
    }

    /// The time of the best tree relative to the best algorithm that cuts the array.
    fn over(&self) -> f64 {
        least(self.trees.map(|best| best.1)) / self.best_in_pieces().1
    }
}

/// The figure of section 3.2: arrays of increasing length on 36x16 processes.
fn array_size(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure of section 3.2, 1 to 10^6 elements on 36x16 processes, simulated");
    describe(page, "A reduce to rank 0 on 36x16");
    page.text(
        "For long arrays, `MPI_Reduce` is represented by algorithms that libraries can use: pipelines along a chain and a binary tree, with the best number of blocks, and a reduce-scatter and gather, in which all \
         processes of a node share its interface. The messages are synchronous, as long messages are.",
    );
    let points = ELEMENTS.map(Point::new);
    let synchronous = |point: &Point| [point.trees, point.in_pieces].concat();
    let algorithms = [TREES, IN_PIECES].concat();
    let lines = algorithms.iter().enumerate().map(|(place, algorithm)| {
        line(algorithm.name(), &points, |point| {
            let time_ns = synchronous(point)[place].1;
            (point.elements as f64, time_ns / 1e3)
        })
    });
    page.draw(
        "",
        "Simulated reduce on 36x16 processes, synchronous messages",
        Axis::decades("array, elements"),
        Axis::decades("time, µs"),
        lines,
    );
    let crossing = points.iter().find(|point| point.over() > 1.0);
    let first = crossing.map_or("nowhere".to_owned(), |point| {
        page.says(format!(
            "From {} elements on, sending pieces is faster than every tree that sends whole arrays",
            count(point.elements)
        ));
        format!("{} ({})", point.elements, point.best_in_pieces().0)
    });
    let over = |elements| {
        let mut points = points.iter();
        let point = points.find(|point| point.elements == elements);
        point.map_or(f64::NAN, Point::over)
    };
    let is_first = |times: &TreeTimes| times[BINOMIAL] < least([times[FIBONACCI], times[BINARY]]);
    let firsts = |times_ns: fn(&Point) -> TreeTimes| {
        let times = points.iter().map(times_ns);
        part_of(times.filter(is_first).count(), points.len())
    };
    page.compare(format!(
        "shortest array that is faster in pieces, elements | more than 100,000 | {first} | libraries switch algorithms by measurements, not by a model; the report does not give the size of an element
        best tree over best algorithm in pieces, 1000000 elements | much worse | {}
        best tree over best algorithm in pieces, 1 element | – | {}
        binomial is the fastest tree, synchronous | – | at {}
        binomial is the fastest tree, eager | – | at {}
        best tree over best algorithm in pieces, 1000 elements | below 1, by a big margin | {} | NEC MPI's algorithm is not known; a ratio above 1 means that a library could have been faster than trees",
        over(1_000_000),
        over(1),
        firsts(|point| point.trees.map(|best| best.1)),
        firsts(|point| point.eager_ns),
        over(1_000)
    ));
    Ok(())
}

/// The time in nanoseconds of a reduce to rank 0 along a tree if messages do not wait for their receivers.
///
/// A message leaves when its sender has combined its subtree, travels for α, and then occupies the receiver's port for β per byte.
fn eager_ns(run: &Run, row_bytes: f64) -> f64 {
    /// The time at which a rank has combined the values of its subtree. The recursion ends at leaves, which receive nothing.
    fn combined_ns(schedule: &Schedule, machine: &Machine, row_bytes: f64, rank: usize) -> f64 {
        let combine_ns = machine.near.combine_byte_ns * row_bytes;
        let (mut port_ns, mut done_ns) = (0.0_f64, 0.0_f64);
        for child in schedule.steps(rank).flat_map(|step| step.receives) {
            let link = link(machine, rank, child.peer);
            let sent_ns = combined_ns(schedule, machine, row_bytes, child.peer);
            port_ns = port_ns.max(sent_ns + link.latency_ns) + link.byte_ns * row_bytes;
            done_ns = done_ns.max(port_ns) + combine_ns;
        }
        done_ns
    }
    combined_ns(&run.schedule(1), &run.machine, row_bytes, 0)
}

//! The figures: 1000 elements on more and more nodes, and longer and longer arrays on all of them.

use harness::Error;
use harness::plot::Axis;
use schedule::Algorithm;

use super::{ELEMENT_BYTES, JUPITER, NODES, TREES, describe, eager, nodes};
use crate::Context;
use crate::cluster::{Best, Run, fastest};
use crate::page::Page;
use crate::said::{count, least, line, mean, part_of};

/// The times of the report's trees in ns.
type TreeTimes = [f64; TREES.len()];

/// Their places in that.
const BINOMIAL: usize = 0;
const FIBONACCI: usize = 1;
const BINARY: usize = 2;

/// The times of 1000 elements by one model, from one node to all.
struct Sweep(Vec<TreeTimes>);

impl Sweep {
    fn new(time_ns: impl Fn(&Run) -> f64) -> Self {
        let times = (1..=NODES)
            .map(|count| TREES.map(|tree| time_ns(&Run::reduce(tree, &JUPITER, nodes(count)))));
        Self(times.collect())
    }

    /// The number of process counts at which one tree is faster than all others.
    fn wins(&self, tree: usize, others: &[usize]) -> usize {
        let is_less = |times: &&TreeTimes| others.iter().all(|&other| times[tree] < times[other]);
        self.0.iter().filter(is_less).count()
    }

    /// The mean time of the best other tree relative to one tree, over all numbers of processes.
    fn margin(&self, tree: usize, others: &[usize]) -> f64 {
        let times = self.0.iter();
        mean(times.map(|times| least(others.iter().map(|&other| times[other])) / times[tree]))
    }
}

/// 1 to 36 nodes.
pub(super) fn process_count(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure of section 3.1, 16 to 576 processes, simulated");
    describe(
        page,
        "A reduce of 1000 elements to rank 0, on 1 to 36 nodes",
    );
    let row_bytes = 1000.0 * ELEMENT_BYTES;
    let rounds = "only rounds matter: two per level of a binary tree, one per level of a Fibonacci tree, which has 1.44 times as many levels";
    let depth = "latencies add up over the levels of a tree, not over its rounds, and a binary tree has the fewest levels; but each level receives and combines two arrays, so the result depends on the length";
    let synchronous = Sweep::new(|run| run.time_ns(row_bytes, 1));
    let eager = |row_bytes: f64| Sweep::new(move |run| eager::reduce_ns(run, row_bytes));
    let (whole, halved) = (eager(row_bytes), eager(row_bytes / 2.0));
    let sweeps = [
        ("synchronous", rounds, synchronous),
        ("eager", depth, whole),
        ("eager, elements of half the size", depth, halved),
    ];
    let others = &[FIBONACCI, BINARY];
    for (name, _, sweep) in &sweeps[..2] {
        let lines = TREES.iter().enumerate().map(|(place, tree)| {
            let points = (1_u32..).zip(&sweep.0);
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
        let wins = sweep.wins(BINOMIAL, others);
        page.says(format!(
            "With {name} messages, binomial is the fastest tree on {wins} of 36 numbers of nodes"
        ));
    }
    for (name, why, sweep) in &sweeps {
        page.compare(format!(
            "{name}: binomial is the fastest of the three | yes | at {} of 36
            {name}: mean time of the best other tree over binomial | a big margin | {}
            {name}: binary is faster than Fibonacci | yes, a surprise | at {} of 36 | {why}
            {name}: mean time of Fibonacci over binary | – | {}",
            sweep.wins(BINOMIAL, others),
            sweep.margin(BINOMIAL, others),
            sweep.wins(BINARY, &[FIBONACCI]),
            sweep.margin(BINARY, &[FIBONACCI])
        ));
    }
    Ok(())
}

/// The algorithms that libraries use instead for long arrays.
const IN_PIECES: [Algorithm; 3] = [
    Algorithm::LinearPipelined,
    Algorithm::BinaryPipelined,
    Algorithm::ReduceScatterGather,
];

/// Powers of ten, and between.
const ELEMENTS: [usize; 13] = [
    1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000,
];

/// One length.
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
        // Every process of a node sends its part to other nodes at once.
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
            eager_ns: TREES.map(|tree| eager::reduce_ns(&run(tree), row_bytes)),
        }
    }

    /// The fastest algorithm that cuts the array, and its time.
    fn best_in_pieces(&self) -> (Algorithm, f64) {
        let times = self.in_pieces.map(|best| best.time_ns);
        fastest(IN_PIECES.into_iter().zip(times))
    }

    /// The time of the best tree relative to the best algorithm that cuts the array.
    fn over(&self) -> f64 {
        least(self.trees.map(|best| best.time_ns)) / self.best_in_pieces().1
    }
}

/// 36x16 processes and longer and longer arrays.
pub(super) fn array_size(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure of section 3.2, 1 to 10^6 elements on 36x16 processes, simulated");
    describe(page, "A reduce to rank 0 on 36x16");
    page.text(
        "What a library can do with long arrays stands for its `MPI_Reduce`: pipelines along a chain and a binary tree, with the best number of blocks, and a reduce-scatter and gather, in which all processes of a \
         node share the interface; these are synchronous, as long messages are.",
    );
    let points = ELEMENTS.map(Point::new);
    let synchronous = |point: &Point| [point.trees, point.in_pieces].concat();
    let algorithms = [TREES, IN_PIECES].concat();
    let lines = algorithms.iter().enumerate().map(|(place, algorithm)| {
        line(algorithm.name(), &points, |point| {
            let time_ns = synchronous(point)[place].time_ns;
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
        firsts(|point| point.trees.map(|best| best.time_ns)),
        firsts(|point| point.eager_ns),
        over(1_000)
    ));
    Ok(())
}

//! The figures: 1000 elements on ever more nodes, and ever longer arrays on all of them.

use harness::Error;
use harness::markdown::digits;
use schedule::Algorithm;

use super::{ELEMENT_BYTES, JUPITER, NODES, TREES, describe, eager, nodes};
use crate::cluster::{Best, Run, fastest};
use crate::said::{count, least, line, mean, part_of};
use crate::values::row;
use crate::{Context, Values};

/// The times of the report's trees in ns.
type Times = [f64; TREES.len()];

/// Their places in that.
const BINOMIAL: usize = 0;
const FIBONACCI: usize = 1;
const BINARY: usize = 2;

/// The times of 1000 elements by one model, from one node to all.
struct Sweep(Vec<Times>);

impl Sweep {
    fn new(time_ns: impl Fn(&Run) -> f64) -> Self {
        let times = (1..=NODES)
            .map(|count| TREES.map(|tree| time_ns(&Run::reduce(tree, &JUPITER, nodes(count)))));
        Self(times.collect())
    }

    /// At how many numbers of processes one takes less than all of the others.
    fn wins(&self, tree: usize, others: &[usize]) -> usize {
        let is_less = |times: &&Times| others.iter().all(|&other| times[tree] < times[other]);
        self.0.iter().filter(is_less).count()
    }

    /// The mean over all numbers of processes of how much longer the best of the others takes.
    fn margin(&self, tree: usize, others: &[usize]) -> f64 {
        let times = self.0.iter();
        mean(times.map(|times| least(others.iter().map(|&other| times[other])) / times[tree]))
    }
}

/// 1 to 36 nodes.
pub(super) fn process_count(_: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    describe(page);
    let row_bytes = 1000.0 * ELEMENT_BYTES;
    let rounds = "rounds alone count: two a level of a binary tree, one a level of a Fibonacci tree, which has 1.44 times as many";
    let depth = "latency is paid by the depth of the tree, not by its rounds, and a binary tree is the flattest; but its bytes and combinations come twice a level, so that it depends \
         on the length";
    let synchronous = Sweep::new(|run| run.time_ns(row_bytes, 1));
    let eager = |row_bytes: f64| Sweep::new(move |run| eager::reduce_ns(run, row_bytes));
    let (whole, halved) = (eager(row_bytes), eager(row_bytes / 2.0));
    let sweeps = [
        ("synchronous", rounds, synchronous),
        ("eager", depth, whole),
        ("eager, elements of half the size", depth, halved),
    ];
    let others = &[FIBONACCI, BINARY];
    for (name, why, sweep) in &sweeps {
        let case = page.case("claims");
        case.set("model", *name).set("why", *why);
        case.set("binomial wins", sweep.wins(BINOMIAL, others));
        case.set("others over binomial", sweep.margin(BINOMIAL, others));
        case.set("binary wins", sweep.wins(BINARY, &[FIBONACCI]));
        case.set("fibonacci over binary", sweep.margin(BINARY, &[FIBONACCI]));
    }
    let drawn = &sweeps[..2];
    for (name, _, sweep) in drawn {
        let case = page.case("model");
        case.set("model", *name);
        case.set("wins", sweep.wins(BINOMIAL, others));
        let lines = TREES.iter().enumerate().map(|(place, tree)| {
            let points = (1_u32..).zip(&sweep.0);
            line(tree.name(), points, |(nodes, times)| {
                (f64::from(16 * nodes), times[place] / 1e3)
            })
        });
        case.draw(name, lines);
    }
    let columns = drawn
        .iter()
        .flat_map(|(name, ..)| TREES.map(|tree| (tree, name)));
    page.cells("trees", columns, |(tree, name)| {
        format!("`{tree}`, {name}, µs")
    });
    page.rows("times", [1, 2, 4, 8, 16, 24, 32, 36], |count| {
        let times = drawn.iter().flat_map(|(_, _, sweep)| sweep.0[count - 1]);
        row(16 * count, times.map(|time_ns| time_ns / 1e3))
    });
    Ok(())
}

/// What a library does instead with long arrays.
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
    eager_ns: Times,
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

    /// The fastest of those that cut the array, and its time.
    fn best_in_pieces(&self) -> (Algorithm, f64) {
        let times = self.in_pieces.map(|best| best.time_ns);
        fastest(IN_PIECES.into_iter().zip(times))
    }

    /// The time of the best tree over that of the best that cut the array.
    fn over(&self) -> f64 {
        least(self.trees.map(|best| best.time_ns)) / self.best_in_pieces().1
    }
}

/// 36x16 processes and ever longer arrays.
pub(super) fn array_size(_: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    describe(page);
    let points = ELEMENTS.map(Point::new);
    let crossing = points.iter().find(|point| point.over() > 1.0);
    let (title, first) = match crossing {
        Some(point) => (
            format!(
                "From {} elements on, sending pieces is faster than every tree that sends whole arrays",
                count(point.elements)
            ),
            format!("{} ({})", point.elements, point.best_in_pieces().0),
        ),
        None => (
            "Trees that send whole arrays are the fastest at all lengths".to_owned(),
            "nowhere".to_owned(),
        ),
    };
    page.set("title", title).set("crossing", first);
    for point in &points {
        if [1, 1_000, 1_000_000].contains(&point.elements) {
            page.set(&format!("over of {}", point.elements), point.over());
        }
    }
    let is_first = |times: &Times| times[BINOMIAL] < least([times[FIBONACCI], times[BINARY]]);
    let firsts = |times_ns: fn(&Point) -> Times| {
        let times = points.iter().map(times_ns);
        part_of(times.filter(is_first).count(), points.len())
    };
    let synchronous = firsts(|point| point.trees.map(|best| best.time_ns));
    page.set("synchronous", synchronous);
    page.set("eager", firsts(|point| point.eager_ns));
    let synchronous = |point: &Point| [point.trees, point.in_pieces].concat();
    let algorithms = [TREES, IN_PIECES].concat();
    let lines = algorithms.iter().enumerate().map(|(place, algorithm)| {
        line(algorithm.name(), &points, |point| {
            (
                point.elements as f64,
                synchronous(point)[place].time_ns / 1e3,
            )
        })
    });
    page.draw("", lines);
    page.cells("columns", &algorithms, |algorithm| format!("`{algorithm}`"));
    page.cells("eager columns", TREES, |tree| format!("`{tree}`, eager"));
    page.rows("times", &points, |point| {
        let synchronous = synchronous(point).into_iter().map(|best| best.to_string());
        let eager = point.eager_ns.map(|time_ns| digits(time_ns / 1e3));
        row(point.elements, synchronous.chain(eager))
    });
    Ok(())
}

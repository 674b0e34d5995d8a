//! 36x16 processes and ever longer arrays.

use harness::Error;
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};
use schedule::Algorithm;

use super::eager;
use super::jupiter::{ELEMENT_BYTES, JUPITER, MODELS_WORDS, NODES, TREES, machine_words, nodes};
use crate::cluster::{Best, Run};
use crate::said::count;
use crate::{Comparison, Context, Page};

/// What a library does instead with long arrays.
const OPTIMIZED: [Algorithm; 3] = [
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
    trees_ns: [f64; 3],
    eager_ns: [f64; 3],
    optimized: [Best; 3],
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
            trees_ns: TREES.map(|tree| run(tree).time_ns(row_bytes, 1)),
            eager_ns: TREES.map(|tree| eager::reduce_ns(&run(tree), row_bytes)),
            optimized: OPTIMIZED.map(|algorithm| crowded(algorithm).best(row_bytes, elements)),
        }
    }

    fn best_tree_ns(&self) -> f64 {
        self.trees_ns.into_iter().fold(f64::INFINITY, f64::min)
    }

    /// The fastest of those that cut the array, and its time.
    fn best_optimized(&self) -> (Algorithm, f64) {
        let times = OPTIMIZED
            .into_iter()
            .zip(self.optimized.map(|best| best.time_ns));
        let least = times.reduce(|best, other| if other.1 < best.1 { other } else { best });
        least.expect("there are three")
    }
}

/// The page.
pub(super) fn fill(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(machine_words());
    page.paragraph(format!(
        "A reduce to rank 0 on {}. {MODELS_WORDS} What a library can do with long arrays stands for its `MPI_Reduce`: pipelines along a chain and a binary tree, with the best number of blocks, \
         and a reduce-scatter and gather, in which all processes of a node share the interface; these are synchronous, as long messages are.",
        nodes(NODES)
    ));
    let points: Vec<Point> = ELEMENTS.into_iter().map(Point::new).collect();
    draw(page, &points)?;
    compare(page, &points);
    tables(page, &points);
    Ok(())
}

fn draw(page: &mut Page, points: &[Point]) -> Result<(), Error> {
    let line = |name: &str, time_ns: &dyn Fn(&Point) -> f64| {
        let points = points.iter();
        let points = points.map(|point| (point.elements as f64, time_ns(point) / 1e3));
        Line::new(name, points.collect())
    };
    let trees = TREES.iter().enumerate();
    let trees = trees.map(|(place, tree)| line(tree.name(), &|point| point.trees_ns[place]));
    let others = OPTIMIZED.iter().enumerate();
    let others = others
        .map(|(place, algorithm)| line(algorithm.name(), &|point| point.optimized[place].time_ns));
    let (shape, lines) = (nodes(NODES), trees.chain(others).collect());
    page.plot(
        "",
        Plot {
            title: match crossing(points) {
                Some(point) => format!(
                    "From {} elements on, sending pieces is faster than every tree that sends whole arrays",
                    count(point.elements)
                ),
                None => "Trees that send whole arrays are the fastest at all lengths".to_owned(),
            },
            subtitle: format!("Simulated reduce on {shape} processes, synchronous messages"),
            x: Axis::decades("array, elements"),
            y: Axis::decades("time, µs"),
            lines,
            size: Size::Page,
        },
    )
}

/// The least array that is faster in pieces.
fn crossing(points: &[Point]) -> Option<&Point> {
    let is_faster = |point: &&Point| point.best_optimized().1 < point.best_tree_ns();
    points.iter().find(is_faster)
}

fn compare(page: &mut Page, points: &[Point]) {
    let [one, .., last] = points else {
        return;
    };
    let over = |point: &Point| point.best_tree_ns() / point.best_optimized().1;
    let thousand = points.iter().filter(|point| point.elements == 1_000);
    let first = crossing(points).map_or("nowhere".to_owned(), |point| {
        format!("{} ({})", point.elements, point.best_optimized().0)
    });
    let binomial_first = |times_ns: fn(&Point) -> [f64; 3]| {
        let is_first = |point: &&Point| {
            let [binomial, fibonacci, binary] = times_ns(point);
            binomial < fibonacci && binomial < binary
        };
        format!(
            "at {} of {}",
            points.iter().filter(is_first).count(),
            points.len()
        )
    };
    let rows = [
        Comparison::simulated("the least array that is faster in pieces, elements", first)
            .published("more than 100,000")
            .because(
                "a library does not change over where it pays by a model, but where its makers measured that it does; the elements' size is not published either",
            ),
        Comparison::simulated(
            format!("trees over the best in pieces, {} elements", last.elements),
            over(last),
        )
        .published("much worse"),
        Comparison::simulated(
            "trees over the best in pieces, 1 element",
            over(one),
        ),
        Comparison::simulated(
            "binomial is the fastest tree, synchronous",
            binomial_first(|point| point.trees_ns),
        ),
        Comparison::simulated(
            "binomial is the fastest tree, eager",
            binomial_first(|point| point.eager_ns),
        ),
    ];
    let thousand = thousand.map(|point| {
        Comparison::simulated("trees over the best in pieces, 1000 elements", over(point))
            .published("below 1, by a big margin")
            .because("what NEC MPI did is not known; where ours is above 1, a library could have been faster than trees")
    });
    page.compare(rows.into_iter().chain(thousand));
}

fn tables(page: &mut Page, points: &[Point]) {
    let trees = TREES.map(|tree| format!("`{tree}`"));
    let eager = TREES.map(|tree| format!("`{tree}`, eager"));
    let others = OPTIMIZED.map(|algorithm| format!("`{algorithm}`"));
    page.paragraph("Microseconds (blocks, where more than one).");
    page.table(
        ["elements".to_owned()]
            .into_iter()
            .chain(trees)
            .chain(others)
            .chain(eager),
        points.iter().map(|point| {
            let us = |time_ns: f64| digits(time_ns / 1e3);
            let others = point.optimized.map(|best| match best.blocks {
                1 => us(best.time_ns),
                blocks => format!("{} ({blocks})", us(best.time_ns)),
            });
            let (trees, eager) = (point.trees_ns.map(us), point.eager_ns.map(us));
            let cells = trees.into_iter().chain(others).chain(eager);
            [point.elements.to_string()]
                .into_iter()
                .chain(cells)
                .collect()
        }),
    );
}

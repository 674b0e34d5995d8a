//! Figures 2, 3, 5, 6 and 7: compares five implementations with a good allreduce, on simulated clusters, and checks the report's claims.

use harness::Error;
use harness::plot::{Axis, Line};
use rayon::prelude::*;
use schedule::Algorithm;

use super::{ALGORITHMS, COUNT_MAX, DRAWN, ELEMENT_BYTES, HYDRA, SHAPES, describe};
use crate::Context;
use crate::cluster::{Best, Run, Shape, fastest};
use crate::page::Page;
use crate::said::{least, line, listed, part_of, span};

/// The largest ratio that a few extra bytes per message can explain.
const SLOWER: f64 = 1.001;

/// The most blocks that the report tried for Exercises 3 to 5: blocks had count/4 to count elements (Table 2).
const FEW_BLOCKS: usize = 4;

/// The times of all algorithms, and of a good allreduce, at one configuration and count.
struct HydraPoint {
    shape: Shape,
    count: usize,
    /// For each algorithm, the best time over all numbers of blocks, and over 1 to [`FEW_BLOCKS`] blocks.
    times: [(Algorithm, [Best; 2]); ALGORITHMS.len()],
    reference_ns: f64,
}

impl HydraPoint {
    fn new(shape: Shape, count: usize) -> Self {
        let row_bytes = count as f64 * ELEMENT_BYTES;
        let times = ALGORITHMS.map(|algorithm| {
            let run = Run::allreduce(algorithm, &HYDRA, shape);
            let few = 1..=FEW_BLOCKS.min(count);
            let few = few.map(|blocks| (blocks, run.time_ns(row_bytes, blocks)));
            (algorithm, [run.best(row_bytes, count), fastest(few)])
        });
        Self {
            shape,
            count,
            times,
            reference_ns: reference_ns(shape, row_bytes),
        }
    }

    /// An algorithm's time with the best number of blocks, and with the best of 1 to [`FEW_BLOCKS`] blocks.
    fn of(&self, algorithm: Algorithm) -> [Best; 2] {
        let found = self.times.iter().find(|times| times.0 == algorithm);
        found.expect("one of them").1
    }

    fn best_ns(&self, algorithm: Algorithm) -> f64 {
        self.of(algorithm)[0].1
    }

    fn few_ns(&self, algorithm: Algorithm) -> f64 {
        self.of(algorithm)[1].1
    }

    /// The time with the best number of blocks, divided by the reference's.
    fn ratio(&self, algorithm: Algorithm) -> f64 {
        self.best_ns(algorithm) / self.reference_ns
    }
}

/// The time of the fastest algorithm that libraries use. In both butterflies, all processes of a node share its interface to other nodes.
fn reference_ns(shape: Shape, row_bytes: f64) -> f64 {
    let crowded = [Algorithm::RecursiveDoubling, Algorithm::Rabenseifner].map(|algorithm| Run {
        machine: HYDRA.crowded(shape),
        ..Run::allreduce(algorithm, &HYDRA, shape)
    });
    let ring = Run::allreduce(Algorithm::Ring, &HYDRA, shape);
    let times = crowded.into_iter().chain([ring]);
    least(times.map(|run| run.time_ns(row_bytes, 1)))
}

/// Simulates all configurations, draws some of them, and compares with what the report says.
pub(super) fn fill(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figures 2, 3, 5, 6 and 7, five implementations against an allreduce, simulated");
    describe(page);
    page.text(
        "The reference, which represents `MPI_Allreduce`, is the fastest of recursive doubling, Rabenseifner's algorithm and the ring. If all processes of a node send to other nodes at once, as in the first two, β between nodes \
         is multiplied by their number. Each implementation runs with its fastest number of blocks, as in the report's figures. However, the report tried only blocks of count/4 to count elements for \
         Exercises 3 to 5, so these are also shown with the best of 1 to 4 blocks.",
    );
    let counts = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, COUNT_MAX];
    let counts = context.quick_or(&[1, 10_000, COUNT_MAX][..], &counts);
    let shapes = context.quick_or(&[SHAPES[0], DRAWN[0]][..], &SHAPES);
    let asked = shapes.iter().flat_map(|&shape| {
        let is_end = |count: usize| matches!(count, 1 | COUNT_MAX);
        let counts = counts.iter().copied();
        let counts = counts.filter(move |&count| DRAWN.contains(&shape) || is_end(count));
        counts.map(move |count| (shape, count))
    });
    let asked: Vec<(Shape, usize)> = asked.collect();
    let points = asked.into_par_iter();
    let points = points.map(|(shape, count)| HydraPoint::new(shape, count));
    let points: Vec<HydraPoint> = points.collect();
    for shape in DRAWN {
        let own: Vec<&HydraPoint> = points.iter().filter(|point| point.shape == shape).collect();
        if !own.is_empty() {
            draw(page, shape, &own);
        }
    }
    page.text("## What the report says");
    first_claims(page, &points);
    last_claims(page, &points);
    Ok(())
}

/// Draws one configuration over all counts.
fn draw(page: &mut Page, shape: Shape, points: &[&HydraPoint]) {
    let mut lines = Vec::new();
    for algorithm in ALGORITHMS {
        for (index, blocks) in ["the best blocks", "1 to 4 blocks"].into_iter().enumerate() {
            if index > 0 && !algorithm.is_pipelined() {
                continue;
            }
            lines.push(line(format!("{algorithm}, {blocks}"), points, |point| {
                let time_ns = point.of(algorithm)[index].1;
                (point.count as f64, time_ns / point.reference_ns)
            }));
        }
    }
    lines.push(Line::level("the reference", 1.0));
    page.text(format!("## {shape}"));
    page.draw(
        &shape.to_string(),
        format!("Allreduce on {shape} processes, over the fastest of three schedules of libraries"),
        Axis::decades("row, elements"),
        Axis::decades("time over the reference's, ratio"),
        lines,
    );
    page.in_panels();
}

fn at(points: &[HydraPoint], count: usize) -> impl Iterator<Item = &HydraPoint> + Clone {
    points.iter().filter(move |point| point.count == count)
}

fn configurations(count: usize, all: usize) -> String {
    part_of(count, all) + " configurations"
}

/// Compares the report's claims about Figures 2, 3 and 5.
fn first_claims(page: &mut Page, points: &[HydraPoint]) {
    let (linear, doubly) = (Algorithm::LinearPipelined, Algorithm::LinearDoublyPipelined);
    let naive = |point: &HydraPoint| point.ratio(Algorithm::ReduceBroadcast);
    let ends = at(points, COUNT_MAX);
    let slower = ends.clone().filter(|point| point.ratio(linear) >= 1.0);
    let (all, slower_count) = (ends.clone().count(), slower.clone().count());
    let why = match &*listed(slower.map(|point| point.shape)) {
        "" => String::new(),
        slower => format!(
            "not on {slower}: simulated processes of a node do not slow each other in Rabenseifner's butterfly, but real ones share memory"
        ),
    };
    page.compare(format!(
        "Figure 2: `reduce-broadcast` over the reference, all configurations and counts | very similar, the reference slightly better | {} | a library chooses its reduce and broadcast by length, and cuts long rows into segments; ours are two binomial trees, which send and combine whole rows log2 p times
        Figure 3: `linear-pipelined` faster than the reference at {COUNT_MAX} | all, for count > 10^6 | {} | {why}",
        span(points.iter().map(naive)),
        configurations(all - slower_count, all)
    ));
    for shape in DRAWN {
        let mut own = points.iter().filter(|point| point.shape == shape);
        if let Some(first) = own.find(|point| point.ratio(linear) < 1.0) {
            page.compare(format!(
                "Figure 3: the least count at which `linear-pipelined` is faster, {shape} | > 10^6 | {}",
                first.count
            ));
        }
    }
    for point in at(points, 1) {
        let is_large = point.shape.ranks() > 100;
        page.compare(format!(
            "Figure 3: `linear-pipelined` over the reference, 1 element, {} | {} | {}",
            point.shape,
            if is_large { "huge extra cost" } else { "less" },
            point.ratio(linear)
        ));
    }
    for point in ends.clone() {
        let published = match (point.shape.nodes, point.shape.processes) {
            (20, 32) | (36, 16) => "roughly an order worse",
            (1, _) | (_, 1) => "comparable",
            (20, 16) => "drastically worse",
            _ => "–",
        };
        page.compare(format!(
            "Figure 5: `linear-doubly-pipelined` in 1 to 4 blocks over `linear-pipelined`, {COUNT_MAX} elements, {} | {published} | {} | the report tried at most 4 blocks for Exercise 3, up to 10^6 for Exercise 2; here {} blocks are best",
            point.shape,
            point.few_ns(doubly) / point.best_ns(linear),
            point.of(doubly)[0].0
        ));
    }
    let best = ends.map(|point| point.best_ns(doubly) / point.best_ns(linear));
    page.compare(format!(
        "Figure 5: the same with the best blocks, {COUNT_MAX} elements | no increase, in contrast to expectations | {} | no gain is possible: a rank of a chain exchanges with its two neighbours alternately, so s = 2 with both directions at once, too",
        span(best)
    ));
}

/// Compares the report's claims about Figures 6 and 7.
fn last_claims(page: &mut Page, points: &[HydraPoint]) {
    let (singly, doubly) = (Algorithm::BinaryPipelined, Algorithm::BinaryDoublyPipelined);
    let ends = || at(points, COUNT_MAX);
    let over_naive =
        |point: &HydraPoint| point.few_ns(singly) / point.best_ns(Algorithm::ReduceBroadcast);
    let best = |point: &HydraPoint| point.best_ns(doubly) / point.best_ns(singly);
    let ones = at(points, 1);
    let slower = ones.clone().filter(|point| best(point) > SLOWER).count();
    page.compare(format!(
        "Figure 6: `binary-pipelined` in 1 to 4 blocks over the reference, all configurations and counts | slower by a factor more or less constant over count | {}
        Figure 6: `binary-pipelined` in 1 to 4 blocks over `reduce-broadcast` | slower | {} | as for Figure 2: the report combined the library's reduce and broadcast, not two binomial trees
        Figure 6: `binary-pipelined` with the best blocks over the reference, {COUNT_MAX} elements | – | {}
        Figure 7: `binary-doubly-pipelined` over `binary-pipelined`, both in 1 to 4 blocks, {COUNT_MAX} elements | no performance gain | {} | 4 blocks do not fill a pipeline: 4h - 3 + 3·3 rounds instead of 4(h - 1) + 4·3
        Figure 7: the same with the best blocks, {COUNT_MAX} elements | a gain was expected; s = 3 instead of 4 | {} | the expectation was right, with enough blocks
        Figure 7: `binary-doubly-pipelined` slower than `binary-pipelined` at 1 element | slower for most configurations | {} | one more round (4h - 3 instead of 4(h - 1)) if the tree is full; the report's program also sends empty messages, ours does not",
        span(points.iter().map(|point| point.few_ns(singly) / point.reference_ns)),
        span(points.iter().map(over_naive)),
        span(ends().map(|point| point.ratio(singly))),
        span(ends().map(|point| point.few_ns(doubly) / point.few_ns(singly))),
        span(ends().map(best)),
        configurations(slower, ones.count())
    ));
    let few_ns = |nodes, processes| {
        let shape = Shape::new(nodes, processes);
        let point = ends().find(|point| point.shape == shape);
        point.map(|point| point.few_ns(doubly))
    };
    if let Some((many, few)) = few_ns(36, 32).zip(few_ns(20, 1)) {
        page.compare(format!(
            "Figure 7: `binary-doubly-pipelined` in 1 to 4 blocks, 36x32 over 20x1, {COUNT_MAX} elements | almost up to an order | {} | the simulation leaves out that a node's processes share memory and a network interface",
            many / few
        ));
    }
}

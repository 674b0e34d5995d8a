//! What the report says of its figures, asked of the simulated ones.

use harness::markdown::digits;
use schedule::Algorithm;

use super::points::{COUNT_MAX, DRAWN, FEW_BLOCKS, Point};
use crate::cluster::Shape;
use crate::{Comparison, Page};

/// A ratio above this is more than what a few bytes of a message make.
const SLOWER: f64 = 1.001;

/// All claims, figure by figure.
pub(super) fn compare(page: &mut Page, points: &[Point]) {
    page.heading("What the report says");
    let claims = [naive, linear, linear_doubly, binary, binary_doubly];
    page.compare(claims.into_iter().flat_map(|claim| claim(points)));
}

/// From the least to the greatest.
fn range(values: impl Iterator<Item = f64>) -> String {
    let (least, most) = values.fold((f64::INFINITY, 0.0), |(least, most), value| {
        (f64::min(least, value), f64::max(most, value))
    });
    format!("{} to {}", digits(least), digits(most))
}

fn at(points: &[Point], count: usize) -> impl Iterator<Item = &Point> + Clone {
    points.iter().filter(move |point| point.count == count)
}

fn names<'p>(points: impl Iterator<Item = &'p Point>) -> String {
    let names: Vec<String> = points.map(|point| point.shape.to_string()).collect();
    names.join(", ")
}

fn how_many(is_so: usize, all: usize) -> String {
    format!("{is_so} of {all} configurations")
}

fn naive(points: &[Point]) -> Vec<Comparison> {
    let ratios = points
        .iter()
        .map(|point| point.ratio(Algorithm::ReduceBroadcast));
    vec![
        Comparison::simulated(
            "Figure 2: `reduce-broadcast` over the reference, all configurations and counts",
            range(ratios),
        )
        .published("very similar, the reference slightly better")
        .because(
            "the library's reduce and broadcast choose by length, and cut long rows into segments; ours are two binomial trees, in which a row is carried and combined \
             whole log2 p times",
        ),
    ]
}

fn linear(points: &[Point]) -> Vec<Comparison> {
    let linear = Algorithm::LinearPipelined;
    let ends = at(points, COUNT_MAX);
    let slower = ends.clone().filter(|point| point.ratio(linear) >= 1.0);
    let (all, slower_count) = (ends.clone().count(), slower.clone().count());
    let faster = Comparison::simulated(
        format!("Figure 3: `linear-pipelined` faster than the reference at {COUNT_MAX}"),
        how_many(all - slower_count, all),
    )
    .published("all, for count > 10^6")
    .because(if slower_count == 0 {
        String::new()
    } else {
        format!(
            "not on {}, where Rabenseifner's butterfly has every link of a node to itself here; in memory that all processes share it has not",
            names(slower)
        )
    });
    let first = |shape: Shape| {
        let own = points.iter().filter(|point| point.shape == shape);
        let first = own.into_iter().find(|point| point.ratio(linear) < 1.0)?;
        let what = format!("Figure 3: the least count at which it is faster, {shape}");
        Some(Comparison::simulated(what, first.count).published("> 10^6"))
    };
    let cost = at(points, 1).map(|point| {
        let what = format!(
            "Figure 3: `linear-pipelined` over the reference, 1 element, {}",
            point.shape
        );
        Comparison::simulated(what, point.ratio(linear)).published(if point.shape.ranks() > 100 {
            "huge extra cost"
        } else {
            "less"
        })
    });
    let firsts = DRAWN.into_iter().filter_map(first);
    [faster].into_iter().chain(firsts).chain(cost).collect()
}

fn linear_doubly(points: &[Point]) -> Vec<Comparison> {
    let (singly, doubly) = (Algorithm::LinearPipelined, Algorithm::LinearDoublyPipelined);
    let few = at(points, COUNT_MAX).map(|point| {
        let Shape { nodes, processes } = point.shape;
        let row = Comparison::simulated(
            format!("Figure 5: `{doubly}` in 1 to {FEW_BLOCKS} blocks over `{singly}`, {COUNT_MAX} elements, {}", point.shape),
            point.time(doubly).few.time_ns / point.time(singly).best.time_ns,
        )
        .because(format!(
            "Exercise 3 was tried with {FEW_BLOCKS} blocks at most, Exercise 2 with up to 10^6; best are {} here",
            point.time(doubly).best.blocks
        ));
        match (nodes, processes) {
            (20, 32) | (36, 16) => row.published("roughly an order worse"),
            (1, _) | (_, 1) => row.published("comparable"),
            (20, 16) => row.published("drastically worse"),
            _ => row,
        }
    });
    let best = at(points, COUNT_MAX)
        .map(|point| point.time(doubly).best.time_ns / point.time(singly).best.time_ns);
    let best = Comparison::simulated(
        format!("Figure 5: the same with the best blocks, {COUNT_MAX} elements"),
        range(best),
    )
    .published("no increase, in contrast to expectations")
    .because("nothing was to be expected: a rank of a chain has two neighbours, and meets them in turn, so s = 2 up and down at once as well as one after the other");
    few.chain([best]).collect()
}

fn binary(points: &[Point]) -> Vec<Comparison> {
    let binary = Algorithm::BinaryPipelined;
    let over = |reference_ns: fn(&Point) -> f64| {
        range(
            points
                .iter()
                .map(|point| point.time(binary).few.time_ns / reference_ns(point)),
        )
    };
    vec![
        Comparison::simulated(
            format!("Figure 6: `{binary}` in 1 to {FEW_BLOCKS} blocks over the reference, all configurations and counts"),
            over(|point| point.reference_ns),
        )
        .published("slower by a factor more or less constant over count"),
        Comparison::simulated(
            format!("Figure 6: `{binary}` in 1 to {FEW_BLOCKS} blocks over `reduce-broadcast`"),
            over(|point| point.time(Algorithm::ReduceBroadcast).best.time_ns),
        )
        .published("slower")
        .because("as for Figure 2: what was combined there are the library's own, not two binomial trees"),
        Comparison::simulated(
            format!("Figure 6: `{binary}` with the best blocks over the reference, {COUNT_MAX} elements"),
            range(at(points, COUNT_MAX).map(|point| point.ratio(binary))),
        ),
    ]
}

fn binary_doubly(points: &[Point]) -> Vec<Comparison> {
    let (singly, doubly) = (Algorithm::BinaryPipelined, Algorithm::BinaryDoublyPipelined);
    let ends = at(points, COUNT_MAX);
    let few = |point: &Point| point.time(doubly).few.time_ns / point.time(singly).few.time_ns;
    let best = |point: &Point| point.time(doubly).best.time_ns / point.time(singly).best.time_ns;
    let ones = at(points, 1);
    let slower = ones.clone().filter(|point| best(point) > SLOWER).count();
    let time_ns = |nodes, processes| {
        let point = ends
            .clone()
            .find(|point| point.shape == Shape::new(nodes, processes));
        point.map(|point| point.time(doubly).few.time_ns)
    };
    let spread = time_ns(36, 32).zip(time_ns(20, 1)).map(|(many, few)| {
        let what = format!("Figure 7: `{doubly}` in 1 to {FEW_BLOCKS} blocks, 36x32 over 20x1, {COUNT_MAX} elements");
        Comparison::simulated(what, many / few)
            .published("almost up to an order")
            .because("what the memory and the interface that a node's processes share cost is not in it")
    });
    [
        Comparison::simulated(
            format!("Figure 7: `{doubly}` over `{singly}`, both in 1 to {FEW_BLOCKS} blocks, {COUNT_MAX} elements"),
            range(ends.clone().map(few)),
        )
        .published("no performance gain")
        .because(format!(
            "{FEW_BLOCKS} blocks do not fill a pipeline: 4h - 3 + 3·{0} rounds instead of 4(h - 1) + 4·{0}",
            FEW_BLOCKS - 1
        )),
        Comparison::simulated(
            format!("Figure 7: the same with the best blocks, {COUNT_MAX} elements"),
            range(ends.clone().map(best)),
        )
        .published("a gain was expected; s = 3 instead of 4")
        .because("the expectation was right, with enough blocks"),
        Comparison::simulated(
            format!("Figure 7: `{doubly}` slower than `{singly}` at 1 element"),
            how_many(slower, ones.count()),
        )
        .published("slower for most configurations")
        .because("a round more (4h - 3 instead of 4(h - 1)) where the tree is full; its messages without content, which are left out here, add to it there"),
    ]
    .into_iter()
    .chain(spread)
    .collect()
}

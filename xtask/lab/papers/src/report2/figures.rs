//! Figures 2, 3, 5, 6 and 7: five implementations against a good allreduce, on clusters that are not here; and what the report says of them.

use harness::Error;
use harness::markdown::digits;
use harness::plot::Line;
use rayon::prelude::*;
use schedule::Algorithm;

use super::hydra::{self, ALGORITHMS, COUNT_MAX, DRAWN, Point, SHAPES};
use crate::cluster::Shape;
use crate::said::{all_ratios, from_to, line, listed, part_of};
use crate::values::row;
use crate::{Context, Values};

/// A ratio above this is more than what a few bytes of a message make.
const SLOWER: f64 = 1.001;

/// The page.
pub(super) fn fill(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    hydra::describe(page);
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
    let points = points.map(|(shape, count)| Point::new(shape, count));
    let points: Vec<Point> = points.collect();
    for shape in DRAWN {
        let own: Vec<&Point> = points.iter().filter(|point| point.shape == shape).collect();
        if !own.is_empty() {
            draw(page.case("shape"), shape, &own);
        }
    }
    first_claims(page, &points);
    last_claims(page, &points);
    for count in [COUNT_MAX, 1] {
        all_shapes(page.case("count"), &points, count);
    }
    Ok(())
}

fn reference(point: &Point) -> String {
    format!("{} ({})", digits(point.reference_ns / 1e3), point.reference)
}

/// One configuration over all counts.
fn draw(page: &mut Values, shape: Shape, points: &[&Point]) {
    type Time = fn(&Point, Algorithm) -> f64;
    let over_reference = |algorithm: Algorithm, blocks: &str, time_ns: Time| {
        line(format!("{algorithm}, {blocks}"), points, |point| {
            let ratio = time_ns(point, algorithm) / point.reference_ns;
            (point.count as f64, ratio)
        })
    };
    let mut lines = Vec::new();
    for algorithm in ALGORITHMS {
        lines.push(over_reference(algorithm, "the best blocks", Point::best_ns));
        if algorithm.is_pipelined() {
            lines.push(over_reference(algorithm, "1 to 4 blocks", Point::few_ns));
        }
    }
    page.set("shape", shape);
    page.set("ratios", all_ratios(&lines, "the reference"));
    lines.push(Line::level("the reference", 1.0));
    page.draw(&shape.to_string(), lines);
    page.cells("counts", points, |point| point.count);
    page.cells("references", points, |point| reference(point));
    page.rows("times", ALGORITHMS, |algorithm| {
        let cells = points
            .iter()
            .map(|point| point.of(algorithm)[0].to_string());
        row(format!("`{algorithm}`"), cells)
    });
}

/// All configurations at one count.
fn all_shapes(page: &mut Values, points: &[Point], count: usize) {
    page.set("count", count);
    page.cells("schedules", ALGORITHMS, |algorithm| {
        format!("`{algorithm}`")
    });
    page.rows("shapes", at(points, count), |point| {
        let cells = ALGORITHMS.map(|algorithm| {
            let best = digits(point.ratio(algorithm));
            if !algorithm.is_pipelined() {
                return best;
            }
            let few = point.few_ns(algorithm) / point.reference_ns;
            format!("{best} ({})", digits(few))
        });
        row(point.shape, [reference(point)].into_iter().chain(cells))
    });
}

fn at(points: &[Point], count: usize) -> impl Iterator<Item = &Point> + Clone {
    points.iter().filter(move |point| point.count == count)
}

fn configurations(count: usize, all: usize) -> String {
    part_of(count, all) + " configurations"
}

/// Figures 2, 3 and 5.
fn first_claims(page: &mut Values, points: &[Point]) {
    let over_naive = |point: &Point| point.ratio(Algorithm::ReduceBroadcast);
    page.set("naive", from_to(points.iter().map(over_naive)));
    let (linear, doubly) = (Algorithm::LinearPipelined, Algorithm::LinearDoublyPipelined);
    let ends = at(points, COUNT_MAX);
    let slower = ends.clone().filter(|point| point.ratio(linear) >= 1.0);
    let (all, slower_count) = (ends.clone().count(), slower.clone().count());
    page.set("linear faster", configurations(all - slower_count, all));
    let slower = listed(slower.map(|point| point.shape));
    let why = format!(
        "not on {slower}, where Rabenseifner's butterfly has every link of a node to itself here; in memory that all processes share it has not"
    );
    page.set(
        "slower",
        if slower.is_empty() {
            String::new()
        } else {
            why
        },
    );
    for shape in DRAWN {
        let mut own = points.iter().filter(|point| point.shape == shape);
        if let Some(first) = own.find(|point| point.ratio(linear) < 1.0) {
            let case = page.case("first");
            case.set("shape", shape).set("count", first.count);
        }
    }
    for point in at(points, 1) {
        let is_large = point.shape.ranks() > 100;
        let published = if is_large { "huge extra cost" } else { "less" };
        let case = page.case("one");
        case.set("shape", point.shape).set("published", published);
        case.set("ratio", point.ratio(linear));
    }
    for point in ends.clone() {
        let published = match (point.shape.nodes, point.shape.processes) {
            (20, 32) | (36, 16) => Some("roughly an order worse"),
            (1, _) | (_, 1) => Some("comparable"),
            (20, 16) => Some("drastically worse"),
            _ => None,
        };
        let case = page.case("doubly");
        case.set("shape", point.shape).set("published", published);
        case.set("ratio", point.few_ns(doubly) / point.best_ns(linear));
        case.set("blocks", point.of(doubly)[0].blocks);
    }
    let best = ends.map(|point| point.best_ns(doubly) / point.best_ns(linear));
    page.set("linear doubly", from_to(best));
}

/// Figures 6 and 7.
fn last_claims(page: &mut Values, points: &[Point]) {
    let (singly, doubly) = (Algorithm::BinaryPipelined, Algorithm::BinaryDoublyPipelined);
    let ends = at(points, COUNT_MAX);
    let few = |point: &Point| point.few_ns(singly) / point.reference_ns;
    page.set("binary few", from_to(points.iter().map(few)));
    let naive = |point: &Point| point.best_ns(Algorithm::ReduceBroadcast);
    let over_naive = |point: &Point| point.few_ns(singly) / naive(point);
    page.set("binary naive", from_to(points.iter().map(over_naive)));
    let best = |point: &Point| point.ratio(singly);
    page.set("binary best", from_to(ends.clone().map(best)));
    let few = |point: &Point| point.few_ns(doubly) / point.few_ns(singly);
    page.set("binary doubly few", from_to(ends.clone().map(few)));
    let best = |point: &Point| point.best_ns(doubly) / point.best_ns(singly);
    page.set("binary doubly best", from_to(ends.clone().map(best)));
    let ones = at(points, 1);
    let slower = ones.clone().filter(|point| best(point) > SLOWER).count();
    page.set("binary doubly slower", configurations(slower, ones.count()));
    let few_ns = |nodes, processes| {
        let shape = Shape::new(nodes, processes);
        let point = ends.clone().find(|point| point.shape == shape);
        point.map(|point| point.few_ns(doubly))
    };
    if let Some((many, few)) = few_ns(36, 32).zip(few_ns(20, 1)) {
        page.case("ends").set("ratio", many / few);
    }
}

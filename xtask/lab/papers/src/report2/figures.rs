//! Figures 2, 3, 5, 6 and 7: five implementations against a good allreduce, on clusters that are not here.

use harness::Error;
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};
use rayon::prelude::*;
use schedule::Algorithm;

use super::claims;
use super::hydra::{SHAPES, machine_words};
use super::points::{COUNT_MAX, DRAWN, IMPLEMENTATIONS, OTHERS, Point, Time};
use crate::cluster::{Best, Shape};
use crate::said::all_ratios;
use crate::{Context, Page};

/// The page.
pub(super) fn fill(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(machine_words());
    page.paragraph(
        "The reference stands for `MPI_Allreduce`: the fastest of recursive doubling, Rabenseifner's and the ring. Where all processes of a node send to other nodes at once, as in the first \
         two, β between nodes is multiplied by their number. Each implementation with the number of blocks that takes least, as in the report's figures; but the report tried blocks of count/4 to count \
         elements alone for Exercises 3 to 5, so these are also shown with the best of 1 to 4 blocks.",
    );
    let (counts, shapes): (Vec<usize>, Vec<Shape>) = if context.quick {
        (
            vec![1, 10_000, COUNT_MAX],
            vec![Shape::new(1, 16), DRAWN[0]],
        )
    } else {
        (
            (0..=7).map(|power| 10_usize.pow(power)).collect(),
            SHAPES.to_vec(),
        )
    };
    let asked = shapes.into_iter().flat_map(|shape| {
        let is_end = |count: usize| matches!(count, 1 | COUNT_MAX);
        let counts = counts.iter().copied();
        let counts = counts.filter(move |&count| DRAWN.contains(&shape) || is_end(count));
        counts.map(move |count| (shape, count))
    });
    let asked: Vec<(Shape, usize)> = asked.collect();
    let points: Vec<Point> = asked
        .into_par_iter()
        .map(|(shape, count)| Point::new(shape, count))
        .collect();
    for shape in DRAWN {
        let points: Vec<&Point> = points.iter().filter(|point| point.shape == shape).collect();
        if !points.is_empty() {
            draw(page, shape, &points)?;
        }
    }
    claims::compare(page, &points);
    at_end(page, &points, COUNT_MAX);
    at_end(page, &points, 1);
    Ok(())
}

fn draw(page: &mut Page, shape: Shape, points: &[&Point]) -> Result<(), Error> {
    page.heading(shape.to_string());
    let line = |algorithm: Algorithm, blocks: &str, best: fn(&Time) -> Best| {
        let points = points.iter().map(|point| {
            let time_ns = best(point.time(algorithm)).time_ns;
            (point.count as f64, time_ns / point.reference_ns)
        });
        Line::new(format!("{algorithm}, {blocks}"), points.collect())
    };
    let mut lines = Vec::new();
    for algorithm in points[0].times.iter().map(|time| time.algorithm) {
        lines.push(line(algorithm, "the best blocks", |time| time.best));
        if algorithm.is_pipelined() {
            lines.push(line(algorithm, "1 to 4 blocks", |time| time.few));
        }
    }
    let title = format!("Simulated, {}", all_ratios(&lines, "the reference"));
    lines.push(Line::level("the reference", 1.0));
    let plot = Plot {
        title,
        subtitle: format!(
            "Allreduce on {shape} processes, over the fastest of three schedules of libraries"
        ),
        x: Axis::decades("row, elements"),
        y: Axis::decades("time over the reference's, ratio"),
        lines,
        size: Size::Panels,
    };
    page.plot(&shape.to_string(), plot)?;
    let cells = |time: &Time| {
        let blocks = match time.best.blocks {
            1 => String::new(),
            blocks => format!(" ({blocks})"),
        };
        format!("{}{blocks}", digits(time.best.time_ns / 1e3))
    };
    page.paragraph("Microseconds with the best number of blocks (blocks, where more than one).");
    let headings = points.iter().map(|point| point.count.to_string());
    let rows = points[0].times.iter().map(|time| {
        let cells = points.iter().map(|point| cells(point.time(time.algorithm)));
        let name = format!("`{}`", time.algorithm);
        [name].into_iter().chain(cells).collect()
    });
    let reference = points
        .iter()
        .map(|point| format!("{} ({})", digits(point.reference_ns / 1e3), point.reference));
    let reference = ["reference".to_owned()]
        .into_iter()
        .chain(reference)
        .collect();
    page.table(
        ["elements".to_owned()].into_iter().chain(headings),
        rows.chain([reference]),
    );
    Ok(())
}

fn at_end(page: &mut Page, points: &[Point], count: usize) {
    page.heading(format!("All configurations at {count}"));
    page.paragraph("Time as a ratio to the reference; with 1 to 4 blocks in parentheses.");
    let points = points.iter().filter(|point| point.count == count);
    let algorithms = IMPLEMENTATIONS.into_iter().map(|(_, algorithm)| algorithm);
    let algorithms: Vec<Algorithm> = algorithms.chain(OTHERS).collect();
    let headings = algorithms.iter().map(|algorithm| format!("`{algorithm}`"));
    page.table(
        ["nodes x processes", "reference, µs"]
            .map(str::to_owned)
            .into_iter()
            .chain(headings),
        points.map(|point| {
            let cells = algorithms.iter().map(|&algorithm| {
                let few = point.time(algorithm).few.time_ns / point.reference_ns;
                let few = if algorithm.is_pipelined() {
                    format!(" ({})", digits(few))
                } else {
                    String::new()
                };
                format!("{}{few}", digits(point.ratio(algorithm)))
            });
            let reference = format!("{} ({})", digits(point.reference_ns / 1e3), point.reference);
            [point.shape.to_string(), reference]
                .into_iter()
                .chain(cells)
                .collect()
        }),
    );
}

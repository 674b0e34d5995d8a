//! Figures 2, 3, 5, 6 and 7 on two ranks, where the report had 16 to 1152.

use harness::Error;
use harness::bench::schedules::{self, Job, Row, of, reference};
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};
use reduce::Algorithm;

use super::points::{IMPLEMENTATIONS, OTHERS};
use crate::said::all_ratios;
use crate::{Comparison, Context, Page};

/// A schedule's name in plans.
fn named(algorithm: schedule::Algorithm) -> Algorithm {
    let parsed = algorithm.name().parse();
    parsed.expect("every schedule is an algorithm of plans")
}

/// The page.
pub(super) fn fill(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.machine(context, "2");
    page.paragraph(
        "An allreduce (sum) of one row of doubles a rank; medians, each schedule in turns with the backend's own allreduce, which each has its own time of. Pipelines are cut \
         into as many blocks as Lemma 1 says for the link as it is measured, which is one where two ranks meet in every step. The report measured 16 and more ranks, of which two \
         are not a small version: chain and tree are the same there, and what can be seen is what the programs cost, not how they grow.",
    );
    let counts = if context.quick { 0..=4 } else { 0..=7 };
    let algorithms = IMPLEMENTATIONS.into_iter().map(|(_, algorithm)| algorithm);
    let job = Job {
        papers: vec![2],
        algorithms: algorithms.chain(OTHERS).map(named).collect(),
        widths: counts.map(|power| 10_usize.pow(power)).collect(),
        rounds: if context.quick { 5 } else { 24 },
        ..Job::default()
    };
    let rows = schedules::measure(context.place, 2, &job, context.output)?;
    draw(page, &job, &rows)?;
    claims(page, &rows);
    tables(page, &job, &rows);
    Ok(())
}

fn draw(page: &mut Page, job: &Job, rows: &[Row]) -> Result<(), Error> {
    let line = |&algorithm: &Algorithm| {
        let points = of(rows, algorithm).map(|row| (row.n as f64, row.ratio));
        Line::new(algorithm.name(), points.collect())
    };
    let mut lines: Vec<Line> = job.algorithms.iter().map(line).collect();
    let reference = reference(rows);
    let title = format!("On two ranks, {}", all_ratios(&lines, reference));
    lines.push(Line::level(reference, 1.0));
    page.plot(
        "",
        Plot {
            title,
            subtitle: format!(
                "Median times of an allreduce of a row, over those of {reference} in turns"
            ),
            x: Axis::decades("row, doubles"),
            y: Axis::linear(format!("time over {reference}'s, ratio")),
            lines,
            size: Size::Panels,
        },
    )
}

fn claims(page: &mut Page, rows: &[Row]) {
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (least, most) = values.fold((f64::INFINITY, 0.0), |(least, most), value| {
            (f64::min(least, value), f64::max(most, value))
        });
        format!("{} to {}", digits(least), digits(most))
    };
    let over = |above: Algorithm, below: Algorithm| {
        let mut ratios = of(rows, above)
            .zip(of(rows, below))
            .map(|(a, b)| a.median_ns / b.median_ns);
        range(&mut ratios)
    };
    let reference = reference(rows);
    let last = |algorithm: Algorithm| of(rows, algorithm).last();
    let linear = last(Algorithm::LinearPipelined).map(|row| {
        Comparison::measured(
            format!(
                "Figure 3: `{}` over {reference}, {} doubles",
                row.variant, row.n
            ),
            row.ratio,
        )
        .published("below 1, for count > 10^6")
    });
    let naive = Comparison::measured(
        format!("Figure 2: `reduce-broadcast` over {reference}, all counts"),
        range(&mut of(rows, Algorithm::ReduceBroadcast).map(|row| row.ratio)),
    )
    .published("very similar, the reference slightly better")
    .because("two messages one after the other instead of an exchange");
    let doubly = [
        ("Figure 5", Algorithm::LinearDoublyPipelined, Algorithm::LinearPipelined),
        ("Figure 7", Algorithm::BinaryDoublyPipelined, Algorithm::BinaryPipelined),
    ]
    .map(|(figure, doubly, singly)| {
        let what = format!("{figure}: `{}` over `{}`, all counts", doubly.name(), singly.name());
        Comparison::measured(what, over(doubly, singly))
            .published("no performance gain")
            .because("on two ranks d = 2 and s = 1 up and down at once, d = s = 2 one after the other: half of the time for many blocks")
    });
    page.compare([naive].into_iter().chain(linear).chain(doubly));
}

fn tables(page: &mut Page, job: &Job, rows: &[Row]) {
    page.paragraph("Microseconds (and as a ratio to the backend's own allreduce; blocks, where more than one).");
    let headings = job.widths.iter().map(ToString::to_string);
    let own = job.algorithms.iter().map(|&algorithm| {
        let cells = of(rows, algorithm).map(|row| {
            let blocks = match row.blocks {
                1 => String::new(),
                blocks => format!("; {blocks}"),
            };
            format!("{} ({:.2}{blocks})", digits(row.median_ns / 1e3), row.ratio)
        });
        let name = format!("`{}`", algorithm.name());
        [name].into_iter().chain(cells).collect()
    });
    page.table(["doubles".to_owned()].into_iter().chain(headings), own);
}

//! Measures schedules alternately with the backend's own collective.

use harness::Error;
use harness::bench::schedules::{self, ScheduleJob, ScheduleRow, of, reference};
use harness::markdown::digits;
use harness::plot::{Axis, Line};
use reduce::Algorithm;

use crate::Context;
use crate::page::{Page, columns, row};
use crate::said::line;

/// Measures the reductions of a job on each of these numbers of ranks.
pub(crate) fn measure(
    context: &Context<'_>,
    ranks: &[usize],
    job: &ScheduleJob,
) -> Result<Vec<ScheduleRow>, Error> {
    let place = context.settings.place;
    let rows = ranks
        .iter()
        .map(|&ranks| schedules::measure(place, ranks, job, context.output));
    Ok(rows.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Draws the times of schedules relative to the backend's own collective.
pub(crate) fn draw_ratios(
    page: &mut Page,
    (part, what): (&str, &str),
    rows: &[ScheduleRow],
    algorithms: &[Algorithm],
    axis: Axis,
    x: impl Fn(&ScheduleRow) -> f64,
) {
    let reference = reference(rows);
    let lines = algorithms.iter().map(|&algorithm| {
        let own = of(rows, algorithm);
        line(algorithm.name(), own, |row| (x(row), row.ratio))
    });
    page.draw(
        part,
        format!("Median times of {what}, over {reference}'s, measured alternately"),
        axis,
        Axis::linear(format!("time over {reference}'s, ratio")),
        lines.chain([Line::level(reference, 1.0)]),
    );
}

/// Writes a table with a row for each schedule: its times, also as a ratio to the reference, and the number of its blocks.
pub(crate) fn table(page: &mut Page, rows: &[ScheduleRow], algorithms: &[Algorithm]) {
    page.text("Each cell has the microseconds and, in parentheses, the ratio to the backend's own collective and the number of blocks if there are several.");
    let cell = |row: &ScheduleRow| {
        let blocks = match row.blocks {
            1 => String::new(),
            blocks => format!("; {blocks}"),
        };
        format!("{} ({:.2}{blocks})", digits(row.median_ns / 1e3), row.ratio)
    };
    let names = columns(of(rows, algorithms[0]), |row| {
        format!("p = {}, n = {}", row.ranks, row.n)
    });
    page.table(
        &format!("schedule | {names}"),
        algorithms
            .iter()
            .map(|&algorithm| row(format!("`{algorithm}`"), of(rows, algorithm).map(cell))),
    );
}

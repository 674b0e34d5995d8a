//! Both sweeps as far as this machine goes.

use harness::Error;
use harness::bench::schedules::{self, Job, Row, of, reference};
use harness::markdown::digits;
use harness::plot::Line;
use reduce::Algorithm;

use crate::said::{heights, listed, range, ratio_lines};
use crate::values::row;
use crate::{Context, Values};

/// The report's trees, and what sends pieces.
const ALGORITHMS: [Algorithm; 4] = [
    Algorithm::Binomial,
    Algorithm::Fibonacci,
    Algorithm::Binary,
    Algorithm::ReduceScatterGather,
];

/// The times of schedules on some ranks.
fn measure(
    context: &Context<'_>,
    page: &mut Values,
    ranks: usize,
    algorithms: &[Algorithm],
    widths: Vec<usize>,
) -> Result<Vec<Row>, Error> {
    // The report's number of repetitions, or fewer.
    let rounds = context.quick_or(5, 30);
    page.set("rounds", rounds);
    let job = Job {
        papers: vec![5],
        algorithms: algorithms.to_vec(),
        widths,
        rounds,
        ..Job::default()
    };
    schedules::measure(context.place, ranks, &job, context.output)
}

/// The times over those of the backend's own reduce, over some axis, and a row for each schedule.
fn show(page: &mut Values, rows: &[Row], algorithms: &[Algorithm], x: fn(&Row) -> f64) {
    let reference = reference(rows);
    page.set("reference", reference);
    let lines = ratio_lines(rows, algorithms, x);
    page.set("binomial", range(heights(&lines[..1])));
    page.draw("", lines.into_iter().chain([Line::level(reference, 1.0)]));
    page.rows("schedules", algorithms, |&algorithm| {
        let own = of(rows, algorithm);
        let cells = own.map(|row| format!("{} ({:.2})", digits(row.median_ns / 1e3), row.ratio));
        row(format!("`{}`", algorithm.name()), cells)
    });
}

/// 1000 elements on a few ranks.
pub(super) fn process_count(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let ranks = context.quick_or(&[2, 4][..], &[2, 3, 4, 8]);
    page.set("machine", context.machine(&listed(ranks)));
    page.cells("columns", ranks.iter(), |ranks| format!("p = {ranks}"));
    let trees = &ALGORITHMS[..3];
    let mut rows = Vec::new();
    for &ranks in ranks {
        rows.extend(measure(context, page, ranks, trees, vec![1000])?);
    }
    show(page, &rows, trees, |row| row.ranks as f64);
    for row in of(&rows, Algorithm::Binomial) {
        let case = page.case("ranks");
        case.set("ranks", row.ranks).set("ratio", row.ratio);
    }
    Ok(())
}

/// Two ranks and ever longer arrays.
pub(super) fn array_size(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    page.set("machine", context.machine("2"));
    let powers = 0..=context.quick_or(4, 6);
    let widths: Vec<usize> = powers.map(|power| 10_usize.pow(power)).collect();
    page.cells("columns", &widths, |width| *width);
    let rows = measure(context, page, 2, &ALGORITHMS, widths)?;
    show(page, &rows, &ALGORITHMS, |row| row.n as f64);
    let binomial = of(&rows, Algorithm::Binomial);
    let slower = binomial.clone().filter(|row| row.ratio > 1.0);
    page.set(
        "slower",
        match listed(slower.map(|row| row.n)) {
            none if none.is_empty() => "nowhere".to_owned(),
            slower => slower,
        },
    );
    let longest = binomial.last();
    page.set("longest", longest.map(|row| row.n));
    page.set("ratio", longest.map(|row| row.ratio));
    Ok(())
}

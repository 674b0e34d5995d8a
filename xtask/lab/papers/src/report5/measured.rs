//! Both sweeps as far as this machine goes.

use harness::Error;
use harness::bench::schedules::{self, Job, Row, of, reference};
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};
use reduce::Algorithm;

use crate::said::range;
use crate::{Comparison, Context, Page};

/// The report's trees.
const TREES: [Algorithm; 3] = [Algorithm::Binomial, Algorithm::Fibonacci, Algorithm::Binary];

/// Its number of repetitions, or fewer.
fn rounds(context: &Context<'_>) -> usize {
    if context.quick { 5 } else { 30 }
}

fn measure(
    context: &Context<'_>,
    ranks: usize,
    algorithms: &[Algorithm],
    widths: &[usize],
) -> Result<Vec<Row>, Error> {
    let job = Job {
        papers: vec![5],
        algorithms: algorithms.to_vec(),
        widths: widths.to_vec(),
        rounds: rounds(context),
        ..Job::default()
    };
    schedules::measure(context.place, ranks, &job, context.output)
}

/// The times of some schedules over those of the backend's own reduce, over some axis.
fn draw(
    page: &mut Page,
    rows: &[Row],
    algorithms: &[Algorithm],
    what: &str,
    axis: Axis,
    x: fn(&Row) -> f64,
) -> Result<(), Error> {
    let line = |&algorithm: &Algorithm| {
        let points = of(rows, algorithm).map(|row| (x(row), row.ratio));
        Line::new(algorithm.name(), points.collect())
    };
    let reference = reference(rows);
    let binomial = of(rows, Algorithm::Binomial).map(|row| row.ratio);
    let lines = algorithms.iter().map(line);
    page.plot(
        "",
        Plot {
            title: format!(
                "Along a binomial tree, a reduce takes {} of {reference}'s time",
                range(binomial)
            ),
            subtitle: format!(
                "Median times of a reduce {what}, over those of {reference} in turns"
            ),
            x: axis,
            y: Axis::linear(format!("time over {reference}'s, ratio")),
            lines: lines.chain([Line::level(reference, 1.0)]).collect(),
            size: Size::Page,
        },
    )
}

/// 1000 elements on a few ranks.
pub(super) fn process_count(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    let ranks: &[usize] = if context.quick {
        &[2, 4]
    } else {
        &[2, 3, 4, 8]
    };
    let named: Vec<String> = ranks.iter().map(ToString::to_string).collect();
    page.machine(context, &named.join(", "));
    page.paragraph(format!(
        "A reduce (sum) of 1000 doubles to rank 0, median of {}. The report has 16 to 576 processes with a core each: for those see [the simulated \
         sweep](report-5-process-count.md). Here ranks beyond the second share cores, so that a round is also a change of who runs.",
        rounds(context)
    ));
    let mut rows = Vec::new();
    for &ranks in ranks {
        rows.extend(measure(context, ranks, &TREES, &[1000])?);
    }
    let what = "of 1000 doubles";
    let axis = Axis::doublings("p, ranks; those beyond the second share cores");
    draw(page, &rows, &TREES, what, axis, |row| row.ranks as f64)?;
    page.compare(of(&rows, Algorithm::Binomial).map(|row| {
        let what = format!("`binomial` over {}, p = {}", row.reference, row.ranks);
        Comparison::measured(what, row.ratio)
            .published("below 1, by a big margin")
            .because("another library, two cores and shared memory: what the report measured is latency between nodes")
    }));
    table(page, &rows, |row| format!("p = {}", row.ranks));
    Ok(())
}

/// Two ranks and ever longer arrays.
pub(super) fn array_size(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.machine(context, "2");
    page.paragraph(format!(
        "A reduce (sum) of doubles to rank 0, median of {}, of a quarter as many from 10^6 on. On two ranks every tree is one message, so the three show how far times of the same differ; see \
         [the simulated sweep](report-5-array-size.md) for 576.",
        rounds(context)
    ));
    let powers = if context.quick { 0..=4 } else { 0..=6 };
    let widths: Vec<usize> = powers.map(|power| 10_usize.pow(power)).collect();
    let algorithms = [
        Algorithm::Binomial,
        Algorithm::Fibonacci,
        Algorithm::Binary,
        Algorithm::ReduceScatterGather,
    ];
    let rows = measure(context, 2, &algorithms, &widths)?;
    let what = "on two ranks";
    let axis = Axis::decades("row, doubles");
    draw(page, &rows, &algorithms, what, axis, |row| row.n as f64)?;
    let binomial = of(&rows, Algorithm::Binomial);
    let slower = binomial.clone().filter(|row| row.ratio > 1.0);
    let slower: Vec<String> = slower.map(|row| row.n.to_string()).collect();
    let slower = if slower.is_empty() {
        "nowhere".to_owned()
    } else {
        slower.join(", ")
    };
    let last = binomial.last().map(|row| {
        Comparison::measured(
            format!("`binomial` over {}, {} doubles", row.reference, row.n),
            row.ratio,
        )
        .published("above 1, pipelining")
    });
    let where_slower = Comparison::measured(
        format!(
            "lengths at which {} is faster than `binomial`",
            reference(&rows)
        ),
        slower,
    )
    .published("more than 100,000")
    .because("two ranks in shared memory, and another library");
    page.compare([where_slower].into_iter().chain(last));
    table(page, &rows, |row| row.n.to_string());
    Ok(())
}

/// A line for each schedule, a column for each number of ranks or length.
fn table(page: &mut Page, rows: &[Row], column: impl Fn(&Row) -> String) {
    let mut columns: Vec<String> = rows.iter().map(&column).collect();
    columns.dedup();
    let mut variants: Vec<&str> = Vec::new();
    for row in rows {
        if !variants.contains(&row.variant.as_str()) {
            variants.push(&row.variant);
        }
    }
    page.paragraph("Microseconds (and as a ratio to the backend's own reduce).");
    let cells = |variant: &&str| {
        let own = rows.iter().filter(|row| row.variant == **variant);
        let cells = own.map(|row| format!("{} ({:.2})", digits(row.median_ns / 1e3), row.ratio));
        [format!("`{variant}`")].into_iter().chain(cells).collect()
    };
    page.table(
        ["schedule".to_owned()].into_iter().chain(columns),
        variants.iter().map(cells),
    );
}

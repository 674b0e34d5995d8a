//! Measures the sweeps of sections 3.1 and 3.2 as far as this machine allows.

use harness::Error;
use harness::bench::schedules::{ScheduleJob, ScheduleRow, of, reference};
use harness::plot::Axis;
use reduce::Algorithm;

use crate::Context;
use crate::measured::{draw_ratios, measure, table};
use crate::page::Page;
use crate::said::listed;

/// The report's trees, and algorithms that send pieces.
const ALGORITHMS: [Algorithm; 4] = [
    Algorithm::Binomial,
    Algorithm::Fibonacci,
    Algorithm::Binary,
    Algorithm::ReduceScatterGather,
];

/// A job of reduces with the report's number of repetitions, or fewer in a quick run.
fn job(context: &Context<'_>, algorithms: &[Algorithm], widths: Vec<usize>) -> ScheduleJob {
    ScheduleJob {
        papers: vec![5],
        algorithms: algorithms.to_vec(),
        widths,
        rounds: context.quick_or(5, 30),
        ..ScheduleJob::default()
    }
}

/// Measures a reduce of 1000 elements on a few ranks.
pub(super) fn process_count(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure of section 3.1 measured here, on 2 to 8 ranks");
    let ranks = context.quick_or(&[2, 4][..], &[2, 3, 4, 8]);
    page.measured_on(context, &listed(ranks));
    let trees = &ALGORITHMS[..3];
    let job = job(context, trees, vec![1000]);
    page.text(format!(
        "A reduce (sum) of 1000 doubles to rank 0, median of {} calls. The report has 16 to 576 processes with a core each, as the simulated sweep has. Here, ranks beyond the second share cores, so a round also costs a \
         context switch.",
        job.rounds
    ));
    let rows = measure(context, ranks, &job)?;
    let axis = Axis::doublings("p, ranks; those beyond the second share cores");
    let what = ("", "a reduce of 1000 doubles");
    draw_ratios(page, what, &rows, trees, axis, |row| row.ranks as f64);
    table(page, &rows, trees);
    let reference = reference(&rows);
    for ScheduleRow { ranks, ratio, .. } in of(&rows, Algorithm::Binomial) {
        page.compare(format!(
            "`binomial` over {reference}, p = {ranks} | below 1, by a big margin | {ratio} | another library, on two cores with shared memory; the report measured latency between nodes"
        ));
    }
    Ok(())
}

/// Measures reduces of increasing length on two ranks.
pub(super) fn array_size(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure of section 3.2 measured here, on two ranks");
    page.measured_on(context, "2");
    let powers = 0..=context.quick_or(4, 6);
    let widths = powers.map(|power| 10_usize.pow(power)).collect();
    let job = job(context, &ALGORITHMS, widths);
    page.text(format!(
        "A reduce (sum) of doubles to rank 0, median of {} calls, or a quarter as many from 10^6 doubles on. On two ranks, every tree is one message, so differences between the three trees are noise; the simulated sweep has 576 ranks.",
        job.rounds
    ));
    let rows = measure(context, &[2], &job)?;
    let axis = Axis::decades("row, doubles");
    let what = ("", "a reduce on two ranks");
    draw_ratios(page, what, &rows, &ALGORITHMS, axis, |row| row.n as f64);
    table(page, &rows, &ALGORITHMS);
    let reference = reference(&rows);
    let binomial = of(&rows, Algorithm::Binomial);
    let slower = binomial.clone().filter(|row| row.ratio > 1.0);
    let slower = Some(listed(slower.map(|row| row.n))).filter(|slower| !slower.is_empty());
    let slower = slower.unwrap_or("nowhere".to_owned());
    let longest = binomial.last();
    let (longest, ratio) = longest.map_or((0, f64::NAN), |row| (row.n, row.ratio));
    page.compare(format!(
        "lengths at which {reference} is faster than `binomial` | more than 100,000 | {slower} | two ranks in shared memory, and another library
        `binomial` over {reference}, {longest} doubles | above 1, pipelining | {ratio}"
    ));
    Ok(())
}

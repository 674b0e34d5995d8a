//! Measures Figures 2 to 7 on two ranks; the report had 16 to 1152.

use harness::Error;
use harness::bench::schedules::{ScheduleJob, ScheduleRow, of, reference};
use harness::markdown::digits;
use harness::plot::{Axis, Line};
use reduce::Algorithm;

use super::{ALGORITHMS, BLOCK_ELEMENTS, COUNT_MAX};
use crate::Context;
use crate::cluster::fastest;
use crate::measured::{draw_ratios, measure, table};
use crate::page::Page;
use crate::said::{count, line, span};

/// The report's pipeline along a chain, and the one that sends up and down at once.
const PIPELINES: [Algorithm; 2] = [Algorithm::LinearPipelined, Algorithm::LinearDoublyPipelined];

/// A pipeline, its times by the size of blocks, and its time with Lemma 1's number of blocks for the measured link.
type PipelineTimes = (Algorithm, Vec<ScheduleRow>, ScheduleRow);

fn times(
    context: &Context<'_>,
    algorithm: Algorithm,
    elements: usize,
) -> Result<PipelineTimes, Error> {
    // A million blocks take seconds, so only the report's own chain is run with so many.
    let is_whole = algorithm == Algorithm::LinearPipelined && !context.settings.quick;
    let least = if is_whole { 1 } else { 1_000 };
    let cut = BLOCK_ELEMENTS.into_iter();
    let job = ScheduleJob {
        papers: vec![2],
        algorithms: vec![algorithm],
        widths: vec![elements],
        cut_width: elements,
        cut_elements: cut.filter(|&elements| elements >= least).collect(),
        rounds: context.quick_or(4, 12),
        ..ScheduleJob::default()
    };
    let rows = measure(context, &[2], &job)?;
    let is_cut = |row: &ScheduleRow| row.block_elements.is_some();
    let (cut, mut whole): (Vec<ScheduleRow>, Vec<ScheduleRow>) = rows.into_iter().partition(is_cut);
    let by_lemma = whole.pop();
    let by_lemma =
        by_lemma.ok_or_else(|| Error::Run("no time was measured for the whole row".to_owned()))?;
    Ok((algorithm, cut, by_lemma))
}

fn block_elements(row: &ScheduleRow) -> usize {
    let elements = row.block_elements.expect("a row that was cut");
    usize::try_from(elements).expect("block sizes came from a usize")
}

/// Measures Figure 4.
pub(super) fn block_size(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 4, measured here: block sizes on two ranks");
    let elements = context.quick_or(100_000, COUNT_MAX);
    page.measured_on(context, "2");
    page.text(format!(
        "Median times of an allreduce (sum) of a row of {elements} doubles per rank; the report has floats. On two ranks, a chain sends each block there and back before the next one (d = s = 2), so by Lemma 1 \
         one block is best, and more blocks help only if they stay in caches. If blocks go up and down at once, d = 2 and s = 1."
    ));
    let studies = PIPELINES.map(|algorithm| times(context, algorithm, elements));
    let studies: Vec<PipelineTimes> = studies.into_iter().collect::<Result<_, _>>()?;
    let lines = studies.iter().map(|(algorithm, cut, _)| {
        let bars = cut.iter().map(|row| (row.low_ns / 1e6, row.high_ns / 1e6));
        let point = |row: &ScheduleRow| (block_elements(row) as f64, row.median_ns / 1e6);
        Line {
            bars: bars.collect(),
            ..line(algorithm.name(), cut, point)
        }
    });
    page.draw(
        "",
        format!(
            "Median times of an allreduce of {} doubles on two ranks; bars are 95 % confidence intervals",
            count(elements)
        ),
        Axis::decades("block, doubles"),
        Axis::decades("time, ms"),
        lines,
    );
    for (name, cut, by_lemma) in &studies {
        let lemma_elements = elements.div_ceil(by_lemma.blocks);
        let timed = cut.iter().map(|row| (block_elements(row), row.median_ns));
        let (best, best_ns) = fastest(timed);
        page.compare(format!(
            "`{name}`: best block, elements | – | {} | the report has no value for two processes
            `{name}`: elements per block by Lemma 1 for the measured link | – | {lemma_elements} | {} times the best block's time",
            best,
            digits(by_lemma.median_ns / best_ns)
        ));
    }
    Ok(())
}

/// Measures Figures 2, 3, 5, 6 and 7.
pub(super) fn figures(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figures 2, 3, 5, 6 and 7 measured here, on two ranks");
    let plans = "plans can run every schedule";
    let named = ALGORITHMS.map(|algorithm| algorithm.name().parse().expect(plans));
    let powers = 0..=context.quick_or(4, 7);
    let job = ScheduleJob {
        papers: vec![2],
        algorithms: named.to_vec(),
        widths: powers.map(|power| 10_usize.pow(power)).collect(),
        rounds: context.quick_or(5, 24),
        ..ScheduleJob::default()
    };
    let rows = measure(context, &[2], &job)?;
    let reference = reference(&rows);
    page.measured_on(context, "2");
    page.text(
        "Median times of an allreduce (sum) of one row of doubles per rank. Each schedule is measured alternately with the backend's own allreduce, and compared with these calls. Pipelines have Lemma 1's number of \
         blocks for the measured link, which is one if d = s. As a chain and a tree are the same on two ranks, the times show what the programs cost, not how they scale.",
    );
    let (what, axis) = (("", "an allreduce of a row"), Axis::decades("row, doubles"));
    draw_ratios(page, what, &rows, &named, axis, |row| row.n as f64);
    page.in_panels();
    let naive = span(of(&rows, Algorithm::ReduceBroadcast).map(|row| row.ratio));
    let longest = of(&rows, Algorithm::LinearPipelined).last();
    let (longest, linear) = longest.map_or((0, f64::NAN), |row| (row.n, row.ratio));
    page.compare(format!(
        "Figure 2: `reduce-broadcast` over {reference}, all counts | very similar, the reference slightly better | {naive} | two messages one after the other instead of an exchange
        Figure 3: `linear-pipelined` over {reference}, {longest} doubles | below 1, for count > 10^6 | {linear}"
    ));
    let binary = [Algorithm::BinaryPipelined, Algorithm::BinaryDoublyPipelined];
    for (figure, [singly, doubly]) in [(5, PIPELINES), (7, binary)] {
        let pairs = of(&rows, doubly).zip(of(&rows, singly));
        let ratios = pairs.map(|(doubly, singly)| doubly.median_ns / singly.median_ns);
        page.compare(format!(
            "Figure {figure}: `{doubly}` over `{singly}`, all counts | no performance gain | {} | on two ranks, d = 2 and s = 1 if both directions run at once, and d = s = 2 otherwise; many blocks then take half the time",
            span(ratios)
        ));
    }
    table(page, &rows, &named);
    Ok(())
}

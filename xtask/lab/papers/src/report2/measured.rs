//! Figures 2 to 7 on two ranks, where the report had 16 to 1152.

use harness::Error;
use harness::bench::schedules::{self, Job, Row, of, reference};
use harness::markdown::digits;
use harness::plot::Line;
use reduce::Algorithm;

use super::block_size::{BLOCK_ELEMENTS, ELEMENTS};
use super::hydra::ALGORITHMS;
use crate::cluster::fastest;
use crate::said::{all_ratios, count, from_to, least, line, ratio_lines};
use crate::values::{cells, row};
use crate::{Context, Values};

/// The report's chain, and the one up and down at once.
const PIPELINES: [Algorithm; 2] = [Algorithm::LinearPipelined, Algorithm::LinearDoublyPipelined];

/// One pipeline's times.
struct Study {
    algorithm: Algorithm,
    /// Block size by block size.
    cut: Vec<Row>,
    /// In as many blocks as Lemma 1 says for the link as it is measured.
    by_lemma: Row,
}

impl Study {
    fn new(context: &Context<'_>, algorithm: Algorithm, elements: usize) -> Result<Self, Error> {
        // A million blocks take seconds: the report's own chain has them, the other does without.
        let least = match algorithm {
            Algorithm::LinearPipelined if !context.quick => 1,
            _ => 1_000,
        };
        let cut = BLOCK_ELEMENTS.into_iter();
        let job = Job {
            papers: vec![2],
            algorithms: vec![algorithm],
            widths: vec![elements],
            cut_width: elements,
            cut_elements: cut.filter(|&elements| elements >= least).collect(),
            rounds: context.quick_or(4, 12),
            ..Job::default()
        };
        let rows = schedules::measure(context.place, 2, &job, context.output)?;
        let is_cut = |row: &Row| row.block_elements.is_some();
        let (cut, mut whole): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(is_cut);
        let by_lemma = whole.pop();
        let by_lemma = by_lemma.ok_or_else(|| Error::Run("no time of the whole row".to_owned()))?;
        Ok(Self {
            algorithm,
            cut,
            by_lemma,
        })
    }

    fn line(&self) -> Line {
        let bars = self.cut.iter();
        let bars = bars.map(|row| (row.low_ns / 1e6, row.high_ns / 1e6));
        let point = |row: &Row| (block_elements(row) as f64, row.median_ns / 1e6);
        Line {
            bars: bars.collect(),
            ..line(self.algorithm.name(), &self.cut, point)
        }
    }

    /// Of the blocks that were measured.
    fn best_elements(&self) -> usize {
        let timed = self.cut.iter();
        fastest(timed.map(|row| (block_elements(row), row.median_ns))).0
    }
}

fn block_elements(row: &Row) -> usize {
    let elements = row.block_elements.expect("a row that was cut");
    usize::try_from(elements).expect("as it was asked for")
}

/// Figure 4.
pub(super) fn block_size(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    page.set("machine", context.machine("2"));
    let elements = context.quick_or(100_000, ELEMENTS);
    page.set("elements", elements);
    let studies = PIPELINES.map(|algorithm| Study::new(context, algorithm, elements));
    let studies: Vec<Study> = studies.into_iter().collect::<Result<_, _>>()?;
    let (mut best, mut rows) = (Vec::new(), Vec::new());
    for study in &studies {
        let name = study.algorithm.name();
        best.push(format!("{} doubles ({name})", count(study.best_elements())));
        let lemma_elements = elements.div_ceil(study.by_lemma.blocks);
        let best_ns = least(study.cut.iter().map(|row| row.median_ns));
        let case = page.case("schedule");
        case.set("name", name).set("best", study.best_elements());
        case.set("by lemma", lemma_elements);
        case.set("ratio", study.by_lemma.median_ns / best_ns);
        rows.extend(study.cut.iter().chain([&study.by_lemma]).map(|row| {
            let by_lemma = || format!("{lemma_elements} (Lemma 1)");
            let size = row.block_elements.map(|elements| elements.to_string());
            let (low, high) = (digits(row.low_ns / 1e6), digits(row.high_ns / 1e6));
            cells![
                format!("`{}`", row.variant),
                size.unwrap_or_else(by_lemma),
                row.median_ns / 1e6,
                format!("{low} to {high}"),
                row.ratio,
            ]
        }));
    }
    page.set("best", best.join(", "));
    page.rows("times", rows, |row| row);
    page.draw("", studies.iter().map(Study::line));
    Ok(())
}

/// Figures 2, 3, 5, 6 and 7.
pub(super) fn figures(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    page.set("machine", context.machine("2"));
    let named = ALGORITHMS.map(|algorithm| algorithm.name().parse());
    let named = named.map(|named| named.expect("every schedule is an algorithm of plans"));
    let powers = 0..=context.quick_or(4, 7);
    let job = Job {
        papers: vec![2],
        algorithms: named.to_vec(),
        widths: powers.map(|power| 10_usize.pow(power)).collect(),
        rounds: context.quick_or(5, 24),
        ..Job::default()
    };
    let rows = schedules::measure(context.place, 2, &job, context.output)?;
    let reference = reference(&rows);
    page.set("reference", reference);
    let mut lines = ratio_lines(&rows, &named, |row| row.n as f64);
    page.set("ratios", all_ratios(&lines, reference));
    lines.push(Line::level(reference, 1.0));
    page.draw("", lines);
    let naive = of(&rows, Algorithm::ReduceBroadcast);
    page.set("naive", from_to(naive.map(|row| row.ratio)));
    let longest = of(&rows, Algorithm::LinearPipelined).last();
    page.set("longest", longest.map(|row| row.n));
    page.set("linear", longest.map(|row| row.ratio));
    for (name, doubly, singly) in [
        (
            "linear doubly",
            Algorithm::LinearDoublyPipelined,
            Algorithm::LinearPipelined,
        ),
        (
            "binary doubly",
            Algorithm::BinaryDoublyPipelined,
            Algorithm::BinaryPipelined,
        ),
    ] {
        let pairs = of(&rows, doubly).zip(of(&rows, singly));
        let ratios = pairs.map(|(doubly, singly)| doubly.median_ns / singly.median_ns);
        page.set(name, from_to(ratios));
    }
    page.set("why", "on two ranks d = 2 and s = 1 up and down at once, d = s = 2 one after the other: half of the time for many blocks");
    page.cells("widths", job.widths, |width| width);
    page.rows("schedules", named, |algorithm| {
        let cells = of(&rows, algorithm).map(|row| {
            let blocks = match row.blocks {
                1 => String::new(),
                blocks => format!("; {blocks}"),
            };
            format!("{} ({:.2}{blocks})", digits(row.median_ns / 1e3), row.ratio)
        });
        row(format!("`{}`", algorithm.name()), cells)
    });
    Ok(())
}

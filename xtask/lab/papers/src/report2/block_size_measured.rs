//! Figure 4 on two ranks.

use harness::Error;
use harness::bench::schedules::{self, Job, Row};
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};
use reduce::Algorithm;

use super::block_size::{BLOCK_ELEMENTS, ELEMENTS, argmin};
use crate::said::count;
use crate::{Comparison, Context, Page};

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
            rounds: if context.quick { 4 } else { 12 },
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
        let bars = self
            .cut
            .iter()
            .map(|row| (row.low_ns / 1e6, row.high_ns / 1e6));
        let points = self.cut.iter();
        let points = points.map(|row| (block_elements(row) as f64, row.median_ns / 1e6));
        Line {
            bars: bars.collect(),
            ..Line::new(self.algorithm.name(), points.collect())
        }
    }

    /// Of the blocks that were measured.
    fn best_elements(&self) -> usize {
        let timed = self.cut.iter();
        argmin(timed.map(|row| (block_elements(row), row.median_ns)))
    }

    fn compare(&self, elements: usize) -> [Comparison; 2] {
        let times = self.cut.iter().map(|row| row.median_ns);
        let best_ns = times.fold(f64::INFINITY, f64::min);
        let what = |what: &str| format!("`{}`: {what}", self.algorithm.name());
        let Row {
            blocks, median_ns, ..
        } = self.by_lemma;
        [
            Comparison::measured(what("best block, elements"), self.best_elements())
                .because("the report has none for two processes"),
            Comparison::measured(
                what("Lemma 1's blocks for the measured link, elements of one"),
                elements.div_ceil(blocks),
            )
            .because(format!(
                "{} of the time of the best",
                digits(median_ns / best_ns)
            )),
        ]
    }
}

fn block_elements(row: &Row) -> usize {
    let elements = row.block_elements.expect("a row that was cut");
    usize::try_from(elements).expect("as it was asked for")
}

/// The page.
pub(super) fn fill(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.machine(context, "2");
    let elements = if context.quick { 100_000 } else { ELEMENTS };
    page.paragraph(format!(
        "An allreduce (sum) of a row of {elements} doubles a rank, where the report has floats; medians. On two ranks a chain is there and back: each block waits for \
         the one before (d = s = 2), so that by Lemma 1 one block is best, and blocks can help only by staying in caches. Up and down at once, \
         d = 2 and s = 1."
    ));
    let studies = PIPELINES.map(|algorithm| Study::new(context, algorithm, elements));
    let studies: Vec<Study> = studies.into_iter().collect::<Result<_, _>>()?;
    let best = |study: &Study| {
        let best = count(study.best_elements());
        format!("{best} doubles ({})", study.algorithm.name())
    };
    let best: Vec<String> = studies.iter().map(best).collect();
    page.plot(
        "",
        Plot {
            title: format!("The least median times have blocks of {}", best.join(", ")),
            subtitle: format!(
                "Median times of an allreduce of {} doubles on two ranks; bars are 95 % confidence intervals",
                count(elements)
            ),
            x: Axis::decades("block, doubles"),
            y: Axis::decades("time, ms"),
            lines: studies.iter().map(Study::line).collect(),
            size: Size::Page,
        },
    )?;
    page.compare(studies.iter().flat_map(|study| study.compare(elements)));
    table(page, &studies, elements);
    Ok(())
}

fn table(page: &mut Page, studies: &[Study], elements: usize) {
    let rows = studies
        .iter()
        .flat_map(|study| study.cut.iter().chain([&study.by_lemma]));
    page.table(
        [
            "schedule",
            "elements of a block",
            "ms",
            "95 %",
            "ratio to the backend's allreduce",
        ],
        rows.map(|row| {
            let size = match row.block_elements {
                Some(elements) => elements.to_string(),
                None => format!("{} (Lemma 1)", elements.div_ceil(row.blocks)),
            };
            let (low, high) = (digits(row.low_ns / 1e6), digits(row.high_ns / 1e6));
            vec![
                format!("`{}`", row.variant),
                size,
                digits(row.median_ns / 1e6),
                format!("{low} to {high}"),
                digits(row.ratio),
            ]
        }),
    );
}

//! Figure 4: the linear pipeline by the size of its blocks.

use harness::Error;
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};
use schedule::{Algorithm, Link};

use super::hydra::{ELEMENT_BYTES, HYDRA, SHAPES, machine_words};
use crate::cluster::{Run, Shape};
use crate::said::count;
use crate::{Comparison, Context, Page};

/// The report's `count`.
pub(super) const ELEMENTS: usize = 10_000_000;

/// Its block sizes, in elements.
pub(super) const BLOCK_ELEMENTS: [usize; 7] =
    [10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// A configuration, and the time in ns at each block size.
struct Study {
    shape: Shape,
    run: Run,
    times_ns: Vec<f64>,
}

impl Study {
    fn new(shape: Shape) -> Self {
        let run = Run::allreduce(Algorithm::LinearPipelined, &HYDRA, shape);
        let time_ns =
            |&elements: &usize| run.time_ns(ELEMENTS as f64 * ELEMENT_BYTES, ELEMENTS / elements);
        Self {
            shape,
            run,
            times_ns: BLOCK_ELEMENTS.iter().map(time_ns).collect(),
        }
    }

    fn best_elements(&self) -> usize {
        argmin(
            BLOCK_ELEMENTS
                .into_iter()
                .zip(self.times_ns.iter().copied()),
        )
    }

    fn best_ns(&self) -> f64 {
        self.times_ns.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// Lemma 1's number of blocks.
    fn lemma_blocks(&self) -> usize {
        self.run
            .lemma_blocks(ELEMENTS as f64 * ELEMENT_BYTES, ELEMENTS)
    }

    /// α/β of the link that Lemma 1 is asked with, in bytes.
    fn ratio(&self) -> f64 {
        ratio(if self.shape.nodes > 1 {
            HYDRA.far
        } else {
            HYDRA.near
        })
    }
}

/// α/β in bytes, where a byte is also combined on one of its two ways.
fn ratio(link: Link) -> f64 {
    link.latency_ns / (link.byte_ns + HYDRA.near.combine_byte_ns / 2.0)
}

/// The first of those with the least time.
pub(super) fn argmin(timed: impl Iterator<Item = (usize, f64)>) -> usize {
    let least = timed.reduce(|best, other| if other.1 < best.1 { other } else { best });
    least.expect("there are sizes").0
}

/// What the text of section 2.3 says.
fn published_elements(shape: Shape) -> Option<usize> {
    match (shape.nodes, shape.processes) {
        (36, 32) => None,
        (1, _) => Some(100_000),
        (_, 1) => Some(1_000),
        _ => Some(10_000),
    }
}

/// The ratios α/β, in bytes, for which blocks of so many elements are the best among powers of ten.
///
/// Lemma 1's best block has b^2 = m α s / ((d - s) β) bytes, (d - s)/s = p - 2, and the time is symmetric about it on a logarithmic scale: the nearest power
/// of ten is best, as far as b is within a factor of sqrt(10).
fn ratios(shape: Shape, elements: usize) -> (f64, f64) {
    let block_bytes = elements as f64 * ELEMENT_BYTES;
    let row_bytes = ELEMENTS as f64 * ELEMENT_BYTES;
    let middle = block_bytes * block_bytes * (shape.ranks() as f64 - 2.0) / row_bytes;
    (middle / 10.0, middle * 10.0)
}

/// The simulated study.
pub(super) fn fill(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(machine_words());
    page.paragraph(format!(
        "An allreduce of {ELEMENTS} elements along a chain (Exercise 2: `linear-pipelined`), by the elements of a block. Many small blocks are run until the \
         pipeline is full, from where each takes as long as the one before."
    ));
    let shapes: Vec<Shape> = SHAPES
        .into_iter()
        .filter(|shape| !context.quick || shape.ranks() < 500)
        .collect();
    let studies: Vec<Study> = shapes.into_iter().map(Study::new).collect();
    plot(page, &studies)?;
    page.table(
        ["nodes x processes".to_owned()]
            .into_iter()
            .chain(BLOCK_ELEMENTS.map(|elements| format!("{elements}, ms"))),
        studies.iter().map(|study| {
            let times = study.times_ns.iter().map(|time_ns| digits(time_ns / 1e6));
            [study.shape.to_string()].into_iter().chain(times).collect()
        }),
    );
    page.heading("Optima");
    page.compare(studies.iter().map(compare));
    page.heading("By Lemma 1");
    lemma(page, &studies);
    page.heading("Which links the published optima ask for");
    asked(page, &studies);
    Ok(())
}

fn plot(page: &mut Page, studies: &[Study]) -> Result<(), Error> {
    let line = |study: &Study| {
        let points = BLOCK_ELEMENTS.into_iter().zip(&study.times_ns);
        let points = points.map(|(elements, time_ns)| (elements as f64, time_ns / 1e6));
        Line::new(study.shape.to_string(), points.collect())
    };
    let best = studies.iter().map(Study::best_elements);
    let (least, most) = best.fold((usize::MAX, 0), |(least, most), elements| {
        (least.min(elements), most.max(elements))
    });
    page.plot(
        "",
        Plot {
            title: format!(
                "Blocks of {} to {} elements are best, smaller ones between nodes than within one",
                count(least),
                count(most)
            ),
            subtitle: format!(
                "Simulated allreduce of {} floats along a chain (linear-pipelined), nodes x processes",
                count(ELEMENTS)
            ),
            x: Axis::decades("block, elements"),
            y: Axis::decades("time, ms"),
            lines: studies.iter().map(line).collect(),
            size: Size::Page,
        },
    )
}

fn compare(study: &Study) -> Comparison {
    let shape = study.shape;
    let what = format!("best block of {shape}, elements");
    let best = study.best_elements();
    let row = Comparison::simulated(what, best);
    let Some(published) = published_elements(shape) else {
        return row.because("there, the job exceeded the time limit");
    };
    let row = row.published(published);
    if published == best {
        return row;
    }
    let at = |elements| {
        let place = BLOCK_ELEMENTS.iter().position(|&other| other == elements);
        study.times_ns[place.expect("a power of ten")]
    };
    let (least, most) = ratios(shape, published);
    row.because(format!(
        "published blocks take {} of our best time here; they are best where α/β is {} to {} bytes, by Lemma 1, and it is {} for the link asked here",
        digits(at(published) / at(best)),
        digits(least),
        digits(most),
        digits(study.ratio()),
    ))
}

fn lemma(page: &mut Page, studies: &[Study]) {
    page.paragraph(
        "Lemma 1 knows one kind of link; it is asked with the one between nodes, where there are several. `ratio` is the simulated time with its number of blocks \
         over the best of the powers of ten, and `pipelining` that of one block over the best.",
    );
    let row = |study: &Study| {
        let blocks = study.lemma_blocks();
        let row_bytes = ELEMENTS as f64 * ELEMENT_BYTES;
        let lemma_ns = study.run.time_ns(row_bytes, blocks);
        let whole_ns = study.times_ns.last().expect("there are sizes");
        vec![
            study.shape.to_string(),
            blocks.to_string(),
            (ELEMENTS / blocks).to_string(),
            digits(lemma_ns / 1e6),
            digits(study.best_ns() / 1e6),
            digits(lemma_ns / study.best_ns()),
            digits(whole_ns / study.best_ns()),
        ]
    };
    page.table(
        [
            "nodes x processes",
            "Lemma 1: blocks",
            "elements of one",
            "ms",
            "best power of ten, ms",
            "ratio",
            "pipelining",
        ],
        studies.iter().map(row),
    );
}

/// Whether one link could have all the optima that were published.
fn asked(page: &mut Page, studies: &[Study]) {
    page.paragraph(
        "α/β in bytes for which Lemma 1's best block is nearest to the published one; β with γ/2 here, as a byte is combined on one of its two ways.",
    );
    let published = || {
        studies.iter().filter_map(|study| {
            let elements = published_elements(study.shape)?;
            Some((study.shape, ratios(study.shape, elements)))
        })
    };
    page.table(
        ["nodes x processes", "from", "to"],
        published()
            .map(|(shape, (least, most))| vec![shape.to_string(), digits(least), digits(most)]),
    );
    let common = |suits: fn(Shape) -> bool| {
        let of = published().filter(|&(shape, _)| suits(shape));
        let (least, most) = of.fold((0.0, f64::INFINITY), |(least, most), (_, (from, to))| {
            (f64::max(least, from), f64::min(most, to))
        });
        if least <= most {
            format!("{} to {}", digits(least), digits(most))
        } else {
            "none".to_owned()
        }
    };
    let ours = |link: Link| digits(ratio(link));
    let row = |which: &str, asked: String, ours: String| vec![which.to_owned(), asked, ours];
    page.paragraph("What all of a kind have in common, and the ratio that is simulated:");
    page.table(
        ["nodes x processes", "α/β asked for", "α/β here"],
        [
            row(
                "one node",
                common(|shape| shape.nodes == 1),
                ours(HYDRA.near),
            ),
            row(
                "one process a node",
                common(|shape| shape.processes == 1),
                ours(HYDRA.far),
            ),
            row(
                "several of both",
                common(|shape| shape.nodes > 1 && shape.processes > 1),
                "both".to_owned(),
            ),
            row("all", common(|_| true), "both".to_owned()),
        ],
    );
    page.paragraph(
        "One process a node asks for a network whose messages cost next to nothing by themselves. Blocks of 4000 bytes are below the limit up to which libraries send \
         without asking the receiver, those of 40,000 are above it; a message that need not wait costs its sender less than α. That is the likely cause, and neither \
         Lemma 1 nor this simulator, whose messages all wait, has it.",
    );
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_ELEMENTS, ELEMENTS, argmin, ratios};
    use crate::cluster::Shape;

    /// Within the ratios a block is the best power of ten by Lemma 1's time, beyond them it is not.
    #[test]
    fn ratios_bound_where_a_block_is_best() {
        let shape = Shape::new(20, 16);
        let (least, most) = ratios(shape, 10_000);
        let best = |ratio: f64| {
            let time = |elements: usize| {
                let blocks = (ELEMENTS / elements) as f64;
                let rounds = 2.0 * (shape.ranks() as f64 - 1.0) + 2.0 * (blocks - 1.0);
                rounds * (ratio + elements as f64 * 4.0)
            };
            argmin(
                BLOCK_ELEMENTS
                    .into_iter()
                    .map(|elements| (elements, time(elements))),
            )
        };
        assert_eq!(best(least * 1.01), 10_000);
        assert_eq!(best(most / 1.01), 10_000);
        assert_eq!(best(least / 1.01), 1_000);
        assert_eq!(best(most * 1.01), 100_000);
    }
}

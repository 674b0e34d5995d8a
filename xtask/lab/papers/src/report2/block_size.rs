//! Figure 4: the linear pipeline by the size of its blocks.

use harness::Error;
use harness::markdown::digits;
use schedule::{Algorithm, Link};

use super::hydra::{self, ELEMENT_BYTES, HYDRA, SHAPES};
use crate::cluster::{Run, Shape, fastest};
use crate::said::{least, line};
use crate::values::{Value, cells, row};
use crate::{Context, Values};

/// The report's `count`.
pub(super) const ELEMENTS: usize = 10_000_000;

/// Its block sizes, in elements.
pub(super) const BLOCK_ELEMENTS: [usize; 7] =
    [10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000];

const ROW_BYTES: f64 = ELEMENTS as f64 * ELEMENT_BYTES;

/// A configuration, and the time in ns at each block size.
struct Study {
    shape: Shape,
    run: Run,
    times_ns: [f64; 7],
}

impl Study {
    fn new(shape: Shape) -> Self {
        let run = Run::allreduce(Algorithm::LinearPipelined, &HYDRA, shape);
        Self {
            shape,
            times_ns: BLOCK_ELEMENTS.map(|elements| run.time_ns(ROW_BYTES, ELEMENTS / elements)),
            run,
        }
    }

    fn best_elements(&self) -> usize {
        fastest(BLOCK_ELEMENTS.into_iter().zip(self.times_ns)).0
    }

    fn best_ns(&self) -> f64 {
        least(self.times_ns)
    }

    /// Why the published block is not the best one here.
    fn why(&self) -> String {
        let Some(published) = published_elements(self.shape) else {
            return "there, the job exceeded the time limit".to_owned();
        };
        if published == self.best_elements() {
            return String::new();
        }
        let place = BLOCK_ELEMENTS.iter().position(|&size| size == published);
        let published_ns = self.times_ns[place.expect("a power of ten")];
        let (least, most) = ratios(self.shape, published);
        // Lemma 1 is asked with this link.
        let link = if self.shape.nodes > 1 {
            HYDRA.far
        } else {
            HYDRA.near
        };
        format!(
            "published blocks take {} of our best time here; they are best where α/β is {} to {} bytes, by Lemma 1, and it is {} for the link asked here",
            digits(published_ns / self.best_ns()),
            digits(least),
            digits(most),
            digits(ratio(link)),
        )
    }

    /// What Lemma 1's number of blocks takes, beside the best and one block.
    fn lemma(&self) -> Vec<Value> {
        let blocks = self.run.lemma_blocks(ROW_BYTES, ELEMENTS);
        let lemma_ns = self.run.time_ns(ROW_BYTES, blocks);
        let whole_ns = self.times_ns[BLOCK_ELEMENTS.len() - 1];
        cells![
            self.shape,
            blocks,
            ELEMENTS / blocks,
            lemma_ns / 1e6,
            self.best_ns() / 1e6,
            lemma_ns / self.best_ns(),
            whole_ns / self.best_ns(),
        ]
    }
}

/// α/β in bytes, where a byte is also combined on one of its two ways.
fn ratio(link: Link) -> f64 {
    link.latency_ns / (link.byte_ns + HYDRA.near.combine_byte_ns / 2.0)
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
    let middle = block_bytes * block_bytes * (shape.ranks() as f64 - 2.0) / ROW_BYTES;
    (middle / 10.0, middle * 10.0)
}

/// The simulated study.
pub(super) fn fill(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    hydra::describe(page);
    let shapes = SHAPES.into_iter();
    let shapes = shapes.filter(|shape| !context.quick || shape.ranks() < 500);
    let studies: Vec<Study> = shapes.map(Study::new).collect();
    page.set("least", studies.iter().map(Study::best_elements).min());
    page.set("most", studies.iter().map(Study::best_elements).max());
    let lines = studies.iter().map(|study| {
        let points = BLOCK_ELEMENTS.into_iter().zip(study.times_ns);
        line(study.shape.to_string(), points, |(elements, time_ns)| {
            (elements as f64, time_ns / 1e6)
        })
    });
    page.draw("", lines);
    page.cells("blocks", BLOCK_ELEMENTS, |elements| {
        format!("{elements}, ms")
    });
    page.rows("times", &studies, |study| {
        row(study.shape, study.times_ns.map(|time_ns| time_ns / 1e6))
    });
    for study in &studies {
        let case = page.case("shape");
        case.set("shape", study.shape).set("why", study.why());
        case.set("published", published_elements(study.shape));
        case.set("best", study.best_elements());
    }
    page.rows("lemma", &studies, Study::lemma);
    asked(page, &studies);
    Ok(())
}

/// Whether one link could have all the optima that were published.
fn asked(page: &mut Values, studies: &[Study]) {
    let published = studies.iter().filter_map(|study| {
        let elements = published_elements(study.shape)?;
        Some((study.shape, ratios(study.shape, elements)))
    });
    let published: Vec<(Shape, (f64, f64))> = published.collect();
    page.rows("asked", &published, |(shape, (least, most))| {
        cells![*shape, *least, *most]
    });
    type Kind = (&'static str, fn(Shape) -> bool);
    let kinds: [Kind; 4] = [
        ("one node", |shape| shape.nodes == 1),
        ("one process a node", |shape| shape.processes == 1),
        ("several of both", |shape| {
            shape.nodes > 1 && shape.processes > 1
        }),
        ("all", |_| true),
    ];
    for (kind, suits) in kinds {
        let own = published.iter().filter(|(shape, _)| suits(*shape));
        let (least, most) = own.fold((0.0, f64::INFINITY), |(least, most), (_, (from, to))| {
            (f64::max(least, *from), f64::min(most, *to))
        });
        let common = (least <= most).then(|| format!("{} to {}", digits(least), digits(most)));
        page.set(kind, common.unwrap_or("none".to_owned()));
    }
    page.set("near", ratio(HYDRA.near));
    page.set("far", ratio(HYDRA.far));
}

#[cfg(test)]
mod tests {
    use super::{BLOCK_ELEMENTS, ELEMENTS, ratios};
    use crate::cluster::{Shape, fastest};

    /// Within the ratios a block is the best power of ten by Lemma 1's time, beyond them it is not.
    #[test]
    fn ratios_bound_where_a_block_is_best() {
        let shape = Shape::new(20, 16);
        let (least, most) = ratios(shape, 10_000);
        let best = |ratio: f64| {
            let times = BLOCK_ELEMENTS.map(|elements| {
                let blocks = (ELEMENTS / elements) as f64;
                let rounds = 2.0 * (shape.ranks() as f64 - 1.0) + 2.0 * (blocks - 1.0);
                rounds * (ratio + elements as f64 * 4.0)
            });
            fastest(BLOCK_ELEMENTS.into_iter().zip(times)).0
        };
        assert_eq!(best(least * 1.01), 10_000);
        assert_eq!(best(most / 1.01), 10_000);
        assert_eq!(best(least / 1.01), 1_000);
        assert_eq!(best(most * 1.01), 100_000);
    }
}

//! Sections 2.5 and 4.3: what the pipelining lemma says of each algorithm, and what the programs take.

use harness::Error;
use harness::markdown::digits;
use schedule::Link;

use super::rounds::{self, BLOCKS, PIPELINES};
use crate::{Comparison, Context, Page};

/// One case of the lemma.
#[derive(Clone, Copy)]
struct Case {
    ranks: usize,
    row_bytes: f64,
    alpha_ns: f64,
    beta_ns: f64,
}

impl Case {
    fn link(&self) -> Link {
        Link {
            latency_ns: self.alpha_ns,
            byte_ns: self.beta_ns,
            combine_byte_ns: 0.0,
        }
    }

    /// (d + s (M - 1)) (α + β m / M).
    fn time_ns(&self, (d, s): (f64, f64), blocks: usize) -> f64 {
        let blocks = blocks as f64;
        (d + s * (blocks - 1.0)) * self.link().message_ns(self.row_bytes / blocks)
    }

    /// Lemma 1: the least of these times over all M, whole or not.
    fn lemma_ns(&self, (d, s): (f64, f64)) -> f64 {
        let Self {
            row_bytes: m,
            alpha_ns: alpha,
            beta_ns: beta,
            ..
        } = *self;
        (d - s) * alpha + 2.0 * (s * (d - s) * alpha * beta * m).sqrt() + s * beta * m
    }

    /// The number of blocks at which it is least, rounded.
    fn lemma_blocks(&self, (d, s): (f64, f64)) -> usize {
        let best = ((d - s) * self.beta_ns * self.row_bytes / (s * self.alpha_ns)).sqrt();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "below a million in all cases"
        )]
        let best = best.round().max(1.0) as usize;
        best
    }
}

fn cases(quick: bool) -> Vec<Case> {
    let links = [(500.0, 0.1), (1000.0, 0.08), (10_000.0, 1.0)];
    let ranks: &[usize] = if quick { &[7, 16] } else { &[7, 16, 31, 62] };
    let all = ranks.iter().flat_map(|&ranks| {
        [1e4, 4e6, 4e7].into_iter().flat_map(move |row_bytes| {
            links.map(|(alpha_ns, beta_ns)| Case {
                ranks,
                row_bytes,
                alpha_ns,
                beta_ns,
            })
        })
    });
    all.collect()
}

/// The page.
pub(super) fn fill(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(
        "Lemma 1: a row of m bytes in M blocks takes (d + s (M - 1)) (α + β m/M), if the first block is at its end after d rounds and another one s rounds later; for \
         the best M, T = (d - s) α + 2 sqrt(s (d - s) α β m) + s β m. Here d and s are counted from the programs that run, with a simulator whose messages take a round each, \
         and then the times are simulated with α and β. A rank sends and receives one message at once.",
    );
    page.heading("d and s, counted");
    rounds::show(page);
    page.heading("Times");
    times(context, page);
    Ok(())
}

/// How far times are from a formula: the least and the greatest ratio.
fn ratios(of: impl Iterator<Item = f64>) -> (f64, f64) {
    of.fold((f64::INFINITY, 0.0), |(least, most), ratio| {
        (f64::min(least, ratio), f64::max(most, ratio))
    })
}

fn why_faster((least, _): (f64, f64)) -> &'static str {
    if least < 0.9999 {
        "few blocks are at their ends before a full pipeline's d: not all levels wait for one another yet"
    } else {
        ""
    }
}

fn times(context: &Context<'_>, page: &mut Page) {
    let cases = cases(context.quick);
    page.paragraph(format!(
        "{} cases of p, m, α and β for each pipeline, γ = 0. First the time of so many blocks, then the best of them against T, whose M need not be whole.",
        cases.len()
    ));
    let rows = PIPELINES.iter().flat_map(|pipeline| {
        let exact = cases.iter().flat_map(|case| {
            let counted = pipeline.counted(case.ranks);
            [1, 2, 50, BLOCKS].map(|blocks| {
                let run = pipeline.simulate(case.ranks, case.link());
                run.time_ns(case.row_bytes, blocks) / case.time_ns(counted, blocks)
            })
        });
        let best = cases.iter().map(|case| {
            let counted = pipeline.counted(case.ranks);
            let run = pipeline.simulate(case.ranks, case.link());
            let blocks = case.lemma_blocks(counted);
            run.time_ns(case.row_bytes, blocks) / case.lemma_ns(counted)
        });
        let (exact, best) = (ratios(exact), ratios(best));
        let text = |(least, most): (f64, f64)| format!("{least:.4} to {most:.4}");
        [
            Comparison::simulated(
                format!(
                    "{}: 1, 2, 50 and {BLOCKS} blocks, ratio to the formula",
                    pipeline.name
                ),
                text(exact),
            )
            .published("1")
            .because(why_faster(exact)),
            Comparison::simulated(
                format!("{}: the best M, rounded, ratio to T", pipeline.name),
                text(best),
            )
            .published("1")
            .because(why_faster(best)),
        ]
    });
    page.compare(rows);
    page.paragraph("Corollary 3, p = 16 and 62: T, and what is simulated with the rounded M.");
    let linear = &PIPELINES[2];
    let shown = cases.iter().filter(|case| matches!(case.ranks, 16 | 62));
    page.table(
        [
            "p",
            "m, bytes",
            "α, ns",
            "β, ns a byte",
            "M",
            "T, µs",
            "simulated, µs",
            "ratio",
        ],
        shown.map(|case| {
            let p = case.ranks as f64;
            let counted = (2.0 * (p - 1.0), 2.0);
            let blocks = case.lemma_blocks(counted);
            let lemma_ns = case.lemma_ns(counted);
            let run = linear.simulate(case.ranks, case.link());
            let time_ns = run.time_ns(case.row_bytes, blocks);
            vec![
                case.ranks.to_string(),
                digits(case.row_bytes),
                digits(case.alpha_ns),
                digits(case.beta_ns),
                blocks.to_string(),
                digits(lemma_ns / 1e3),
                digits(time_ns / 1e3),
                format!("{:.4}", time_ns / lemma_ns),
            ]
        }),
    );
}

#[cfg(test)]
mod tests {
    use super::Case;

    /// Corollary 3 is Lemma 1 for d = 2(p - 1) and s = 2.
    #[test]
    fn corollary_3_is_lemma_1() {
        let case = Case {
            ranks: 16,
            row_bytes: 4e7,
            alpha_ns: 1000.0,
            beta_ns: 0.08,
        };
        let (p, alpha, beta, m) = (16.0, 1000.0_f64, 0.08, 4e7);
        let corollary =
            (2.0 * p - 4.0) * alpha + 4.0 * ((p - 2.0) * alpha * beta * m).sqrt() + 2.0 * beta * m;
        let ratio = case.lemma_ns((30.0, 2.0)) / corollary;
        assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
    }
}

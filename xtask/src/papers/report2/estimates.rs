//! Sections 2.5 and 4.3: what the pipelining lemma says of each algorithm, and what the programs take.

use schedule::{Algorithm, Collective, Link, Machine};

use crate::error::Error;
use crate::papers::cluster::Run;
use crate::papers::page::digits;
use crate::papers::{Comparison, Context, Page};

/// A round is a nanosecond, whatever is sent.
const ROUND: Link = Link {
    latency_ns: 1.0,
    byte_ns: 0.0,
    combine_byte_ns: 0.0,
};

/// Blocks at which every pipeline below is full.
const BLOCKS: usize = 200;

/// Numbers of ranks: full trees (2^h - 1), full pairs of them (2^h - 2), and others.
const RANKS: [usize; 10] = [3, 6, 7, 12, 14, 15, 16, 20, 31, 62];

/// The pipelines of which a cost is said: the published d and s.
const PIPELINES: [Pipeline; 7] = [
    Pipeline {
        name: "linear broadcast (Corollary 1)",
        algorithm: Algorithm::LinearPipelined,
        collective: Collective::Broadcast { root: 0 },
        published: ("p - 1", "1"),
    },
    Pipeline {
        name: "linear reduce (Corollary 2)",
        algorithm: Algorithm::LinearPipelined,
        collective: Collective::Reduce { root: 0 },
        published: ("p - 1", "1"),
    },
    Pipeline {
        name: "linear allreduce (Corollary 3)",
        algorithm: Algorithm::LinearPipelined,
        collective: Collective::Allreduce,
        published: ("2(p - 1)", "2"),
    },
    Pipeline {
        name: "linear, doubly",
        algorithm: Algorithm::LinearDoublyPipelined,
        collective: Collective::Allreduce,
        published: ("–", "–"),
    },
    Pipeline {
        name: "binary tree",
        algorithm: Algorithm::BinaryPipelined,
        collective: Collective::Allreduce,
        published: ("O(log2 p)", "2 + 2"),
    },
    Pipeline {
        name: "binary tree, doubly",
        algorithm: Algorithm::BinaryDoublyPipelined,
        collective: Collective::Allreduce,
        published: ("O(log2 p)", "3"),
    },
    Pipeline {
        name: "dual root (Träff)",
        algorithm: Algorithm::DualRoot,
        collective: Collective::Allreduce,
        published: ("O(log2 p)", "3"),
    },
];

struct Pipeline {
    name: &'static str,
    algorithm: Algorithm,
    collective: Collective,
    published: (&'static str, &'static str),
}

impl Pipeline {
    fn run(&self, ranks: usize, link: Link) -> Run {
        Run {
            algorithm: self.algorithm,
            collective: self.collective,
            ranks,
            machine: Machine::flat(link),
        }
    }

    /// d and s: the rounds of so many blocks are d + s (blocks - 1), as far as s is the same for each of the last.
    fn counted(&self, ranks: usize) -> (f64, f64) {
        let rounds = |blocks| self.run(ranks, ROUND).time_ns(0.0, blocks);
        let s = (rounds(BLOCKS) - rounds(BLOCKS / 2)) / (BLOCKS / 2) as f64;
        (rounds(BLOCKS) - s * (BLOCKS - 1) as f64, s)
    }
}

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
    counted(page);
    page.heading("Times");
    times(context, page);
    Ok(())
}

fn counted(page: &mut Page) {
    let headings = ["pipeline".to_owned()].into_iter();
    page.table(
        headings.chain(RANKS.map(|ranks| format!("p = {ranks}"))),
        PIPELINES.iter().map(|pipeline| {
            let cells = RANKS.map(|ranks| {
                let (d, s) = pipeline.counted(ranks);
                format!("{}, {}", digits(d), digits(s))
            });
            [pipeline.name.to_owned()]
                .into_iter()
                .chain(cells)
                .collect()
        }),
    );
    let rows = PIPELINES.iter().flat_map(|pipeline| {
        let counted = RANKS.map(|ranks| pipeline.counted(ranks));
        let (d, s) = pipeline.published;
        [
            Comparison::computed(
                format!("{}: d", pipeline.name),
                formula(&counted, |ranks| latencies(pipeline, ranks)),
            )
            .published(d)
            .because(why_latency(pipeline.algorithm)),
            Comparison::computed(
                format!("{}: s", pipeline.name),
                spread(counted.iter().map(|&(_, s)| s)),
            )
            .published(s)
            .because(match pipeline.algorithm {
                Algorithm::BinaryDoublyPipelined | Algorithm::DualRoot => {
                    "a rank with a parent and two children meets three; none has with p = 3"
                }
                _ => "",
            }),
        ]
    });
    page.compare(rows);
}

/// What d should be, and how that is written: exactly, or at most.
fn latencies(pipeline: &Pipeline, ranks: usize) -> (&'static str, f64) {
    let log2 = |n: usize| f64::from(n.next_power_of_two().ilog2());
    let (p, h) = (ranks as f64, log2(ranks + 1));
    match (pipeline.algorithm, pipeline.collective) {
        (Algorithm::LinearPipelined, Collective::Allreduce) => ("2(p - 1)", 2.0 * (p - 1.0)),
        (Algorithm::LinearPipelined, _) => ("p - 1", p - 1.0),
        (Algorithm::LinearDoublyPipelined, _) => ("2p - 1", 2.0 * p - 1.0),
        (Algorithm::BinaryPipelined, _) => ("4(h - 1), h = ceil(log2(p + 1))", 4.0 * (h - 1.0)),
        (Algorithm::BinaryDoublyPipelined, _) => ("4h - 3, h = ceil(log2(p + 1))", 4.0 * h - 3.0),
        _ => ("4 ceil(log2(p + 2)) - 7", 4.0 * log2(ranks + 2) - 7.0),
    }
}

/// A formula, with how far the counts keep to it.
fn formula(counted: &[(f64, f64)], of: impl Fn(usize) -> (&'static str, f64)) -> String {
    let rows = || RANKS.into_iter().zip(counted.iter().map(|&(d, _)| d));
    let equal = rows()
        .filter(|&(ranks, d)| d.total_cmp(&of(ranks).1).is_eq())
        .count();
    let above = rows().filter(|&(ranks, d)| d > of(ranks).1).count();
    let (text, _) = of(RANKS[0]);
    match (equal, above) {
        (equal, _) if equal == RANKS.len() => format!("{text}, at all {equal} numbers of ranks"),
        (equal, 0) => format!("at most {text}; equal at {equal} of {}", RANKS.len()),
        (_, above) => format!("above {text} at {above} of {}", RANKS.len()),
    }
}

fn spread(values: impl Iterator<Item = f64> + Clone) -> String {
    let least = values.clone().fold(f64::INFINITY, f64::min);
    let most = values.fold(0.0, f64::max);
    if least < most {
        format!("{} to {}", digits(least), digits(most))
    } else {
        digits(least)
    }
}

fn why_latency(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::LinearDoublyPipelined => {
            "not estimated there. A block goes up and another comes down over the same link in one round, but a rank meets its two neighbours one after the other: two rounds a block, as \
             for up and down in turn"
        }
        Algorithm::BinaryPipelined => {
            "log2 p levels up and as many down; a parent with one port meets its two children one after the other, which takes two rounds a level"
        }
        Algorithm::BinaryDoublyPipelined | Algorithm::DualRoot => {
            "as for the tree: two rounds a level up, and down. The paper's ceil(log2((p + 1)/4)) counts levels, not rounds"
        }
        _ => "",
    }
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
                let run = pipeline.run(case.ranks, case.link());
                run.time_ns(case.row_bytes, blocks) / case.time_ns(counted, blocks)
            })
        });
        let best = cases.iter().map(|case| {
            let counted = pipeline.counted(case.ranks);
            let run = pipeline.run(case.ranks, case.link());
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
            "T, us",
            "simulated, us",
            "ratio",
        ],
        shown.map(|case| {
            let p = case.ranks as f64;
            let counted = (2.0 * (p - 1.0), 2.0);
            let blocks = case.lemma_blocks(counted);
            let lemma_ns = case.lemma_ns(counted);
            let run = linear.run(case.ranks, case.link());
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
    use super::{Case, PIPELINES};

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

    #[test]
    fn rounds_are_counted() {
        let counted = |name: &str| {
            let found = PIPELINES.iter().find(|pipeline| pipeline.name == name);
            found.expect("a pipeline").counted(7)
        };
        assert_eq!(counted("linear broadcast (Corollary 1)"), (6.0, 1.0));
        assert_eq!(counted("linear allreduce (Corollary 3)"), (12.0, 2.0));
        assert_eq!(counted("binary tree, doubly"), (9.0, 3.0));
    }
}

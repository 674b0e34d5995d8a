//! The pipelines of the report, and d and s of Lemma 1 as they are counted from the programs.

use harness::markdown::digits;
use schedule::{Algorithm, Collective, Link, Machine};

use crate::cluster::Run;
use crate::{Comparison, Page};

/// A round is a nanosecond, whatever is sent.
const ROUND: Link = Link {
    latency_ns: 1.0,
    byte_ns: 0.0,
    combine_byte_ns: 0.0,
};

/// Blocks at which every pipeline below is full.
pub(super) const BLOCKS: usize = 200;

/// Numbers of ranks: full trees (2^h - 1), full pairs of them (2^h - 2), and others.
const RANKS: [usize; 10] = [3, 6, 7, 12, 14, 15, 16, 20, 31, 62];

/// The pipelines of which a cost is said: the published d and s.
pub(super) const PIPELINES: [Pipeline; 7] = [
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

/// One of them.
pub(super) struct Pipeline {
    pub(super) name: &'static str,
    algorithm: Algorithm,
    collective: Collective,
    published: (&'static str, &'static str),
}

impl Pipeline {
    pub(super) fn simulate(&self, ranks: usize, link: Link) -> Run {
        Run {
            algorithm: self.algorithm,
            collective: self.collective,
            ranks,
            machine: Machine::flat(link),
        }
    }

    /// d and s: the rounds of so many blocks are d + s (blocks - 1), as far as s is the same for each of the last.
    pub(super) fn counted(&self, ranks: usize) -> (f64, f64) {
        let rounds = |blocks| self.simulate(ranks, ROUND).time_ns(0.0, blocks);
        let s = (rounds(BLOCKS) - rounds(BLOCKS / 2)) / (BLOCKS / 2) as f64;
        (rounds(BLOCKS) - s * (BLOCKS - 1) as f64, s)
    }
}

/// What is counted, beside what is published.
pub(super) fn show(page: &mut Page) {
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

#[cfg(test)]
mod tests {
    use super::PIPELINES;

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

//! Sections 2.5 and 4.3: the pipelining lemma for each algorithm, with d and s counted from the algorithm's program, and the resulting times.

use harness::Error;
use harness::bench::timing::whole;
use schedule::{Algorithm, Collective, Link};

use crate::Context;
use crate::cluster::{ROUND, Run, link_of};
use crate::page::Page;
use crate::said::{extremes, span};

/// A number of blocks that fills every pipeline below.
const BLOCKS: usize = 200;

/// Numbers of ranks: of full trees (2^h - 1), of pairs of full trees (2^h - 2), and others.
const RANKS: [usize; 10] = [3, 6, 7, 12, 14, 15, 16, 20, 31, 62];

/// A pipeline with a published cost.
#[derive(Clone, Copy)]
struct Pipeline(&'static str, Algorithm, Collective);

const FROM_ROOT: Collective = Collective::Broadcast { root: 0 };
const TO_ROOT: Collective = Collective::Reduce { root: 0 };
const ALL: Collective = Collective::Allreduce;
const LINEAR: Algorithm = Algorithm::LinearPipelined;

const PIPELINES: [Pipeline; 7] = [
    Pipeline("linear broadcast (Corollary 1)", LINEAR, FROM_ROOT),
    Pipeline("linear reduce (Corollary 2)", LINEAR, TO_ROOT),
    Pipeline("linear allreduce (Corollary 3)", LINEAR, ALL),
    Pipeline("linear, doubly", Algorithm::LinearDoublyPipelined, ALL),
    Pipeline("binary tree", Algorithm::BinaryPipelined, ALL),
    Pipeline("binary tree, doubly", Algorithm::BinaryDoublyPipelined, ALL),
    Pipeline("dual root (Träff)", Algorithm::DualRoot, ALL),
];

/// The published d and s of each pipeline, and why our d and our s differ.
const PUBLISHED: [[&str; 4]; 7] = [
    ["p - 1", "1", "", ""],
    ["p - 1", "1", "", ""],
    ["2(p - 1)", "2", "", ""],
    ["–", "–", IN_TURN, ""],
    ["O(log2 p)", "2 + 2", TWO_ROUNDS, ""],
    ["O(log2 p)", "3", LEVELS, THREE],
    ["O(log2 p)", "3", LEVELS, THREE],
];
const IN_TURN: &str = "the report has no estimate. In one round, one block goes up and another down the same link, but a rank exchanges with its two neighbours one after the other. This takes two rounds per block, as if up and down alternated";
const TWO_ROUNDS: &str = "log2 p levels up and as many down; a parent with one port serves its two children one after the other, in two rounds per level";
const LEVELS: &str = "as for the tree, two rounds per level up and two down. The published ceil(log2((p + 1)/4)) counts levels, not rounds";
const THREE: &str = "a rank with a parent and two children exchanges with three ranks; for p = 3 there is no such rank";

impl Pipeline {
    fn simulate(self, ranks: usize, link: Link) -> Run {
        Run::flat(self.1, self.2, ranks, link)
    }

    /// d and s, with which the number of rounds is d + s (blocks - 1). Assumes that s is the same for each of the last blocks.
    fn counted(self, ranks: usize) -> (f64, f64) {
        let rounds = |blocks| self.simulate(ranks, ROUND).time_ns(0.0, blocks);
        let s = (rounds(BLOCKS) - rounds(BLOCKS / 2)) / (BLOCKS / 2) as f64;
        (rounds(BLOCKS) - s * (BLOCKS - 1) as f64, s)
    }

    /// The published d, exact or as an upper bound.
    fn latency(self, ranks: usize) -> (&'static str, f64) {
        let log2 = |n: usize| f64::from(n.next_power_of_two().ilog2());
        let (p, h) = (ranks as f64, log2(ranks + 1));
        match (self.1, self.2) {
            (Algorithm::LinearPipelined, ALL) => ("2(p - 1)", 2.0 * (p - 1.0)),
            (Algorithm::LinearPipelined, _) => ("p - 1", p - 1.0),
            (Algorithm::LinearDoublyPipelined, _) => ("2p - 1", 2.0 * p - 1.0),
            (Algorithm::BinaryPipelined, _) => ("4(h - 1), h = ceil(log2(p + 1))", 4.0 * (h - 1.0)),
            (Algorithm::BinaryDoublyPipelined, _) => {
                ("4h - 3, h = ceil(log2(p + 1))", 4.0 * h - 3.0)
            }
            _ => ("4 ceil(log2(p + 2)) - 7", 4.0 * log2(ranks + 2) - 7.0),
        }
    }

    /// The formula for d, and how many counts agree with it.
    fn formula(self, counted: &[(f64, f64)]) -> String {
        let rows = counted.iter().zip(RANKS);
        let rows = rows.map(|(&(d, _), ranks)| d.total_cmp(&self.latency(ranks).1));
        let equal = rows.clone().filter(|order| order.is_eq()).count();
        let above = rows.filter(|order| order.is_gt()).count();
        let (text, all) = (self.latency(RANKS[0]).0, RANKS.len());
        match (equal, above) {
            (equal, _) if equal == all => format!("{text}, for all {equal} numbers of ranks"),
            (equal, 0) => format!("at most {text}; equal at {equal} of {all}"),
            (_, above) => format!("above {text} at {above} of {all}"),
        }
    }
}

/// A case to which the lemma is applied: a number of ranks, the bytes of a row, and a link, which has α and β.
#[derive(Clone, Copy)]
struct Case(usize, f64, Link);

impl Case {
    /// The formula's time: (d + s (M - 1)) (α + β m / M).
    fn time_ns(&self, (d, s): (f64, f64), blocks: usize) -> f64 {
        let blocks = blocks as f64;
        (d + s * (blocks - 1.0)) * self.2.message_ns(self.1 / blocks)
    }

    /// The least of these times over all M, including fractions: T of Lemma 1.
    fn lemma_ns(&self, (d, s): (f64, f64)) -> f64 {
        let (m, alpha, beta) = (self.1, self.2.latency_ns, self.2.byte_ns);
        (d - s) * alpha + 2.0 * (s * (d - s) * alpha * beta * m).sqrt() + s * beta * m
    }

    /// The number of blocks with the least time, rounded.
    fn lemma_blocks(&self, (d, s): (f64, f64)) -> usize {
        let best = ((d - s) * self.2.byte_ns * self.1 / (s * self.2.latency_ns)).sqrt();
        whole(best.round().max(1.0))
    }

    /// The time with the lemma's number of blocks.
    fn simulate_ns(&self, pipeline: Pipeline, counted: (f64, f64)) -> f64 {
        let run = pipeline.simulate(self.0, self.2);
        run.time_ns(self.1, self.lemma_blocks(counted))
    }
}

fn cases(quick: bool) -> Vec<Case> {
    let links = [(500.0, 0.1), (1000.0, 0.08), (10_000.0, 1.0)];
    let links = links.map(|(alpha_ns, beta_ns)| link_of(alpha_ns, beta_ns, 0.0));
    let ranks: &[usize] = if quick { &[7, 16] } else { &[7, 16, 31, 62] };
    let rows = ranks
        .iter()
        .flat_map(|&ranks| [1e4, 4e6, 4e7].map(|bytes| (ranks, bytes)));
    let all = rows.flat_map(|(ranks, bytes)| links.map(|link| Case(ranks, bytes, link)));
    all.collect()
}

/// Compares the published costs and Lemma 1 with the programs.
pub(super) fn fill(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Sections 2.5 and 4.3, running-time estimates against the programs");
    page.text(
        "By Lemma 1, a row of m bytes in M blocks takes (d + s (M - 1)) (α + β m/M) if the first block is done after d rounds and each further block s rounds after the one before; for the best M, this is \
         T = (d - s) α + 2 sqrt(s (d - s) α β m) + s β m. Here d and s are counted from the programs that run, by a simulator in which a message takes one round; then, times are simulated with α and β. \
         A rank can send one message and receive another at the same time.",
    );
    let counted = PIPELINES.map(|pipeline| RANKS.map(|ranks| pipeline.counted(ranks)));
    let pipelines = PIPELINES.into_iter().zip(counted);
    for ((pipeline, counted), [d, s, why_d, why_s]) in pipelines.zip(PUBLISHED) {
        let name = pipeline.0;
        page.compare(format!(
            "{name}: d | {d} | {} | {why_d}
            {name}: s | {s} | {} | {why_s}",
            pipeline.formula(&counted),
            span(counted.map(|(_, s)| s))
        ));
    }
    let cases = cases(context.settings.quick);
    page.text(format!(
        "## Times\n\nThere are {} cases of p, m, α and β for each pipeline; γ = 0. First, simulated times of 1 to 200 blocks are compared with the formula, then the time of the best M, rounded, with T, whose M need not be an integer.",
        cases.len()
    ));
    page.how = "simulated";
    for pipeline in PIPELINES {
        let exact = cases.iter().flat_map(|case| {
            let counted = pipeline.counted(case.0);
            let run = pipeline.simulate(case.0, case.2);
            [1, 2, 50, BLOCKS]
                .map(|blocks| run.time_ns(case.1, blocks) / case.time_ns(counted, blocks))
        });
        let best = cases.iter().map(|case| {
            let counted = pipeline.counted(case.0);
            case.simulate_ns(pipeline, counted) / case.lemma_ns(counted)
        });
        for (what, to, (least, most)) in [
            ("1, 2, 50 and 200 blocks", "the formula", extremes(exact)),
            ("the best M, rounded", "T", extremes(best)),
        ] {
            let why = if least < 0.9999 {
                "few blocks do not fill the pipeline: some levels need not wait for one another, so blocks arrive earlier"
            } else {
                ""
            };
            page.compare(format!(
                "{}: {what}, ratio to {to} | 1 | {least:.4} to {most:.4} | {why}",
                pipeline.0
            ));
        }
    }
    Ok(())
}

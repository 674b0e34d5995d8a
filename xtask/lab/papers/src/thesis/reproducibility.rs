//! Sums over p = 1, 17, …, 241, and what the message buffer saves: counted while they run, ranks as threads.

use std::collections::BTreeSet;

use distribution::Scheme;
use harness::Error;
use harness::data::{self, DataSet, Source, TABLE_4_1_ITEMS, TABLE_4_1_NAMES};
use harness::job::{Cases, Job, Row};
use harness::markdown::digits;
use harness::matrix::{self, Items};
use harness::ranks::on_ranks;
use harness::{Place, Sharing, Way};
use reduce::Algorithm;

use super::RANKS;
use super::runs::sizes;
use crate::{Comparison, Context, Page};

/// A data set of Table 4.2.
struct Published {
    name: &'static str,
    /// Between the largest and the smallest sum of `std::accumulate` and `MPI_Allreduce`.
    spread: f64,
    /// The binary tree's sum, which its author published with the data: it is not in the thesis.
    bits: &'static str,
}

/// Table 4.2, in the order of Table 4.1; rokasA4 is the second of the rows that the thesis calls rokasA8.
const PUBLISHED: [Published; 10] = {
    const fn row(name: &'static str, spread: f64, bits: &'static str) -> Published {
        Published { name, spread, bits }
    }
    [
        row("354", 6.4e-12, "C0B99E673E7E9052"),
        row("multi100", 3.6e-12, "C0DE408235095FA1"),
        row("prim", 7.3e-12, "C0B64D0131608EB4"),
        row("fusob", 4.5e-11, "C0C37B57721E5D72"),
        row("dna_rokasD4", 1.9e-7, "C150F1FDA4A3D14D"),
        row("aa_rokasA8", 4.5e-8, "C174654CD49DEF08"),
        row("dna_rokasD1", 4.5e-6, "C16840ADF608BE3A"),
        row("aa_rokasA4", 2.8e-6, "C18381D286C13294"),
        row("dna_PeteD8", 6.1e-6, "C19191F13E206A51"),
        row("dna_rokasD7", f64::NAN, "C19B72506FC09067"),
    ]
};

/// What the table alone does not say.
const WHERE_FROM: &str = "Two rows of the thesis' table are called rokasA8, and none rokasA4. The second of them, 2.8e-6, is taken for rokasA4 here. The bits of sums are not in \
     the thesis: its author published them with the data.";

/// The author's data, where it is at hand, else numbers like it; by the names of Table 4.1.
fn data_sets(context: &Context<'_>) -> Result<Vec<(&'static str, bool, DataSet)>, Error> {
    let folder = data::published_folder();
    let load = |(&name, items): (&&'static str, usize)| {
        let file = folder
            .as_ref()
            .map(|folder| folder.join(name).with_extension("binpsllh"));
        let file = file.filter(|file| file.is_file());
        let is_real = file.is_some();
        let source = file.map_or(Source::Generated { items, seed: 1 }, Source::File);
        Ok((name, is_real, source.load()?))
    };
    TABLE_4_1_NAMES
        .iter()
        .zip(sizes(context))
        .map(load)
        .collect()
}

/// The rows of one data set on `ranks` threads.
fn rows(data: &DataSet, ranks: usize, job: &Job) -> Result<Vec<Row>, Error> {
    let mut rows = Vec::new();
    let data = std::slice::from_ref(data);
    on_ranks(
        &Place::Threads,
        ranks,
        "repro",
        job,
        |world, backend, job, report| {
            matrix::check_all(world, backend, job, Items::Shared(data), report)
        },
        |row| rows.push(row),
    )?;
    Ok(rows)
}

fn job(distributions: Vec<Sharing>, algorithms: Vec<Algorithm>) -> Job {
    let algorithms = algorithms.into_iter().map(Way::Tree).collect();
    let cases = Cases {
        // The items are in memory already.
        source: Source::Canary,
        distributions,
        algorithms,
    };
    Job {
        cases: vec![cases],
        seed: 1,
    }
}

/// Between the largest and the smallest sum, and how many patterns there are.
fn spread(totals: impl Iterator<Item = f64> + Clone) -> (f64, usize) {
    let patterns: BTreeSet<u64> = totals.clone().map(f64::to_bits).collect();
    let least = totals.clone().fold(f64::INFINITY, f64::min);
    let greatest = totals.fold(f64::NEG_INFINITY, f64::max);
    (greatest - least, patterns.len())
}

fn of(rows: &[Row], algorithm: Algorithm) -> impl Iterator<Item = f64> + Clone {
    let own = move |row: &&Row| row.algorithm == algorithm.name();
    rows.iter().filter(own).map(Row::total)
}

/// Table 4.2.
pub(super) fn matrix(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    let ranks: Vec<usize> = (1..=241).step_by(16).collect();
    page.paragraph(
        "The difference between the largest and the smallest sum for p = 1, 17, …, 241, and the number of bit patterns. Ranks are threads, items spread by `upper`. \
         Data sets that are not at hand are replaced by generated log-likelihoods of the same length, whose sums have other sizes.",
    );
    let algorithms = vec![Algorithm::Algorithm1, Algorithm::RecursiveDoubling];
    let job = job(vec![Sharing::Named(Scheme::Upper)], algorithms);
    let mut table = Vec::new();
    let mut comparisons = Vec::new();
    for (published, (name, is_real, data)) in PUBLISHED.iter().zip(data_sets(context)?) {
        assert_eq!(published.name, name, "both are in the order of Table 4.1");
        let (mut all, mut baselines) = (Vec::new(), Vec::new());
        for &ranks in &ranks {
            all.extend(rows(&data, ranks, &job)?);
            baselines.push(matrix::plain_sum(&data.items, ranks)?);
        }
        let (tree_spread, tree_patterns) = spread(of(&all, Algorithm::Algorithm1));
        let (plan_spread, plan_patterns) = spread(of(&all, Algorithm::RecursiveDoubling));
        let (baseline_spread, baseline_patterns) = spread(baselines.iter().copied());
        let bits = all.first().map_or("", |row| row.bits.as_str());
        let source = if is_real { "the author's" } else { "generated" };
        table.push(vec![
            name.to_owned(),
            data.items.len().to_string(),
            source.to_owned(),
            format!("{} ({tree_patterns})", digits(tree_spread)),
            format!("{} ({plan_patterns})", digits(plan_spread)),
            format!("{} ({baseline_patterns})", digits(baseline_spread)),
        ]);
        comparisons
            .push(Comparison::measured(format!("{name}, Algorithm 1"), tree_spread).published(0.0));
        let name_baseline = format!("{name}, std::accumulate + allreduce");
        let unordered = Comparison::measured(name_baseline, baseline_spread).because(if is_real {
            ""
        } else {
            "generated data"
        });
        comparisons.push(if published.spread.is_nan() {
            unordered
        } else {
            unordered.published(published.spread)
        });
        if is_real {
            let what = format!("{name}, the tree's sum, bits, published with the data");
            let bits = Comparison::measured(what, bits);
            comparisons.push(bits.published(published.bits));
        }
    }
    page.table(
        [
            "data set",
            "N",
            "data",
            "Algorithm 1",
            "recursive doubling",
            "std::accumulate + allreduce",
        ],
        table,
    );
    page.heading("Beside the published values");
    page.paragraph(
        "ReproBLAS is published with a difference of 0.0 throughout, too; it is not run here.",
    );
    page.paragraph(WHERE_FROM);
    page.compare(comparisons);
    Ok(())
}

/// The values that a message carries (section 3.1.1).
pub(super) fn buffer(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(format!(
        "Values over messages of Algorithm 1 with its buffer of 4 values, flushed for another receiver and before subtrees of more than 64 leaves; p = {RANKS}, counted \
         while threads run it. The values are those of Algorithm 2; the broadcast of the result, p - 1 messages, is not counted."
    ));
    let sharings = [Scheme::Lower, Scheme::Upper, Scheme::Optimized].map(Sharing::Named);
    let job = job(sharings.to_vec(), vec![Algorithm::Algorithm1]);
    let sizes = if context.quick {
        &TABLE_4_1_ITEMS[..4]
    } else {
        &TABLE_4_1_ITEMS[..]
    };
    let (mut table, mut values_all, mut messages_all) = (Vec::new(), [0; 3], [0; 3]);
    for &items in sizes {
        let data = Source::Generated { items, seed: 1 }.load()?;
        let rows = rows(&data, RANKS, &job)?;
        let mut line = vec![items.to_string()];
        for (index, (sharing, row)) in sharings.iter().zip(&rows).enumerate() {
            let ownership = sharing.distribute(items as u64, RANKS, 1)?;
            let values = ownership
                .as_distribution()
                .map_or(0, |own| own.message_count());
            let messages = row.messages.unwrap_or(0) - (RANKS as u64 - 1);
            values_all[index] += values;
            messages_all[index] += messages;
            line.push(format!(
                "{values} / {messages} = {:.2}",
                values as f64 / messages as f64
            ));
        }
        table.push(line);
    }
    page.table(["N", "lower", "upper", "optimized"], table);
    let mean = |index: usize| values_all[index] as f64 / messages_all[index] as f64;
    let why = "the rule never flushes early while subtrees are short, as in the four short data sets; which lengths the published mean is of is not said";
    page.compare([
        Comparison::computed("values a message, upper", mean(1))
            .published(1.2)
            .because(why),
        Comparison::computed("values a message, lower", mean(0))
            .published(1.2)
            .because(why),
        Comparison::computed("values a message, optimized", mean(2)).published(1.2),
        Comparison::computed("messages of a plan's binomial reduce", RANKS as u64 - 1)
            .because("a fragment is one message, whatever it holds"),
    ]);
    Ok(())
}

//! Compares sums on p = 1, 17, …, 241 ranks, and counts the messages that the message buffer saves. Ranks are threads.

use std::collections::BTreeSet;

use distribution::Scheme;
use harness::Error;
use harness::data::{self, DataSet, Source, TABLE_4_1_ITEMS, TABLE_4_1_NAMES};
use harness::job::{Cases, Job, Row};
use harness::markdown::digits;
use harness::matrix::{self, Board, Items};
use harness::ranks::on_threads;
use harness::{Backend, Sharing, Way};
use reduce::Algorithm;

use super::runs::sizes;
use super::{RANKS, distribute};
use crate::Context;
use crate::page::Page;
use crate::said::{extremes, if_any};

/// Table 4.2, in the order of Table 4.1: the largest minus the smallest sum of `std::accumulate` and `MPI_Allreduce`, and the bits of the
/// tree's sum, which the author published with the data. rokasA4 is the second of two rows that the thesis calls rokasA8.
const PUBLISHED: [(&str, Option<f64>, &str); 10] = [
    ("354", Some(6.4e-12), "C0B99E673E7E9052"),
    ("multi100", Some(3.6e-12), "C0DE408235095FA1"),
    ("prim", Some(7.3e-12), "C0B64D0131608EB4"),
    ("fusob", Some(4.5e-11), "C0C37B57721E5D72"),
    ("dna_rokasD4", Some(1.9e-7), "C150F1FDA4A3D14D"),
    ("aa_rokasA8", Some(4.5e-8), "C174654CD49DEF08"),
    ("dna_rokasD1", Some(4.5e-6), "C16840ADF608BE3A"),
    ("aa_rokasA4", Some(2.8e-6), "C18381D286C13294"),
    ("dna_PeteD8", Some(6.1e-6), "C19191F13E206A51"),
    ("dna_rokasD7", None, "C19B72506FC09067"),
];

/// The data sets of Table 4.1: the name, whether the author's data is available, and the numbers. If not, similar numbers are generated.
fn data_sets(context: &Context<'_>) -> Result<Vec<(&'static str, bool, DataSet)>, Error> {
    let folder = data::published_folder();
    let load = |(&name, items): (&&'static str, usize)| {
        let file = folder
            .as_ref()
            .map(|folder| folder.join(format!("{name}.binpsllh")));
        let file = file.filter(|file| file.is_file());
        let is_real = file.is_some();
        let source = file.map_or(Source::Generated { items, seed: 1 }, Source::File);
        Ok((name, is_real, source.load()?))
    };
    let named = TABLE_4_1_NAMES.iter().zip(sizes(context));
    named.map(load).collect()
}

/// The rows of the matrix of reproducibility for one data set on `ranks` threads.
fn rows(
    data: &DataSet,
    ranks: usize,
    schemes: &[Scheme],
    algorithms: &[Algorithm],
) -> Result<Vec<Row>, Error> {
    let cases = Cases {
        // The items are in memory already.
        source: Source::Canary,
        distributions: schemes.iter().copied().map(Sharing::Named).collect(),
        algorithms: algorithms.iter().copied().map(Way::Tree).collect(),
    };
    let (cases, seed) = (vec![cases], 1);
    let job = Job { cases, seed };
    let (data, board) = (std::slice::from_ref(data), Board::default());
    on_threads(ranks, |world, report| {
        let items = Items::Shared(data, &board);
        matrix::check_all(world, Backend::Threads, &job, items, report)
    })
}

/// The largest minus the smallest of some sums, also as text with the number of the sums' bit patterns.
fn spread(totals: &[f64]) -> (f64, String) {
    let patterns: BTreeSet<u64> = totals.iter().map(|total| total.to_bits()).collect();
    let (least, most) = extremes(totals.iter().copied());
    let spread = most - least;
    (spread, format!("{} ({})", digits(spread), patterns.len()))
}

/// Table 4.2.
pub(super) fn matrix(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Table 4.2, differences between numbers of ranks");
    page.text("The difference between the largest and the smallest sum for p = 1, 17, …, 241, and the number of bit patterns. Ranks are threads, and items are distributed by `upper`. Data sets that are not available are replaced by generated log-likelihoods of the same length, whose sums have other magnitudes.");
    let algorithms = [Algorithm::Algorithm1, Algorithm::RecursiveDoubling];
    let (mut table, mut claims) = (Vec::new(), Vec::new());
    for (published, (name, is_real, data)) in PUBLISHED.into_iter().zip(data_sets(context)?) {
        let (published_name, published_spread, published_bits) = published;
        assert_eq!(published_name, name, "both are in the order of Table 4.1");
        let (mut all, mut baselines) = (Vec::new(), Vec::new());
        for ranks in (1..=241).step_by(16) {
            all.extend(rows(&data, ranks, &[Scheme::Upper], &algorithms)?);
            baselines.push(matrix::plain_sum(&data.items, ranks)?);
        }
        let [(tree, tree_told), (_, plan_told)] = algorithms.map(|algorithm| {
            let own = all.iter().filter(|row| row.algorithm == algorithm.name());
            spread(&own.map(Row::total).collect::<Vec<f64>>())
        });
        let (baseline, baseline_told) = spread(&baselines);
        let generated = ("generated", "generated data");
        let (source, why) = if is_real {
            ("the author's", "")
        } else {
            generated
        };
        let items = data.items.len();
        table.push(format!(
            "{name} | {items} | {source} | {tree_told} | {plan_told} | {baseline_told}"
        ));
        claims.push(format!(
            "{name}, Algorithm 1 | 0.0 | {tree}
            {name}, std::accumulate + allreduce | {} | {baseline} | {why}",
            if_any(published_spread)
        ));
        if is_real {
            let bits = all.first().map_or("–", |row| &*row.bits);
            claims.push(format!(
                "{name}, bits of the tree's sum, published with the data | {published_bits} | {bits}"
            ));
        }
    }
    page.table(
        "data set | N | data | Algorithm 1 | recursive doubling | std::accumulate + allreduce",
        table,
    );
    page.text("## Comparison with the published values\n\nThe thesis gives differences of 0.0 for ReproBLAS, too; ReproBLAS is not run here. Two rows of the thesis' table are called rokasA8, and none rokasA4. The second of these rows, 2.8e-6, is taken for rokasA4 here. The thesis does not print the bits of sums; its author published them with the data.");
    page.compare(claims.join("\n"));
    Ok(())
}

/// The values that a message carries (section 3.1.1).
pub(super) fn buffer(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Section 3.1.1, values per message");
    page.text("The number of values per message of Algorithm 1 for p = 256. The buffer of 4 values is flushed when the receiver changes and before subtrees of more than 64 leaves. Values are counted by Algorithm 2, messages in runs on threads, without the p - 1 messages that broadcast the result.");
    let schemes = [Scheme::Lower, Scheme::Upper, Scheme::Optimized];
    let most = context.quick_or(4, TABLE_4_1_ITEMS.len());
    let others = RANKS as u64 - 1;
    let (mut table, mut all) = (Vec::new(), [(0, 0); 3]);
    for &items in &TABLE_4_1_ITEMS[..most] {
        let data = Source::Generated { items, seed: 1 }.load()?;
        let rows = rows(&data, RANKS, &schemes, &[Algorithm::Algorithm1])?;
        let mut line = items.to_string();
        for ((scheme, row), all) in schemes.into_iter().zip(&rows).zip(&mut all) {
            let values = distribute(scheme, items as u64, RANKS).message_count();
            let messages = row.messages.unwrap_or(0) - others;
            *all = (all.0 + values, all.1 + messages);
            let ratio = values as f64 / messages as f64;
            line += &format!(" | {values} / {messages} = {ratio:.2}");
        }
        table.push(line);
    }
    page.table("N | lower | upper | optimized", table);
    let [lower, upper, optimized] = all.map(|(values, messages)| values as f64 / messages as f64);
    let why = "while subtrees are short, as in the four short data sets, the rule never flushes early; the thesis does not say which lengths its mean covers";
    page.compare(format!(
        "values per message, upper | 1.2 | {upper} | {why}
        values per message, lower | 1.2 | {lower} | {why}
        values per message, optimized | 1.2 | {optimized}
        messages of a plan's binomial reduce | – | {others} | a fragment is one message of any length"
    ));
    Ok(())
}

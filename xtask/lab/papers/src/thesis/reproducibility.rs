//! Sums over p = 1, 17, …, 241, and what the message buffer saves: counted while they run, ranks as threads.

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
use crate::said::extremes;
use crate::values::cells;
use crate::{Context, Values};

/// Table 4.2, in the order of Table 4.1: what is between the largest and the smallest sum of `std::accumulate` and `MPI_Allreduce`, and the
/// bits of the binary tree's sum, which its author published with the data. rokasA4 is the second of the rows that the thesis calls rokasA8.
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
    let named = TABLE_4_1_NAMES.iter().zip(sizes(context));
    named.map(load).collect()
}

/// What the matrix of reproducibility has for one data set on `ranks` threads.
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
    let job = Job {
        cases: vec![cases],
        seed: 1,
    };
    let (data, board) = (std::slice::from_ref(data), Board::default());
    on_threads(ranks, |world, report| {
        let items = Items::Shared(data, &board);
        matrix::check_all(world, Backend::Threads, &job, items, report)
    })
}

/// What is between the largest and the smallest of some sums, alone and with the number of their bit patterns.
fn spread(totals: &[f64]) -> (f64, String) {
    let patterns: BTreeSet<u64> = totals.iter().map(|total| total.to_bits()).collect();
    let (least, most) = extremes(totals.iter().copied());
    let spread = most - least;
    (spread, format!("{} ({})", digits(spread), patterns.len()))
}

/// Table 4.2.
pub(super) fn matrix(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let algorithms = [Algorithm::Algorithm1, Algorithm::RecursiveDoubling];
    let mut table = Vec::new();
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
        let source = if is_real { "the author's" } else { "generated" };
        let items = data.items.len();
        table.push(cells![
            name,
            items,
            source,
            tree_told,
            plan_told,
            baseline_told
        ]);
        let case = page.case("data set");
        case.set("name", name).set("algorithm 1", tree);
        case.set("published", published_spread);
        case.set("baseline", baseline);
        case.set("why", if is_real { "" } else { "generated data" });
        if is_real {
            let sum = case.case("real sum");
            sum.set("published bits", published_bits);
            sum.set("bits", all.first().map(|row| row.bits.clone()));
        }
    }
    page.rows("data sets", table, |row| row);
    Ok(())
}

/// The values that a message carries (section 3.1.1).
pub(super) fn buffer(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let schemes = [Scheme::Lower, Scheme::Upper, Scheme::Optimized];
    let most = context.quick_or(4, TABLE_4_1_ITEMS.len());
    let others = RANKS as u64 - 1;
    let (mut table, mut all) = (Vec::new(), [(0, 0); 3]);
    for &items in &TABLE_4_1_ITEMS[..most] {
        let data = Source::Generated { items, seed: 1 }.load()?;
        let rows = rows(&data, RANKS, &schemes, &[Algorithm::Algorithm1])?;
        let mut line = cells![items];
        for ((scheme, row), all) in schemes.into_iter().zip(&rows).zip(&mut all) {
            let values = distribute(scheme, items as u64, RANKS).message_count();
            let messages = row.messages.unwrap_or(0) - others;
            *all = (all.0 + values, all.1 + messages);
            let ratio = values as f64 / messages as f64;
            line.push(format!("{values} / {messages} = {ratio:.2}").into());
        }
        table.push(line);
    }
    page.rows("lengths", table, |row| row);
    for (scheme, (values, messages)) in schemes.into_iter().zip(all) {
        page.set(scheme.name(), values as f64 / messages as f64);
    }
    page.set("plan", others);
    page.set("why", "the rule never flushes early while subtrees are short, as in the four short data sets; which lengths the published mean is of is not said");
    Ok(())
}

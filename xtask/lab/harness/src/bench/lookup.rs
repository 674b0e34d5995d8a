//! Measures the time to look up the rank of an item, by the number of ranks (Figure 3.6 of the thesis).

use std::hint::black_box;

use distribution::{Distribution, lookup};

use super::timing::Candidate;
use super::{Row, compare, quick_or};
use crate::output::Output;

/// The number of different items that are looked up, so that the branch predictor does not learn one answer.
const QUERIES: usize = 256;

/// Measures look-ups in linear, logarithmic and constant time.
pub fn measure(quick: bool, output: &Output) -> Vec<Row> {
    let (logs, rounds) = quick_or(quick, (vec![4, 8, 12], 5), ((4..=14).collect(), 31));
    let mut rows = Vec::new();
    for ranks in logs.into_iter().map(|log| 1_usize << log) {
        let items = 1_000 * ranks as u64 + 7;
        let distribution = Distribution::upper(items, ranks).expect("there are ranks");
        let starts: Vec<u64> = distribution.starts().collect();
        let mut random = crate::data::Random::new(1);
        let queries: Vec<u64> = (0..QUERIES).map(|_| random.below(items)).collect();
        // XOR keeps the compiler from dropping an answer.
        let all = |rank_of: &dyn Fn(u64) -> usize| {
            let ranks = queries.iter().map(|&item| rank_of(black_box(item)));
            ranks.fold(0, |seen, rank| seen ^ rank)
        };
        let seen = all(&|item| distribution.rank_of(item));
        output.say(format!("lookup, p = {ranks}: ranks {seen:04X}, by XOR"));
        let mut candidates = [
            Candidate::new("linear", || all(&|item| lookup::linear(&starts, item))),
            Candidate::new("logarithmic", || {
                all(&|item| lookup::logarithmic(&starts, item))
            }),
            Candidate::new("constant", || all(&|item| distribution.rank_of(item))),
        ];
        let references = [("linear", "linear")];
        let own = compare("lookup", ranks, rounds, &mut candidates, &references);
        rows.extend(own.into_iter().map(|row| Row {
            distribution: Some("upper".to_owned()),
            median_ns: row.median_ns / QUERIES as f64,
            ..row
        }));
    }
    rows
}

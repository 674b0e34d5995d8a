//! One rank by itself: the recursive baseline, Figures 3.6 and 3.8.

use std::hint::black_box;

use harness::Error;
use harness::bench::lookup;
use harness::bench::timing::{Candidate, medians_ns};
use simd_kernels::{
    Level, by_definition, left_to_right, reduce_level_by_level, scratch_len, sum, unordered_sum,
};

use crate::said::{growth, line};
use crate::values::cells;
use crate::{Context, Values};

/// How often lengths are measured.
const ROUNDS: usize = 15;

/// The level of Algorithm 4, or the best one that this machine has.
fn algorithm4_level() -> Level {
    let named = Level::available().find(|level| level.name() == "avx2");
    named.unwrap_or(Level::best())
}

/// The local ways, in the order of their times.
const LEFT_TO_RIGHT: usize = 0;
const LEVEL_BY_LEVEL: usize = 1;
const STREAMING: usize = 2;
const UNORDERED: usize = 3;
const RECURSIVE: usize = 4;

/// The medians of the local ways, in nanoseconds.
fn medians(items: usize, rounds: usize) -> Vec<f64> {
    let leaves = harness::data::log_likelihoods(items, 1);
    let leaves = &leaves[..];
    let mut scratch = vec![0.0; scratch_len(items)];
    let (level, best) = (algorithm4_level(), Level::best());
    let mut candidates = [
        Candidate::new("left-to-right", || {
            black_box(left_to_right(black_box(leaves)));
        }),
        Candidate::new("Algorithm 4", || {
            let leaves = black_box(leaves);
            black_box(reduce_level_by_level(level, leaves, &mut scratch));
        }),
        Candidate::new("streaming", || {
            black_box(sum(best, black_box(leaves)));
        }),
        Candidate::new("unordered", || {
            black_box(unordered_sum(best, black_box(leaves)));
        }),
        Candidate::new("recursive", || {
            let add = |left, right| left + right;
            black_box(by_definition(black_box(leaves), &add));
        }),
    ];
    medians_ns(&mut candidates, rounds)
}

/// Figure 3.8: Algorithm 4 and `std::accumulate`, by length.
pub(super) fn kernels(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let last = context.quick_or(10_u64, 20);
    page.set("machine", context.machine("1"));
    page.set("level", algorithm4_level().to_string());
    page.set("best level", Level::best().to_string());
    page.set("log", last);
    let measured = (3..=last).map(|log| {
        let items = 1 << log;
        (items, medians(items, ROUNDS))
    });
    let measured: Vec<(usize, Vec<f64>)> = measured.collect();
    for (name, way) in [("algorithm 4", LEVEL_BY_LEVEL), ("streaming", STREAMING)] {
        let mut slower = measured.iter().rev();
        let slower = slower.find(|(_, medians)| medians[way] > medians[LEFT_TO_RIGHT]);
        let first_faster = slower.map_or(measured[0].0, |(items, _)| 2 * items);
        page.set(&format!("{name} from"), first_faster);
        let (_, longest) = &measured[measured.len() - 1];
        page.set(name, longest[LEFT_TO_RIGHT] / longest[way]);
    }
    let ways = [
        ("treefold, streaming kernel", STREAMING),
        ("Algorithm 4", LEVEL_BY_LEVEL),
        ("left-to-right loop, std::accumulate", LEFT_TO_RIGHT),
        ("unordered SIMD sum", UNORDERED),
        ("recursive", RECURSIVE),
    ];
    let lines = ways.map(|(name, way)| {
        let points = measured.iter();
        line(name, points, |(items, medians)| {
            (*items as f64, medians[way] / *items as f64)
        })
    });
    page.draw("", lines);
    Ok(())
}

/// The footnote of chapter 3: iterative over recursive, N = 2^27.
pub(super) fn recursive(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let log = context.quick_or(18_u64, 27);
    page.set("machine", context.machine("1"));
    page.set("log", log);
    let medians = medians(1 << log, 3);
    let speed_up = |way: usize| medians[RECURSIVE] / medians[way];
    let ways = [
        ("recursive (eq. 2.1 to 2.3)", RECURSIVE),
        ("Algorithm 4, level by level", LEVEL_BY_LEVEL),
        ("streaming kernel", STREAMING),
        ("left-to-right", LEFT_TO_RIGHT),
        ("unordered SIMD", UNORDERED),
    ];
    page.rows("ways", ways, |(name, way)| {
        let time_ms = medians[way] / 1e6;
        cells![
            name,
            format!("{time_ms:.1}"),
            format!("{:.2}", speed_up(way))
        ]
    });
    page.set("level by level", speed_up(LEVEL_BY_LEVEL));
    page.set("streaming", speed_up(STREAMING));
    Ok(())
}

/// Figure 3.6: the rank of an item, by the number of ranks.
pub(super) fn rank_of_index(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    page.set("machine", context.machine("1"));
    let rows = lookup::measure(context.quick, context.output);
    let lines = ["linear", "logarithmic", "constant"].map(|name| {
        let own = rows.iter().filter(|row| row.variant == name);
        line(name, own, |row| (row.n as f64, row.median_ns))
    });
    for line in &lines {
        page.set(&line.name, growth(line));
    }
    page.set("least", rows[0].n);
    page.set("most", rows[rows.len() - 1].n);
    page.draw("", lines);
    Ok(())
}

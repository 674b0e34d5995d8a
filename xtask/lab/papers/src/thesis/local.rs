//! Measures on a single rank: the recursive baseline, and Figures 3.6 and 3.8.

use std::hint::black_box;

use harness::Error;
use harness::bench::lookup;
use harness::bench::timing::{Candidate, medians_ns};
use harness::plot::Axis;
use simd_kernels::{
    Level, by_definition, left_to_right, reduce_level_by_level, scratch_len, sum, unordered_sum,
};

use crate::Context;
use crate::page::Page;
use crate::said::{growth, line};

/// How often each length is measured.
const ROUNDS: usize = 15;

/// The level for Algorithm 4: AVX2, as in the thesis, or the best level if this machine does not have AVX2.
fn algorithm4_level() -> Level {
    let named = Level::available().find(|level| level.name() == "avx2");
    named.unwrap_or(Level::best())
}

/// The indices of the local algorithms in the list that `medians` returns.
const LEFT_TO_RIGHT: usize = 0;
const LEVEL_BY_LEVEL: usize = 1;
const STREAMING: usize = 2;
const UNORDERED: usize = 3;
const RECURSIVE: usize = 4;

/// The medians of the local algorithms, in nanoseconds.
fn medians(items: usize, rounds: usize) -> Vec<f64> {
    let leaves = &harness::data::log_likelihoods(items, 1)[..];
    let mut scratch = vec![0.0; scratch_len(items)];
    let (level, best) = (algorithm4_level(), Level::best());
    let mut candidates = [
        Candidate::new("left-to-right", || left_to_right(black_box(leaves))),
        Candidate::new("Algorithm 4", || {
            reduce_level_by_level(level, black_box(leaves), &mut scratch)
        }),
        Candidate::new("streaming", || sum(best, black_box(leaves))),
        Candidate::new("unordered", || unordered_sum(best, black_box(leaves))),
        Candidate::new("recursive", || {
            by_definition(black_box(leaves), &|left, right| left + right)
        }),
    ];
    medians_ns(&mut candidates, rounds)
}

/// Figure 3.8: Algorithm 4 and `std::accumulate`, by length.
pub(super) fn kernels(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 3.8, the kernel and std::accumulate");
    page.measured_on(context, "1");
    page.text(format!(
        "`std::accumulate` is a left-to-right fold. Algorithm 4 runs level by level with {}, as in the thesis. Plans use the streaming kernel, here with {}. For small N, the thesis advises `std::accumulate`, which would \
         change bits; here, short sums are also added in tree order, in registers.",
        algorithm4_level(),
        Level::best()
    ));
    let last = context.quick_or(10, 20);
    let lengths = (3..=last).map(|log| 1 << log);
    let measured = lengths.map(|items| (items, medians(items, ROUNDS)));
    let measured: Vec<(usize, Vec<f64>)> = measured.collect();
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
    page.draw(
        "",
        "Median times on one core",
        Axis::doublings("N, items"),
        Axis::decades("time, ns an item"),
        lines,
    );
    let from = |way: usize| {
        let is_slower = |(_, medians): &&(usize, Vec<f64>)| medians[way] > medians[LEFT_TO_RIGHT];
        let slower = measured.iter().rev().find(is_slower);
        slower.map_or(measured[0].0, |(items, _)| 2 * items)
    };
    let (_, longest) = &measured[measured.len() - 1];
    let speed_up = |way: usize| longest[LEFT_TO_RIGHT] / longest[way];
    page.compare(format!(
        "faster than std::accumulate from N, Algorithm 4 | 64 | {} | only powers of two were measured
        faster than std::accumulate from N, streaming kernel | – | {}
        speed-up over std::accumulate, Algorithm 4, longest | more than 2 | {}
        speed-up over std::accumulate, streaming kernel, longest | – | {}",
        from(LEVEL_BY_LEVEL),
        from(STREAMING),
        speed_up(LEVEL_BY_LEVEL),
        speed_up(STREAMING)
    ));
    Ok(())
}

/// The footnote of chapter 3: iterative over recursive, N = 2^27.
pub(super) fn recursive(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("The recursive baseline, N = 2^27");
    let log = context.quick_or(18, 27);
    page.measured_on(context, "1");
    page.text(format!("A sum of 2^{log} doubles, three times each."));
    let medians = medians(1 << log, 3);
    let speed_up = |way: usize| medians[RECURSIVE] / medians[way];
    let ways = [
        ("recursive (eq. 2.1 to 2.3)", RECURSIVE),
        ("Algorithm 4, level by level", LEVEL_BY_LEVEL),
        ("streaming kernel", STREAMING),
        ("left-to-right", LEFT_TO_RIGHT),
        ("unordered SIMD", UNORDERED),
    ];
    page.table(
        "sum | milliseconds | speed-up over recursive",
        ways.map(|(name, way)| format!("{name} | {} | {}", medians[way] / 1e6, speed_up(way))),
    );
    page.compare(format!(
        "speed-up of level by level over recursive | 4.9 | {} | the recursion is compiled code that inlines its leaves, and the level-by-level pass writes and reads memory again for every level
        speed-up of streaming over recursive | – | {} | one pass over memory, with all levels in registers",
        speed_up(LEVEL_BY_LEVEL),
        speed_up(STREAMING)
    ));
    Ok(())
}

/// Figure 3.6: the rank of an item, by the number of ranks.
pub(super) fn rank_of_index(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 3.6, the rank of an item");
    page.measured_on(context, "1");
    page.text("`rankFromIndex` on the distribution `upper`: a linear search, a binary search as in a red-black tree, and the formula.");
    let rows = lookup::measure(context.settings.quick, context.output);
    let (least, most) = (rows[0].n, rows[rows.len() - 1].n);
    let lines = ["linear", "logarithmic", "constant"].map(|name| {
        let own = rows.iter().filter(|row| row.variant == name);
        line(name, own, |row| (row.n as f64, row.median_ns))
    });
    let [linear, logarithmic, constant] = [&lines[0], &lines[1], &lines[2]].map(growth);
    page.compare(format!(
        "growth in time of the linear search, p = {least} to {most} | linear in p | {linear}
        growth in time of the binary search, p = {least} to {most} | O(log p) | {logarithmic}
        growth in time of the formula, p = {least} to {most} | – | {constant} | the constant time that the thesis names as future work"
    ));
    page.draw(
        "",
        "Median time to find the rank that owns an item, distribution upper",
        Axis::doublings("p, ranks"),
        Axis::decades("time, ns"),
        lines,
    );
    Ok(())
}

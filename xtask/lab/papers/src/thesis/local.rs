//! One rank by itself: the recursive baseline, Figures 3.6 and 3.8.

use std::hint::black_box;

use harness::Error;
use harness::bench::lookup;
use harness::bench::timing::{Candidate, medians_ns};
use harness::plot::{Axis, Line, Plot, Size};
use simd_kernels::{
    Level, by_definition, left_to_right, reduce_level_by_level, scratch_len, sum, unordered_sum,
};

use crate::{Comparison, Context, Page};

/// How often lengths are measured.
const ROUNDS: usize = 15;

/// The level of Algorithm 4, or the best one that this machine has.
fn algorithm4_level() -> Level {
    let named = Level::available().find(|level| level.name() == "avx2");
    named.unwrap_or(Level::best())
}

/// The medians of the local ways, in nanoseconds.
struct Medians {
    left_to_right: f64,
    level_by_level: f64,
    streaming: f64,
    unordered: f64,
    recursive: f64,
}

fn medians(items: usize, rounds: usize) -> Medians {
    let leaves = harness::data::log_likelihoods(items, 1);
    let leaves = &leaves[..];
    let mut scratch = vec![0.0; scratch_len(items)];
    let level = algorithm4_level();
    let mut candidates = [
        Candidate::new("left-to-right", || {
            black_box(left_to_right(black_box(leaves)));
        }),
        Candidate::new("Algorithm 4", || {
            black_box(reduce_level_by_level(
                level,
                black_box(leaves),
                &mut scratch,
            ));
        }),
        Candidate::new("streaming", || {
            black_box(sum(Level::best(), black_box(leaves)));
        }),
        Candidate::new("unordered", || {
            black_box(unordered_sum(Level::best(), black_box(leaves)));
        }),
        Candidate::new("recursive", || {
            black_box(by_definition(black_box(leaves), &|left, right| {
                left + right
            }));
        }),
    ];
    let medians = medians_ns(&mut candidates, rounds);
    Medians {
        left_to_right: medians[0],
        level_by_level: medians[1],
        streaming: medians[2],
        unordered: medians[3],
        recursive: medians[4],
    }
}

/// Figure 3.8: Algorithm 4 and `std::accumulate`, by length.
pub(super) fn kernels(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    let last = if context.quick { 10 } else { 20 };
    page.machine(context, "1");
    page.paragraph(format!(
        "`std::accumulate` is a left-to-right fold; Algorithm 4 runs level by level on {}, as in the thesis; the streaming kernel, on {}, is what plans use, and the \
         unordered sum what it is measured against.",
        algorithm4_level(),
        Level::best()
    ));
    let lengths: Vec<usize> = (3..=last).map(|log| 1 << log).collect();
    let all: Vec<Medians> = lengths
        .iter()
        .map(|&items| medians(items, ROUNDS))
        .collect();
    let line = |name: &str, time: fn(&Medians) -> f64| {
        let points = lengths.iter().zip(&all);
        let points = points.map(|(&items, medians)| (items as f64, time(medians) / items as f64));
        Line::new(name, points.collect())
    };
    let first_faster = |time: fn(&Medians) -> f64| {
        let slower = lengths.iter().zip(&all).rev();
        let mut slower = slower.filter(|(_, medians)| time(medians) > medians.left_to_right);
        slower.next().map_or(lengths[0], |(&items, _)| 2 * items)
    };
    let largest = all.last().map_or((0.0, 0.0), |medians| {
        (
            medians.left_to_right / medians.level_by_level,
            medians.left_to_right / medians.streaming,
        )
    });
    let plot = Plot {
        title: format!(
            "The streaming kernel sums 2^{last} items {:.1} times as fast as std::accumulate, Algorithm 4 {:.1} times",
            largest.1, largest.0
        ),
        subtitle: "Median times on one core".to_owned(),
        x: Axis::doublings("N, items"),
        y: Axis::decades("time, ns an item"),
        lines: vec![
            line("treefold, streaming kernel", |medians| medians.streaming),
            line("Algorithm 4", |medians| medians.level_by_level),
            line("left-to-right loop, std::accumulate", |medians| {
                medians.left_to_right
            }),
            line("unordered SIMD sum", |medians| medians.unordered),
            line("recursive", |medians| medians.recursive),
        ],
        size: Size::Page,
    };
    page.plot("", plot)?;
    page.compare([
        Comparison::measured(
            "faster than std::accumulate from N, Algorithm 4",
            first_faster(|medians| medians.level_by_level),
        )
        .published(64_u64)
        .because("powers of two are measured"),
        Comparison::measured(
            "faster than std::accumulate from N, streaming kernel",
            first_faster(|medians| medians.streaming),
        ),
        Comparison::measured(
            "speed-up over std::accumulate, Algorithm 4, longest",
            largest.0,
        )
        .published("more than 2"),
        Comparison::measured(
            "speed-up over std::accumulate, streaming kernel, longest",
            largest.1,
        ),
    ]);
    page.paragraph(
        "The thesis advises `std::accumulate` for small N. That would change bits: here short sums take the tree's order as well, in registers.",
    );
    Ok(())
}

/// The footnote of chapter 3: iterative over recursive, N = 2^27.
pub(super) fn recursive(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    let log = if context.quick { 18 } else { 27 };
    page.machine(context, "1");
    page.paragraph(format!("A sum of 2^{log} doubles, each way three times."));
    let medians = medians(1 << log, 3);
    let row = |name: &str, time_ns: f64| {
        vec![
            name.to_owned(),
            format!("{:.1}", time_ns / 1e6),
            format!("{:.2}", medians.recursive / time_ns),
        ]
    };
    page.table(
        ["way", "milliseconds", "speed-up over recursive"],
        [
            row("recursive (eq. 2.1 to 2.3)", medians.recursive),
            row("Algorithm 4, level by level", medians.level_by_level),
            row("streaming kernel", medians.streaming),
            row("left-to-right", medians.left_to_right),
            row("unordered SIMD", medians.unordered),
        ],
    );
    page.compare([
        Comparison::measured(
            "level by level over recursive",
            medians.recursive / medians.level_by_level,
        )
        .published(4.9)
        .because(
            "the recursion is compiled code that inlines its leaves, and the level-by-level pass writes and reads memory again for every level",
        ),
        Comparison::measured("streaming over recursive", medians.recursive / medians.streaming)
            .because("one pass over memory, all levels in registers"),
    ]);
    Ok(())
}

/// Figure 3.6: the rank of an item, by the number of ranks.
pub(super) fn rank_of_index(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.machine(context, "1");
    page.paragraph("`rankFromIndex` on the upper distribution: a linear search, a binary search as a red-black tree does it, and the formula.");
    let rows = lookup::measure(context.quick, context.output);
    let mut lines: Vec<Line> = Vec::new();
    for row in &rows {
        let point = (row.n as f64, row.median_ns);
        match lines.iter_mut().find(|line| line.name == row.variant) {
            Some(line) => line.points.push(point),
            None => lines.push(Line::new(&row.variant, vec![point])),
        }
    }
    let growth = |name: &str| {
        let line = lines.iter().find(|line| line.name == name);
        let (first, last) = match line.map(|line| &line.points[..]) {
            Some([first, .., last]) => (*first, *last),
            _ => ((1.0, 1.0), (1.0, 1.0)),
        };
        last.1 / first.1
    };
    let ranks: Vec<u64> = rows.iter().map(|row| row.n).collect();
    let range = format!("p = {} to {}", ranks[0], ranks[ranks.len() - 1]);
    page.compare([
        Comparison::measured(
            format!("growth of the linear search, {range}"),
            growth("linear"),
        )
        .published("linear in p"),
        Comparison::measured(
            format!("growth of the binary search, {range}"),
            growth("logarithmic"),
        )
        .published("O(log p)"),
        Comparison::measured(
            format!("growth of the formula, {range}"),
            growth("constant"),
        )
        .because("the constant time that the thesis names as future work"),
    ]);
    page.plot(
        "",
        Plot {
            title: format!(
                "From {} to {} ranks, the linear search takes {:.0} times as long, the binary search {:.1} times, the formula {:.1} times",
                ranks[0],
                ranks[ranks.len() - 1],
                growth("linear"),
                growth("logarithmic"),
                growth("constant")
            ),
            subtitle: "Median time to find the rank that owns an item, distribution upper".to_owned(),
            x: Axis::doublings("p, ranks"),
            y: Axis::decades("time, ns"),
            lines,
            size: Size::Page,
        },
    )
}

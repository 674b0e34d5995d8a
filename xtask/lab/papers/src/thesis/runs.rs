//! The equivalent of chapter 4 and appendix B: every data set's length and every mode of summation, on this machine's ranks; and the modes compared with
//! each other.

use distribution::Scheme;
use harness::data::{TABLE_4_1_ITEMS, TABLE_4_1_LARGE_ITEMS, TABLE_4_1_NAMES};
use harness::plot::{Axis, Line};
use harness::{Error, Sharing};

use super::timings::{self, Job, Mode, Times};
use crate::Context;
use crate::page::{Page, row};
use crate::said::{heights, line, most, range, ratios};

/// The most ranks that have a core of their own.
pub(super) const RANKS_HERE: usize = 2;

/// The modes of chapter 4, and for comparison ours and the fastest unreproducible one.
const MODES: [Mode; 4] = [
    Mode::Plan,
    Mode::Algorithm1,
    Mode::LeftToRight,
    Mode::Unordered,
];

/// How often a sum is repeated: by the thesis, or fewer times.
pub(super) fn runs(context: &Context<'_>) -> usize {
    context.quick_or(13, 100)
}

/// The lengths of Table 4.1.
pub(super) fn sizes(context: &Context<'_>) -> Vec<usize> {
    if context.settings.quick {
        TABLE_4_1_ITEMS[..4].to_vec()
    } else {
        [&TABLE_4_1_ITEMS[..], &TABLE_4_1_LARGE_ITEMS].concat()
    }
}

/// All data sets and modes on one rank and on two, measured once per command.
pub(super) fn times<'c>(context: &'c Context<'_>) -> Result<&'c [Times], Error> {
    if let Some(times) = context.times.get() {
        return Ok(times);
    }
    let job = Job {
        sizes: sizes(context),
        sharings: vec![Sharing::Named(Scheme::Optimized)],
        modes: MODES.to_vec(),
        runs: runs(context),
    };
    let mut times = Vec::new();
    for ranks in 1..=RANKS_HERE {
        times.extend(timings::measure(context.settings.place, ranks, &job)?);
    }
    Ok(context.times.get_or_init(|| times))
}

/// One mode's times on `ranks` ranks, by length.
pub(super) fn of(times: &[Times], mode: Mode, ranks: usize) -> impl Iterator<Item = &Times> {
    let suits = move |times: &&Times| times.mode == mode && times.ranks == ranks;
    times.iter().filter(suits)
}

/// The times of one data set, if each rank has its own core.
fn here(times: &[Times], mode: Mode, items: usize) -> &Times {
    let mut own = of(times, mode, RANKS_HERE);
    let own = own.find(|times| times.items == items);
    own.expect("every mode sums every data set")
}

pub(super) fn describe(context: &Context<'_>, page: &mut Page, ranks: &str, distribution: &str) {
    page.measured_on(context, ranks);
    page.text(format!(
        "The thesis' protocol: {} runs, each timed by itself on its slowest rank, the first and the last eight of a hundred dropped. Items are generated log-likelihoods, spread by {distribution}.",
        runs(context)
    ));
}

/// Figure 4.1: medians, 1st and 99th percentiles.
pub(super) fn medians(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    describe(context, page, "1 and 2", "`optimized`");
    let times = times(context)?;
    for (ranks, named) in [(1, "one rank"), (RANKS_HERE, "two ranks")] {
        let lines = MODES.map(|mode| {
            let own = || of(times, mode, ranks);
            let bars = own().map(|times| (times.percentile_us(1), times.percentile_us(99)));
            Line {
                bars: bars.collect(),
                ..line(mode.name(), own(), |times| {
                    (times.items as f64, times.median_us())
                })
            }
        });
        let [plan, _, left_to_right, unordered] = &lines;
        let title = format!(
            "On {named}, a plan takes {} of a left-to-right sum's time, {} of an unordered one's",
            range(ratios(plan, left_to_right)),
            range(ratios(plan, unordered))
        );
        page.draw(
            &format!("p{ranks}"),
            format!(
                "Median times of an allreduce of a sum over the lengths of the data sets, p = {ranks}; bars from the 1st to the 99th percentile"
            ),
            Axis::decades("N, items"),
            Axis::decades("time, µs"),
            lines,
        );
        page.says(title);
    }
    Ok(())
}

/// One row a mode, in microseconds.
fn percentiles(page: &mut Page, times: &[Times], items: usize) {
    page.table(
        "microseconds | 1 % | 25 % | median | 75 % | 99 %",
        MODES.map(|mode| {
            let times = here(times, mode, items);
            let cells = [1, 25, 50, 75, 99].map(|percent| times.percentile_us(percent));
            row(mode.name(), cells)
        }),
    );
}

/// Figure 4.3: all runs of the longest data set.
pub(super) fn distribution(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 4.3, all runs of the longest data set");
    describe(context, page, "2", "`optimized`");
    let times = times(context)?;
    let longest = sizes(context).into_iter().max().unwrap_or(0);
    let lines = MODES.map(|mode| {
        let samples_ns = &here(times, mode, longest).samples_ns;
        let count = samples_ns.len() as f64;
        let points = samples_ns.iter().zip(1_u32..);
        line(mode.name(), points, |(ns, place)| {
            (100.0 * f64::from(place) / count, ns / 1e6)
        })
    });
    page.draw(
        "",
        format!("All runs of an allreduce in the order of their times, N = {longest}, p = 2"),
        Axis::linear("runs that took at most so long, %"),
        Axis::linear("time, ms"),
        lines,
    );
    percentiles(page, times, longest);
    let spread = |mode| {
        let times = here(times, mode, longest);
        times.percentile_us(99) / times.percentile_us(1)
    };
    page.compare(format!(
        "99th over 1st percentile, treefold's plan | – | {}
        99th over 1st percentile, unordered | – | {}",
        spread(Mode::Plan),
        spread(Mode::Unordered)
    ));
    Ok(())
}

/// Figure B.2: the runs of every data set.
pub(super) fn distributions(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure B.2, all runs of all data sets");
    describe(context, page, "2", "`optimized`");
    let times = times(context)?;
    for (items, name) in sizes(context).into_iter().zip(TABLE_4_1_NAMES) {
        page.text(format!("## {name}, N = {items}"));
        percentiles(page, times, items);
    }
    Ok(())
}

/// How one mode's medians compare with another's, by length.
fn over(times: &[Times], mode: Mode, to: Mode, name: String) -> Line {
    let pairs = of(times, mode, RANKS_HERE).zip(of(times, to, RANKS_HERE));
    let ratio = |(own, other): (&Times, &Times)| own.median_us() / other.median_us();
    line(name, pairs, |pair| (pair.0.items as f64, ratio(pair)))
}

fn draw_ratios(page: &mut Page, lines: [Line; 2]) {
    let same = Line::level("the same time", 1.0);
    page.draw(
        "",
        "Ratio of the median times of an allreduce, over the lengths of the data sets",
        Axis::decades("N, items"),
        Axis::linear("time over the other's, ratio"),
        lines.into_iter().chain([same]),
    );
}

/// Figure 4.2: against a reproducible accumulator, as far as it can be said.
pub(super) fn against_reproblas(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 4.2, over a left-to-right sum");
    describe(context, page, "2", "`optimized`");
    page.text("ReproBLAS is not run here: its columns are quoted. What it costs over the unreproducible sum, the thesis says in Figure B.3; against that same sum stand ours.");
    let times = times(context)?;
    let line = |mode: Mode| over(times, mode, Mode::LeftToRight, mode.name());
    let lines = [Mode::Algorithm1, Mode::Plan].map(line);
    let [algorithm1, plan] = [&lines[0], &lines[1]].map(|line| {
        let longest = heights([line]).last().unwrap_or(f64::NAN);
        (most(heights([line])), longest)
    });
    let why = "relative to left-to-right + allreduce; ReproBLAS, which was not run, differs from it by less than 15 %";
    page.compare(format!(
        "slowdown, Algorithm 1, worst | less than 2 (p = 256) | {} | {why}
        slowdown, Algorithm 1, longest data set | 1.02 | {} | the streaming kernel is several times as fast as a left-to-right fold
        slowdown, treefold's plan, worst | – | {} | {why}
        slowdown, treefold's plan, longest data set | – | {}",
        algorithm1.0, algorithm1.1, plan.0, plan.1
    ));
    draw_ratios(page, lines);
    Ok(())
}

/// A mode against the unreproducible sums, from left to right, and the fastest: how their times compare.
fn against_allreduce(
    context: &Context<'_>,
    page: &mut Page,
    mode: Mode,
) -> Result<[String; 2], Error> {
    describe(context, page, "2", "`optimized`");
    let times = times(context)?;
    let lines = [Mode::LeftToRight, Mode::Unordered].map(|other| {
        let name = format!("{}, over {}", mode.name(), other.name());
        over(times, mode, other, name)
    });
    let ranges = [&lines[0], &lines[1]].map(|line| range(heights([line])));
    draw_ratios(page, lines);
    Ok(ranges)
}

/// Figure B.3: what reproducibility costs over the unreproducible sums, by ReproBLAS there, by a plan here.
pub(super) fn reproducibility(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure B.3, what reproducibility costs over allreduce");
    let [left_to_right, unordered] = against_allreduce(context, page, Mode::Plan)?;
    page.compare(format!(
        "ReproBLAS / left-to-right, + allreduce | less than 15 % apart (p = 256) | not run | quoted; ReproBLAS was not run
        plan / left-to-right, + allreduce | – | {left_to_right}
        plan / unordered SIMD, + allreduce | – | {unordered}"
    ));
    Ok(())
}

/// Figure B.4: Algorithm 1 against the unreproducible sums.
pub(super) fn algorithm1(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure B.4, Algorithm 1 against allreduce");
    let [left_to_right, unordered] = against_allreduce(context, page, Mode::Algorithm1)?;
    page.compare(format!(
        "Algorithm 1 / left-to-right, + allreduce | less than 2 (p = 256) | {left_to_right}
        Algorithm 1 / unordered SIMD, + allreduce | – | {unordered}"
    ));
    Ok(())
}

//! Measures chapter 4 and appendix B on this machine's ranks: every mode of summation, on the numbers of items of all data sets. Also
//! compares the modes with each other.

use distribution::Scheme;
use harness::data::{TABLE_4_1_ITEMS, TABLE_4_1_LARGE_ITEMS, TABLE_4_1_NAMES};
use harness::plot::{Axis, Line};
use harness::{Error, Sharing};

use super::distributions::path_us;
use super::timings::{self, Job, Mode, Times, median_us};
use super::{ITEMS, distribute};
use crate::Context;
use crate::page::{Page, columns, row};
use crate::said::{heights, line, most, range, ratios};

/// The largest number of ranks that have a core each.
const RANKS_HERE: usize = 2;

/// Algorithm 1 and the baseline of chapter 4, compared with a plan and the fastest unreproducible sum.
const MODES: [Mode; 4] = [
    Mode::Plan,
    Mode::Algorithm1,
    Mode::LeftToRight,
    Mode::Unordered,
];

/// How often a sum is repeated: as in the thesis, or less often in a quick run.
fn runs(context: &Context<'_>) -> usize {
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

/// The times of modes on these numbers of items and their distributions.
fn measure(
    context: &Context<'_>,
    ranks: usize,
    sizes: Vec<usize>,
    schemes: &[Scheme],
    modes: &[Mode],
) -> Result<Vec<Times>, Error> {
    let job = Job {
        sizes,
        sharings: schemes.iter().copied().map(Sharing::Named).collect(),
        modes: modes.to_vec(),
        runs: runs(context),
    };
    timings::measure(context.settings.place, ranks, &job)
}

/// All data sets and modes on one rank and on two, measured once per command.
fn times<'c>(context: &'c Context<'_>) -> Result<&'c [Times], Error> {
    if let Some(times) = context.times.get() {
        return Ok(times);
    }
    let mut times = Vec::new();
    for ranks in 1..=RANKS_HERE {
        let (sizes, schemes) = (sizes(context), [Scheme::Optimized]);
        times.extend(measure(context, ranks, sizes, &schemes, &MODES)?);
    }
    Ok(context.times.get_or_init(|| times))
}

/// One mode's times on `ranks` ranks, by length.
fn of(times: &[Times], mode: Mode, ranks: usize) -> impl Iterator<Item = &Times> {
    let suits = move |times: &&Times| times.mode == mode && times.ranks == ranks;
    times.iter().filter(suits)
}

/// One mode's times for one data set, on ranks with a core each.
fn here(times: &[Times], mode: Mode, items: usize) -> &Times {
    let mut own = of(times, mode, RANKS_HERE);
    let own = own.find(|times| times.items == items);
    own.expect("every mode sums every data set")
}

fn describe(context: &Context<'_>, page: &mut Page, ranks: &str, distribution: &str) {
    page.measured_on(context, ranks);
    page.text(format!(
        "The thesis' protocol: {} runs, each timed separately on its slowest rank; the first and the last 8 % of the runs are dropped. Items are generated log-likelihoods, distributed by {distribution}.",
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
            "On {named}, a plan takes {} times a left-to-right sum's time, {} times an unordered one's",
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

/// Writes a table of percentiles with a row for each mode, in microseconds.
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
        Axis::linear("runs that took at most this time, %"),
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

/// The ratio of one mode's medians to another's, by length.
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

/// Figure 4.2: a comparison with ReproBLAS, as far as published values allow it.
pub(super) fn against_reproblas(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 4.2, over a left-to-right sum");
    describe(context, page, "2", "`optimized`");
    page.text("ReproBLAS is not run here; its published values are quoted. Figure B.3 of the thesis compares ReproBLAS with the unreproducible sum, so our times are compared with this sum, too.");
    let times = times(context)?;
    let line = |mode: Mode| over(times, mode, Mode::LeftToRight, mode.name());
    let lines = [Mode::Algorithm1, Mode::Plan].map(line);
    let worst = |line| most(heights([line]));
    let longest = |line| heights([line]).last().unwrap_or(f64::NAN);
    let [algorithm1, plan] = lines.each_ref().map(|line| (worst(line), longest(line)));
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

/// Compares a mode with two unreproducible sums, from left to right and unordered. `claims` are lines of [`Page::compare`] without our values.
fn against_allreduce(
    context: &Context<'_>,
    page: &mut Page,
    mode: Mode,
    claims: [&str; 2],
) -> Result<(), Error> {
    describe(context, page, "2", "`optimized`");
    let times = times(context)?;
    let lines = [Mode::LeftToRight, Mode::Unordered].map(|other| {
        let name = format!("{}, over {}", mode.name(), other.name());
        over(times, mode, other, name)
    });
    let ranges = lines.each_ref().map(|line| range(heights([line])));
    draw_ratios(page, lines);
    for (claim, range) in claims.into_iter().zip(ranges) {
        page.compare(format!("{claim} | {range}"));
    }
    Ok(())
}

/// Figure B.3: the cost of a reproducible sum relative to unreproducible ones. The thesis measured ReproBLAS; this function measures a plan.
pub(super) fn reproducibility(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure B.3, what reproducibility costs over allreduce");
    let claims = [
        "ReproBLAS / left-to-right, + allreduce | less than 15 % apart (p = 256) | not run | quoted; ReproBLAS was not run
        plan / left-to-right, + allreduce | –",
        "plan / unordered SIMD, + allreduce | –",
    ];
    against_allreduce(context, page, Mode::Plan, claims)
}

/// Figure B.4: Algorithm 1 compared with unreproducible sums.
pub(super) fn algorithm1(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure B.4, Algorithm 1 against allreduce");
    let claims = [
        "Algorithm 1 / left-to-right, + allreduce | less than 2 (p = 256)",
        "Algorithm 1 / unordered SIMD, + allreduce | –",
    ];
    against_allreduce(context, page, Mode::Algorithm1, claims)
}

/// One rank per core, and more ranks than cores.
const MEASURED_RANKS: [usize; 2] = [RANKS_HERE, 8];

/// The modes whose times on several distributions are measured.
const TREES: [Mode; 2] = [Mode::Algorithm1, Mode::Plan];

/// Figure 3.4: the even and the optimized distribution, with the critical path of Algorithm 1 at the thesis' number of ranks.
pub(super) fn even_against_optimized(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 3.4, even and optimized distribution");
    describe(context, page, "2", "`upper` and `optimized`");
    let schemes = [Scheme::Upper, Scheme::Optimized];
    let times = measure(context, RANKS_HERE, vec![ITEMS], &schemes, &TREES)?;
    page.table(
        "mode | even (upper), µs | optimized, µs | optimized / even",
        TREES.map(|mode| {
            let [even, optimized] = schemes.map(|scheme| median_us(&times, mode, scheme));
            row(mode.name(), [even, optimized, optimized / even])
        }),
    );
    page.text("## p = 256, simulated\n\nThe critical path of Algorithm 1: each rank does one thing at a time, a message takes 281 ns, an addition 4.15 ns (eq. 3.7's constants); `optimal-distributions` shows all distributions.");
    page.how = "simulated";
    let [even, optimized] = schemes.map(path_us);
    page.compare(format!(
        "gain of optimized over even, µs | about 4 | {}
        time with optimized over even | 0.82 | {} | the thesis' abstract says 18 % less",
        even - optimized,
        optimized / even
    ));
    Ok(())
}

/// Figure B.1: the size of the message buffer.
pub(super) fn flushing(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure B.1, when the message buffer is flushed");
    describe(context, page, "2", "`upper`, which cuts the most subtrees");
    page.text("The buffer is flushed before work begins on a subtree of more leaves than the criterion. With the criterion 1, there is almost no buffer; with `never`, it is only flushed when it has four values, or when the receiver changes.");
    let criteria = (0..=18).step_by(2).map(|log| 1_u64 << log);
    let modes: Vec<Mode> = criteria.chain([u64::MAX]).map(Mode::Flushed).collect();
    let times = measure(context, RANKS_HERE, vec![ITEMS], &[Scheme::Upper], &modes)?;
    page.table(
        "criterion, leaves | 1 % | median | 99 %",
        times.iter().map(|times| {
            let cells = [1, 50, 99].map(|percent| times.percentile_us(percent));
            row(times.mode.name(), cells)
        }),
    );
    let median = |leaves| median_us(&times, Mode::Flushed(leaves), Scheme::Upper);
    page.compare(format!(
        "time if flushed before more than 64 leaves, over never flushing | relaxing yields no benefit | {} | 1 means equal times; a rank sends few values, and the fold takes most of the time",
        median(64) / median(u64::MAX)
    ));
    Ok(())
}

/// The best distributions by measured time, as far as two cores can show.
pub(super) fn best_distributions(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("The best distributions, in measured time");
    let named = "every distribution that has a name";
    describe(context, page, "2 and 8", named);
    page.text("N = 504850. Optimal distributions are computed for 2 and for 8 ranks, with eq. 3.7's constants, by which a message costs as much as 68 additions; here, an addition takes far less.");
    let mut all = Vec::new();
    for ranks in MEASURED_RANKS {
        all.push(measure(context, ranks, vec![ITEMS], Scheme::ALL, &TREES)?);
    }
    let modes = columns(MEASURED_RANKS, |ranks| {
        columns(TREES, |mode| format!("p = {ranks}: {}, µs", mode.name()))
    });
    page.table(
        &format!("distribution | busy ranks of 8 | {modes}"),
        Scheme::ALL.iter().map(|&scheme| {
            let shares = distribute(scheme, ITEMS as u64, MEASURED_RANKS[1]);
            let busy = (0..MEASURED_RANKS[1]).filter(|&rank| shares.count(rank) > 0);
            let of = |times| TREES.map(|mode| median_us(times, mode, scheme));
            let medians = all.iter().flat_map(|times| of(times));
            row(format!("`{scheme}` | {}", busy.count()), medians)
        }),
    );
    let two = |scheme| median_us(&all[0], Mode::Plan, scheme);
    let uneven = "on so few ranks, an aligned, uneven distribution has the least score";
    for (scheme, why) in [
        (Scheme::ScoreOptimal, uneven),
        (Scheme::ScoreOptimalBusy, ""),
        (Scheme::PathOptimal, ""),
    ] {
        let ratio = two(scheme) / two(Scheme::Upper);
        page.compare(format!(
            "plan on {scheme} over upper, p = 2 | – | {ratio} | {why}"
        ));
    }
    Ok(())
}

//! Chapter 4 and appendix B in kind: every data set's length, every mode of summation, on the ranks of this machine; and the modes against
//! each other.

use distribution::Scheme;
use harness::data::{TABLE_4_1_ITEMS, TABLE_4_1_LARGE_ITEMS, TABLE_4_1_NAMES};
use harness::plot::Line;
use harness::{Error, Sharing};

use super::timings::{self, Job, Mode, Times};
use crate::said::{heights, line, most, range, ratios};
use crate::values::{Value, cells, row};
use crate::{Context, Values};

/// The most ranks that have a core of their own.
pub(super) const RANKS_HERE: usize = 2;

/// The modes of chapter 4, with ours and the fastest unreproducible one beside them.
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
    if context.quick {
        TABLE_4_1_ITEMS[..4].to_vec()
    } else {
        [&TABLE_4_1_ITEMS[..], &TABLE_4_1_LARGE_ITEMS].concat()
    }
}

/// All data sets and modes on one rank and on two, measured once a command.
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
        times.extend(timings::measure(context.place, ranks, &job)?);
    }
    Ok(context.times.get_or_init(|| times))
}

/// One mode's times on `ranks` ranks, by length.
pub(super) fn of(times: &[Times], mode: Mode, ranks: usize) -> impl Iterator<Item = &Times> {
    let suits = move |times: &&Times| times.mode == mode && times.ranks == ranks;
    times.iter().filter(suits)
}

/// Those of one data set, where ranks have a core each.
fn here(times: &[Times], mode: Mode, items: usize) -> &Times {
    let mut own = of(times, mode, RANKS_HERE);
    let own = own.find(|times| times.items == items);
    own.expect("every mode sums every data set")
}

pub(super) fn describe(context: &Context<'_>, page: &mut Values, ranks: &str, distribution: &str) {
    page.set("machine", context.machine(ranks));
    page.set("protocol", format!(
        "The thesis' protocol: {} runs, each timed by itself on its slowest rank, the first and the last eight of a hundred dropped. Items are generated log-likelihoods, spread by {distribution}.",
        runs(context)
    ));
}

/// Figure 4.1: medians, 1st and 99th percentiles.
pub(super) fn medians(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    describe(context, page, "1 and 2", "`optimized`");
    let times = times(context)?;
    for (ranks, named) in [(1, "one rank,"), (RANKS_HERE, "two ranks,")] {
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
        let case = page.case("ranks");
        case.set("ranks", ranks).set("named", named);
        case.set("over left-to-right", range(ratios(plan, left_to_right)));
        case.set("over unordered", range(ratios(plan, unordered)));
        case.draw(&format!("p{ranks}"), lines);
    }
    page.cells("modes", MODES, Mode::name);
    let data_sets = sizes(context).into_iter().zip(TABLE_4_1_NAMES);
    page.rows("data sets", data_sets, |(items, name)| {
        let medians = MODES.map(|mode| Value::from(here(times, mode, items).median_us()));
        [cells![name, items], medians.to_vec()].concat()
    });
    Ok(())
}

/// Figure 4.3: all runs of the longest data set.
pub(super) fn distribution(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    describe(context, page, "2", "`optimized`");
    let times = times(context)?;
    let longest = sizes(context).into_iter().max().unwrap_or(0);
    page.set("items", longest);
    let lines = MODES.map(|mode| {
        let samples_ns = &here(times, mode, longest).samples_ns;
        let count = samples_ns.len() as f64;
        let points = samples_ns.iter().zip(1_u32..);
        line(mode.name(), points, |(ns, place)| {
            (100.0 * f64::from(place) / count, ns / 1e6)
        })
    });
    page.draw("", lines);
    percentiles(page, times, longest);
    let median_ms = |mode| here(times, mode, longest).median_us() / 1e3;
    page.set("plan", median_ms(Mode::Plan));
    page.set("left-to-right", median_ms(Mode::LeftToRight));
    let spread = |mode| {
        let times = here(times, mode, longest);
        times.percentile_us(99) / times.percentile_us(1)
    };
    page.set("plan spread", spread(Mode::Plan));
    page.set("unordered spread", spread(Mode::Unordered));
    Ok(())
}

/// One row a mode, in microseconds.
fn percentiles(page: &mut Values, times: &[Times], items: usize) {
    page.rows("percentiles", MODES, |mode| {
        let times = here(times, mode, items);
        let cells = [1, 25, 50, 75, 99].map(|percent| times.percentile_us(percent));
        row(mode.name(), cells)
    });
}

/// Figure B.2: the runs of every data set.
pub(super) fn distributions(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    describe(context, page, "2", "`optimized`");
    let times = times(context)?;
    for (items, name) in sizes(context).into_iter().zip(TABLE_4_1_NAMES) {
        let case = page.case("data set");
        case.set("name", name).set("items", items);
        percentiles(case, times, items);
    }
    Ok(())
}

/// How one mode's medians compare with another's, by length.
fn over(times: &[Times], mode: Mode, to: Mode, name: String) -> Line {
    let pairs = of(times, mode, RANKS_HERE).zip(of(times, to, RANKS_HERE));
    let ratio = |(own, other): (&Times, &Times)| own.median_us() / other.median_us();
    line(name, pairs, |pair| (pair.0.items as f64, ratio(pair)))
}

fn draw_ratios(page: &mut Values, lines: impl IntoIterator<Item = Line>) {
    let same = Line::level("the same time", 1.0);
    page.draw("", lines.into_iter().chain([same]));
}

/// Figure 4.2: against a reproducible accumulator, as far as it can be said.
pub(super) fn against_reproblas(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    describe(context, page, "2", "`optimized`");
    let times = times(context)?;
    let modes = [("plan", Mode::Plan), ("algorithm 1", Mode::Algorithm1)];
    let lines = modes.map(|(name, mode)| {
        let line = over(times, mode, Mode::LeftToRight, mode.name());
        page.set(name, range(heights([&line])));
        page.set(&format!("{name} worst"), most(heights([&line])));
        let longest = heights([&line]).last();
        page.set(&format!("{name} longest"), longest);
        line
    });
    draw_ratios(page, lines);
    Ok(())
}

/// A mode against the unreproducible sums.
fn against_allreduce(context: &Context<'_>, page: &mut Values, mode: Mode) -> Result<(), Error> {
    describe(context, page, "2", "`optimized`");
    let times = times(context)?;
    let others = [
        ("left-to-right", Mode::LeftToRight),
        ("unordered", Mode::Unordered),
    ];
    let lines = others.map(|(name, other)| {
        let line = over(
            times,
            mode,
            other,
            format!("{}, over {}", mode.name(), other.name()),
        );
        page.set(name, range(heights([&line])));
        line
    });
    draw_ratios(page, lines);
    Ok(())
}

/// Figure B.3: what reproducibility costs over the unreproducible sums, by ReproBLAS there, by a plan here.
pub(super) fn reproducibility(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    against_allreduce(context, page, Mode::Plan)
}

/// Figure B.4: Algorithm 1 against the unreproducible sums.
pub(super) fn algorithm1(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    against_allreduce(context, page, Mode::Algorithm1)
}

//! Chapter 4 and appendix B in kind: every data set's length, every mode of summation, on the ranks of this machine.

use distribution::Scheme;
use harness::Error;
use harness::Sharing;
use harness::data::{TABLE_4_1_ITEMS, TABLE_4_1_LARGE_ITEMS, TABLE_4_1_NAMES};
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};

use super::timings::{self, Job, Mode, Times};
use crate::said::{count, range, ratios};
use crate::{Comparison, Context, Page};

/// The most ranks that have a core of their own.
pub(super) const RANKS_HERE: usize = 2;

/// How often the thesis repeats a sum.
const RUNS: usize = 100;

/// The modes of chapter 4, with ours and the fastest unreproducible one beside them.
const MODES: [Mode; 4] = [
    Mode::Plan,
    Mode::Algorithm1,
    Mode::LeftToRight,
    Mode::Unordered,
];

pub(super) fn runs(context: &Context<'_>) -> usize {
    if context.quick { 13 } else { RUNS }
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

pub(super) fn describe(context: &Context<'_>, page: &mut Page, ranks: &str, distribution: &str) {
    page.machine(context, ranks);
    page.paragraph(format!(
        "The thesis' protocol: {} runs, each timed by itself on its slowest rank, the first and the last eight of a hundred dropped. Items are generated log-likelihoods, spread by {distribution}.",
        runs(context)
    ));
}

/// Figure 4.1: medians, 1st and 99th percentiles.
pub(super) fn medians(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    describe(context, page, "1 and 2", "`optimized`");
    let times = times(context)?;
    for ranks in 1..=RANKS_HERE {
        let line = |mode: Mode| {
            let own: Vec<&Times> = of(times, mode, ranks).collect();
            let points = own
                .iter()
                .map(|times| (times.items as f64, times.median_us()));
            let bars = own
                .iter()
                .map(|times| (times.percentile_us(1), times.percentile_us(99)));
            Line {
                bars: bars.collect(),
                ..Line::new(mode.name(), points.collect())
            }
        };
        let lines = MODES.map(line);
        let [plan, _, left_to_right, unordered] = &lines;
        let plot = Plot {
            title: format!(
                "On {} a plan takes {} of a left-to-right sum's time, {} of an unordered one's",
                if ranks == 1 {
                    "one rank,"
                } else {
                    "two ranks,"
                },
                range(ratios(plan, left_to_right)),
                range(ratios(plan, unordered))
            ),
            subtitle: format!(
                "Median times of an allreduce of a sum over the lengths of the data sets, p = {ranks}; bars from the 1st to the 99th percentile"
            ),
            x: Axis::decades("N, items"),
            y: Axis::decades("time, µs"),
            lines: lines.to_vec(),
            size: Size::Page,
        };
        page.plot(&format!("p{ranks}"), plot)?;
    }
    let cells = |(items, name): (usize, &str)| {
        let medians = MODES.map(|mode| {
            let mut own = of(times, mode, RANKS_HERE).filter(|times| times.items == items);
            own.next().map_or(f64::NAN, Times::median_us)
        });
        let cells = [name.to_owned(), items.to_string()].into_iter();
        cells.chain(medians.map(digits)).collect()
    };
    let headings = ["data set", "N"].map(str::to_owned).into_iter();
    page.paragraph(format!("Medians on {RANKS_HERE} ranks, in microseconds:"));
    page.table(
        headings.chain(MODES.map(Mode::name)),
        sizes(context).into_iter().zip(TABLE_4_1_NAMES).map(cells),
    );
    Ok(())
}

/// Figure 4.3: all runs of the longest data set.
pub(super) fn distribution(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    describe(context, page, "2", "`optimized`");
    let times = times(context)?;
    let longest = sizes(context).into_iter().max().unwrap_or(0);
    let own = |mode| of(times, mode, RANKS_HERE).find(|times| times.items == longest);
    let lines = MODES.into_iter().filter_map(|mode| {
        let times = own(mode)?;
        let count = times.samples_ns.len() as f64;
        let points = times.samples_ns.iter().zip(1_u32..);
        let points = points.map(|(ns, place)| (100.0 * f64::from(place) / count, ns / 1e6));
        Some(Line::new(mode.name(), points.collect()))
    });
    let median = |mode| own(mode).map_or(f64::NAN, |times| times.median_us() / 1e3);
    page.plot(
        "",
        Plot {
            title: format!(
                "Half of a plan's runs take {} ms at most, half of the left-to-right sum's {} ms",
                digits(median(Mode::Plan)),
                digits(median(Mode::LeftToRight))
            ),
            subtitle: format!(
                "All runs of an allreduce in the order of their times, N = {}, p = {RANKS_HERE}",
                count(longest)
            ),
            x: Axis::linear("runs that took at most so long, %"),
            y: Axis::linear("time, ms"),
            lines: lines.collect(),
            size: Size::Page,
        },
    )?;
    page.table(
        ["mode", "1 %", "25 %", "median", "75 %", "99 %"],
        percentiles(times, longest),
    );
    let spread = |mode| {
        own(mode).map_or(f64::NAN, |times| {
            times.percentile_us(99) / times.percentile_us(1)
        })
    };
    page.compare([
        Comparison::measured(
            "99th over 1st percentile, treefold's plan",
            spread(Mode::Plan),
        ),
        Comparison::measured(
            "99th over 1st percentile, unordered",
            spread(Mode::Unordered),
        ),
    ]);
    Ok(())
}

/// One row a mode, in microseconds.
fn percentiles(times: &[Times], items: usize) -> Vec<Vec<String>> {
    let row = |mode: Mode| {
        let times = of(times, mode, RANKS_HERE).find(|times| times.items == items)?;
        let cells = [1, 25, 50, 75, 99].map(|percent| digits(times.percentile_us(percent)));
        Some([mode.name()].into_iter().chain(cells).collect())
    };
    MODES.into_iter().filter_map(row).collect()
}

/// Figure B.2: the runs of every data set.
pub(super) fn distributions(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    describe(context, page, "2", "`optimized`");
    let times = times(context)?;
    for (items, name) in sizes(context).into_iter().zip(TABLE_4_1_NAMES) {
        page.heading(format!("{name}, N = {items}"));
        page.table(
            ["microseconds", "1 %", "25 %", "median", "75 %", "99 %"],
            percentiles(times, items),
        );
    }
    Ok(())
}

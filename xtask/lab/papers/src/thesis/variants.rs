//! Variants of Algorithm 1 on one data set: Figures 3.4 and B.1.

use distribution::Scheme;
use harness::Error;
use harness::Sharing;
use harness::markdown::digits;

use super::runs::{RANKS_HERE, describe, runs};
use super::timings::{self, Job, Mode, Times, median_us};
use super::{ITEMS, scaling};
use crate::{Comparison, Context, Page};

/// Figure B.1: how long a value may wait for others.
pub(super) fn flushing(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    describe(context, page, "2", "`upper`, which cuts most");
    page.paragraph(
        "The buffer is flushed before work begins on a subtree of more leaves than the criterion; 1 is next to no buffer, never waits until four values are there, or the receiver changes.",
    );
    let criteria = (0..=18).step_by(2).map(|log| 1_u64 << log);
    let modes: Vec<Mode> = criteria.chain([u64::MAX]).map(Mode::Flushed).collect();
    let job = Job {
        sizes: vec![ITEMS],
        sharings: vec![Sharing::Named(Scheme::Upper)],
        modes,
        runs: runs(context),
    };
    let times = timings::measure(context.place, RANKS_HERE, &job)?;
    page.table(
        ["criterion, leaves", "1 %", "median", "99 %"],
        times.iter().map(|times| {
            let cells = [1, 50, 99].map(|percent| digits(times.percentile_us(percent)));
            [times.mode.name()].into_iter().chain(cells).collect()
        }),
    );
    let median = |mode| {
        let own = times.iter().find(|times| times.mode == mode);
        own.map_or(f64::NAN, Times::median_us)
    };
    let gain = median(Mode::Flushed(64)) / median(Mode::Flushed(u64::MAX));
    page.compare([
        Comparison::measured("time with 64 leaves over never flushing", gain)
            .published("relaxing yields no benefit")
            .because("1 means that they are equal; the values of one rank are few, and the fold takes most of the time"),
    ]);
    Ok(())
}

/// Figure 3.4: even and optimized distribution.
pub(super) fn even_against_optimized(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    describe(context, page, "2", "`upper` and `optimized`");
    let schemes = [Scheme::Upper, Scheme::Optimized];
    let job = Job {
        sizes: vec![ITEMS],
        sharings: schemes.map(Sharing::Named).to_vec(),
        modes: vec![Mode::Algorithm1, Mode::Plan],
        runs: runs(context),
    };
    let times = timings::measure(context.place, RANKS_HERE, &job)?;
    let median = |mode, scheme| median_us(&times, mode, scheme);
    page.table(
        [
            "mode",
            "even (upper), µs",
            "optimized, µs",
            "optimized / even",
        ],
        [Mode::Algorithm1, Mode::Plan].map(|mode| {
            let (even, optimized) = (median(mode, Scheme::Upper), median(mode, Scheme::Optimized));
            let ratio = optimized / even;
            vec![
                mode.name(),
                digits(even),
                digits(optimized),
                format!("{ratio:.3}"),
            ]
        }),
    );
    scaling::critical_paths(page)
}

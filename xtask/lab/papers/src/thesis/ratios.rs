//! Chapter 4's modes against each other: Figures 4.2, B.3 and B.4.

use harness::Error;
use harness::plot::Line;

use super::runs::{RANKS_HERE, describe, of, times};
use super::timings::{Mode, Times};
use crate::said::{heights, line, most, range};
use crate::{Context, Values};

/// How one mode's medians compare with another's, by length.
fn ratios(times: &[Times], mode: Mode, to: Mode, name: String) -> Line {
    let pairs = of(times, mode, RANKS_HERE).zip(of(times, to, RANKS_HERE));
    let ratio = |(own, other): (&Times, &Times)| own.median_us() / other.median_us();
    line(name, pairs, |pair| (pair.0.items as f64, ratio(pair)))
}

fn draw(page: &mut Values, lines: impl IntoIterator<Item = Line>) {
    let same = Line::level("the same time", 1.0);
    page.draw("", lines.into_iter().chain([same]));
}

/// Figure 4.2: against a reproducible accumulator, as far as it can be said.
pub(super) fn against_reproblas(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    describe(context, page, "2", "`optimized`");
    let times = times(context)?;
    let modes = [("plan", Mode::Plan), ("algorithm 1", Mode::Algorithm1)];
    let lines = modes.map(|(name, mode)| {
        let line = ratios(times, mode, Mode::LeftToRight, mode.name());
        page.set(name, range(heights([&line])));
        page.set(&format!("{name} worst"), most(heights([&line])));
        let longest = heights([&line]).last();
        page.set(&format!("{name} longest"), longest);
        line
    });
    draw(page, lines);
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
        let line = ratios(
            times,
            mode,
            other,
            format!("{}, over {}", mode.name(), other.name()),
        );
        page.set(name, range(heights([&line])));
        line
    });
    draw(page, lines);
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

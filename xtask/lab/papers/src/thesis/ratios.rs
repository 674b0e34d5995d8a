//! Chapter 4's modes against each other: Figures 4.2, B.3 and B.4.

use harness::Error;
use harness::plot::{Axis, Line, Plot, Size};

use super::runs::{RANKS_HERE, describe, of, times};
use super::timings::{Mode, Times};
use crate::said::range;
use crate::{Comparison, Context, Page};

/// How one mode's medians compare with another's, by length.
fn ratios(times: &[Times], mode: Mode, to: Mode, ranks: usize) -> Vec<(f64, f64)> {
    let pairs = of(times, mode, ranks).zip(of(times, to, ranks));
    pairs
        .map(|(own, other)| (own.items as f64, own.median_us() / other.median_us()))
        .collect()
}

fn extremes(ratios: &[(f64, f64)]) -> (f64, f64) {
    let values = ratios.iter().map(|ratio| ratio.1);
    values.fold((f64::INFINITY, 0.0), |(least, most), ratio| {
        (least.min(ratio), most.max(ratio))
    })
}

fn ratio_plot(
    page: &mut Page,
    title: String,
    lines: Vec<(String, Vec<(f64, f64)>)>,
) -> Result<(), Error> {
    let lines = lines.into_iter();
    let lines = lines.map(|(name, points)| Line::new(name, points));
    page.plot(
        "",
        Plot {
            title: format!("On {RANKS_HERE} ranks, {title}"),
            subtitle:
                "Ratio of the median times of an allreduce, over the lengths of the data sets"
                    .to_owned(),
            x: Axis::decades("N, items"),
            y: Axis::linear("time over the other's, ratio"),
            lines: lines.chain([Line::level("the same time", 1.0)]).collect(),
            size: Size::Page,
        },
    )
}

fn spread(ratios: &[(f64, f64)]) -> String {
    range(ratios.iter().map(|ratio| ratio.1))
}

/// Figure 4.2: against a reproducible accumulator, as far as it can be said.
pub(super) fn against_reproblas(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    describe(context, page, "2", "`optimized`");
    page.paragraph(
        "ReproBLAS is not run here: its columns are quoted. What it costs over the unreproducible sum, the thesis says in Figure B.3; against that same \
         sum stand ours.",
    );
    let times = times(context)?;
    let ours = ratios(times, Mode::Plan, Mode::LeftToRight, RANKS_HERE);
    let thesis = ratios(times, Mode::Algorithm1, Mode::LeftToRight, RANKS_HERE);
    let last = |ratios: &[(f64, f64)]| ratios.last().map_or(f64::NAN, |ratio| ratio.1);
    let compared = "relative to left-to-right + allreduce, because ReproBLAS is not here: it differs from that by less than 15 %";
    page.compare([
        Comparison::measured("slowdown, Algorithm 1, worst", extremes(&thesis).1)
            .published("less than 2 (p = 256)")
            .because(compared),
        Comparison::measured("slowdown, Algorithm 1, longest data set", last(&thesis))
            .published(1.02)
            .because("the streaming kernel is several times as fast as a left-to-right fold"),
        Comparison::measured("slowdown, treefold's plan, worst", extremes(&ours).1)
            .because(compared),
        Comparison::measured("slowdown, treefold's plan, longest data set", last(&ours)),
    ]);
    let title = format!(
        "a plan takes {} of the time of left-to-right + allreduce, Algorithm 1 {}",
        spread(&ours),
        spread(&thesis)
    );
    let names = [Mode::Plan, Mode::Algorithm1].map(Mode::name);
    ratio_plot(page, title, names.into_iter().zip([ours, thesis]).collect())
}

/// Two modes, and what was published of their ratio.
type Pair = (&'static str, Mode, Mode, Option<&'static str>);

/// The ratios of some modes, by length.
fn pairs(
    context: &Context<'_>,
    page: &mut Page,
    quoted: Option<Comparison>,
    pairs: &[Pair],
) -> Result<(), Error> {
    let times = times(context)?;
    let mut lines = Vec::new();
    let mut comparisons: Vec<Comparison> = quoted.into_iter().collect();
    let mut told = Vec::new();
    for &(name, mode, to, published) in pairs {
        let ratios = ratios(times, mode, to, RANKS_HERE);
        let range = spread(&ratios);
        told.push(format!("{range} of that of {}", to.name()));
        let comparison = Comparison::measured(format!("{name}, + allreduce"), range);
        comparisons.push(match published {
            None => comparison,
            Some(published) => comparison.published(published),
        });
        lines.push((format!("{}, over {}", mode.name(), to.name()), ratios));
    }
    page.compare(comparisons);
    let own = pairs[0].1.name();
    ratio_plot(
        page,
        format!("the time of {own} is {}", told.join(" and ")),
        lines,
    )
}

/// Figure B.3: what reproducibility costs over the unreproducible sums, by ReproBLAS there, by a plan here.
pub(super) fn reproducibility(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    describe(context, page, "2", "`optimized`");
    let quoted = Comparison::measured("ReproBLAS / left-to-right, + allreduce", "not run")
        .published("less than 15 % apart (p = 256)")
        .because("quoted: ReproBLAS is not here");
    let plan = [
        ("plan / left-to-right", Mode::Plan, Mode::LeftToRight, None),
        ("plan / unordered SIMD", Mode::Plan, Mode::Unordered, None),
    ];
    pairs(context, page, Some(quoted), &plan)
}

/// Figure B.4: Algorithm 1 against the unreproducible sums.
pub(super) fn algorithm1(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    describe(context, page, "2", "`optimized`");
    let published = Some("less than 2 (p = 256)");
    let own = Mode::Algorithm1;
    let algorithm1 = [
        (
            "Algorithm 1 / left-to-right",
            own,
            Mode::LeftToRight,
            published,
        ),
        ("Algorithm 1 / unordered SIMD", own, Mode::Unordered, None),
    ];
    pairs(context, page, None, &algorithm1)
}

//! Measures the reductions of Figures 6 to 10 on this machine's cores, next to the backend's own collective.

use harness::Error;
use harness::bench::schedules::{ScheduleJob, ScheduleRow, reference};
use harness::markdown::digits;
use harness::plot::Axis;
use reduce::Algorithm;

use crate::Context;
use crate::cluster::fastest;
use crate::measured::{draw_ratios, measure, table};
use crate::page::Page;
use crate::said::listed;

/// The paper's algorithms, with the default parameters of plans.
const VARIANTS: [Algorithm; 4] = [
    Algorithm::Binomial,
    Algorithm::PairwiseExchange,
    Algorithm::Dissemination,
    Algorithm::Bruck,
];

/// Operation, elements and their name.
type Case = (&'static str, u64, &'static str);

const CASES: [Case; 4] = [
    ("sum", 1, "one integer"),
    ("maximum", 1, "one integer"),
    ("sum", 255, "255 doubles"),
    ("maximum", 255, "255 doubles"),
];

/// The row of a schedule, for a case on a number of ranks.
fn find<'r>(
    rows: &'r [ScheduleRow],
    variant: &str,
    ranks: usize,
    case: Case,
) -> Option<&'r ScheduleRow> {
    let (operation, n, _) = case;
    let mut own = rows
        .iter()
        .filter(|row| (&*row.variant, row.ranks) == (variant, ranks));
    own.find(|row| row.operation == operation && row.n == n)
}

/// Measures all cases on few ranks.
pub(super) fn here(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figures 6 to 10 measured here, one integer and 255 doubles");
    let ranks: &[usize] = context.quick_or(&[2][..], &[2, 4, 8]);
    let mut rows = Vec::new();
    for &count in ranks {
        let job = ScheduleJob {
            papers: vec![4],
            // Ranks that share cores need milliseconds where others need microseconds.
            rounds: if count > 2 {
                5
            } else {
                context.quick_or(5, 20)
            },
            ..ScheduleJob::default()
        };
        rows.extend(measure(context, &[count], &job)?);
    }
    let reference = reference(&rows).to_owned();
    let all = listed(ranks);
    let row = |variant, ranks, case| find(&rows, variant, ranks, case);
    let time_ns = |variant: Algorithm, ranks, case| {
        row(variant.name(), ranks, case).map_or(f64::NAN, |row| row.median_ns)
    };
    // The fastest of the paper's algorithms, for each number of ranks.
    let fastest = |case| {
        let timed = |ranks| VARIANTS.map(|variant| (variant, time_ns(variant, ranks, case)));
        listed(ranks.iter().map(|&ranks| fastest(timed(ranks)).0))
    };
    // The time of a tuned plan relative to the backend's own collective, for each number of ranks.
    let overheads = |case| {
        let ratio = |&ranks| row("tuned", ranks, case).map_or(f64::NAN, |row| row.ratio);
        listed(ranks.iter().map(ratio).map(digits))
    };
    // The numbers of ranks for which something holds, as text.
    let holds =
        |is_so: &dyn Fn(usize) -> bool| match &*listed(ranks.iter().filter(|&&ranks| is_so(ranks)))
        {
            "" => "for no p".to_owned(),
            holds => format!("for p = {holds}"),
        };
    page.measured_on(context, &all);
    page.text(format!(
        "Medians of the slowest rank's time; each schedule was measured alternately with `{reference}`. If there are more ranks than cores, ranks share cores, so the times of 4 and 8 ranks measure the operating \
         system as much as an algorithm. `dissemination` has n = 2 and `bruck` n = 1; the paper's choices, the smallest n that adapts and 5, are simulated on clusters (`paper-4-figures-7-14`)."
    ));
    for case in CASES {
        let (operation, n, items) = case;
        let is_own = |own: &&ScheduleRow| own.operation == operation && own.n == n;
        let own = rows.iter().filter(is_own).cloned();
        let own: Vec<ScheduleRow> = own.collect();
        let part = format!("{operation}-{n}");
        let what =
            format!("an allreduce of {items}, {operation}; ranks beyond the second share cores");
        let (what, axis) = ((&*part, &*what), Axis::doublings("p, ranks"));
        draw_ratios(page, what, &own, &VARIANTS, axis, |row| row.ranks as f64);
        table(page, &own, &VARIANTS);
    }
    let [integer, _, doubles, doubles_max] = CASES;
    for (name, at_most, best, case) in [
        ("one integer", 1.84, "bruck", integer),
        ("255 doubles", 2.18, "pairwise-exchange", doubles),
    ] {
        page.compare(format!(
            "Figure 6: overhead of the library, {name}, sum | up to {at_most} | {} | ours is a tuned plan's time over `{reference}`'s, the published one the GASPI library's over ibverbs; p = {all}
            {name}, sum: fastest, p = {all} | {best} | {} | few ranks and cores; on two ranks, all algorithms except the tree are one exchange",
            overheads(case),
            fastest(case)
        ));
    }
    for &variant in &VARIANTS[1..] {
        let time_ns = |variant, ranks| time_ns(variant, ranks, doubles);
        let is_faster = |ranks| time_ns(variant, ranks) < time_ns(Algorithm::Binomial, ranks);
        let holds = holds(&is_faster);
        page.compare(format!(
            "255 doubles, sum: {variant} is faster than the tree | always | {holds}"
        ));
    }
    for variant in VARIANTS {
        let time_ns = |case| time_ns(variant, ranks[0], case);
        page.compare(format!(
            "255 doubles: maximum over sum, {variant}, p = 2 | significantly more than 1 | {} | treefold's operators, the maximum included, use vector instructions",
            time_ns(doubles_max) / time_ns(doubles)
        ));
    }
    let is_beaten = |ranks| {
        let row = |variant: &Algorithm| row(variant.name(), ranks, doubles_max);
        let mut rows = VARIANTS[1..].iter().filter_map(row);
        rows.any(|row| row.ratio < 1.0)
    };
    page.compare(format!(
        "255 doubles, maximum: some butterfly-like algorithm is faster than `{reference}` | for several P | {}",
        holds(&is_beaten)
    ));
    Ok(())
}

//! The equivalent of Figures 6 to 10: the same reductions on this machine's cores, next to the library's own.

use harness::Error;
use harness::bench::schedules::{Job, Row, reference};
use harness::markdown::digits;
use harness::plot::Axis;
use reduce::Algorithm;

use crate::Context;
use crate::measured::{draw_ratios, measure, table};
use crate::page::Page;
use crate::said::listed;

/// The paper's algorithms, as plans take them.
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

/// The measurements.
struct Measured {
    rows: Vec<Row>,
    ranks: &'static [usize],
}

impl Measured {
    fn row(&self, variant: &str, ranks: usize, (operation, n, _): Case) -> Option<&Row> {
        let is_it = |row: &&Row| {
            row.variant == variant && row.ranks == ranks && row.operation == operation && row.n == n
        };
        self.rows.iter().find(is_it)
    }

    fn time_ns(&self, variant: &str, ranks: usize, case: Case) -> f64 {
        let row = self.row(variant, ranks, case);
        row.map_or(f64::NAN, |row| row.median_ns)
    }

    /// The numbers of ranks for which something holds, of all.
    fn holds(&self, is_so: impl Fn(usize) -> bool) -> String {
        let holds = self.ranks.iter().filter(|&&ranks| is_so(ranks));
        match listed(holds) {
            none if none.is_empty() => "for no p".to_owned(),
            holds => format!("for p = {holds}"),
        }
    }

    /// The fastest of the paper's algorithms, for each number of ranks.
    fn fastest(&self, case: Case) -> String {
        let fastest = self.ranks.iter().map(|&ranks| {
            let time_ns = |variant: &Algorithm| self.time_ns(variant.name(), ranks, case);
            let least = VARIANTS.into_iter();
            let least = least.min_by(|a, b| time_ns(a).total_cmp(&time_ns(b)));
            least.map_or("–", Algorithm::name)
        });
        listed(fastest)
    }

    /// The time of a default plan relative to the library's own, for each number of ranks.
    fn overheads(&self, case: Case) -> String {
        listed(self.ranks.iter().map(|&ranks| {
            let row = self.row("tuned", ranks, case);
            digits(row.map_or(f64::NAN, |row| row.ratio))
        }))
    }
}

/// All cases, on few ranks.
pub(super) fn here(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figures 6 to 10 measured here, one integer and 255 doubles");
    let ranks: &[usize] = context.quick_or(&[2][..], &[2, 4, 8]);
    let mut rows = Vec::new();
    for &count in ranks {
        let job = Job {
            papers: vec![4],
            // Ranks that share cores need milliseconds where others need microseconds.
            rounds: if count > 2 {
                5
            } else {
                context.quick_or(5, 20)
            },
            ..Job::default()
        };
        rows.extend(measure(context, &[count], &job)?);
    }
    let reference = reference(&rows).to_owned();
    let (measured, all) = (Measured { rows, ranks }, listed(ranks));
    page.measured_on(context, &all);
    page.text(format!(
        "Medians of the slowest rank's time; `{reference}` in turns with each. More ranks than cores take turns on them, so that 4 and 8 ranks measure the operating system as much as an algorithm. \
         `dissemination` has n = 2 and `bruck` n = 1, not the smallest n and 5; what the paper's choices do on clusters is simulated (`paper-4-figures-7-14`)."
    ));
    for case in CASES {
        let (operation, n, row) = case;
        let is_own = |own: &&Row| own.operation == operation && own.n == n;
        let own = measured.rows.iter().filter(is_own).cloned();
        let own: Vec<Row> = own.collect();
        let part = format!("{operation}-{n}");
        let what =
            format!("an allreduce of {row}, {operation}; ranks beyond the second share cores");
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
            "Figure 6: overhead of the library, {name}, sum | up to {at_most} | {} | ours is a tuned plan over `{reference}`, published is the GASPI library over ibverbs; p = {all}
            {name}, sum: fastest, p = {all} | {best} | {} | few ranks and cores; on two ranks, all algorithms but the tree are one exchange",
            measured.overheads(case),
            measured.fastest(case)
        ));
    }
    for variant in &VARIANTS[1..] {
        let time_ns = |variant, ranks| measured.time_ns(variant, ranks, doubles);
        let is_faster = |ranks| time_ns(variant.name(), ranks) < time_ns("binomial", ranks);
        let holds = measured.holds(is_faster);
        page.compare(format!(
            "255 doubles, sum: {variant} is faster than the tree | always | {holds}"
        ));
    }
    for variant in VARIANTS {
        let time_ns = |case| measured.time_ns(variant.name(), ranks[0], case);
        page.compare(format!(
            "255 doubles: maximum over sum, {variant}, p = 2 | significantly more than 1 | {} | treefold's operators, the maximum included, use vector instructions",
            time_ns(doubles_max) / time_ns(doubles)
        ));
    }
    let is_beaten = |ranks| {
        let row = |variant: &Algorithm| measured.row(variant.name(), ranks, doubles_max);
        let mut rows = VARIANTS[1..].iter().filter_map(row);
        rows.any(|row| row.ratio < 1.0)
    };
    page.compare(format!(
        "255 doubles, maximum: some butterfly-like algorithm is faster than `{reference}` | for several P | {}",
        measured.holds(is_beaten)
    ));
    Ok(())
}

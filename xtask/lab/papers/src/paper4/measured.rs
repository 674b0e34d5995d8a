//! Figures 6 to 10 in kind: the same reductions on this machine's cores, beside the library's own.

use harness::Error;
use harness::bench::schedules::{Job, Row, measure};
use harness::markdown::digits;
use harness::plot::Line;

use crate::said::{all_ratios, line, listed};
use crate::values::{Value, cells};
use crate::{Context, Values};

/// The paper's algorithms, as plans take them.
const VARIANTS: [&str; 4] = ["binomial", "pairwise-exchange", "dissemination", "bruck"];

/// Operation, elements and their name.
type Case = (&'static str, u64, &'static str);

const CASES: [Case; 4] = [
    ("sum", 1, "one integer"),
    ("maximum", 1, "one integer"),
    ("sum", 255, "255 doubles"),
    ("maximum", 255, "255 doubles"),
];

/// What was measured.
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
            let time_ns = |variant| self.time_ns(variant, ranks, case);
            let least = VARIANTS.into_iter();
            let least = least.min_by(|a, b| time_ns(a).total_cmp(&time_ns(b)));
            least.unwrap_or("–")
        });
        listed(fastest)
    }

    /// What a plan as it is tuned takes over the library's own, for each number of ranks.
    fn overheads(&self, case: Case) -> String {
        listed(self.ranks.iter().map(|&ranks| {
            let row = self.row("tuned", ranks, case);
            digits(row.map_or(f64::NAN, |row| row.ratio))
        }))
    }

    fn line(&self, variant: &str, case: Case) -> Line {
        let rows = self.ranks.iter();
        let rows = rows.filter_map(|&ranks| self.row(variant, ranks, case));
        line(variant, rows, |row| (row.ranks as f64, row.ratio))
    }

    /// A row for each case and number of ranks.
    fn table(&self) -> Vec<Vec<Value>> {
        let rows = CASES.iter().flat_map(|&case| {
            self.ranks.iter().map(move |&ranks| {
                let mut row = cells![format!("{}, {}", case.2, case.0), ranks];
                row.extend(VARIANTS.into_iter().chain(["tuned"]).map(|name| {
                    let row = self.row(name, ranks, case);
                    Value::from(row.map(|row| {
                        format!("{} ({})", digits(row.median_ns / 1e3), digits(row.ratio))
                    }))
                }));
                row
            })
        });
        rows.collect()
    }
}

/// All cases, on few ranks.
pub(super) fn here(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let ranks: &[usize] = context.quick_or(&[2][..], &[2, 4, 8]);
    let mut rows = Vec::new();
    for &count in ranks {
        let job = Job {
            papers: vec![4],
            // Ranks that take turns on cores take milliseconds for what others do in microseconds.
            rounds: if context.quick || count > 2 { 5 } else { 20 },
            ..Job::default()
        };
        rows.extend(measure(context.place, count, &job, context.output)?);
    }
    let reference = rows.first().map(|row| row.reference.clone());
    let reference = reference.unwrap_or_default();
    let measured = Measured { rows, ranks };
    page.set("machine", context.machine(&listed(ranks)));
    page.set("reference", &*reference).set("all", listed(ranks));
    for case in CASES {
        let (operation, n, row) = case;
        let mut lines = VARIANTS
            .map(|variant| measured.line(variant, case))
            .to_vec();
        let part = format!("{operation}-{n}");
        if operation == "sum" {
            page.set(&format!("fastest of {part}"), measured.fastest(case));
            page.set(&format!("overhead of {part}"), measured.overheads(case));
        }
        let page = page.case("case");
        page.set("row", row).set("operation", operation);
        page.set("most", ranks.last().copied());
        page.set("ratios", all_ratios(&lines, &reference));
        lines.push(Line::level(&reference, 1.0));
        page.draw(&part, lines);
        page.set("part", part);
    }
    let names = VARIANTS.into_iter().chain(["tuned"]);
    page.cells("schedules", names, |name| format!("`{name}`"));
    page.rows("times", measured.table(), |row| row);
    let [.., doubles, doubles_max] = CASES;
    for variant in VARIANTS {
        let time_ns = |case| measured.time_ns(variant, ranks[0], case);
        let case = page.case("schedule");
        case.set("schedule", variant);
        case.set("maximum over sum", time_ns(doubles_max) / time_ns(doubles));
        if variant != "binomial" {
            let time_ns = |variant, ranks| measured.time_ns(variant, ranks, doubles);
            let is_faster = |ranks| time_ns(variant, ranks) < time_ns("binomial", ranks);
            page.set(variant, measured.holds(is_faster));
        }
    }
    let is_beaten = |ranks| {
        let mut rows = VARIANTS[1..].iter();
        rows.any(|variant| {
            let row = measured.row(variant, ranks, doubles_max);
            row.is_some_and(|row| row.ratio < 1.0)
        })
    };
    page.set("beaten", measured.holds(is_beaten));
    Ok(())
}

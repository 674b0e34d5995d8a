//! Figures 6 to 10 in kind: the same reductions on this machine's cores, beside the library's own.

use harness::Error;
use harness::bench::schedules::{Job, Row, measure};
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot, Size};

use crate::said::all_ratios;
use crate::{Comparison, Context, Page};

/// The paper's algorithms, as plans take them.
const VARIANTS: [&str; 4] = ["binomial", "pairwise-exchange", "dissemination", "bruck"];

/// Operation, elements and their name.
const CASES: [(&str, u64, &str); 4] = [
    ("sum", 1, "one integer"),
    ("maximum", 1, "one integer"),
    ("sum", 255, "255 doubles"),
    ("maximum", 255, "255 doubles"),
];

/// What was measured.
struct Measured {
    rows: Vec<Row>,
    ranks: Vec<usize>,
}

impl Measured {
    fn row(&self, variant: &str, ranks: usize, case: (&str, u64, &str)) -> Option<&Row> {
        let (operation, n, _) = case;
        let is_it = |row: &&Row| {
            row.variant == variant && row.ranks == ranks && row.operation == operation && row.n == n
        };
        self.rows.iter().find(is_it)
    }

    fn time_ns(&self, variant: &str, ranks: usize, case: (&str, u64, &str)) -> f64 {
        let row = self.row(variant, ranks, case);
        row.map_or(f64::NAN, |row| row.median_ns)
    }

    /// The numbers of ranks for which something holds, of all.
    fn holds(&self, is_so: impl Fn(usize) -> bool) -> String {
        let holds = self.ranks.iter().copied().filter(|&ranks| is_so(ranks));
        let holds: Vec<String> = holds.map(|ranks| ranks.to_string()).collect();
        if holds.is_empty() {
            "for no p".to_owned()
        } else {
            format!("for p = {}", holds.join(", "))
        }
    }

    /// A number for each number of ranks.
    fn each(&self, number: impl Fn(usize) -> f64) -> String {
        let numbers = self.ranks.iter().map(|&ranks| digits(number(ranks)));
        numbers.collect::<Vec<String>>().join(", ")
    }

    /// The fastest of the paper's algorithms, for each number of ranks.
    fn fastest(&self, case: (&str, u64, &str)) -> String {
        let fastest = self.ranks.iter().map(|&ranks| {
            let times = VARIANTS.map(|variant| (self.time_ns(variant, ranks, case), variant));
            let least = times.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
            least.map_or("–", |(_, variant)| variant)
        });
        fastest.collect::<Vec<&str>>().join(", ")
    }
}

/// All cases, on few ranks.
pub(super) fn here(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    let ranks: Vec<usize> = if context.quick {
        vec![2]
    } else {
        vec![2, 4, 8]
    };
    let names: Vec<String> = ranks.iter().map(usize::to_string).collect();
    let mut rows = Vec::new();
    for &count in &ranks {
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
    page.machine(context, &names.join(", "));
    page.paragraph(format!(
        "Medians of the slowest rank's time; `{reference}` in turns with each. More ranks than cores take turns on them, so that 4 and 8 ranks measure the \
         operating system as much as an algorithm. `dissemination` has n = 2 and `bruck` n = 1, not the smallest n and 5; what the paper's choices do on clusters is \
         simulated in [`paper-4-figures-7-14`](paper-4-figures-7-14.md)."
    ));
    for case in CASES {
        plot(page, &measured, case, &reference)?;
    }
    table(page, &measured, &reference);
    page.compare(comparisons(&measured, &reference));
    Ok(())
}

fn plot(
    page: &mut Page,
    measured: &Measured,
    case: (&str, u64, &str),
    reference: &str,
) -> Result<(), Error> {
    let line = |variant: &str| {
        let rows = measured.ranks.iter();
        let rows = rows.filter_map(|&ranks| measured.row(variant, ranks, case));
        let points = rows.map(|row| (row.ranks as f64, row.ratio));
        Line::new(variant, points.collect())
    };
    let mut lines = VARIANTS.map(line).to_vec();
    let (operation, n, name) = case;
    let most = measured.ranks.last().copied().unwrap_or(0);
    let title = format!("On 2 to {most} ranks, {}", all_ratios(&lines, reference));
    lines.push(Line::level(reference, 1.0));
    page.plot(
        &format!("{operation}-{n}"),
        Plot {
            title,
            subtitle: format!(
                "Median times of an allreduce of {name}, {operation}, over those of {reference} in turns; ranks beyond the second share cores"
            ),
            x: Axis::doublings("p, ranks"),
            y: Axis::linear(format!("time over {reference}'s, ratio")),
            lines,
            size: Size::Page,
        },
    )
}

fn table(page: &mut Page, measured: &Measured, reference: &str) {
    let headings = ["case".to_owned(), "p".to_owned()];
    let names = VARIANTS.iter().copied().chain(["tuned"]);
    let headings = headings
        .into_iter()
        .chain(names.clone().map(|name| format!("`{name}`")));
    let mut rows = Vec::new();
    for case in CASES {
        for &ranks in &measured.ranks {
            let mut row = vec![format!("{}, {}", case.2, case.0), ranks.to_string()];
            row.extend(names.clone().map(|name| {
                let row = measured.row(name, ranks, case);
                row.map_or("–".to_owned(), |row| {
                    format!("{} ({})", digits(row.median_ns / 1e3), digits(row.ratio))
                })
            }));
            rows.push(row);
        }
    }
    page.paragraph(format!("Microseconds, and as a ratio to `{reference}`:"));
    page.table(headings, rows);
}

fn comparisons(measured: &Measured, reference: &str) -> Vec<Comparison> {
    let [integer, _, doubles, doubles_max] = CASES;
    let ratio = |case| {
        move |ranks: usize| {
            let row = measured.row("tuned", ranks, case);
            row.map_or(f64::NAN, |row| row.ratio)
        }
    };
    let all = measured
        .ranks
        .iter()
        .map(usize::to_string)
        .collect::<Vec<String>>()
        .join(", ");
    let overhead = format!(
        "a plan as it is tuned over the raw `{reference}`, where the paper has its library over ibverbs; p = {all}"
    );
    let few = "few ranks and cores: on two, all but the tree are one exchange";
    let mut comparisons = vec![
        Comparison::measured(
            "Figure 6: overhead of the library, one integer, sum",
            measured.each(ratio(integer)),
        )
        .published("up to 1.84")
        .because(overhead.clone()),
        Comparison::measured(
            "Figure 6: overhead of the library, 255 doubles, sum",
            measured.each(ratio(doubles)),
        )
        .published("up to 2.18")
        .because(overhead),
        Comparison::measured(
            format!("one integer, sum: fastest, p = {all}"),
            measured.fastest(integer),
        )
        .published("bruck")
        .because(few),
        Comparison::measured(
            format!("255 doubles, sum: fastest, p = {all}"),
            measured.fastest(doubles),
        )
        .published("pairwise-exchange")
        .because(few),
    ];
    for variant in &VARIANTS[1..] {
        let is_faster = |ranks| {
            measured.time_ns(variant, ranks, doubles) < measured.time_ns("binomial", ranks, doubles)
        };
        let what = format!("255 doubles, sum: {variant} is faster than the tree");
        let compared = Comparison::measured(what, measured.holds(is_faster)).published("always");
        comparisons.push(compared);
    }
    let few_ranks = measured.ranks.first().copied().unwrap_or(2);
    for variant in VARIANTS {
        let time = |case| measured.time_ns(variant, few_ranks, case);
        let slower = time(doubles_max) / time(doubles);
        comparisons.push(
            Comparison::measured(
                format!("255 doubles: maximum over sum, {variant}, p = {few_ranks}"),
                slower,
            )
            .published("significantly more than 1")
            .because("the operators of this library are vector instructions, the maximum's too"),
        );
    }
    let beats = |ranks| {
        let rows = VARIANTS[1..]
            .iter()
            .filter_map(|variant| measured.row(variant, ranks, doubles_max));
        rows.map(|row| row.ratio).fold(f64::INFINITY, f64::min) < 1.0
    };
    comparisons.push(
        Comparison::measured(
            format!(
                "255 doubles, maximum: some butterfly-like algorithm is faster than `{reference}`"
            ),
            measured.holds(beats),
        )
        .published("for several P"),
    );
    comparisons
}

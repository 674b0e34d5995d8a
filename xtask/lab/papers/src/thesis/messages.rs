//! How many values cross between ranks, unbuffered: section 2.1 and appendix B.3.

use distribution::{Distribution, Scheme};
use harness::Error;
use harness::plot::{Axis, Line, Plot, Size, Style};

use super::RANKS;
use crate::{Comparison, Context, Page};

/// The longest data set of the sweep.
const ITEMS_MAX: u64 = 1 << 20;

/// Lengths of an octave, equally far apart by ratio: those at simple fractions of it would all cut little.
const STEPS: u32 = 200;

/// (p - 1)(log2((N - 1)/p) + 1), eq. 2.5.
fn bound(items: u64) -> f64 {
    (RANKS as f64 - 1.0) * (((items - 1) as f64 / RANKS as f64).log2() + 1.0)
}

fn messages(scheme: Scheme, items: u64) -> u64 {
    let distribution = scheme.distribute(items, RANKS);
    distribution.expect("there are ranks").message_count()
}

/// Lengths from p to 2^20, and those at which the minima and maxima of `lower` lie.
fn lengths() -> Vec<u64> {
    let logs = RANKS.ilog2()..ITEMS_MAX.ilog2();
    let between = (logs.start * STEPS..logs.end * STEPS).map(|step| {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between p and 2^20"
        )]
        let items = (f64::from(step) / f64::from(STEPS)).exp2() as u64;
        items
    });
    let extremes = (logs.start..=logs.end).flat_map(|log| [1 << log, (1 << log) + 1]);
    let mut lengths: Vec<u64> = between.chain(extremes).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Figure 2.3, with eq. 2.5.
pub(super) fn over_items(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(format!(
        "Messages of Algorithm 1 without its buffer: one for each node whose children lie on different ranks. Counted by Algorithm 2 at {} lengths.",
        lengths().len()
    ));
    let line = |name: &str, count: &dyn Fn(u64) -> f64| {
        let points = lengths().into_iter();
        Line::new(
            name,
            points.map(|items| (items as f64, count(items))).collect(),
        )
    };
    let drawn = |scheme: Scheme| line(scheme.name(), &|items| messages(scheme, items) as f64);
    let highest = |scheme| {
        let counts = lengths().into_iter().map(|items| messages(scheme, items));
        counts.max().unwrap_or(0)
    };
    for (part, what, scheme) in [
        ("a", "the remaining items on the first ranks", Scheme::Lower),
        ("b", "the remaining items on the last ranks", Scheme::Upper),
        ("c", "the start indices of Algorithm 3", Scheme::Optimized),
    ] {
        let plot = Plot {
            title: format!(
                "With {what}, a sum takes {} messages at most",
                highest(scheme)
            ),
            subtitle: format!(
                "Messages of Algorithm 1 without its buffer, p = {RANKS}, and the bound of eq. 2.5"
            ),
            x: Axis::doublings("N, items"),
            y: Axis::linear("sum, messages"),
            lines: vec![
                drawn(scheme),
                Line {
                    style: Style::Guide,
                    ..line("bound, eq. 2.5", &bound)
                },
            ],
            size: Size::Page,
        };
        page.plot(part, plot)?;
    }
    let lower = |items| messages(Scheme::Lower, items);
    let exceeded = lengths()
        .into_iter()
        .filter(|&items| items > RANKS as u64 && lower(items) as f64 > bound(items) + 1e-9)
        .count();
    let minimum_reached = (0..12).all(|log| lower((RANKS as u64) << log) == RANKS as u64 - 1);
    let bound_reached =
        (0..12_u64).all(|log| lower(((RANKS as u64) << log) + 1) == (RANKS as u64 - 1) * (log + 1));
    page.compare([
        Comparison::computed(
            "lower at N = 2^i p, i = 0 to 11",
            yes(minimum_reached, "p - 1"),
        )
        .published("p - 1, the minimum"),
        Comparison::computed(
            "lower at N = 2^i p + 1, i = 0 to 11",
            yes(bound_reached, "(p - 1)(i + 1)"),
        )
        .published("(p - 1)(i + 1), eq. 2.4"),
        Comparison::computed("lengths at which lower exceeds eq. 2.5", exceeded).published(0_u64),
        Comparison::computed(
            "most messages up to 2^20 + 1, lower",
            highest(Scheme::Lower),
        ),
        Comparison::computed(
            "most messages up to 2^20 + 1, upper",
            highest(Scheme::Upper),
        )
        .published("spikes much less pronounced")
        .because("the spikes of lower lie at N = 2^i p + 1 alone; between them both are alike"),
        Comparison::computed(
            "most messages up to 2^20 + 1, optimized",
            highest(Scheme::Optimized),
        ),
    ]);
    Ok(())
}

fn yes(is_so: bool, what: &str) -> String {
    if is_so {
        what.to_owned()
    } else {
        format!("not {what}")
    }
}

/// Figure B.5: 2^2 p items, and one more, over p = 4.
pub(super) fn shifted(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(
        "With 2^i p items every rank of `lower` holds one subtree. One item more lies on rank 0, moves all other boundaries by one, and every \
         rank but the first sends i + 1 values.",
    );
    let ranks = 4;
    let distribution = |items| Distribution::lower(items, ranks).expect("there are ranks");
    let row = |items: u64| {
        let distribution = distribution(items);
        let starts: Vec<String> = distribution
            .starts()
            .map(|start| start.to_string())
            .collect();
        let roots = (1..ranks).map(|rank| {
            let range = distribution.range(rank);
            let roots: Vec<String> = tree_index::Tree::new(items)
                .fragment([range])
                .map(|node| format!("({}, {})", node.x, node.y))
                .collect();
            roots.join(" ")
        });
        let roots: Vec<String> = roots.collect();
        vec![items.to_string(), starts.join(" "), roots.join("; ")]
    };
    page.table(
        ["N", "starts, then N", "what ranks 1, 2, 3 send"],
        [row(16), row(17)],
    );
    page.compare([
        Comparison::computed("messages, N = 2^2 p", distribution(16).message_count())
            .published(3_u64),
        Comparison::computed("messages, N = 2^2 p + 1", distribution(17).message_count())
            .published(9_u64),
    ]);
    Ok(())
}

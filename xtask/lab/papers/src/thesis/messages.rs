//! How many values cross between ranks, unbuffered: section 2.1 and appendix B.3.

use distribution::Scheme;
use harness::Error;
use harness::plot::Line;

use super::{RANKS, distribute};
use crate::said::line;
use crate::values::cells;
use crate::{Context, Values};

/// The longest data set of the sweep.
const ITEMS_MAX: u64 = 1 << 20;

/// Lengths of an octave, equally far apart by ratio: those at simple fractions of it would all cut little.
const STEPS: u32 = 200;

/// (p - 1)(log2((N - 1)/p) + 1), eq. 2.5.
fn bound(items: u64) -> f64 {
    (RANKS as f64 - 1.0) * (((items - 1) as f64 / RANKS as f64).log2() + 1.0)
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
pub(super) fn over_items(_: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let lengths = lengths();
    page.set("lengths", lengths.len());
    for (part, what, scheme) in [
        ("a", "the remaining items on the first ranks", Scheme::Lower),
        ("b", "the remaining items on the last ranks", Scheme::Upper),
        ("c", "the start indices of Algorithm 3", Scheme::Optimized),
    ] {
        let counts = lengths.iter().map(|&items| {
            let count = distribute(scheme, items, RANKS).message_count();
            (items, count)
        });
        let counts: Vec<(u64, u64)> = counts.collect();
        let most = counts.iter().map(|count| count.1).max();
        let bounds = lengths.iter().map(|&items| (items as f64, bound(items)));
        let lines = [
            line(scheme.name(), counts, |(items, count)| {
                (items as f64, count as f64)
            }),
            Line::guide("bound, eq. 2.5", bounds.collect()),
        ];
        page.set(&format!("most {scheme}"), most);
        let case = page.case("part");
        case.set("part", part).set("what", what).set("most", most);
        case.draw(part, lines);
    }
    let ranks = RANKS as u64;
    let lower = |items| distribute(Scheme::Lower, items, RANKS).message_count();
    let is_above = |&items: &u64| items > ranks && lower(items) as f64 > bound(items) + 1e-9;
    page.set("exceeded", lengths.into_iter().filter(is_above).count());
    let not_unless = |is_so: bool, what: &str| format!("{}{what}", if is_so { "" } else { "not " });
    let has_minimum = (0..12).all(|log| lower(ranks << log) == ranks - 1);
    let has_bound = (0..12).all(|log| lower((ranks << log) + 1) == (ranks - 1) * (log + 1));
    page.set("minimum", not_unless(has_minimum, "p - 1"));
    page.set("bound", not_unless(has_bound, "(p - 1)(i + 1)"));
    Ok(())
}

/// Figure B.5: 2^2 p items, and one more, over p = 4.
pub(super) fn shifted(_: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let spaced = |words: Vec<String>| words.join(" ");
    page.rows("sums", [16, 17], |items| {
        let distribution = distribute(Scheme::Lower, items, 4);
        let starts = distribution.starts().map(|start| start.to_string());
        let sent = (1..4).map(|rank| {
            let nodes = tree_index::Tree::new(items).fragment([distribution.range(rank)]);
            let nodes = nodes.map(|node| format!("({}, {})", node.x, node.y));
            spaced(nodes.collect())
        });
        let sent: Vec<String> = sent.collect();
        cells![items, spaced(starts.collect()), sent.join("; ")]
    });
    let messages = |items| distribute(Scheme::Lower, items, 4).message_count();
    page.set("messages of 16", messages(16));
    page.set("messages of 17", messages(17));
    Ok(())
}

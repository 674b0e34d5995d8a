//! What distributions cost by the scoring model: section 3.1.2.

use distribution::{Cost, Distribution, Scheme};
use harness::Error;
use harness::plot::{Axis, Line, Plot, Size};

use super::{ITEMS, RANKS, example};
use crate::said::count;
use crate::{Comparison, Context, Page};

fn score_us(distribution: &Distribution) -> f64 {
    distribution.score(&Cost::THESIS) / 1e3
}

/// The shares, in rank order.
fn counts(distribution: &Distribution) -> Vec<u64> {
    (0..RANKS).map(|rank| distribution.count(rank)).collect()
}

/// Tables 3.1, 3.2 and 3.3, and every other distribution that has a name.
pub(super) fn scores(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(format!(
        "Score = 281 ns × messages + 4.15 ns × the largest share (eq. 3.7), N = {ITEMS}, p = {RANKS}. The thesis' constants, from its machine with 256 \
         hardware threads."
    ));
    let mut comparisons = Vec::new();
    for (scheme, table, published_us, published_messages) in [
        (Scheme::Lower, "3.1", 469.0, 1640_u64),
        (Scheme::Upper, "3.1", 401.9, 1401),
        (Scheme::PowerOfTwo, "3.2", 1083.4, 256),
        (Scheme::OptimizedPublished, "3.3", 184.5, 621),
    ] {
        let distribution = example(scheme);
        let what = |what: &str| format!("Table {table}, {scheme}: {what}");
        let why = match scheme {
            Scheme::OptimizedPublished => {
                "the rule behind the published numbers, which is not the one printed"
            }
            _ => "",
        };
        comparisons.extend([
            Comparison::computed(what("score, µs"), score_us(&distribution))
                .published(published_us)
                .because(why),
            Comparison::computed(what("messages"), distribution.message_count())
                .published(published_messages),
        ]);
    }
    let printed = example(Scheme::Optimized);
    let why =
        "Algorithm 3 as printed, on the upper distribution with α = 0.2: better on both terms";
    comparisons.extend([
        Comparison::computed("Table 3.3, optimized: score, µs", score_us(&printed))
            .published(184.5)
            .because(why),
        Comparison::computed("Table 3.3, optimized: messages", printed.message_count())
            .published(621_u64)
            .because(why),
    ]);
    page.compare(comparisons);

    page.paragraph(
        "All distributions that have a name, with the best ones: [`optimal-distributions`](optimal-distributions.md).",
    );

    page.heading("By α");
    page.paragraph("How far a start may move, as a share of N/p, by Algorithm 3 as printed and by the rule behind Table 3.3.");
    type Rule = fn(u64, usize, f64) -> Result<Distribution, distribution::Error>;
    let rules: [(&str, Rule); 2] = [
        ("as printed", Distribution::optimized),
        ("as published", Distribution::optimized_published),
    ];
    let alphas = (0..=50).map(|percent| f64::from(percent) / 100.0);
    let line = |(name, rule): (&str, Rule)| {
        let points = alphas.clone().map(|alpha| {
            let distribution = rule(ITEMS as u64, RANKS, alpha).expect("0 <= alpha < 1");
            (alpha, score_us(&distribution))
        });
        Line::new(name, points.collect())
    };
    let lines = rules.map(line);
    let gained = |line: &Line| {
        let [first, .., last] = line.points[..] else {
            return 0.0;
        };
        100.0 * (1.0 - last.1 / first.1)
    };
    page.plot(
        "alpha",
        Plot {
            title: format!(
                "From α = 0 to 0.5 the score falls by {:.0} % as printed, by {:.0} % as published",
                gained(&lines[0]),
                gained(&lines[1])
            ),
            subtitle: format!(
                "Score (eq. 3.7) of optimized distributions, N = {}, p = {RANKS}",
                count(ITEMS)
            ),
            x: Axis::linear("α, ratio of a start's shift to N/p"),
            y: Axis::linear("score, µs"),
            lines: lines.to_vec(),
            size: Size::Page,
        },
    )
}

/// Figure 3.5, as sorted shares instead of boxes.
pub(super) fn shares(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.paragraph(format!(
        "The number of items of each rank, sorted: what the thesis shows as boxes. N = {ITEMS}, p = {RANKS}, α = 0.2."
    ));
    let schemes = [Scheme::Upper, Scheme::Optimized, Scheme::OptimizedPublished];
    let sorted = |scheme| {
        let mut counts = counts(&example(scheme));
        counts.sort_unstable();
        counts
    };
    let line = |scheme: Scheme| {
        let points = sorted(scheme).into_iter().zip(1_u32..);
        let points = points.map(|(count, place)| (f64::from(place), count as f64));
        Line::new(scheme.name(), points.collect())
    };
    let spread = |scheme| {
        let counts = sorted(scheme);
        counts[counts.len() - 1] - counts[0]
    };
    page.plot(
        "",
        Plot {
            title: format!(
                "Optimized shares differ by up to {} items, by the published rule {}; even shares by {}",
                spread(Scheme::Optimized),
                spread(Scheme::OptimizedPublished),
                spread(Scheme::Upper)
            ),
            subtitle: format!("The items of each rank, N = {}, p = {RANKS}, α = 0.2", count(ITEMS)),
            x: Axis::linear("place by share, ranks"),
            y: Axis::linear("share, items"),
            lines: schemes.map(line).to_vec(),
            size: Size::Page,
        },
    )?;
    page.table(
        [
            "distribution",
            "least",
            "lower quartile",
            "median",
            "upper quartile",
            "most",
        ],
        schemes.map(|scheme| {
            let counts = sorted(scheme);
            let last = counts.len() - 1;
            let quartiles = (0..=4).map(|quarter| counts[last * quarter / 4].to_string());
            [format!("`{scheme}`")]
                .into_iter()
                .chain(quartiles)
                .collect()
        }),
    );
    let within = |scheme, alpha: f64| {
        let fair = ITEMS as f64 / RANKS as f64;
        let is_near = |&count: &u64| (count as f64 - fair).abs() <= alpha * fair + 1.0;
        sorted(scheme).iter().all(is_near)
    };
    page.compare([
        Comparison::computed(
            "spread of the even distribution, items",
            spread(Scheme::Upper),
        )
        .published("at most 1"),
        Comparison::computed(
            "optimized (published rule) stays within α of N/p",
            if within(Scheme::OptimizedPublished, 0.2) {
                "yes"
            } else {
                "no"
            },
        )
        .published("varies according to α")
        .because("1690 to 2406 items; the last rank takes what the others leave"),
        Comparison::computed("spread of optimized, as printed", spread(Scheme::Optimized)),
    ]);
    Ok(())
}

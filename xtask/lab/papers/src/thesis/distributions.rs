//! Counts the values that ranks send without a buffer (section 2.1 and appendix B.3). Computes the cost of distributions by the scoring
//! model (section 3.1.2) and by their critical path, which the thesis leaves to future work.

use distribution::{Cost, Distribution, Scheme};
use harness::Error;
use harness::bench::timing::whole;
use harness::plot::{Axis, Line};

use super::{ITEMS, RANKS, distribute, example};
use crate::Context;
use crate::page::Page;
use crate::said::{joined, line, yes};

fn score_us(distribution: &Distribution) -> f64 {
    distribution.score(&Cost::THESIS) / 1e3
}

/// The critical path of the example.
pub(super) fn path_us(scheme: Scheme) -> f64 {
    example(scheme).critical_path_ns(&Cost::THESIS) / 1e3
}

/// The shares of the example, from the smallest to the largest.
fn sorted(scheme: Scheme) -> Vec<u64> {
    let distribution = example(scheme);
    let mut counts: Vec<u64> = (0..RANKS).map(|rank| distribution.count(rank)).collect();
    counts.sort_unstable();
    counts
}

/// Tables 3.1, 3.2 and 3.3.
pub(super) fn scores(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Tables 3.1 to 3.3, scores and message counts of distributions");
    page.text("Score = 281 ns × messages + 4.15 ns × the largest share (eq. 3.7), for N = 504850 and p = 256. The thesis measured these constants on its machine with 256 hardware threads.");
    let published = "by the rule that gives the published numbers; the thesis prints another rule";
    let printed = "Algorithm 3 as printed, on the upper distribution with α = 0.2: better in both terms of the score";
    for (table, scheme, score, messages, why) in [
        ("3.1", Scheme::Lower, 469.0, 1640, ""),
        ("3.1", Scheme::Upper, 401.9, 1401, ""),
        ("3.2", Scheme::PowerOfTwo, 1083.4, 256, ""),
        ("3.3", Scheme::OptimizedPublished, 184.5, 621, published),
        ("3.3", Scheme::Optimized, 184.5, 621, printed),
    ] {
        let distribution = example(scheme);
        let why_messages = if scheme == Scheme::Optimized { why } else { "" };
        page.compare(format!(
            "Table {table}, {scheme}: score, µs | {score} | {} | {why}
            Table {table}, {scheme}: messages | {messages} | {} | {why_messages}",
            score_us(&distribution),
            distribution.message_count()
        ));
    }
    page.text("## By α\n\nA start may move by α N/p. The scores of Algorithm 3 as printed, and of the rule behind Table 3.3.");
    type Rule = fn(u64, usize, f64) -> Result<Distribution, distribution::Error>;
    let over_alpha = |(rule, name): (Rule, &str)| {
        let alphas = (0..=50).map(|percent| f64::from(percent) / 100.0);
        line(name, alphas, |alpha| {
            let distribution = rule(ITEMS as u64, RANKS, alpha).expect("0 <= alpha < 1");
            (alpha, score_us(&distribution))
        })
    };
    let rules: [(Rule, &str); 2] = [
        (Distribution::optimized, "as printed"),
        (Distribution::optimized_published, "as published"),
    ];
    page.draw(
        "alpha",
        "Score (eq. 3.7) of optimized distributions, N = 504,850, p = 256",
        Axis::linear("α, ratio of a start's shift to N/p"),
        Axis::linear("score, µs"),
        rules.map(over_alpha),
    );
    Ok(())
}

/// Figure 3.5, as sorted shares instead of boxes.
pub(super) fn shares(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 3.5, items per rank");
    page.text("The number of items of each rank, sorted; the thesis shows boxes instead. N = 504850, p = 256, α = 0.2.");
    let schemes = [Scheme::Upper, Scheme::Optimized, Scheme::OptimizedPublished];
    let lines = schemes.map(|scheme| {
        let points = sorted(scheme).into_iter().zip(1_u32..);
        line(scheme.name(), points, |(count, place)| {
            (f64::from(place), count as f64)
        })
    });
    page.draw(
        "",
        "The items of each rank, N = 504,850, p = 256, α = 0.2",
        Axis::linear("place by share, ranks"),
        Axis::linear("share, items"),
        lines,
    );
    let spread = |scheme| {
        let counts = sorted(scheme);
        counts[RANKS - 1] - counts[0]
    };
    let fair = ITEMS as f64 / RANKS as f64;
    let is_near = |&count: &u64| (count as f64 - fair).abs() <= 0.2 * fair + 1.0;
    page.compare(format!(
        "spread of the even distribution, items | at most 1 | {}
        optimized (published rule) stays within α of N/p | varies according to α | {} | ranks have 1690 to 2406 items; the last rank has the remaining items
        spread of optimized, as printed | – | {}",
        spread(Scheme::Upper),
        yes(sorted(Scheme::OptimizedPublished).iter().all(is_near)),
        spread(Scheme::Optimized)
    ));
    Ok(())
}

/// All distributions by score and critical path.
pub(super) fn models(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("The best distributions, by score and by critical path");
    page.text(
        "N = 504850, p = 256, 281 ns a message and 4.15 ns an addition. `score-optimal` has the least score (eq. 3.7) of all distributions, `score-optimal-busy` the least of those that leave no rank without items. Both \
         facts are proven, and were compared with all distributions of few items. `path-optimal` has the shortest critical path of Algorithm 1 that a search finds.",
    );
    let score_us = |scheme| score_us(&example(scheme));
    page.table(
        "distribution | messages | largest share | busy ranks | score, µs | critical path, µs",
        Scheme::ALL.iter().map(|&scheme| {
            let counts = sorted(scheme);
            format!(
                "`{scheme}` | {} | {} | {} | {} | {}",
                example(scheme).message_count(),
                counts[RANKS - 1],
                counts.iter().filter(|&&count| count > 0).count(),
                score_us(scheme),
                path_us(scheme)
            )
        }),
    );
    let best = |value: &dyn Fn(Scheme) -> f64| {
        let best = Scheme::ALL.iter().copied();
        let best = best.min_by(|&a, &b| value(a).total_cmp(&value(b)));
        best.map_or("–", Scheme::name)
    };
    page.compare(format!(
        "least score, µs | 184.5 | {} | the thesis has the score of its optimized distribution; in ours most ranks are idle
        messages with the least score | – | {}
        least score with every rank busy, µs | 184.5 | {}
        shortest critical path found, µs | – | {} | critical path analysis is future work in the thesis
        best by score | – | {}
        best by critical path | – | {}",
        score_us(Scheme::ScoreOptimal),
        example(Scheme::ScoreOptimal).message_count(),
        score_us(Scheme::ScoreOptimalBusy),
        path_us(Scheme::PathOptimal),
        best(&score_us),
        best(&path_us)
    ));
    page.text(
        "The score adds up all messages as if they were sent one after another, so its optimum has few messages and many idle ranks. On the critical path, messages overlap: by this model, the score's optimum is slower \
         than the even distribution, and the largest share matters most. The two models agree only that boundaries should be aligned.",
    );
    Ok(())
}

/// The longest data set of the sweep.
const ITEMS_MAX: u64 = 1 << 20;

/// The number of lengths per octave, which have a constant ratio. Simple multiples of powers of two would all cut few subtrees.
const STEPS: u32 = 200;

/// The bound of eq. 2.5: (p - 1)(log2((N - 1)/p) + 1).
fn bound(items: u64) -> f64 {
    (RANKS as f64 - 1.0) * (((items - 1) as f64 / RANKS as f64).log2() + 1.0)
}

/// Lengths from p to 2^20, including those of the minima and maxima of `lower`.
fn lengths() -> Vec<u64> {
    let logs = RANKS.ilog2()..ITEMS_MAX.ilog2();
    let between = logs.start * STEPS..logs.end * STEPS;
    let between = between.map(|step| whole((f64::from(step) / f64::from(STEPS)).exp2()) as u64);
    let extremes = (logs.start..=logs.end).flat_map(|log| [1 << log, (1 << log) + 1]);
    let mut lengths: Vec<u64> = between.chain(extremes).collect();
    lengths.sort_unstable();
    lengths.dedup();
    lengths
}

/// Figure 2.3, with eq. 2.5.
pub(super) fn over_items(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 2.3, message counts over N, p = 256");
    let lengths = lengths();
    page.text(format!(
        "Messages of Algorithm 1 without its buffer: one for each node whose children are on different ranks. Algorithm 2 counts them at {} lengths.",
        lengths.len()
    ));
    let counts = |scheme| {
        let count = move |&items: &u64| (items, distribute(scheme, items, RANKS).message_count());
        lengths.iter().map(count)
    };
    let schemes = [Scheme::Lower, Scheme::Upper, Scheme::Optimized];
    for (part, scheme) in ["a", "b", "c"].into_iter().zip(schemes) {
        let bounds = lengths.iter().map(|&items| (items as f64, bound(items)));
        page.draw(
            part,
            "Messages of Algorithm 1 without its buffer, p = 256, and the bound of eq. 2.5",
            Axis::doublings("N, items"),
            Axis::linear("sum, messages"),
            [
                line(scheme.name(), counts(scheme), |(items, count)| {
                    (items as f64, count as f64)
                }),
                Line::guide("bound, eq. 2.5", bounds.collect()),
            ],
        );
    }
    let [lower, upper, optimized] =
        schemes.map(|scheme| counts(scheme).map(|count| count.1).max().unwrap_or(0));
    let ranks = RANKS as u64;
    let count = |items| distribute(Scheme::Lower, items, RANKS).message_count();
    let is_above = |&&items: &&u64| items > ranks && count(items) as f64 > bound(items) + 1e-9;
    let not_unless = |is_so: bool| if is_so { "" } else { "not " };
    let has_minimum = (0..12).all(|log| count(ranks << log) == ranks - 1);
    let has_bound = (0..12).all(|log| count((ranks << log) + 1) == (ranks - 1) * (log + 1));
    page.compare(format!(
        "lower at N = 2^i p, i = 0 to 11 | p - 1, the minimum | {}p - 1
        lower at N = 2^i p + 1, i = 0 to 11 | (p - 1)(i + 1), eq. 2.4 | {}(p - 1)(i + 1)
        lengths at which lower exceeds eq. 2.5 | 0 | {}
        most messages up to 2^20 + 1, lower | – | {lower}
        most messages up to 2^20 + 1, upper | spikes much less pronounced | {upper} | lower has spikes at N = 2^i p + 1 only; at other N both are alike
        most messages up to 2^20 + 1, optimized | – | {optimized}",
        not_unless(has_minimum),
        not_unless(has_bound),
        lengths.iter().filter(is_above).count()
    ));
    Ok(())
}

/// Figure B.5: 2^2 p items, and one item more, on p = 4 ranks.
pub(super) fn shifted(_: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure B.5, one item more shifts every boundary");
    page.text("With 2^i p items, every rank of `lower` has one subtree. One more item, on rank 0, moves all boundaries by one, and every rank but the first sends i + 1 values.");
    let distribution = |items| distribute(Scheme::Lower, items, 4);
    let rows = [16, 17].map(|items| {
        let distribution = distribution(items);
        let sent = (1..4).map(|rank| {
            let nodes = tree_index::Tree::new(items).fragment([distribution.range(rank)]);
            joined(nodes.map(|node| format!("({}, {})", node.x, node.y)), " ")
        });
        let starts = joined(distribution.starts(), " ");
        format!("{items} | {starts} | {}", joined(sent, "; "))
    });
    page.table("N | starts, then N | what ranks 1, 2, 3 send", rows);
    page.compare(format!(
        "messages, N = 2^2 p | 3 | {}
        messages, N = 2^2 p + 1 | 9 | {}",
        distribution(16).message_count(),
        distribution(17).message_count()
    ));
    Ok(())
}

//! What distributions cost by the scoring model, section 3.1.2, and by their critical path, the thesis' future work.

use distribution::{Cost, Distribution, Scheme};
use harness::Error;

use super::{ITEMS, RANKS, example};
use crate::said::{growth, line};
use crate::values::{cells, row};
use crate::{Context, Values};

fn score_us(distribution: &Distribution) -> f64 {
    distribution.score(&Cost::THESIS) / 1e3
}

/// The critical path of the example.
pub(super) fn path_us(scheme: Scheme) -> f64 {
    example(scheme).critical_path_ns(&Cost::THESIS) / 1e3
}

/// The shares of the example, from the least to the largest.
fn sorted(scheme: Scheme) -> Vec<u64> {
    let distribution = example(scheme);
    let mut counts: Vec<u64> = (0..RANKS).map(|rank| distribution.count(rank)).collect();
    counts.sort_unstable();
    counts
}

/// Tables 3.1, 3.2 and 3.3.
pub(super) fn scores(_: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    for scheme in [
        Scheme::Lower,
        Scheme::Upper,
        Scheme::PowerOfTwo,
        Scheme::OptimizedPublished,
        Scheme::Optimized,
    ] {
        let distribution = example(scheme);
        page.set(&format!("{scheme} score"), score_us(&distribution));
        page.set(&format!("{scheme} messages"), distribution.message_count());
    }
    type Rule = fn(u64, usize, f64) -> Result<Distribution, distribution::Error>;
    let over_alpha = |rule: Rule, name: &str| {
        let alphas = (0..=50).map(|percent| f64::from(percent) / 100.0);
        line(name, alphas, |alpha| {
            let distribution = rule(ITEMS as u64, RANKS, alpha).expect("0 <= alpha < 1");
            (alpha, score_us(&distribution))
        })
    };
    let printed = over_alpha(Distribution::optimized, "as printed");
    let published = over_alpha(Distribution::optimized_published, "as published");
    page.set("printed", 100.0 * (1.0 - growth(&printed)));
    page.set("published", 100.0 * (1.0 - growth(&published)));
    page.draw("alpha", [printed, published]);
    Ok(())
}

/// Figure 3.5, as sorted shares instead of boxes.
pub(super) fn shares(_: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let schemes = [Scheme::Upper, Scheme::Optimized, Scheme::OptimizedPublished];
    for scheme in schemes {
        let counts = sorted(scheme);
        page.set(scheme.name(), counts[RANKS - 1] - counts[0]);
    }
    let lines = schemes.map(|scheme| {
        let points = sorted(scheme).into_iter().zip(1_u32..);
        line(scheme.name(), points, |(count, place)| {
            (f64::from(place), count as f64)
        })
    });
    page.draw("", lines);
    page.rows("shares", schemes, |scheme| {
        let counts = sorted(scheme);
        let quartiles = (0..=4).map(|quarter| counts[(RANKS - 1) * quarter / 4]);
        row(format!("`{scheme}`"), quartiles)
    });
    let fair = ITEMS as f64 / RANKS as f64;
    let is_near = |&count: &u64| (count as f64 - fair).abs() <= 0.2 * fair + 1.0;
    let is_within = sorted(Scheme::OptimizedPublished).iter().all(is_near);
    page.set("within", is_within);
    Ok(())
}

/// All distributions by score and critical path.
pub(super) fn models(_: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    let score_us = |scheme| score_us(&example(scheme));
    page.rows("schemes", Scheme::ALL.iter(), |&scheme| {
        let counts = sorted(scheme);
        cells![
            format!("`{scheme}`"),
            example(scheme).message_count(),
            counts[RANKS - 1],
            counts.iter().filter(|&&count| count > 0).count(),
            score_us(scheme),
            path_us(scheme),
        ]
    });
    let best = |value: &dyn Fn(Scheme) -> f64| {
        let best = Scheme::ALL.iter().copied();
        let best = best.min_by(|&a, &b| value(a).total_cmp(&value(b)));
        best.map(Scheme::name)
    };
    page.set("score", score_us(Scheme::ScoreOptimal));
    page.set("busy score", score_us(Scheme::ScoreOptimalBusy));
    page.set("path", path_us(Scheme::PathOptimal));
    page.set("best by score", best(&score_us));
    page.set("best by path", best(&path_us));
    Ok(())
}

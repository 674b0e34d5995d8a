//! Local sums by length, on one rank (Figure 3.8 of the thesis, up to lengths far beyond the caches) and on all threads of a process.

use std::hint::black_box;

use rayon::prelude::*;
use reduce::exact;
use reduce::par::ParallelTreeIterator;
use simd_kernels::{
    Float, Level, Variant, by_definition, dot, left_to_right, reduce_level_by_level, scratch_len,
    sum, sum_lanes, unordered_dot, unordered_sum_with,
};

use super::timing::Candidate;
use super::{Row, compare};
use crate::output::Output;

/// The longest input of the recursive definition, which makes a call per node: longer trees take seconds.
const DEFINITION_LEAVES_MAX: usize = 1 << 16;

/// Lengths between the powers of two, at which set-up dominates.
const SHORT_LEAVES: [usize; 8] = [1, 2, 3, 5, 7, 10, 20, 63];

/// Calls on more leaves take milliseconds, so fewer rounds suffice.
const LONG_LEAVES: usize = 1 << 20;

/// The numbers of lanes with kernels.
const LANES: [usize; 4] = [16, 32, 64, 128];

/// Measures every kernel at every level, for doubles and floats, and exact products of doubles.
pub fn measure(quick: bool, output: &Output) -> Vec<Row> {
    let powers = |logs: std::ops::RangeInclusive<u32>| logs.map(|log| 1_usize << log);
    let lengths: Vec<usize> = if quick {
        powers(6..=14).step_by(4).collect()
    } else {
        SHORT_LEAVES.into_iter().chain(powers(3..=25)).collect()
    };
    let mut rows = Vec::new();
    for leaves in lengths {
        let rounds = match leaves {
            _ if quick => 5,
            0..=LONG_LEAVES => 31,
            _ => 15,
        };
        let doubles = crate::data::log_likelihoods(leaves, 1);
        let others = crate::data::log_likelihoods(leaves, 2);
        #[expect(clippy::cast_possible_truncation, reason = "the floats may be rounded")]
        let floats: Vec<f32> = doubles.iter().map(|&item| item as f32).collect();
        let shorts: Vec<f64> = floats.iter().copied().map(f64::from).collect();
        let bits = sum(Level::best(), &doubles).map_or(0, f64::to_bits);
        output.say(format!("kernels, N = {leaves}: bits {bits:016X}"));
        for level in Level::available() {
            rows.extend(compare_sums(level, &doubles, "", rounds));
            rows.extend(compare_sums(level, &floats, "-f32", rounds));
            rows.extend(compare_products(level, &doubles, &others, rounds));
            rows.extend(compare_short(level, &shorts, rounds));
        }
    }
    rows
}

/// One level at one length. The scalar level also includes the plain loops.
fn compare_sums<T: Float + exact::Float>(
    level: Level,
    leaves: &[T],
    suffix: &str,
    rounds: usize,
) -> Vec<Row> {
    let mut scratch = vec![T::default(); scratch_len(leaves.len())];
    let mut candidates = vec![
        Candidate::new(format!("left-to-right{suffix}"), || {
            black_box(left_to_right(black_box(leaves)));
        }),
        Candidate::new(format!("algorithm4-{level}{suffix}"), || {
            black_box(reduce_level_by_level(
                level,
                black_box(leaves),
                &mut scratch,
            ));
        }),
        Candidate::new(format!("streaming-{level}{suffix}"), || {
            black_box(sum(level, black_box(leaves)));
        }),
        Candidate::new(format!("exact-{level}{suffix}"), || {
            let mut sum = exact::Sum::new();
            sum.add_at(level, black_box(leaves));
            black_box(sum.value());
        }),
    ];
    // Plain Rust has no kernel for lanes.
    let has_lanes = |&lanes: &usize| lanes <= leaves.len() && level != Level::SCALAR;
    for lanes in LANES.into_iter().filter(has_lanes) {
        candidates.push(Candidate::new(
            format!("lanes{lanes}-{level}{suffix}"),
            move || {
                black_box(sum_lanes(level, lanes, black_box(leaves)));
            },
        ));
    }
    if level == Level::SCALAR && leaves.len() <= DEFINITION_LEAVES_MAX {
        candidates.push(Candidate::new(format!("recursive{suffix}"), || {
            black_box(by_definition(black_box(leaves), &|left, right| {
                left + right
            }));
        }));
    }
    candidates.extend(unordered(level, leaves));
    let algorithm4 = format!("algorithm4-{level}{suffix}");
    let left_to_right = format!("left-to-right{suffix}");
    let references = [
        UNORDERED,
        (&*algorithm4, "algorithm4"),
        (&*left_to_right, "left-to-right"),
    ];
    let mut rows = rows(candidates, leaves, rounds, &references);
    // The plain fold is a reference at every level, but a variant at one level only.
    rows.retain(|row| level == Level::SCALAR || row.variant != left_to_right);
    rows
}

/// The name for the fastest unordered sum of a level. The fastest variant depends on the length.
const UNORDERED: (&str, &str) = ("unordered-simd", "unordered-simd");

fn unordered<T: Float>(level: Level, items: &[T]) -> impl Iterator<Item = Candidate<'_>> {
    Variant::ALL.into_iter().map(move |variant| {
        Candidate::new(UNORDERED.0, move || {
            black_box(unordered_sum_with(level, variant, black_box(items)));
        })
    })
}

/// Exact sums of floats as doubles, whose plain additions are mostly exact.
fn compare_short(level: Level, items: &[f64], rounds: usize) -> Vec<Row> {
    let own = Candidate::new(format!("exact-{level}-short"), || {
        let mut sum = exact::Sum::new();
        sum.add_at(level, black_box(items));
        black_box(sum.value());
    });
    let candidates = [own].into_iter().chain(unordered(level, items));
    self::rows(candidates.collect(), items, rounds, &[UNORDERED])
}

/// Exact dot products and norms, compared with an unordered dot product.
fn compare_products(level: Level, x: &[f64], y: &[f64], rounds: usize) -> Vec<Row> {
    let exact = |x: &[f64], y: &[f64]| {
        let mut sum = exact::ProductSum::new();
        sum.add_at(level, x, y);
        black_box(sum.value());
    };
    let tree_dot = format!("tree-dot-{level}");
    let candidates = vec![
        Candidate::new("unordered-dot", || {
            black_box(unordered_dot(level, black_box(x), black_box(y)));
        }),
        Candidate::new(&*tree_dot, || {
            black_box(dot(level, black_box(x), black_box(y)));
        }),
        Candidate::new(format!("exact-dot-{level}"), || {
            exact(black_box(x), black_box(y));
        }),
        Candidate::new(format!("exact-norm-{level}"), || {
            exact(black_box(x), black_box(x));
        }),
    ];
    let references = [("unordered-dot", "unordered-dot"), (&*tree_dot, "tree-dot")];
    self::rows(candidates, x, rounds, &references)
}

/// The rows of all candidates that read these items, except the unordered ones. Dot products read two such slices.
fn rows<T>(
    mut candidates: Vec<Candidate<'_>>,
    items: &[T],
    rounds: usize,
    references: &[(&str, &str)],
) -> Vec<Row> {
    let rows = compare("kernels", items.len(), rounds, &mut candidates, references);
    let rows = rows.into_iter();
    rows.filter(|row| !row.variant.starts_with("unordered"))
        .map(|row| {
            let slices = if row.variant.contains("dot") { 2 } else { 1 };
            let bytes = slices * size_of_val(items);
            Row {
                gbps: Some(bytes as f64 / row.median_ns),
                ..row
            }
        })
        .collect()
}

/// Measures `reduce::par` on all cores, for slices and iterators of increasing length, compared with rayon's own unordered sum.
pub fn parallel(quick: bool) -> Vec<Row> {
    let (logs, rounds): (Vec<u32>, usize) = if quick {
        (vec![10, 16], 5)
    } else {
        ((10..=25).collect(), 21)
    };
    let mut rows = Vec::new();
    for leaves in logs.into_iter().map(|log| 1_usize << log) {
        let data = crate::data::log_likelihoods(leaves, 1);
        let mut candidates = [
            Candidate::new("parallel", || {
                // Finite numbers in the default environment have a sum.
                let _ = black_box(reduce::par::sum(black_box(&data)));
            }),
            Candidate::new("sum", || {
                let _ = black_box(reduce::sum(black_box(&data)));
            }),
            Candidate::new("parallel-iterator", || {
                let _ = black_box(black_box(&data).par_iter().copied().tree_sum());
            }),
            Candidate::new("rayon", || {
                black_box(black_box(&data).par_iter().sum::<f64>());
            }),
        ];
        let references = [("rayon", "rayon"), ("parallel", "parallel")];
        let mut all = compare("parallel", leaves, rounds, &mut candidates, &references);
        all.retain(|row| row.variant != "rayon" && row.variant != row.reference);
        rows.extend(all.into_iter().map(|row| Row {
            gbps: Some(size_of_val(data.as_slice()) as f64 / row.median_ns),
            ..row
        }));
    }
    rows
}

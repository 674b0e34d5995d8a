//! Measures local sums of many lengths, on one rank and on all threads of a process. Figure 3.8 of the thesis has shorter lengths only.

use std::hint::black_box;

use rayon::prelude::*;
use reduce::exact;
use reduce::par::ParallelTreeIterator;
use simd_kernels::{
    Float, Level, Variant, by_definition, dot, left_to_right, reduce_level_by_level, scratch_len,
    sum, sum_lanes, unordered_dot, unordered_sum_with,
};

use super::timing::Candidate;
use super::{Row, compare, quick_or};
use crate::output::Output;

/// The longest input of the recursive definition, which makes a call per node. Longer inputs take seconds.
const DEFINITION_LEAVES_MAX: usize = 1 << 16;

/// Short lengths, at which set-up dominates. Most are not powers of two.
const SHORT_LEAVES: [usize; 8] = [1, 2, 3, 5, 7, 10, 20, 63];

/// Calls on more leaves take milliseconds, so fewer rounds suffice.
const LONG_LEAVES: usize = 1 << 20;

/// The numbers of lanes for which there are kernels.
const LANES: [usize; 4] = [16, 32, 64, 128];

/// Measures every kernel at every level, for doubles and floats, and exact products of doubles.
pub fn measure(quick: bool, output: &Output) -> Vec<Row> {
    let all = (3..=25).map(|log| 1 << log);
    let all = SHORT_LEAVES.into_iter().chain(all).collect();
    let lengths: Vec<usize> = quick_or(quick, vec![1 << 6, 1 << 10, 1 << 14], all);
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

/// Measures sums at one level and of one length. The scalar level also includes the plain loops.
fn compare_sums<T: Float + exact::Float>(
    level: Level,
    leaves: &[T],
    suffix: &str,
    rounds: usize,
) -> Vec<Row> {
    let mut scratch = vec![T::default(); scratch_len(leaves.len())];
    let plain = format!("left-to-right{suffix}");
    let named = |name: &str| format!("{name}-{level}{suffix}");
    let mut candidates = vec![
        Candidate::new(&*plain, || left_to_right(black_box(leaves))),
        Candidate::new(named("algorithm4"), || {
            reduce_level_by_level(level, black_box(leaves), &mut scratch)
        }),
        Candidate::new(named("streaming"), || sum(level, black_box(leaves))),
        Candidate::new(named("exact"), || exact_sum(level, leaves)),
    ];
    // Plain Rust has no kernel for lanes.
    let has_lanes = |&lanes: &usize| lanes <= leaves.len() && level != Level::SCALAR;
    candidates.extend(LANES.into_iter().filter(has_lanes).map(|lanes| {
        Candidate::new(named(&format!("lanes{lanes}")), move || {
            sum_lanes(level, lanes, black_box(leaves))
        })
    }));
    if level == Level::SCALAR && leaves.len() <= DEFINITION_LEAVES_MAX {
        candidates.push(Candidate::new(format!("recursive{suffix}"), || {
            by_definition(black_box(leaves), &|left, right| left + right)
        }));
    }
    candidates.extend(unordered(level, leaves));
    let algorithm4 = named("algorithm4");
    let references = [
        UNORDERED,
        (&*algorithm4, "algorithm4"),
        (&*plain, "left-to-right"),
    ];
    let mut rows = rows(candidates, leaves, rounds, &references);
    // The plain fold is a reference at every level, but a variant at one level only.
    rows.retain(|row| level == Level::SCALAR || row.variant != plain);
    rows
}

/// The common name of all variants of the unordered sum. The fastest one counts; which one it is depends on the length.
const UNORDERED: (&str, &str) = ("unordered-simd", "unordered-simd");

fn unordered<T: Float>(level: Level, items: &[T]) -> impl Iterator<Item = Candidate<'_>> {
    Variant::ALL.into_iter().map(move |variant| {
        Candidate::new(UNORDERED.0, move || {
            unordered_sum_with(level, variant, black_box(items))
        })
    })
}

fn exact_sum<T: exact::Float>(level: Level, items: &[T]) -> T {
    let mut sum = exact::Sum::new();
    sum.add_at(level, black_box(items));
    sum.value()
}

/// Measures exact sums of doubles that were converted from floats. Most plain additions of such doubles are exact.
fn compare_short(level: Level, items: &[f64], rounds: usize) -> Vec<Row> {
    let own = Candidate::new(format!("exact-{level}-short"), || exact_sum(level, items));
    let candidates = [own].into_iter().chain(unordered(level, items));
    self::rows(candidates.collect(), items, rounds, &[UNORDERED])
}

/// Measures exact dot products and norms, compared with an unordered dot product.
fn compare_products(level: Level, x: &[f64], y: &[f64], rounds: usize) -> Vec<Row> {
    let exact = |x, y| {
        let mut sum = exact::ProductSum::new();
        sum.add_at(level, black_box(x), black_box(y));
        sum.value()
    };
    let tree_dot = format!("tree-dot-{level}");
    let candidates = vec![
        Candidate::new("unordered-dot", || {
            unordered_dot(level, black_box(x), black_box(y))
        }),
        Candidate::new(&*tree_dot, || dot(level, black_box(x), black_box(y))),
        Candidate::new(format!("exact-dot-{level}"), || exact(x, y)),
        Candidate::new(format!("exact-norm-{level}"), || exact(x, x)),
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
    let mut rows = compare("kernels", items.len(), rounds, &mut candidates, references);
    rows.retain(|row| !row.variant.starts_with("unordered"));
    for row in &mut rows {
        let slices = if row.variant.contains("dot") { 2 } else { 1 };
        row.gbps = Some((slices * size_of_val(items)) as f64 / row.median_ns);
    }
    rows
}

/// Measures `reduce::par` on all cores, for slices and iterators of increasing length, compared with rayon's own unordered sum.
pub fn parallel(quick: bool) -> Vec<Row> {
    let (logs, rounds) = quick_or(quick, (vec![10, 16], 5), ((10..=25).collect(), 21));
    let mut rows = Vec::new();
    for leaves in logs.into_iter().map(|log| 1 << log) {
        let data = crate::data::log_likelihoods(leaves, 1);
        let mut candidates = [
            // The sums cannot fail: all numbers are finite, and the environment is the default one.
            Candidate::new("parallel", || reduce::par::sum(black_box(&data)).ok()),
            Candidate::new("sum", || reduce::sum(black_box(&data)).ok()),
            Candidate::new("parallel-iterator", || {
                black_box(&data).par_iter().copied().tree_sum().ok()
            }),
            Candidate::new("rayon", || black_box(&data).par_iter().sum::<f64>()),
        ];
        let references = [("rayon", "rayon"), ("parallel", "parallel")];
        let mut all = compare("parallel", leaves, rounds, &mut candidates, &references);
        all.retain(|row| row.variant != "rayon" && row.variant != row.reference);
        for row in &mut all {
            row.gbps = Some(size_of_val(data.as_slice()) as f64 / row.median_ns);
        }
        rows.extend(all);
    }
    rows
}

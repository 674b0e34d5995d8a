//! Local sums of one rank, by length: Figure 3.8 of the thesis, up to lengths far beyond the caches.

use std::hint::black_box;

use simd_kernels::{
    Float, Level, Variant, by_definition, dot, left_to_right, reduce_level_by_level, scratch_len,
    sum, sum_lanes, unordered_dot, unordered_sum_with,
};

use reduce::exact;

use super::Row;
use super::timing::{Candidate, medians_ns};
use crate::output::Output;

/// Its calls are many: longer trees take seconds.
const DEFINITION_LEAVES_MAX: usize = 1 << 16;

/// Lengths between the powers of two, where set-up is all there is.
const SHORT_LEAVES: [usize; 8] = [1, 2, 3, 5, 7, 10, 20, 63];

/// Calls on more leaves take milliseconds: fewer rounds do.
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
        #[expect(
            clippy::cast_possible_truncation,
            reason = "floats are what is asked for"
        )]
        let floats: Vec<f32> = doubles.iter().map(|&item| item as f32).collect();
        let shorts: Vec<f64> = floats.iter().copied().map(f64::from).collect();
        let bits = sum(Level::best(), &doubles).map_or(0, f64::to_bits);
        output.say(format!("kernels, N = {leaves}: bits {bits:016X}"));
        for level in Level::available() {
            rows.extend(compare(level, &doubles, "", rounds));
            rows.extend(compare(level, &floats, "-f32", rounds));
            rows.extend(compare_products(level, &doubles, &others, rounds));
            rows.extend(exact_of_short(level, &shorts, rounds));
        }
    }
    rows
}

/// One level at one length. The scalar level also stands for the plain ways.
fn compare<T: Float + exact::Float>(
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
    let variants_count = candidates.len();
    for variant in Variant::ALL {
        candidates.push(Candidate::new("unordered-simd", move || {
            black_box(unordered_sum_with(level, variant, black_box(leaves)));
        }));
    }
    let medians = medians_ns(&mut candidates, rounds);
    let (variants, unordered) = medians.split_at(variants_count);
    let fastest_unordered = unordered.iter().copied().fold(f64::INFINITY, f64::min);
    let references = [
        ("unordered-simd", fastest_unordered),
        ("algorithm4", medians[1]),
        ("left-to-right", medians[0]),
    ];

    // The plain fold is every level's reference, and one level's variant.
    let first = usize::from(level != Level::SCALAR);
    let bytes = size_of_val(leaves);
    let mut rows = Vec::new();
    for (candidate, &median_ns) in candidates.iter().zip(variants).skip(first) {
        for (reference, reference_ns) in references {
            rows.push(row(
                &candidate.name,
                leaves.len(),
                bytes,
                median_ns,
                (reference, reference_ns),
            ));
        }
    }
    rows
}

/// Exact sums of doubles that are floats, of which most plain additions are not rounded.
fn exact_of_short(level: Level, items: &[f64], rounds: usize) -> Option<Row> {
    let mut candidates = vec![Candidate::new(format!("exact-{level}-short"), || {
        let mut sum = exact::Sum::new();
        sum.add_at(level, black_box(items));
        black_box(sum.value());
    })];
    candidates.extend(Variant::ALL.map(|variant| {
        Candidate::new("unordered-simd", move || {
            black_box(unordered_sum_with(level, variant, black_box(items)));
        })
    }));
    let medians = medians_ns(&mut candidates, rounds);
    let (own, unordered) = medians.split_first()?;
    let fastest = unordered.iter().copied().fold(f64::INFINITY, f64::min);
    let name = &candidates[0].name;
    let bytes = size_of_val(items);
    let reference = ("unordered-simd", fastest);
    Some(row(name, items.len(), bytes, *own, reference))
}

/// Dot products and norms without rounding errors beside an unordered dot product.
fn compare_products(level: Level, x: &[f64], y: &[f64], rounds: usize) -> Vec<Row> {
    let exact = |x: &[f64], y: &[f64]| {
        let mut sum = exact::ProductSum::new();
        sum.add_at(level, x, y);
        black_box(sum.value());
    };
    let mut candidates = [
        Candidate::new("unordered-dot", || {
            black_box(unordered_dot(level, black_box(x), black_box(y)));
        }),
        Candidate::new(format!("tree-dot-{level}"), || {
            black_box(dot(level, black_box(x), black_box(y)));
        }),
        Candidate::new(format!("exact-dot-{level}"), || {
            exact(black_box(x), black_box(y));
        }),
        Candidate::new(format!("exact-norm-{level}"), || {
            exact(black_box(x), black_box(x));
        }),
    ];
    let medians = medians_ns(&mut candidates, rounds);
    let references = [("unordered-dot", medians[0]), ("tree-dot", medians[1])];
    let mut rows = Vec::new();
    for (candidate, &median_ns) in candidates.iter().zip(&medians).skip(1) {
        let slices = if candidate.name.contains("norm") {
            1
        } else {
            2
        };
        for reference in references {
            let bytes = slices * size_of_val(x);
            rows.push(row(&candidate.name, x.len(), bytes, median_ns, reference));
        }
    }
    rows
}

/// A variant's time beside a reference's.
fn row(
    variant: &str,
    n: usize,
    bytes: usize,
    median_ns: f64,
    (reference, reference_ns): (&str, f64),
) -> Row {
    Row {
        bench: "kernels".to_owned(),
        variant: variant.to_owned(),
        n: n as u64,
        ranks: 1,
        backend: "threads".to_owned(),
        distribution: None,
        median_ns,
        gbps: Some(bytes as f64 / median_ns),
        ratio: reference_ns / median_ns,
        reference: reference.to_owned(),
        state: super::warm(),
    }
}

//! Figure 3.8 of the thesis: the local sum of one rank, by length.

use std::hint::black_box;

use simd_kernels::{
    Float, Level, Variant, by_definition, left_to_right, reduce_level_by_level, scratch_len, sum,
    unordered_sum_with,
};

use super::Row;
use super::timing::{Candidate, medians_ns};
use crate::output::Output;

/// Measures every kernel at every level, for doubles and floats.
pub(super) fn run(quick: bool, output: &Output) -> Vec<Row> {
    let (logs, rounds): (Vec<u32>, usize) = if quick {
        (vec![6, 10, 14], 5)
    } else {
        ((3..=20).collect(), 31)
    };
    let mut rows = Vec::new();
    for count in logs.into_iter().map(|log| 1_usize << log) {
        let doubles = benches::log_likelihoods(count, 1);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "floats are what is asked for"
        )]
        let floats: Vec<f32> = doubles.iter().map(|&item| item as f32).collect();
        let total = sum(Level::best(), &doubles).map(f64::to_bits);
        output.say(format!(
            "kernels, N = {count}: bits {:016X}",
            total.unwrap_or(0)
        ));
        for level in Level::available() {
            rows.extend(compare(level, &doubles, "", rounds));
            rows.extend(compare(level, &floats, "-f32", rounds));
        }
    }
    rows
}

/// One level at one length. The scalar level also stands for the plain ways.
fn compare<T: Float>(level: Level, leaves: &[T], suffix: &str, rounds: usize) -> Vec<Row> {
    let mut scratch = vec![leaves[0]; scratch_len(leaves.len())];
    let mut candidates = vec![
        Candidate::new("left-to-right", || {
            black_box(left_to_right(black_box(leaves)));
        }),
        Candidate::new(format!("algorithm4-{level}{suffix}"), || {
            black_box(reduce_level_by_level(
                level,
                black_box(leaves),
                &mut scratch,
            ));
        }),
        Candidate::new(format!("sum-{level}{suffix}"), || {
            black_box(sum(level, black_box(leaves)));
        }),
    ];
    if level == Level::SCALAR {
        candidates[0].name.push_str(suffix);
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
    let unordered = unordered.iter().copied().fold(f64::INFINITY, f64::min);

    // The plain fold is every level's reference, and one level's variant.
    let first = usize::from(level != Level::SCALAR);
    let bytes = size_of_val(leaves);
    let mut rows = Vec::new();
    for (candidate, &median_ns) in candidates.iter().zip(variants).skip(first) {
        for (reference, reference_ns) in
            [("unordered-simd", unordered), ("left-to-right", medians[0])]
        {
            rows.push(Row {
                bench: "kernels".to_owned(),
                variant: candidate.name.clone(),
                n: leaves.len() as u64,
                ranks: 1,
                backend: "threads".to_owned(),
                distribution: None,
                median_ns,
                gbps: Some(bytes as f64 / median_ns),
                ratio: reference_ns / median_ns,
                reference: reference.to_owned(),
            });
        }
    }
    rows
}

//! One process, all its threads: `reduce::par`, of slices and of iterators, against rayon's own unordered sum.

use std::hint::black_box;

use rayon::prelude::*;
use reduce::par::ParallelTreeIterator;

use super::Row;
use super::timing::{Candidate, medians_ns};

/// Measures them on all cores, for ever longer slices.
pub fn measure(quick: bool) -> Vec<Row> {
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
                // Of finite numbers in the default environment, it has a sum.
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
        let medians = medians_ns(&mut candidates, rounds);
        let references = [("rayon", medians[3]), ("parallel", medians[0])];
        for (candidate, &median_ns) in candidates.iter().zip(&medians).take(3) {
            let others = |(reference, _): &(&str, f64)| *reference != candidate.name;
            for (reference, reference_ns) in references.into_iter().filter(others) {
                rows.push(Row {
                    bench: "parallel".to_owned(),
                    variant: candidate.name.clone(),
                    n: leaves as u64,
                    ranks: 1,
                    backend: "threads".to_owned(),
                    distribution: None,
                    median_ns,
                    gbps: Some(size_of_val(data.as_slice()) as f64 / median_ns),
                    ratio: reference_ns / median_ns,
                    reference: reference.to_owned(),
                    state: super::warm(),
                });
            }
        }
    }
    rows
}

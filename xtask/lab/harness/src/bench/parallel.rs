//! One process, all its threads: `reduce::par` against rayon's own unordered sum.

use std::hint::black_box;

use rayon::prelude::*;

use super::Row;
use super::timing::{Candidate, medians_ns};

/// Measures both on all cores, for ever longer slices.
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
            Candidate::new("rayon", || {
                black_box(black_box(&data).par_iter().sum::<f64>());
            }),
        ];
        let medians = medians_ns(&mut candidates, rounds);
        for (candidate, &median_ns) in candidates.iter().zip(&medians).take(2) {
            rows.push(Row {
                bench: "parallel".to_owned(),
                variant: candidate.name.clone(),
                n: leaves as u64,
                ranks: 1,
                backend: "threads".to_owned(),
                distribution: None,
                median_ns,
                gbps: Some(size_of_val(data.as_slice()) as f64 / median_ns),
                ratio: medians[2] / median_ns,
                reference: "rayon".to_owned(),
                state: super::warm(),
            });
        }
    }
    rows
}

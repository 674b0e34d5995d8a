//! One process, all its threads: `reduce::par`, of slices and of iterators, against rayon's own unordered sum.

use std::hint::black_box;

use rayon::prelude::*;
use reduce::par::ParallelTreeIterator;

use super::timing::Candidate;
use super::{Row, compare};

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

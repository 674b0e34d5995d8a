//! The simulated times of the implementations, at one configuration and count.

use schedule::Algorithm;

use super::hydra::{ELEMENT_BYTES, HYDRA};
use crate::cluster::{Best, Run, Shape};

/// Exercises 1 to 5, Figures 2, 3, 5, 6 and 7; and what is not in the report.
pub(super) const ALGORITHMS: [Algorithm; 8] = [
    Algorithm::ReduceBroadcast,
    Algorithm::LinearPipelined,
    Algorithm::LinearDoublyPipelined,
    Algorithm::BinaryPipelined,
    Algorithm::BinaryDoublyPipelined,
    Algorithm::DualRoot,
    Algorithm::TwoTree,
    Algorithm::Ring,
];

/// The report ran Exercises 3 to 5 with blocks of count/4 to count elements (Table 2).
pub(super) const FEW_BLOCKS: usize = 4;

/// The configurations that are drawn over all counts.
pub(super) const DRAWN: [Shape; 2] = [Shape::new(20, 16), Shape::new(36, 32)];

pub(super) const COUNT_MAX: usize = 10_000_000;

/// One implementation at one configuration and count.
pub(super) struct Time {
    pub(super) algorithm: Algorithm,
    /// Over all numbers of blocks.
    pub(super) best: Best,
    /// Over the numbers of blocks that the report tried for Exercises 3 to 5.
    pub(super) few: Best,
}

/// All of them, and a good allreduce.
pub(super) struct Point {
    pub(super) shape: Shape,
    pub(super) count: usize,
    pub(super) times: [Time; 8],
    pub(super) reference: Algorithm,
    pub(super) reference_ns: f64,
}

impl Point {
    pub(super) fn new(shape: Shape, count: usize) -> Self {
        let row_bytes = count as f64 * ELEMENT_BYTES;
        let (reference, reference_ns) = reference(shape, row_bytes);
        let time = |algorithm| {
            let run = Run::allreduce(algorithm, &HYDRA, shape);
            let few = (1..=FEW_BLOCKS.min(count)).map(|blocks| Best {
                blocks,
                time_ns: run.time_ns(row_bytes, blocks),
            });
            let few = few.min_by(|a, b| a.time_ns.total_cmp(&b.time_ns));
            Time {
                algorithm,
                best: run.best(row_bytes, count),
                few: few.expect("there is one block"),
            }
        };
        Self {
            shape,
            count,
            times: ALGORITHMS.map(time),
            reference,
            reference_ns,
        }
    }

    pub(super) fn time(&self, algorithm: Algorithm) -> &Time {
        let found = self.times.iter().find(|time| time.algorithm == algorithm);
        found.expect("one of the implementations")
    }

    /// The time with the best blocks.
    pub(super) fn best_ns(&self, algorithm: Algorithm) -> f64 {
        self.time(algorithm).best.time_ns
    }

    /// The time with the few numbers of blocks that the report tried.
    pub(super) fn few_ns(&self, algorithm: Algorithm) -> f64 {
        self.time(algorithm).few.time_ns
    }

    /// The time with the best blocks, as a ratio to the reference.
    pub(super) fn ratio(&self, algorithm: Algorithm) -> f64 {
        self.best_ns(algorithm) / self.reference_ns
    }
}

/// The fastest of what libraries take; in the two butterflies all processes of a node send to other nodes at once, and share its interface.
fn reference(shape: Shape, row_bytes: f64) -> (Algorithm, f64) {
    let crowded = [Algorithm::RecursiveDoubling, Algorithm::Rabenseifner].map(|algorithm| Run {
        machine: HYDRA.crowded(shape),
        ..Run::allreduce(algorithm, &HYDRA, shape)
    });
    let ring = Run::allreduce(Algorithm::Ring, &HYDRA, shape);
    let times = crowded.into_iter().chain([ring]);
    let times = times.map(|run| (run.algorithm, run.time_ns(row_bytes, 1)));
    let least = times.min_by(|a, b| a.1.total_cmp(&b.1));
    least.expect("there are three")
}

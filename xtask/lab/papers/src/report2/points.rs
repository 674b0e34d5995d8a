//! The simulated times of the implementations, at one configuration and count.

use schedule::Algorithm;

use super::hydra::{ELEMENT_BYTES, HYDRA};
use crate::cluster::{Best, Run, Shape};

/// Figures, exercises, and what they show.
pub(super) const IMPLEMENTATIONS: [(&str, Algorithm); 5] = [
    ("Figure 2, Exercise 1", Algorithm::ReduceBroadcast),
    ("Figure 3, Exercise 2", Algorithm::LinearPipelined),
    ("Figure 5, Exercise 3", Algorithm::LinearDoublyPipelined),
    ("Figure 6, Exercise 4", Algorithm::BinaryPipelined),
    ("Figure 7, Exercise 5", Algorithm::BinaryDoublyPipelined),
];

/// Not in the report.
pub(super) const OTHERS: [Algorithm; 3] =
    [Algorithm::DualRoot, Algorithm::TwoTree, Algorithm::Ring];

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
    pub(super) times: Vec<Time>,
    pub(super) reference: Algorithm,
    pub(super) reference_ns: f64,
}

impl Point {
    pub(super) fn new(shape: Shape, count: usize) -> Self {
        let row_bytes = count as f64 * ELEMENT_BYTES;
        let (reference, reference_ns) = reference(shape, row_bytes);
        let algorithms = IMPLEMENTATIONS.into_iter().map(|(_, algorithm)| algorithm);
        let time = |algorithm| {
            let run = Run::allreduce(algorithm, &HYDRA, shape);
            let few = (1..=FEW_BLOCKS.min(count)).map(|blocks| Best {
                blocks,
                time_ns: run.time_ns(row_bytes, blocks),
            });
            let few = few.reduce(|best, other| {
                if other.time_ns < best.time_ns {
                    other
                } else {
                    best
                }
            });
            Time {
                algorithm,
                best: run.best(row_bytes, count),
                few: few.expect("there is one block"),
            }
        };
        Self {
            shape,
            count,
            times: algorithms.chain(OTHERS).map(time).collect(),
            reference,
            reference_ns,
        }
    }

    pub(super) fn time(&self, algorithm: Algorithm) -> &Time {
        let found = self.times.iter().find(|time| time.algorithm == algorithm);
        found.expect("one of the implementations")
    }

    /// The time with the best blocks, as a ratio to the reference.
    pub(super) fn ratio(&self, algorithm: Algorithm) -> f64 {
        self.time(algorithm).best.time_ns / self.reference_ns
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
    let least = times.reduce(|best, other| if other.1 < best.1 { other } else { best });
    least.expect("there are three")
}

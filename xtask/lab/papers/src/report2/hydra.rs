//! The cluster of the report, *Hydra*: 36 nodes of two Xeon Gold 6139, and Omni-Path; and the simulated times of the implementations there.

use schedule::Algorithm;

use crate::cluster::{Best, Cluster, Run, Shape, fastest};
use crate::page::Page;
use crate::said::least;

/// Typical constants of such hardware; the report gives none.
///
/// Omni-Path carries 100 Gbit/s per rail, and by default a process uses only its socket's rail: 0.08 ns per byte; a small
/// message takes about 1 us. Within a node Open MPI copies large messages once, at 6 to 7 GB/s while all cores do, and hands a small one
/// over in half a microsecond. A maximum of floats reads two streams and writes one, at about 10 GB/s from beyond the caches.
pub(super) const HYDRA: Cluster = Cluster::new([500.0, 0.15], [1000.0, 0.08], 0.1);

/// Table 2: nodes x processes.
pub(super) const SHAPES: [Shape; 8] = [
    Shape::new(1, 16),
    Shape::new(1, 32),
    Shape::new(20, 1),
    Shape::new(20, 16),
    Shape::new(20, 32),
    Shape::new(36, 1),
    Shape::new(36, 16),
    Shape::new(36, 32),
];

/// The configurations that are drawn over all counts.
pub(super) const DRAWN: [Shape; 2] = [Shape::new(20, 16), Shape::new(36, 32)];

/// `MPI_FLOAT`, in bytes.
pub(super) const ELEMENT_BYTES: f64 = 4.0;

/// The report's greatest `count`.
pub(super) const COUNT_MAX: usize = 10_000_000;

/// The description of the machine on every simulated page.
pub(super) fn describe(page: &mut Page) {
    page.text(format!(
        "Simulated for *Hydra*, nodes of an Omni-Path network, `MPI_FLOAT`: the programs that run, message by message, {}. The constants are assumed from the hardware, not published. Messages are \
         synchronous, and links are not shared: what a crowded memory or network interface costs is left out where it is not mentioned.",
        HYDRA.words()
    ));
}

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
const FEW_BLOCKS: usize = 4;

/// The algorithms at one configuration and count, and a good allreduce.
pub(super) struct HydraPoint {
    pub(super) shape: Shape,
    pub(super) count: usize,
    /// For each algorithm, the best time over all numbers of blocks, and over those that the report tried for Exercises 3 to 5.
    times: [(Algorithm, [Best; 2]); ALGORITHMS.len()],
    pub(super) reference_ns: f64,
}

impl HydraPoint {
    pub(super) fn new(shape: Shape, count: usize) -> Self {
        let row_bytes = count as f64 * ELEMENT_BYTES;
        let times = ALGORITHMS.map(|algorithm| {
            let run = Run::allreduce(algorithm, &HYDRA, shape);
            let few = 1..=FEW_BLOCKS.min(count);
            let few = few.map(|blocks| (blocks, run.time_ns(row_bytes, blocks)));
            let (blocks, time_ns) = fastest(few);
            let few = Best { blocks, time_ns };
            (algorithm, [run.best(row_bytes, count), few])
        });
        Self {
            shape,
            count,
            times,
            reference_ns: reference_ns(shape, row_bytes),
        }
    }

    /// With the best number of blocks, and the best of the few that the report tried.
    pub(super) fn of(&self, algorithm: Algorithm) -> [Best; 2] {
        let found = self.times.iter().find(|times| times.0 == algorithm);
        found.expect("one of them").1
    }

    pub(super) fn best_ns(&self, algorithm: Algorithm) -> f64 {
        self.of(algorithm)[0].time_ns
    }

    pub(super) fn few_ns(&self, algorithm: Algorithm) -> f64 {
        self.of(algorithm)[1].time_ns
    }

    /// The time with the best blocks, as a ratio to the reference.
    pub(super) fn ratio(&self, algorithm: Algorithm) -> f64 {
        self.best_ns(algorithm) / self.reference_ns
    }
}

/// The fastest of the algorithms that libraries use; in the two butterflies all processes of a node send to other nodes at once, and share its interface.
fn reference_ns(shape: Shape, row_bytes: f64) -> f64 {
    let crowded = [Algorithm::RecursiveDoubling, Algorithm::Rabenseifner].map(|algorithm| Run {
        machine: HYDRA.crowded(shape),
        ..Run::allreduce(algorithm, &HYDRA, shape)
    });
    let ring = Run::allreduce(Algorithm::Ring, &HYDRA, shape);
    let times = crowded.into_iter().chain([ring]);
    least(times.map(|run| run.time_ns(row_bytes, 1)))
}

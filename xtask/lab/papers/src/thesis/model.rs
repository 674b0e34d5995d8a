//! Ranks that are not here: the fold of a rank's share is measured, the messages are simulated.

use std::hint::black_box;
use std::ops::Range;

use distribution::{Cost, Distribution, Scheme};
use harness::bench::timing::{Candidate, medians_ns};
use schedule::{Algorithm, Collective, Machine, Schedule, simulate};
use simd_kernels::Level;
use tree_index::Tree;

use super::timings::Mode;
use super::{algorithm1, distribute};
use crate::cluster::Cluster;

/// The thesis' machines: messages between the threads of a node take what eq. 3.7 takes them for; between nodes, an assumption that is usual
/// for InfiniBand.
pub(super) const LINKS: Cluster = Cluster::new([Cost::THESIS.send_ns, 0.1], [1500.0, 0.1], 0.01);

/// The ranks of a node of the cluster: 40 cores, 80 threads.
pub(super) const NODE_RANKS: usize = 80;

/// Ranks of the shared-memory machine, and of the cluster.
pub(super) const SHARED_RANKS: usize = 256;
pub(super) const CLUSTER_RANKS: usize = 1280;

/// The time of an allreduce by recursive doubling; of one value a message, or of as many as stand for the items.
fn messages_ns(distribution: &Distribution, machine: &Machine, is_reproducible: bool) -> f64 {
    let ranks = distribution.ranks();
    let schedule = Schedule::new(Algorithm::RecursiveDoubling, Collective::Allreduce, ranks);
    let schedule = schedule.expect("there are ranks");
    let tree = Tree::new(distribution.items());
    let rows = |ranks: Range<usize>| {
        if !is_reproducible {
            return 1;
        }
        let items = distribution.start(ranks.start)..distribution.start(ranks.end);
        u64::from(tree.fragment_len(items))
    };
    simulate(&schedule, machine, 8.0, &rows).time_ns
}

/// The time to fold a share of this number of items, measured: in the tree's order, from left to right.
fn fold_ns(items: usize) -> (f64, f64) {
    let leaves = harness::data::log_likelihoods(items, 1);
    let leaves = &leaves[..];
    let mut candidates = [
        Candidate::new("tree", || {
            black_box(simd_kernels::sum(Level::best(), black_box(leaves)));
        }),
        Candidate::new("left-to-right", || {
            black_box(simd_kernels::left_to_right(black_box(leaves)));
        }),
    ];
    let medians = medians_ns(&mut candidates, 9);
    (medians[0], medians[1])
}

/// The times of a sum on ranks that are not here, in microseconds.
pub(super) struct Times {
    pub(super) ranks: usize,
    pub(super) items: usize,
    pub(super) plan: f64,
    pub(super) algorithm1: f64,
    /// Of the thesis' baseline.
    pub(super) left_to_right: f64,
}

impl Times {
    pub(super) fn simulate(items: usize, ranks: usize, machine: &Machine) -> Self {
        let distribution = distribute(Scheme::Optimized, items as u64, ranks);
        let shares = (0..ranks).map(|rank| distribution.count(rank));
        let largest = shares.max().and_then(|share| usize::try_from(share).ok());
        let largest = largest.unwrap_or(0);
        let (tree_ns, left_to_right_ns) = fold_ns(largest);
        let messages_ns = |is_reproducible| messages_ns(&distribution, machine, is_reproducible);
        let item_ns = tree_ns / largest as f64;
        Self {
            ranks,
            items,
            plan: (tree_ns + messages_ns(true)) / 1e3,
            algorithm1: algorithm1::allreduce_ns(&distribution, machine, item_ns) / 1e3,
            left_to_right: (left_to_right_ns + messages_ns(false)) / 1e3,
        }
    }
}

/// The modes that are simulated.
pub(super) type Field = fn(&Times) -> f64;
pub(super) const FIELDS: [(Mode, Field); 3] = [
    (Mode::Plan, |times| times.plan),
    (Mode::Algorithm1, |times| times.algorithm1),
    (Mode::LeftToRight, |times| times.left_to_right),
];

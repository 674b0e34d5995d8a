//! Ranks that are not here, Figures 4.1 and 4.4: the fold of a rank's share is measured, the messages are simulated.

use std::hint::black_box;
use std::ops::Range;

use distribution::{Cost, Distribution, Scheme};
use harness::Error;
use harness::bench::timing::{Candidate, medians_ns};
use harness::plot::Line;
use schedule::{Algorithm, Collective, Machine, Schedule, simulate};
use simd_kernels::Level;
use tree_index::Tree;

use super::runs::sizes;
use super::timings::Mode;
use super::{algorithm1, distribute};
use crate::cluster::Cluster;
use crate::said::{least, line, most, range, ratios};
use crate::values::row;
use crate::{Context, Values};

/// The thesis' machines: messages between the threads of a node take what eq. 3.7 takes them for; between nodes, an assumption that is usual
/// for InfiniBand.
const LINKS: Cluster = Cluster::new([Cost::THESIS.send_ns, 0.1], [1500.0, 0.1], 0.01);

/// The ranks of a node of the cluster: 40 cores, 80 threads.
const NODE_RANKS: usize = 80;

/// Ranks of the shared-memory machine, and of the cluster.
const SHARED_RANKS: usize = 256;
const CLUSTER_RANKS: usize = 1280;

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
struct Times {
    ranks: usize,
    items: usize,
    plan: f64,
    algorithm1: f64,
    /// Of the thesis' baseline.
    left_to_right: f64,
}

impl Times {
    fn simulate(items: usize, ranks: usize, machine: &Machine) -> Self {
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
type Field = fn(&Times) -> f64;
const FIELDS: [(Mode, Field); 3] = [
    (Mode::Plan, |times| times.plan),
    (Mode::Algorithm1, |times| times.algorithm1),
    (Mode::LeftToRight, |times| times.left_to_right),
];

/// A line for each mode.
fn lines(all: &[Times], x: fn(&Times) -> usize, y: impl Fn(&Times, Field) -> f64) -> [Line; 3] {
    FIELDS.map(|(mode, time)| line(mode.name(), all, |times| (x(times) as f64, y(times, time))))
}

fn describe(page: &mut Values) {
    let (near, far) = (LINKS.near.latency_ns, LINKS.far.latency_ns);
    let words = format!(
        "Simulated ranks fold as fast as one core here does when it has the memory to itself, and send message by message: α = {near} ns within a node, {far} ns between nodes of {NODE_RANKS} \
         ranks, β = {} ns a byte, γ = {} ns a byte combined, one port a rank; the machine with {SHARED_RANKS} ranks is one node. A plan and the left-to-right sum run recursive doubling when \
         the largest share is folded. Algorithm 1 sends what its message buffer holds, as published, and a binomial tree brings the result back; where ranks have a few items, values that wait in that buffer hold up \
         those that need them.",
        LINKS.near.byte_ns, LINKS.near.combine_byte_ns
    );
    page.set("simulation", words);
}

/// The rest of Figure 4.1: p = 256 and 1280.
pub(super) fn largest(context: &Context<'_>, page: &mut Values) {
    describe(page);
    let sizes = sizes(context);
    // The machine with shared memory is one node.
    for (part, ranks, node_ranks) in [
        ("a", SHARED_RANKS, SHARED_RANKS),
        ("b", CLUSTER_RANKS, NODE_RANKS),
    ] {
        let machine = LINKS.machine(node_ranks);
        let times = sizes.iter();
        let times = times.map(|&items| Times::simulate(items, ranks, &machine));
        let all: Vec<Times> = times.collect();
        let lines = lines(&all, |times| times.items, |times, time| time(times));
        let [plan, algorithm1, left_to_right] = &lines;
        let slowdowns = all.iter().map(|times| times.plan / times.left_to_right);
        page.set(&format!("worst of {ranks}"), most(slowdowns));
        if ranks == SHARED_RANKS {
            let longest = &all[all.len() - 1];
            let by_thesis = distribute(Scheme::Optimized, longest.items as u64, ranks);
            let by_thesis_ns = by_thesis.critical_path_ns(&Cost::THESIS);
            page.set("longest by eq. 3.7", by_thesis_ns / 1e3);
            page.set("longest by algorithm 1", longest.algorithm1);
            page.set("longest by plan", longest.plan);
        }
        let case = page.case("machine");
        case.set("part", part).set("ranks", ranks);
        case.set("algorithm 1", range(ratios(algorithm1, plan)));
        case.set("left-to-right", range(ratios(left_to_right, plan)));
        case.draw(part, lines);
    }
}

/// Figure 4.4: strong scaling of the longest data set.
pub(super) fn strong(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    page.set("machine", context.machine("1"));
    describe(page);
    let items = sizes(context).into_iter().max().unwrap_or(0);
    let octaves = (0..=8).map(|log| 1 << log);
    let ranks = octaves.chain((320..=CLUSTER_RANKS).step_by(NODE_RANKS));
    let machine = LINKS.machine(NODE_RANKS);
    let all = ranks.map(|ranks| Times::simulate(items, ranks, &machine));
    let all: Vec<Times> = all.collect();
    let speed_up = |times: &Times, time: Field| time(&all[0]) / time(times);
    let names = ["plan", "algorithm 1", "left-to-right"];
    for (name, (_, time)) in names.into_iter().zip(FIELDS) {
        // From there on, no number of ranks is faster by a tenth.
        let best = least(all.iter().map(time));
        let level = all.iter().find(|times| time(times) <= best * 1.1);
        let level = level.map_or(0, |times| times.ranks);
        page.set(name, level);
        let speed_ups = all.iter().map(|times| speed_up(times, time));
        page.set(&format!("{name} speed-up"), most(speed_ups));
        if name == "plan" {
            page.set("share", items / level.max(1));
        }
    }
    page.set("items", items);
    let times = lines(&all, |times| times.ranks, |times, time| time(times));
    page.draw("time", times);
    let ideal = all.iter().map(|times| times.ranks as f64);
    let ideal = Line::guide("ideal", ideal.map(|ranks| (ranks, ranks)).collect());
    let speed_ups = lines(&all, |times| times.ranks, speed_up);
    page.draw("speedup", speed_ups.into_iter().chain([ideal]));
    page.cells("modes", FIELDS, |(mode, _)| {
        format!("{}, µs | speed-up", mode.name())
    });
    page.rows("times", &all, |times| {
        let cells = FIELDS.map(|(_, time)| [time(times), speed_up(times, time)]);
        row(times.ranks, cells.into_iter().flatten())
    });
    Ok(())
}

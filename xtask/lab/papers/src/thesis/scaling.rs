//! Figures 4.1 and 4.4 with simulated ranks: measures the fold of a rank's share, and simulates the messages.
//!
//! Algorithm 1 is simulated by the same rules as schedules: a message of b bytes occupies its sender's and its receiver's port for alpha +
//! beta b, combining takes gamma per byte, and a rank does one thing at a time.

use std::collections::HashMap;
use std::hint::black_box;
use std::mem;
use std::ops::Range;

use distribution::{Cost, Distribution, Scheme};
use harness::Error;
use harness::bench::timing::{Candidate, medians_ns};
use harness::plot::{Axis, Line};
use reduce::MessageBuffer;
use schedule::{Algorithm, Collective, Machine, Schedule, simulate};
use simd_kernels::{Level, left_to_right, sum};
use tree_index::{Tree, parent};

use super::distribute;
use super::runs::sizes;
use super::timings::Mode;
use crate::Context;
use crate::cluster::{Cluster, link, rows_of};
use crate::page::Page;
use crate::said::{count, least, line, most};

/// The links of the thesis' machines. Messages between threads of a node take the time of eq. 3.7. Messages between nodes take a time that
/// is usual for InfiniBand.
const LINKS: Cluster = Cluster::new([Cost::THESIS.send_ns, 0.1], [1500.0, 0.1], 0.01);

/// The number of ranks on a node of the cluster, which has 40 cores with two threads each.
const NODE_RANKS: usize = 80;

/// The numbers of ranks on the shared-memory machine and on the cluster.
const SHARED_RANKS: usize = 256;
const CLUSTER_RANKS: usize = 1280;

/// Measures the times to fold a share of this number of items in tree order, and from left to right.
fn fold_ns(items: usize) -> (f64, f64) {
    let leaves = &harness::data::log_likelihoods(items, 1)[..];
    let mut candidates = [
        Candidate::new("tree", || sum(Level::best(), black_box(leaves))),
        Candidate::new("left-to-right", || left_to_right(black_box(leaves))),
    ];
    let medians = medians_ns(&mut candidates, 9);
    (medians[0], medians[1])
}

/// The times of a sum on simulated ranks, in microseconds.
struct ScalingTimes {
    ranks: usize,
    items: usize,
    plan: f64,
    algorithm1: f64,
    /// The time of the thesis' baseline.
    left_to_right: f64,
}

impl ScalingTimes {
    fn simulate(items: usize, ranks: usize, machine: &Machine) -> Self {
        let distribution = distribute(Scheme::Optimized, items as u64, ranks);
        let shares = (0..ranks).map(|rank| distribution.count(rank));
        let largest = shares.max().and_then(|share| usize::try_from(share).ok());
        let largest = largest.unwrap_or(0);
        let (tree_ns, left_to_right_ns) = fold_ns(largest);
        let schedule = Schedule::new(Algorithm::RecursiveDoubling, Collective::Allreduce, ranks);
        let schedule = schedule.expect("there are ranks");
        let messages_ns =
            |rows: &dyn Fn(Range<usize>) -> u64| simulate(&schedule, machine, 8.0, rows).time_ns;
        let item_ns = tree_ns / largest as f64;
        Self {
            ranks,
            items,
            plan: (tree_ns + messages_ns(&rows_of(&distribution))) / 1e3,
            algorithm1: algorithm1_ns(&distribution, machine, item_ns) / 1e3,
            left_to_right: (left_to_right_ns + messages_ns(&|_| 1)) / 1e3,
        }
    }
}

/// The time of a simulated mode.
type Field = fn(&ScalingTimes) -> f64;
const FIELDS: [(Mode, Field); 3] = [
    (Mode::Plan, |times| times.plan),
    (Mode::Algorithm1, |times| times.algorithm1),
    (Mode::LeftToRight, |times| times.left_to_right),
];

/// A line for each mode.
fn lines(
    all: &[ScalingTimes],
    x: fn(&ScalingTimes) -> usize,
    y: impl Fn(&ScalingTimes, Field) -> f64,
) -> [Line; 3] {
    FIELDS.map(|(mode, time)| line(mode.name(), all, |times| (x(times) as f64, y(times, time))))
}

fn describe(page: &mut Page) {
    page.how = "simulated";
    page.text(format!(
        "A simulated rank folds as fast as one core of this machine that has the memory to itself. The messages are simulated one by one: {}, nodes of {NODE_RANKS} ranks, one port per rank; the machine with {SHARED_RANKS} ranks is one \
         node. A plan and the left-to-right sum start recursive doubling when the largest share is folded. Algorithm 1 sends through its message buffer, as published, and a binomial tree broadcasts the result; \
         if ranks have few items, values that wait in this buffer delay the ranks that need them.",
        LINKS.words()
    ));
}

/// The rest of Figure 4.1, for p = 256 and 1280.
pub(super) fn largest(context: &Context<'_>, page: &mut Page) {
    page.text("## p = 256 and p = 1280, simulated");
    describe(page);
    let sizes = sizes(context);
    // The machine with shared memory is one node.
    let machines = [
        ("a", SHARED_RANKS, SHARED_RANKS),
        ("b", CLUSTER_RANKS, NODE_RANKS),
    ];
    let [shared, cluster] = machines.map(|(part, ranks, node_ranks)| {
        let machine = LINKS.machine(node_ranks);
        let times = sizes.iter();
        let times = times.map(|&items| ScalingTimes::simulate(items, ranks, &machine));
        let all: Vec<ScalingTimes> = times.collect();
        page.draw(
            part,
            format!(
                "Simulated times of an allreduce of a sum over the lengths of the data sets, p = {ranks}"
            ),
            Axis::decades("N, items"),
            Axis::decades("time, µs"),
            lines(&all, |times| times.items, |times, time| time(times)),
        );
        all
    });
    let worst =
        |all: &[ScalingTimes]| most(all.iter().map(|times| times.plan / times.left_to_right));
    let longest = &shared[shared.len() - 1];
    let by_thesis = distribute(Scheme::Optimized, longest.items as u64, SHARED_RANKS);
    page.compare(format!(
        "p = 256, longest data set, Algorithm 1 with eq. 3.7's constants, µs | 248.0 | {} | the 4.15 ns per addition of eq. 3.7 were measured on shorter data
        p = 256, longest data set, Algorithm 1, µs | 248.0 | {} | our fold is several times as fast, and simulated ranks share neither caches nor memory bandwidth
        p = 256, longest data set, treefold's plan, µs | 248.0 | {} | as above
        p = 256, worst slowdown over the baseline, plan | less than 2 | {}
        p = 1280, worst slowdown over the baseline, plan | – | {}",
        by_thesis.critical_path_ns(&Cost::THESIS) / 1e3,
        longest.algorithm1,
        longest.plan,
        worst(&shared),
        worst(&cluster)
    ));
}

/// Figure 4.4: strong scaling of the longest data set.
pub(super) fn strong(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 4.4, strong scaling");
    page.measured_on(context, "1");
    describe(page);
    let items = sizes(context).into_iter().max().unwrap_or(0);
    let octaves = (0..=8).map(|log| 1 << log);
    let ranks = octaves.chain((320..=CLUSTER_RANKS).step_by(NODE_RANKS));
    let machine = LINKS.machine(NODE_RANKS);
    let all = ranks.map(|ranks| ScalingTimes::simulate(items, ranks, &machine));
    let all: Vec<ScalingTimes> = all.collect();
    let speed_up = |times: &ScalingTimes, time: Field| time(&all[0]) / time(times);
    // The first number of ranks whose time is within a tenth of the best.
    let [plan, algorithm1, left_to_right] = FIELDS.map(|(_, time)| {
        let best = least(all.iter().map(time));
        let level = all.iter().find(|times| time(times) <= best * 1.1);
        level.map_or(0, |times| times.ranks)
    });
    let items_shown = count(items);
    let subtitle = format!("Simulated allreduce of {items_shown} doubles, nodes of 80 ranks");
    page.draw(
        "time",
        &*subtitle,
        Axis::doublings("p, ranks"),
        Axis::decades("time, µs"),
        lines(&all, |times| times.ranks, |times, time| time(times)),
    );
    page.says(format!(
        "A plan levels off from {plan} ranks on, Algorithm 1 from {algorithm1}, and the left-to-right sum from {left_to_right}"
    ));
    let ideal = all.iter().map(|times| times.ranks as f64);
    let ideal = Line::guide("ideal", ideal.map(|ranks| (ranks, ranks)).collect());
    let speed_ups = lines(&all, |times| times.ranks, speed_up);
    page.draw(
        "speedup",
        subtitle,
        Axis::doublings("p, ranks"),
        Axis::decades("speed-up over one rank, ratio"),
        speed_ups.into_iter().chain([ideal]),
    );
    page.says("Speed-ups are above the ideal line where shares fit into caches");
    let why = "our fold is several times as fast, so messages between nodes dominate sooner";
    page.compare(format!(
        "levels off from p, treefold's plan | 640 | {plan} | {why}
        items per rank at this p | about 33000 | {}
        levels off from p, left-to-right + allreduce | – | {left_to_right}
        levels off from p, Algorithm 1 | 640 | {algorithm1} | {why}",
        items / plan.max(1)
    ));
    Ok(())
}

/// The sizes in bytes of a value, and of a value with its item number.
const VALUE_BYTES: f64 = 8.0;
const ENTRY_BYTES: f64 = 16.0;

/// The time of an allreduce in nanoseconds, for ranks that fold an item in `item_ns`: Algorithm 1 with the published message buffer, then
/// a broadcast of the result along a binomial tree.
fn algorithm1_ns(distribution: &Distribution, machine: &Machine, item_ns: f64) -> f64 {
    let holder = distribution.rank_of(0);
    let back = Collective::Broadcast { root: holder };
    let back = Schedule::new(Algorithm::Binomial, back, distribution.ranks());
    let back = back.expect("the holder is a rank");
    let back_ns = simulate(&back, machine, VALUE_BYTES, &|_| 1).time_ns;
    reduce_ns(distribution, machine, item_ns) + back_ns
}

/// The time at which the rank that owns item 0 has the root's value.
fn reduce_ns(distribution: &Distribution, machine: &Machine, item_ns: f64) -> f64 {
    let tree = Tree::new(distribution.items());
    let combine_ns = machine.near.combine_byte_ns * VALUE_BYTES;
    let buffer = MessageBuffer::default();
    let mut ranks = Ranks {
        machine,
        under_way: (0..distribution.ranks()).map(|_| Vec::new()).collect(),
        rank: 0,
        now_ns: 0.0,
        to: 0,
        items: Vec::new(),
    };
    // Higher ranks never wait for lower ones.
    for rank in (distribution.rank_of(0)..distribution.ranks()).rev() {
        let local = distribution.range(rank);
        let there_ns = ranks.begin(rank);
        for root in tree.outbound_roots(local.clone()) {
            let span = tree.span(root);
            if span.end - span.start > buffer.flush_leaves {
                ranks.flush();
            }
            let own_end = local.end.min(span.end);
            ranks.now_ns += (own_end - root.x) as f64 * item_ns;
            for lacking in tree.subtree_roots(own_end..span.end) {
                ranks.now_ns = ranks.now_ns.max(there_ns[&lacking.x]) + combine_ns;
            }
            if root.x > 0 {
                ranks.send(distribution.rank_of(parent(root.x)), root.x, buffer.values);
            }
        }
        ranks.flush();
    }
    ranks.now_ns
}

/// All ranks; one is simulated at a time, from the last to the first.
struct Ranks<'m> {
    machine: &'m Machine,
    /// The messages to each rank: when a message begins, how long it takes, and its items.
    under_way: Vec<Vec<(f64, f64, Vec<u64>)>>,
    /// The simulated rank, the time on it, and the rank for which values are buffered.
    rank: usize,
    now_ns: f64,
    to: usize,
    items: Vec<u64>,
}

impl Ranks<'_> {
    /// Begins to simulate a rank. Returns when each value arrives: the rank's port receives the messages in the order in which they begin.
    fn begin(&mut self, rank: usize) -> HashMap<u64, f64> {
        (self.rank, self.to, self.now_ns) = (rank, rank, 0.0);
        let mut messages = mem::take(&mut self.under_way[rank]);
        messages.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut port_ns = 0.0_f64;
        let mut there_ns = HashMap::new();
        for (begun_ns, length_ns, items) in messages {
            port_ns = port_ns.max(begun_ns) + length_ns;
            there_ns.extend(items.into_iter().map(|item| (item, port_ns)));
        }
        there_ns
    }

    /// Buffers a value. Flushes the buffer first if it has values for another rank, and afterwards if it is full.
    fn send(&mut self, to: usize, item: u64, most: usize) {
        if to != self.to {
            self.flush();
            self.to = to;
        }
        self.items.push(item);
        if self.items.len() == most {
            self.flush();
        }
    }

    /// Sends the buffered values as one message. The rank continues when its port has sent the message.
    fn flush(&mut self) {
        if self.items.is_empty() {
            return;
        }
        let bytes = self.items.len() as f64 * ENTRY_BYTES;
        let length_ns = link(self.machine, self.rank, self.to).message_ns(bytes);
        let items = mem::take(&mut self.items);
        self.under_way[self.to].push((self.now_ns, length_ns, items));
        self.now_ns += length_ns;
    }
}

#[cfg(test)]
mod tests {
    use distribution::Distribution;
    use schedule::{Algorithm, Collective, Link, Machine, Schedule, simulate};

    use super::{algorithm1_ns, reduce_ns};
    use crate::cluster::link_of;

    const LINK: Link = link_of(100.0, 0.0, 0.5);

    fn lower(items: u64, ranks: usize) -> Distribution {
        Distribution::lower(items, ranks).expect("there are ranks")
    }

    /// If shares are aligned, they are the leaves of a binomial tree, and Algorithm 1 is a reduce along this tree.
    #[test]
    fn aligned_shares_take_what_a_binomial_tree_takes() {
        let machine = Machine::flat(LINK);
        for ranks in [1, 2, 8, 64] {
            let schedule = Schedule::new(Algorithm::Binomial, Collective::Allreduce, ranks);
            let schedule = schedule.expect("there are ranks");
            let binomial_ns = simulate(&schedule, &machine, 8.0, &|_| 1).time_ns;
            let ours_ns = algorithm1_ns(&lower(4 * ranks as u64, ranks), &machine, 3.0);
            let off_ns = ours_ns - 12.0 - binomial_ns;
            assert!(off_ns.abs() < 1e-9, "{ranks}: {ours_ns}");
        }
    }

    /// N = 9 on three ranks, as drawn in `reduce::engines::algorithm1`: rank 2 sends 6 and 8, rank 1 waits for 6 and sends 3 and 4.
    #[test]
    fn values_travel_together_and_wait_for_their_turn() {
        // Rank 2 sends 6 to rank 1 from 3 to 103, then 8 to rank 0 until 203. Rank 1 combines 6 with its own until 107, and sends 3 and
        // 4 together; rank 0's port takes them from 203 to 303, after 8. Three combinations end at 315.
        let reduced_ns = reduce_ns(&lower(9, 3), &Machine::flat(LINK), 1.0);
        assert!((reduced_ns - 315.0).abs() < 1e-9, "{reduced_ns}");
    }
}

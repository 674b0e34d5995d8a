//! More ranks than there are here: the fold of a rank's share is measured, the messages are simulated.

use std::hint::black_box;
use std::iter;
use std::ops::Range;

use distribution::{Cost, Distribution, Scheme};
use harness::Error;
use harness::bench::timing::{Candidate, medians_ns};
use harness::markdown::digits;
use harness::plot::{Axis, Line, Plot};
use schedule::{Algorithm, Collective, Link, Machine, Schedule, simulate};
use simd_kernels::Level;
use tree_index::Tree;

use super::optimal::path_us;
use super::runs::{self, sizes};
use super::timings::Mode;
use crate::{Comparison, Context, Page};

/// The thesis' machines: messages between the threads of a node take what eq. 3.7 takes them for; between nodes, an assumption that is usual
/// for InfiniBand.
const NEAR: Link = Link {
    latency_ns: Cost::THESIS.send_ns,
    byte_ns: 0.1,
    combine_byte_ns: 0.01,
};
const FAR: Link = Link {
    latency_ns: 1500.0,
    ..NEAR
};

/// The ranks of a node of the cluster: 40 cores, 80 threads.
const NODE_RANKS: usize = 80;

/// Ranks of the shared-memory machine, and of the cluster.
const SHARED_RANKS: usize = 256;
const CLUSTER_RANKS: usize = 1280;

fn shared_memory() -> Machine {
    Machine::flat(NEAR)
}

fn cluster() -> Machine {
    Machine {
        near: NEAR,
        far: FAR,
        node_ranks: NODE_RANKS,
        ..Machine::flat(FAR)
    }
}

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

/// The time to fold a share of so many items, measured: in the tree's order, from left to right.
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
    /// Of a plan.
    plan: f64,
    /// Of the thesis' baseline.
    baseline: f64,
    /// Of Algorithm 1 on the thesis' machine: its critical path by the constants of eq. 3.7.
    thesis: f64,
}

impl Times {
    fn simulate(items: usize, ranks: usize, machine: &Machine) -> Self {
        let distribution = Scheme::Optimized.distribute(items as u64, ranks);
        let distribution = distribution.expect("there are ranks");
        let shares = (0..ranks).map(|rank| distribution.count(rank));
        let largest = shares.max().and_then(|share| usize::try_from(share).ok());
        let (tree_ns, left_to_right_ns) = fold_ns(largest.unwrap_or(0));
        let messages_ns = |is_reproducible| messages_ns(&distribution, machine, is_reproducible);
        Self {
            ranks,
            items,
            plan: (tree_ns + messages_ns(true)) / 1e3,
            baseline: (left_to_right_ns + messages_ns(false)) / 1e3,
            thesis: distribution.critical_path_ns(&Cost::THESIS) / 1e3,
        }
    }
}

/// The modes that are simulated, by name.
type Field = fn(&Times) -> f64;
const FIELDS: [(&str, Field); 3] = [
    ("treefold's plan", |times| times.plan),
    ("left-to-right + allreduce", |times| times.baseline),
    ("Algorithm 1 by eq. 3.7's constants", |times| times.thesis),
];

fn describe(page: &mut Page) {
    let (near, far) = (NEAR.latency_ns, FAR.latency_ns);
    page.paragraph(format!(
        "Simulated ranks fold their largest share as fast as one core here does when it has the memory to itself, and then run recursive doubling message by message: {near} ns \
         a message within a node, {far} ns between nodes of {NODE_RANKS} ranks; the machine with {SHARED_RANKS} ranks is one node. Algorithm 1 is told by its critical path, {} ns an \
         addition.",
        Cost::THESIS.add_ns
    ));
}

/// The rest of Figure 4.1: p = 256 and 1280.
pub(super) fn largest(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.heading("p = 256 and p = 1280, simulated");
    describe(page);
    let sizes = sizes(context);
    let simulate = |ranks: usize, machine: &Machine| -> Vec<Times> {
        let times = sizes
            .iter()
            .map(|&items| Times::simulate(items, ranks, machine));
        times.collect()
    };
    let shared = simulate(SHARED_RANKS, &shared_memory());
    let cluster = simulate(CLUSTER_RANKS, &cluster());
    for (part, all) in [("a", &shared), ("b", &cluster)] {
        let line = |(name, time): (&str, Field)| {
            let points = all.iter().map(|times| (times.items as f64, time(times)));
            Line::new(name, points.collect())
        };
        let plot = Plot {
            caption: format!("time of an allreduce, p = {}, simulated", all[0].ranks),
            x: Axis::logarithmic("N"),
            y: Axis::logarithmic("microseconds"),
            lines: FIELDS.map(line).to_vec(),
        };
        page.plot(part, &plot)?;
    }
    let last = |time: Field| shared.last().map_or(f64::NAN, time);
    let worst = |all: &[Times]| {
        let slowdowns = all.iter().map(|times| times.plan / times.baseline);
        slowdowns.fold(0.0, f64::max)
    };
    page.compare([
        Comparison::simulated(
            "p = 256, longest data set, Algorithm 1, us",
            last(FIELDS[2].1),
        )
        .published(248.0)
        .because("eq. 3.7's 4.15 ns an addition was measured on shorter data"),
        Comparison::simulated(
            "p = 256, longest data set, treefold's plan, us",
            last(FIELDS[0].1),
        )
        .published(248.0)
        .because("no two ranks of the simulation share a cache or the memory's bandwidth"),
        Comparison::simulated(
            "p = 256, worst slowdown over the baseline, plan",
            worst(&shared),
        )
        .published("less than 2"),
        Comparison::simulated(
            "p = 1280, worst slowdown over the baseline, plan",
            worst(&cluster),
        ),
    ]);
    Ok(())
}

/// Figure 4.4: strong scaling of the longest data set.
pub(super) fn strong(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.machine(context, "1 and 2");
    describe(page);
    let items = sizes(context).into_iter().max().unwrap_or(0);
    let octaves = (0..=8).map(|log| 1 << log);
    let all: Vec<Times> = octaves
        .chain((320..=CLUSTER_RANKS).step_by(NODE_RANKS))
        .map(|ranks| Times::simulate(items, ranks, &cluster()))
        .collect();
    let measured = |name: &str, mode: Mode| -> Result<Line, Error> {
        let own = runs::times(context)?.iter();
        let own = own.filter(|times| (times.mode, times.items) == (mode, items));
        let points = own.map(|times| (times.ranks as f64, times.median_us()));
        Ok(Line::new(name, points.collect()))
    };
    let plot = |caption: String, y: &str, lines: Vec<Line>| Plot {
        caption,
        x: Axis::logarithmic("ranks"),
        y: Axis::logarithmic(y),
        lines,
    };
    let line = |(name, time): (&str, Field)| {
        let points = all.iter().map(|times| (times.ranks as f64, time(times)));
        Line::new(format!("{name}, simulated"), points.collect())
    };
    let mut lines = FIELDS.map(line).to_vec();
    lines.push(measured("treefold's plan, measured", Mode::Plan)?);
    lines.push(measured(
        "left-to-right + allreduce, measured",
        Mode::LeftToRight,
    )?);
    let caption = format!("time of an allreduce of {items} doubles");
    page.plot("time", &plot(caption, "microseconds", lines))?;
    let line = |(name, time): (&str, Field)| {
        let points = all.iter();
        let points = points.map(|times| (times.ranks as f64, time(&all[0]) / time(times)));
        Line::new(name, points.collect())
    };
    let caption = format!("speed-up of an allreduce of {items} doubles, simulated");
    page.plot(
        "speedup",
        &plot(caption, "speed-up", FIELDS.map(line).to_vec()),
    )?;
    scaling_tables(page, &all);
    Ok(())
}

fn scaling_tables(page: &mut Page, all: &[Times]) {
    let columns = FIELDS.map(|(name, _)| [format!("{name}, us"), "speed-up".to_owned()]);
    page.table(
        iter::once("ranks".to_owned()).chain(columns.into_iter().flatten()),
        all.iter().map(|times| {
            let cells =
                FIELDS.map(|(_, time)| [digits(time(times)), digits(time(&all[0]) / time(times))]);
            let cells = cells.into_iter().flatten();
            iter::once(times.ranks.to_string()).chain(cells).collect()
        }),
    );
    // From there on, no number of ranks is faster by a tenth.
    let levels_off = |time: Field| {
        let best = all.iter().map(time).fold(f64::INFINITY, f64::min);
        let first = all.iter().find(|times| time(times) <= best * 1.1);
        first.map_or(0, |times| times.ranks)
    };
    let of_plan = levels_off(FIELDS[0].1);
    let items = all[0].items;
    page.compare([
        Comparison::simulated("levels off from p, treefold's plan", of_plan)
            .published(640_u64)
            .because("a fold several times as fast leaves less to share out: messages between nodes outweigh it sooner"),
        Comparison::simulated("items a rank there", items / of_plan.max(1))
            .published("about 33000"),
        Comparison::simulated("levels off from p, left-to-right + allreduce", levels_off(FIELDS[1].1)),
        Comparison::simulated("levels off from p, Algorithm 1", levels_off(FIELDS[2].1))
            .published(640_u64)
            .because("its critical path takes all messages for those within a node"),
    ]);
}

/// The rest of Figure 3.4: what waits for what in Algorithm 1, at the thesis' number of ranks.
pub(super) fn critical_paths(page: &mut Page) -> Result<(), Error> {
    page.heading("p = 256, simulated");
    page.paragraph(
        "The critical path of Algorithm 1: each rank works on one thing at a time, a message takes 281 ns, an addition 4.15 ns (eq. 3.7's constants).",
    );
    page.table(
        ["distribution", "critical path, us"],
        Scheme::ALL
            .iter()
            .map(|&scheme| vec![format!("`{scheme}`"), digits(path_us(scheme))]),
    );
    let (even, optimized) = (path_us(Scheme::Upper), path_us(Scheme::Optimized));
    page.compare([
        Comparison::simulated("gain of optimized over even, us", even - optimized)
            .published("about 4"),
        Comparison::simulated("time with optimized over even", optimized / even)
            .published(0.82)
            .because("18 % less, says the abstract"),
    ]);
    Ok(())
}

//! Figures 2, 3 and 4: simulated times of topology-aware reductions relative to flat ones.

use harness::Error;
use harness::markdown::digits;
use harness::plot::{Axis, Line};
use schedule::{Collective, simulate_unordered};

use super::{FACTORS, NODE_RANKS, aware, describe, describe_algorithms, flat, machine};
use crate::Context;
use crate::page::Page;
use crate::said::{count, line, span};

/// A reduce to the paper's root.
const REDUCE: Collective = Collective::Reduce { root: 0 };

/// The ratios for one length of row on one number of ranks.
#[derive(Clone, Copy, Debug)]
struct RatioPoint {
    ranks: usize,
    doubles: usize,
    /// The times with x2, x4 and x8, divided by the flat schedule's, for ranks side by side and for ranks dealt out.
    ratios: [[f64; 3]; 2],
}

impl RatioPoint {
    fn of(collective: Collective, ranks: usize, doubles: usize) -> Self {
        let ratios = [false, true].map(|is_dealt| {
            let time = |schedule, assumed| {
                let machine = machine(ranks, assumed, is_dealt);
                simulate_unordered(&schedule, &machine, doubles as f64 * 8.0).time_ns
            };
            let flat_ns = time(flat(collective, ranks, doubles), 1);
            let aware = |factor| aware(collective, ranks, doubles, factor);
            FACTORS.map(|factor| time(aware(factor), factor) / flat_ns)
        });
        Self {
            ranks,
            doubles,
            ratios,
        }
    }

    /// Whether there is more than one node.
    fn is_beyond_node(&self) -> bool {
        self.ranks > NODE_RANKS
    }

    /// The time with x8, divided by the flat schedule's.
    fn eight(&self, placement: usize) -> f64 {
        self.ratios[placement][2]
    }
}

/// The shortest row such that it and all longer rows are faster with x8 than with the flat schedule, whatever the number of nodes above 1.
fn wins_from(points: &[RatioPoint], placement: usize) -> String {
    let beyond_node = points.iter().filter(|point| point.is_beyond_node());
    let loses = beyond_node.filter(|point| point.eight(placement) >= 1.0);
    let longest = loses.map(|point| point.doubles).max();
    let widths = points.iter().map(|point| point.doubles);
    let first = widths
        .filter(|&width| longest.is_none_or(|longest| width > longest))
        .min();
    first.map_or("never".to_owned(), |first| format!("{first} doubles"))
}

/// The numbers of ranks in Figures 2 and 3.
const RANKS: [usize; 4] = [8, 64, 512, 2048];

/// The rows of Figure 4, in doubles. The paper gives the lengths of the first (4 Kbytes) and the last (8 Mbytes), not of the two between.
const WIDTHS: [(&str, usize); 4] = [("a", 512), ("b", 32_768), ("c", 524_288), ("d", 1_048_576)];

/// Placements: side by side, or dealt out round-robin.
const PLACEMENTS: [(usize, &str); 2] = [(0, "side by side"), (1, "dealt out")];

/// The lengths of rows, from 1 to 1,048,576 doubles; fewer in a quick run.
fn widths(quick: bool) -> Vec<usize> {
    let all = (0..=20).filter(|log| log % 2 == 0 || [9, 15, 19].contains(log));
    let few = |log: &u32| !quick || [0, 9, 15, 19, 20].contains(log);
    all.filter(few).map(|log| 1 << log).collect()
}

/// The numbers of ranks of communicators; in a quick run only the small ones.
fn sizes(all: &[usize], quick: bool) -> Vec<usize> {
    let most = if quick { 64 } else { usize::MAX };
    all.iter().copied().filter(|&ranks| ranks <= most).collect()
}

/// Draws the ratios for all factors and placements, over a horizontal axis.
fn draw(
    page: &mut Page,
    (part, of): (&str, &str),
    points: &[RatioPoint],
    axis: Axis,
    x: impl Fn(&RatioPoint) -> usize,
) {
    let mut lines = Vec::new();
    for (placement, name) in PLACEMENTS {
        lines.extend((0..FACTORS.len()).map(|factor| {
            line(format!("x{}, {name}", FACTORS[factor]), points, |point| {
                (x(point) as f64, point.ratios[placement][factor])
            })
        }));
    }
    lines.push(Line::level("flat", 1.0));
    page.draw(
        part,
        format!(
            "Simulated {of}: time over the flat schedule's, if x2, x4 or x8 ranks a node are assumed"
        ),
        axis,
        Axis::linear("time over the flat schedule's, ratio"),
        lines,
    );
}

/// Draws one picture for each number of ranks.
fn by_width(context: &Context<'_>, page: &mut Page, name: &str, of: Collective) -> Vec<RatioPoint> {
    describe(page);
    describe_algorithms(page);
    let mut points = Vec::new();
    for ranks in sizes(&RANKS, context.settings.quick) {
        let own = widths(context.settings.quick).into_iter();
        let own = own.map(|doubles| RatioPoint::of(of, ranks, doubles));
        let own: Vec<RatioPoint> = own.collect();
        let (part, of) = (ranks.to_string(), format!("{name} on {ranks} ranks"));
        let axis = Axis::doublings("row, doubles");
        draw(page, (&part, &of), &own, axis, |point| point.doubles);
        points.extend(own);
    }
    points
}

/// An explanation of the times.
const PLACEMENT: &str = "Placement decides. If ranks are side by side, the flat schedule halves rows within the node until each rank has an eighth, and all ranks of the node share the sending to other nodes; with two levels, one \
    rank alone sends the same amount, after more rounds within the node. If ranks are dealt out round-robin, the flat schedule's first rounds, whose messages are the longest, are between nodes. As the published ratios of \
    long rows are below 1, ranks were dealt out, or something that is not simulated limited the flat schedule.";

/// Simulates Figure 2.
pub(super) fn reduce(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 2, topology and MPI_Reduce (simulated)");
    let points = by_width(context, page, "reduce", REDUCE);
    let node = points.iter().filter(|point| point.ranks == NODE_RANKS);
    page.compare(format!(
        "8 ranks, all lengths: ratio of times | minimal difference | {} | within one node, two levels of reduce-scatter and gather have more rounds, and send more, than one level; only x8 equals the flat schedule",
        span(node.flat_map(|point| point.ratios[0]))
    ));
    let most = points.iter().map(|point| point.ranks).max().unwrap_or(0);
    let whys_from = [
        "the flat schedule, too, communicates within nodes first",
        "the latency between nodes matters for short rows, too",
    ];
    let contention =
        "a node's ranks share its port, but the simulated network and memory have no contention";
    let whys = whys_from.into_iter().zip(["as above", contention]);
    for ((placement, name), (why_from, why_speed)) in PLACEMENTS.into_iter().zip(whys) {
        let speed = |point: &&RatioPoint| 1.0 / point.eight(placement);
        let is_published = |point: &&RatioPoint| point.is_beyond_node() && point.doubles == 32_768;
        let published = points.iter().filter(is_published);
        let speeds = span(published.map(|point| speed(&point)));
        let largest = points.iter().filter(|point| point.ranks == most);
        let best = largest.max_by(|a, b| speed(a).total_cmp(&speed(b)));
        let (best, doubles) = best.map_or((f64::NAN, 0), |point| (speed(&point), point.doubles));
        page.compare(format!(
            "{name}: shortest row from which x8 is faster on all communicators of several nodes | 512 doubles | {} | {why_from}
            {name}: x8, 32,768 doubles: speed-up | 2.5 to 5 | {speeds} | {why_speed}
            {name}: x8, {most} ranks: greatest speed-up | up to 4 on 2048 ranks, for long rows | {}, with {doubles} doubles | {why_speed}",
            wins_from(&points, placement),
            digits(best)
        ));
    }
    page.text(PLACEMENT);
    Ok(())
}

/// Simulates Figure 3.
pub(super) fn allreduce(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 3, topology and MPI_Allreduce (simulated)");
    let points = by_width(context, page, "allreduce", Collective::Allreduce);
    let beyond_node = points.iter().filter(|point| point.is_beyond_node());
    let whys = [
        "the flat schedule, too, communicates within nodes first",
        "with x2 and x4, more ranks of a node work on long rows between nodes, and the simulated network has no contention behind a node's port",
    ];
    for ((placement, name), why) in PLACEMENTS.into_iter().zip(whys) {
        let ratios = |ranks: Option<usize>| {
            let is_long = |point: &&RatioPoint| point.doubles >= 512;
            let long = beyond_node.clone().filter(is_long);
            let long = long.filter(|point| ranks.is_none_or(|ranks| point.ranks == ranks));
            span(long.map(|point| point.eight(placement)))
        };
        page.compare(format!(
            "{name}: x8, 512 doubles and more, several nodes: ratio of times | around 0.5, independent of the number of ranks | {} | {why}",
            ratios(None)
        ));
        let sizes = sizes(&RANKS, context.settings.quick).into_iter();
        for ranks in sizes.filter(|&ranks| ranks > NODE_RANKS) {
            page.compare(format!(
                "{name}: x8, 512 doubles and more, {ranks} ranks: ratio of times | – | {}",
                ratios(Some(ranks))
            ));
        }
        let is_best = |point: &&RatioPoint| {
            let [two, four, eight] = point.ratios[placement];
            eight <= two && eight <= four
        };
        page.compare(format!(
            "{name}: x8 is the fastest of x2, x4, x8 | in all cases | in {} of {} cases | {why}",
            beyond_node.clone().filter(is_best).count(),
            beyond_node.clone().count()
        ));
    }
    page.text(PLACEMENT);
    Ok(())
}

/// The paper's claims about Figure 4: ranks, doubles, the published ratio, and why our ratio differs if ranks are dealt out.
const CLAIMS: [(usize, usize, &str, &str); 5] = [
    (
        16,
        512,
        "minimal impact",
        "the flat schedule has more rounds between nodes",
    ),
    (
        1024,
        512,
        "minimal impact",
        "the flat schedule has more rounds between nodes",
    ),
    (16, 524_288, "about 0.65", ""),
    (1024, 524_288, "about 0.35", PORT),
    (2048, 1_048_576, "0.25 in some cases", PORT),
];
const PORT: &str =
    "the simulated network has no contention behind a node's port, so more nodes do not slow it";

/// Simulates Figure 4.
pub(super) fn over_ranks(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figure 4, MPI_Reduce against system size (simulated)");
    describe(page);
    describe_algorithms(page);
    let all: Vec<usize> = (3..=11).map(|log| 1 << log).collect();
    let mut points = Vec::new();
    for (part, doubles) in WIDTHS {
        let own = sizes(&all, context.settings.quick).into_iter();
        let own = own.map(|ranks| RatioPoint::of(REDUCE, ranks, doubles));
        let own: Vec<RatioPoint> = own.collect();
        let of = format!("reduce of {} doubles", count(doubles));
        let axis = Axis::doublings("p, ranks");
        draw(page, (part, &of), &own, axis, |point| point.ranks);
        points.extend(own);
    }
    for (placement, name) in PLACEMENTS {
        for (ranks, doubles, published, why) in CLAIMS {
            let is_it = |point: &&RatioPoint| (point.ranks, point.doubles) == (ranks, doubles);
            let Some(point) = points.iter().find(is_it) else {
                continue;
            };
            let within = "the flat schedule, too, communicates within nodes first";
            let why = if placement == 0 { within } else { why };
            page.compare(format!(
                "{name}: x8, {ranks} ranks, {doubles} doubles: ratio of times | {published} | {} | {why}",
                point.eight(placement)
            ));
        }
    }
    Ok(())
}

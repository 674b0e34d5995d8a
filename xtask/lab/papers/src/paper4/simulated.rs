//! Figures 7 to 14: the paper's algorithms on simulations of its two clusters, whose links are assumed, not published.

use distribution::Distribution;
use harness::Error;
use harness::markdown::digits;
use harness::plot::{Axis, Line};
use schedule::{Algorithm, Machine, Schedule, SharedPort, simulate, simulate_unordered};

use super::{allreduce, smallest_ports};
use crate::Context;
use crate::cluster::{Cluster, fastest, rows_of};
use crate::page::Page;
use crate::said::{joined, least, line, mean, most};

/// The assumed link between two sockets of a node. The links between nodes are assumed, too.
const SOCKETS: [f64; 2] = [700.0, 0.25];

/// A machine of the paper, with one process per socket, two per node.
struct Nodes {
    name: &'static str,
    part: &'static str,
    links: Cluster,
    most: usize,
    /// The published longest times of Bruck's algorithm for sums of one integer and of 255 doubles, in microseconds.
    bruck_us: [f64; 2],
}

const CLUSTERS: [Nodes; 2] = [
    Nodes {
        name: "Cluster 1 (14 nodes, InfiniBand QDR)",
        part: "cluster-1",
        links: Cluster::new(SOCKETS, [1500.0, 0.31], 0.2),
        most: 28,
        bruck_us: [10.0, 30.0],
    },
    Nodes {
        name: "Cluster 2 (InfiniBand FDR10)",
        part: "cluster-2",
        links: Cluster::new(SOCKETS, [1300.0, 0.21], 0.2),
        most: 96,
        bruck_us: [16.0, 27.0],
    },
];

/// The names of the paper's algorithms, and the algorithms' places in arrays.
const NAMES: [&str; 4] = [
    "binomial spanning tree",
    "pairwise exchange",
    "n-way dissemination, smallest n",
    "Bruck, n = 5",
];
const TREE: usize = 0;
const EXCHANGE: usize = 1;
const DISSEMINATION: usize = 2;
const BRUCK: usize = 3;

/// The schedules of the algorithms, and how many messages a rank sends at once.
fn schedules(ranks: usize) -> [(Schedule, usize); 4] {
    let of = |algorithm, ports| (allreduce(algorithm, Some(ports), ranks), ports);
    [
        of(Algorithm::Binomial, 1),
        of(Algorithm::PairwiseExchange, 1),
        of(Algorithm::Dissemination, smallest_ports(ranks)),
        of(Algorithm::Bruck, 5),
    ]
}

/// How the messages of a round leave a process: all at once, so that their latencies overlap, or one after the other.
const POSTINGS: [(bool, &str, &str); 2] = [
    (true, "n messages at once", "at once"),
    (false, "one message after another", "in turn"),
];

/// A reduced row: its name, its part of a picture's name, the algorithm that the paper finds fastest, and how often the paper finds other
/// algorithms faster than the tree; the row's bytes; and the place of that fastest algorithm in [`NAMES`].
type Row = ([&'static str; 4], f64, usize);
const ROWS: [Row; 2] = [
    (["one integer", "integer", "Bruck", "often"], 4.0, BRUCK),
    (
        ["255 doubles", "doubles", "pairwise exchange", "always"],
        2040.0,
        EXCHANGE,
    ),
];

/// All algorithms' times on some processes, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct OrderedTimes {
    ranks: usize,
    /// The times if messages have one row. For `ordered_ns`, messages have as many rows as the tree order needs.
    unordered_ns: [f64; 4],
    ordered_ns: [f64; 4],
}

impl OrderedTimes {
    fn of(cluster: &Nodes, is_at_once: bool, ranks: usize, bytes: f64) -> Self {
        let distribution = Distribution::lower(ranks as u64, ranks).expect("there are ranks");
        let rows = rows_of(&distribution);
        let times = schedules(ranks).map(|(schedule, ports)| {
            let machine = Machine {
                ports: if is_at_once { ports } else { 1 },
                shared_port: SharedPort::Node,
                ..cluster.links.machine(2)
            };
            [
                simulate_unordered(&schedule, &machine, bytes).time_ns,
                simulate(&schedule, &machine, bytes, &rows).time_ns,
            ]
        });
        Self {
            ranks,
            unordered_ns: times.map(|time| time[0]),
            ordered_ns: times.map(|time| time[1]),
        }
    }
}

/// Simulates both rows on both clusters.
pub(super) fn clusters(context: &Context<'_>, page: &mut Page) -> Result<(), Error> {
    page.title("Figures 7 to 14, allreduce on two clusters (simulated)");
    page.text(
        "Each node has two sockets with one process each. Links are assumed, not published. The maximum is simulated with the sum's γ, so the two figures of each pair (7 and 8, 9 and 10, 11 and 12, 13 and 14) \
         have the same times. A node has one port, through which its processes' messages go one after another. Two extremes of what it costs a sender to post a message are shown: nothing beyond the time of its \
         bytes (n messages at once), or a whole latency (one after another).",
    );
    for cluster in &CLUSTERS {
        let (name, words) = (cluster.name, cluster.links.words());
        page.text(format!("## {name}\n\n{words}. P = 2 to {}.", cluster.most));
        let last = context.quick_or(28, cluster.most);
        let mut all_claims = Vec::new();
        for (row, bruck_us) in ROWS.into_iter().zip(cluster.bruck_us) {
            let ([row_name, part, ..], bytes, _) = row;
            let mut lines = Vec::new();
            for (is_at_once, posting, short) in POSTINGS {
                let times =
                    (2..=last).map(|ranks| OrderedTimes::of(cluster, is_at_once, ranks, bytes));
                let times: Vec<OrderedTimes> = times.collect();
                lines.extend(drawn(&times, is_at_once, short));
                all_claims.push(claims(cluster, row, posting, bruck_us, &times));
            }
            let ends = lines
                .iter()
                .filter_map(|line| Some((&*line.name, line.points.last()?.1)));
            let title = format!("On {last} processes, {} is the fastest", fastest(ends).0);
            page.draw(
                &format!("{}-{part}", cluster.part),
                format!(
                    "Simulated allreduce of {row_name}, {name}; messages of a round at once or in turn"
                ),
                Axis::linear("P, processes"),
                Axis::linear("time, µs"),
                lines,
            );
            page.says(title);
        }
        page.compare(all_claims.join("\n"));
    }
    page.text(
        "## What the times say\n\nFor one integer, the algorithm with the fewest rounds is the fastest if the latencies of a round's messages overlap; if not, Bruck with n = 5 waits for up to five latencies per round. \
         As the paper found Bruck the fastest, they overlapped on its clusters. For 255 doubles, bytes matter: Bruck sends up to five rows per round through a port that two processes share, pairwise exchange one. \
         In tree order, ranges of ranks that have gaps, or go around the end, need several rows; that slows down these algorithms, but not the tree.",
    );
    Ok(())
}

/// The lines of one plot. Algorithms that send one message a round have the same times for both postings, and are drawn once.
fn drawn(times: &[OrderedTimes], is_at_once: bool, posting: &str) -> Vec<Line> {
    let first = if is_at_once { TREE } else { DISSEMINATION };
    let lines = (first..NAMES.len()).map(|place| {
        let name = match place {
            DISSEMINATION => format!("dissemination, {posting}"),
            BRUCK => format!("{}, {posting}", NAMES[place]),
            _ => NAMES[place].to_owned(),
        };
        line(name, times, |times| {
            (times.ranks as f64, times.unordered_ns[place] / 1e3)
        })
    });
    lines.collect()
}

/// The paper's claims for one length of row.
fn claims(
    cluster: &Nodes,
    row: Row,
    posting: &str,
    bruck_us: f64,
    times: &[OrderedTimes],
) -> String {
    let ([name, _, best_name, often], _, best) = row;
    let (cluster, _) = cluster.name.split_once(" (").expect("a description");
    let name = format!("{cluster}: {name}, {posting}");
    let of = |is_so: &dyn Fn(&[f64; 4]) -> bool| {
        let count = times.iter().filter(|times| is_so(&times.unordered_ns));
        format!("for {} of {} P", count.count(), times.len())
    };
    let fastest = |place: usize| of(&|times_ns| times_ns[place] <= least(*times_ns));
    let others = (0..4).filter(|&other| other != best);
    let others = others.map(|other| format!("{} {}", NAMES[other], fastest(other)));
    let mut rows = format!(
        "{name}: {best_name} is the fastest | overall | {} | others are fastest, or equally fast: {}
        {name}: Bruck's longest time, µs | {bruck_us} | {} | links are assumed, and a GASPI library's own time is not simulated",
        fastest(best),
        joined(others, "; "),
        most(times.iter().map(|times| times.unordered_ns[BRUCK])) / 1e3
    );
    for other in [EXCHANGE, DISSEMINATION, BRUCK] {
        rows += &format!(
            "\n{name}: {} is faster than the tree | {often} | {}",
            NAMES[other],
            of(&|times_ns| times_ns[other] < times_ns[TREE])
        );
    }
    let change = |place: usize| {
        let times_ns = times.iter().map(|times| times.unordered_ns[place]);
        let pairs = times_ns.clone().zip(times_ns.skip(1));
        digits(100.0 * mean(pairs.map(|(from, to)| (to / from - 1.0).abs())))
    };
    let costs = (0..4).map(|place| {
        let ratio = |times: &OrderedTimes| times.ordered_ns[place] / times.unordered_ns[place];
        let ratio = digits(mean(times.iter().map(ratio)));
        format!("{}: {ratio}", NAMES[place])
    });
    rows + &format!(
        "\n{name}: mean change from P to P + 1, dissemination | very volatile | {} % | because n changes with P; Bruck, with fixed n: {} %
        {name}: mean time in tree order over that in any order | – | {}",
        change(DISSEMINATION),
        change(BRUCK),
        joined(costs, "; ")
    )
}

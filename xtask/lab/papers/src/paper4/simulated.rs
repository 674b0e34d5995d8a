//! Figures 7 to 14: the paper's algorithms on its two clusters, which are simulated: their links are assumed, not published.

use std::ops::Range;

use harness::Error;
use harness::markdown::digits;
use harness::plot::Line;
use schedule::{Algorithm, Machine, Schedule, SharedPort, simulate, simulate_unordered};
use tree_index::Tree;

use super::{allreduce, smallest_ports};
use crate::cluster::Cluster;
use crate::said::{least, line, mean, most, part_of, times_at_the_end};
use crate::{Context, Values};

/// A machine of the paper, with one process a socket, two a node.
struct Nodes {
    name: &'static str,
    part: &'static str,
    links: Cluster,
    most: usize,
    /// Bruck's longest times, of one integer and of 255 doubles by sum, in microseconds.
    bruck_us: [f64; 2],
}

/// Two sockets of a node: assumed, as are the links between nodes.
const SOCKETS: [f64; 2] = [700.0, 0.25];

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

/// An algorithm as the paper runs it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Variant {
    Binomial,
    Exchange,
    /// With the smallest n that adapts.
    Dissemination,
    /// With n = 5.
    Bruck,
}

impl Variant {
    const ALL: [Self; 4] = [
        Self::Binomial,
        Self::Exchange,
        Self::Dissemination,
        Self::Bruck,
    ];

    fn name(self) -> &'static str {
        match self {
            Self::Binomial => "binomial spanning tree",
            Self::Exchange => "pairwise exchange",
            Self::Dissemination => "n-way dissemination, smallest n",
            Self::Bruck => "Bruck, n = 5",
        }
    }

    /// As at the end of a line.
    fn short_name(self) -> &'static str {
        match self {
            Self::Dissemination => "dissemination",
            _ => self.name(),
        }
    }

    fn schedule(self, ranks: usize) -> (Schedule, usize) {
        let (algorithm, ports) = match self {
            Self::Binomial => (Algorithm::Binomial, 1),
            Self::Exchange => (Algorithm::PairwiseExchange, 1),
            Self::Dissemination => (Algorithm::Dissemination, smallest_ports(ranks)),
            Self::Bruck => (Algorithm::Bruck, 5),
        };
        (allreduce(algorithm, Some(ports), ranks), ports)
    }
}

/// How the messages of a round leave a process: all at once, so that their latencies overlap, or one after the other.
#[derive(Clone, Copy)]
struct Posting {
    is_at_once: bool,
    name: &'static str,
    /// As at the end of a line.
    short_name: &'static str,
}

const POSTINGS: [Posting; 2] = [
    Posting {
        is_at_once: true,
        name: "n messages at once",
        short_name: "at once",
    },
    Posting {
        is_at_once: false,
        name: "one message after another",
        short_name: "in turn",
    },
];

/// All variants' times, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Times {
    ranks: usize,
    /// One row a message.
    unordered_ns: [f64; 4],
    /// As many as the tree needs.
    ordered_ns: [f64; 4],
}

impl Times {
    fn of(cluster: &Nodes, posting: Posting, ranks: usize, bytes: f64) -> Self {
        let tree = Tree::new(ranks as u64);
        let rows = |ranks: Range<usize>| {
            u64::from(tree.fragment_len(ranks.start as u64..ranks.end as u64))
        };
        let times = Variant::ALL.map(|variant| {
            let (schedule, ports) = variant.schedule(ranks);
            let machine = Machine {
                ports: if posting.is_at_once { ports } else { 1 },
                shared_port: SharedPort::Node,
                ..cluster.links.machine(2)
            };
            (
                simulate_unordered(&schedule, &machine, bytes).time_ns,
                simulate(&schedule, &machine, bytes, &rows).time_ns,
            )
        });
        Self {
            ranks,
            unordered_ns: times.map(|time| time.0),
            ordered_ns: times.map(|time| time.1),
        }
    }

    /// Whether it takes least.
    fn is_fastest(&self, variant: Variant) -> bool {
        self.of_any_ns(variant) <= least(self.unordered_ns)
    }

    /// The time of one variant in any order.
    fn of_any_ns(&self, variant: Variant) -> f64 {
        self.unordered_ns[variant as usize]
    }

    /// The time of one variant in one order.
    fn in_order_ns(&self, variant: Variant) -> f64 {
        self.ordered_ns[variant as usize]
    }
}

/// A row that is reduced, and what the paper says of it.
struct Row {
    name: &'static str,
    part: &'static str,
    bytes: f64,
    /// The fastest, and how it is called.
    best: (Variant, &'static str),
    /// How often others are faster than the tree.
    often: &'static str,
}

/// One integer, and 255 doubles.
const ROWS: [Row; 2] = [
    Row {
        name: "one integer",
        part: "integer",
        bytes: 4.0,
        best: (Variant::Bruck, "Bruck"),
        often: "often",
    },
    Row {
        name: "255 doubles",
        part: "doubles",
        bytes: 2040.0,
        best: (Variant::Exchange, "pairwise exchange"),
        often: "always",
    },
];

/// Both clusters, both rows.
pub(super) fn clusters(context: &Context<'_>, page: &mut Values) -> Result<(), Error> {
    for cluster in &CLUSTERS {
        let Cluster { near, far } = cluster.links;
        let page = page.case("cluster");
        page.set("cluster", cluster.name).set("most", cluster.most);
        for (name, link) in [("near", near), ("far", far)] {
            page.set(&format!("{name} α"), link.latency_ns);
            page.set(&format!("{name} β"), link.byte_ns);
        }
        page.set("γ", near.combine_byte_ns);
        let most = context.quick_or(28, cluster.most);
        for (row, bruck_us) in ROWS.iter().zip(cluster.bruck_us) {
            let page = page.case("row");
            let mut lines = Vec::new();
            for posting in POSTINGS {
                let times = (2..=most).map(|ranks| Times::of(cluster, posting, ranks, row.bytes));
                let times: Vec<Times> = times.collect();
                lines.extend(drawn(&times, posting));
                let case = page.case("posting");
                case.set("posting", posting.name);
                case.set("published", bruck_us).set("how often", row.often);
                case.set("best", row.best.1);
                claims(case, row.best.0, &times);
            }
            let part = format!("{}-{}", cluster.part, row.part);
            page.set("row", row.name).set("last", most);
            page.set("ends", times_at_the_end(&lines));
            page.draw(&part, lines);
            page.set("part", part);
        }
    }
    Ok(())
}

/// The lines of one plot: what has one message a round is the same for both postings.
fn drawn(times: &[Times], posting: Posting) -> impl Iterator<Item = Line> {
    let has_choice = |variant: &Variant| matches!(variant, Variant::Dissemination | Variant::Bruck);
    let variants = Variant::ALL.into_iter();
    let variants = variants.filter(move |variant| posting.is_at_once || has_choice(variant));
    variants.map(move |variant| {
        let name = if has_choice(&variant) {
            format!("{}, {}", variant.short_name(), posting.short_name)
        } else {
            variant.name().to_owned()
        };
        let points = times.iter();
        line(name, points, |times| {
            (times.ranks as f64, times.of_any_ns(variant) / 1e3)
        })
    })
}

/// What the paper says of one row's length.
fn claims(page: &mut Values, best: Variant, times: &[Times]) {
    let of = |is_so: &dyn Fn(&Times) -> bool| {
        let count = times.iter().filter(|times| is_so(times)).count();
        format!("for {} P", part_of(count, times.len()))
    };
    let fastest = |variant| of(&|times| times.is_fastest(variant));
    page.set("fastest", fastest(best));
    let others = Variant::ALL.into_iter().filter(|&variant| variant != best);
    let others = others.map(|variant| format!("{} {}", variant.name(), fastest(variant)));
    page.set("others", others.collect::<Vec<_>>().join("; "));
    let longest_ns = most(times.iter().map(|times| times.of_any_ns(Variant::Bruck)));
    page.set("longest", longest_ns / 1e3);
    let [_, others @ ..] = Variant::ALL;
    for (name, variant) in ["exchange", "dissemination", "bruck"]
        .into_iter()
        .zip(others)
    {
        let faster = of(&|times| times.of_any_ns(variant) < times.of_any_ns(Variant::Binomial));
        page.set(&format!("faster {name}"), faster);
    }
    let change = |variant: Variant| {
        let times_ns = times.iter().map(|times| times.of_any_ns(variant));
        let pairs = times_ns.clone().zip(times_ns.skip(1));
        100.0 * mean(pairs.map(|(from, to)| (to / from - 1.0).abs()))
    };
    page.set("dissemination's change", change(Variant::Dissemination));
    page.set("Bruck's change", change(Variant::Bruck));
    let costs = Variant::ALL.map(|variant| {
        let ratios = times.iter();
        let ratios = ratios.map(|times| times.in_order_ns(variant) / times.of_any_ns(variant));
        format!("{}: {}", variant.name(), digits(mean(ratios)))
    });
    page.set("costs", costs.join("; "));
}

#[cfg(test)]
mod tests {
    use super::{CLUSTERS, POSTINGS, Times, Variant};

    #[test]
    fn one_message_a_round_is_the_same_for_both_postings() {
        for ranks in [2, 7, 28] {
            let [at_once, in_turn] =
                POSTINGS.map(|posting| Times::of(&CLUSTERS[0], posting, ranks, 2040.0));
            for variant in Variant::ALL {
                let [a, b] = [&at_once, &in_turn].map(|times| times.of_any_ns(variant));
                match variant {
                    Variant::Binomial | Variant::Exchange => {
                        assert_eq!(a.to_bits(), b.to_bits());
                    }
                    _ => assert!(a <= b),
                }
            }
        }
    }
}

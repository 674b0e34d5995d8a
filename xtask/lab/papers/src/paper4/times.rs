//! The paper's algorithms on its two clusters, which are simulated: their links are assumed, not published.

use std::ops::Range;

use schedule::{Algorithm, Machine, Schedule, SharedPort, simulate, simulate_unordered};
use tree_index::Tree;

use super::{allreduce, smallest_ports};
use crate::cluster::Cluster;
use crate::said::least;

/// A machine of the paper, with one process a socket, two a node.
pub(super) struct Nodes {
    pub(super) name: &'static str,
    pub(super) part: &'static str,
    pub(super) links: Cluster,
    pub(super) most: usize,
    /// Bruck's longest times, of one integer and of 255 doubles by sum, in microseconds.
    pub(super) bruck_us: [f64; 2],
}

/// Two sockets of a node: assumed, as are the links between nodes.
const SOCKETS: [f64; 2] = [700.0, 0.25];

pub(super) const CLUSTERS: [Nodes; 2] = [
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
pub(super) enum Variant {
    Binomial,
    Exchange,
    /// With the smallest n that adapts.
    Dissemination,
    /// With n = 5.
    Bruck,
}

impl Variant {
    pub(super) const ALL: [Self; 4] = [
        Self::Binomial,
        Self::Exchange,
        Self::Dissemination,
        Self::Bruck,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Binomial => "binomial spanning tree",
            Self::Exchange => "pairwise exchange",
            Self::Dissemination => "n-way dissemination, smallest n",
            Self::Bruck => "Bruck, n = 5",
        }
    }

    /// As at the end of a line.
    pub(super) fn short_name(self) -> &'static str {
        match self {
            Self::Dissemination => "dissemination",
            _ => self.name(),
        }
    }

    pub(super) fn schedule(self, ranks: usize) -> (Schedule, usize) {
        let (algorithm, ports) = match self {
            Self::Binomial => (Algorithm::Binomial, 1),
            Self::Exchange => (Algorithm::PairwiseExchange, 1),
            Self::Dissemination => (Algorithm::Dissemination, smallest_ports(ranks)),
            Self::Bruck => (Algorithm::Bruck, 5),
        };
        (allreduce(algorithm, Some(ports), ranks), ports)
    }
}

/// How the messages of a round leave a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Posting {
    /// All at once: their latencies overlap.
    AtOnce,
    /// One after the other.
    InTurn,
}

impl Posting {
    pub(super) const ALL: [Self; 2] = [Self::AtOnce, Self::InTurn];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::AtOnce => "n messages at once",
            Self::InTurn => "one message after another",
        }
    }

    /// As at the end of a line.
    pub(super) fn short_name(self) -> &'static str {
        match self {
            Self::AtOnce => "at once",
            Self::InTurn => "in turn",
        }
    }
}

/// All variants' times, in nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Times {
    pub(super) ranks: usize,
    /// One row a message.
    unordered_ns: [f64; 4],
    /// As many as the tree needs.
    ordered_ns: [f64; 4],
}

impl Times {
    pub(super) fn of(cluster: &Nodes, posting: Posting, ranks: usize, bytes: f64) -> Self {
        let tree = Tree::new(ranks as u64);
        let rows = |ranks: Range<usize>| {
            u64::from(tree.fragment_len(ranks.start as u64..ranks.end as u64))
        };
        let times = Variant::ALL.map(|variant| {
            let (schedule, ports) = variant.schedule(ranks);
            let machine = Machine {
                ports: match posting {
                    Posting::AtOnce => ports,
                    Posting::InTurn => 1,
                },
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
    pub(super) fn is_fastest(&self, variant: Variant) -> bool {
        self.of_any_ns(variant) <= least(self.unordered_ns)
    }

    /// The time of one variant in any order.
    pub(super) fn of_any_ns(&self, variant: Variant) -> f64 {
        self.unordered_ns[variant as usize]
    }

    /// The time of one variant in one order.
    pub(super) fn in_order_ns(&self, variant: Variant) -> f64 {
        self.ordered_ns[variant as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::{CLUSTERS, Posting, Times, Variant};

    #[test]
    fn one_message_a_round_is_the_same_for_both_postings() {
        for ranks in [2, 7, 28] {
            let [at_once, in_turn] =
                Posting::ALL.map(|posting| Times::of(&CLUSTERS[0], posting, ranks, 2040.0));
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

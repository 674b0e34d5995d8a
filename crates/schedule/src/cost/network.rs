//! [`Network`], which has two kinds of links: within nodes and between nodes.

use std::fmt;

use super::link::{Link, Load, count};
use crate::catalogue::{Algorithm, Schedule};

/// The costs of messages between ranks that are grouped into nodes.
///
/// If each port passes one message, a round between nodes takes the time of one message. Each further message through a port
/// adds [`crowding_ns`](Network::crowding_ns) and the time of its bytes (the gap g of the LogP model).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Network {
    /// The link between two ranks of a node.
    pub near: Link,
    /// The link between two nodes.
    pub far: Link,
    /// The number of neighbouring ranks that form a node; the last node may have fewer.
    pub node_ranks: usize,
    /// The time that each further message through the same port adds to a round, without the time of its bytes, in nanoseconds; 0 if unknown.
    pub crowding_ns: f64,
    /// The number of ranks that share a port: the ranks of a node, or all ranks if they share cores.
    pub port_ranks: usize,
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            near,
            far,
            node_ranks,
            crowding_ns,
            port_ranks,
        } = self;
        if self.is_flat() {
            return write!(f, "links of {near}");
        }
        write!(
            f,
            "links of {near} within nodes, {far} between nodes; {crowding_ns} ns for each further message; {node_ranks} ranks per node, {port_ranks} per port"
        )
    }
}

/// A network whose links are all alike.
impl From<Link> for Network {
    fn from(link: Link) -> Self {
        Self {
            near: link,
            far: link,
            node_ranks: 1,
            crowding_ns: 0.0,
            port_ranks: 1,
        }
    }
}

impl Network {
    /// Whether all links are alike.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        self.near == self.far && self.crowding_ns == 0.0
    }

    /// The time of a round in which one of every `spacing` positions exchanges a message with a position `distance` away.
    fn round_ns(&self, distance: usize, spacing: usize, bytes: f64) -> f64 {
        // Partners are in one aligned block of 2 · `distance` positions. Either a node holds whole blocks, or some messages leave the node.
        if self.node_ranks.is_multiple_of(2 * distance) {
            return self.near.message_ns(bytes);
        }
        self.far_round_ns(count((self.port_ranks / spacing).max(1)), bytes)
    }

    /// The time of a round in which `messages` messages to other nodes pass through the same port.
    fn far_round_ns(&self, messages: f64, bytes: f64) -> f64 {
        let others = (messages - 1.0).max(0.0);
        self.far.message_ns(bytes) + others * (self.crowding_ns + self.far.byte_ns * bytes)
    }
}

impl Schedule {
    /// The time of an allreduce by this schedule, in nanoseconds, by closed formulas.
    ///
    /// On a network that is not flat, `direct`, `binomial`, `reduce-broadcast`, `recursive-doubling`, `rabenseifner` and
    /// `hierarchical` are computed round by round. For the other algorithms all links count as far and, except in `ring` and
    /// pipelines, all ranks count as senders in each round.
    #[must_use]
    pub fn predicted_ns(&self, load: Load, network: impl Into<Network>) -> f64 {
        let network = network.into();
        if network.is_flat() || self.ranks() <= network.node_ranks {
            return self.flat_ns(load, network.near);
        }
        self.far_ns(load, &network)
    }

    /// Computes [`predicted_ns`](Schedule::predicted_ns) for ranks on more than one node.
    fn far_ns(&self, load: Load, network: &Network) -> f64 {
        let ranks = self.ranks();
        let (row, fragment) = (load.row_bytes, load.row_bytes * load.rows);
        let combining = |bytes: f64| network.near.combine_byte_ns * bytes;
        // The time of a tree over positions that are `first`, 2 `first`, 4 `first`, … apart: fragments go up, and rows go down.
        let tree = |first: usize, rounds: u32| {
            let round = |round| {
                let distance = first << round;
                let time = |bytes| network.round_ns(distance, 2 * distance, bytes);
                time(fragment) + combining(fragment) + time(row)
            };
            (0..rounds).map(round).fold(0.0, |sum, time| sum + time)
        };
        // Unless the number of positions is a power of two, some positions act for two, so partners may be twice as far apart.
        let spread = |number: usize| if number.is_power_of_two() { 1 } else { 2 };
        // Recursive doubling among `number` positions, which are `first` apart.
        let doubling = |first: usize, number: usize| {
            let round =
                |round| network.round_ns((spread(number) * first) << round, first, fragment);
            let rounds = (0..number.ilog2()).map(round);
            let exchanged = rounds.fold(0.0, |sum, time| sum + time + combining(fragment));
            let folded = if number.is_power_of_two() {
                0.0
            } else {
                tree(first, 1)
            };
            exchanged + folded
        };
        let at_once = |first: usize, number: usize| {
            let others = count(number) - 1.0;
            let far = count(number - (network.node_ranks / first).clamp(1, number));
            let messages = count((network.port_ranks / first).max(1)) * far;
            network.far_round_ns(messages, fragment)
                + (others - far) * network.near.message_ns(fragment)
                + others * combining(fragment)
        };
        match self.algorithm() {
            Algorithm::Direct => at_once(1, ranks),
            Algorithm::Binomial | Algorithm::ReduceBroadcast => tree(1, log2_up(ranks)),
            Algorithm::RecursiveDoubling => doubling(1, ranks),
            Algorithm::Rabenseifner => {
                let round = |round: u32| {
                    let share = row / count(2 << round);
                    let time = |bytes| network.round_ns(spread(ranks) << round, 1, bytes);
                    time(share * load.rows) + combining(share * load.rows) + time(share)
                };
                let rounds = (0..ranks.ilog2()).map(round);
                let halved = rounds.fold(0.0, |sum, time| sum + time);
                if ranks.is_power_of_two() {
                    halved
                } else {
                    halved + tree(1, 1)
                }
            }
            Algorithm::Hierarchical => {
                let parameters = self.parameters();
                let node_ranks = parameters.node_ranks.min(ranks);
                let nodes = ranks.div_ceil(node_ranks);
                let between = match parameters.outer {
                    _ if nodes == 1 => 0.0,
                    Algorithm::Direct => at_once(node_ranks, nodes),
                    Algorithm::Binomial => tree(node_ranks, log2_up(nodes)),
                    _ => doubling(node_ranks, nodes),
                };
                let up = network.near.message_ns(fragment) + combining(fragment);
                let down = network.near.message_ns(row);
                between + f64::from(log2_up(node_ranks)) * (up + down)
            }
            algorithm if algorithm.is_pipelined() || algorithm == Algorithm::Ring => {
                self.flat_ns(load, network.far)
            }
            _ => {
                let others = count(network.port_ranks - 1);
                let crowding = f64::from(log2_up(ranks)) * others * network.crowding_ns;
                self.flat_ns(load, network.far) + crowding
            }
        }
    }
}

fn log2_up(number: usize) -> u32 {
    number.next_power_of_two().ilog2()
}

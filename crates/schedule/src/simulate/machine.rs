//! The machine that a schedule is simulated on.

use crate::cost::{Link, Network};

/// A machine: its links, nodes and ports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Machine {
    /// The link between ranks of the same node.
    pub near: Link,
    /// The link between nodes.
    pub far: Link,
    /// The number of ranks of a node; 1 if all links are far.
    pub node_ranks: usize,
    /// How many messages a rank can send, and how many it can receive, at the same time.
    pub ports: usize,
    /// Which ranks share one port to other nodes.
    pub shared_port: SharedPort,
    /// How long each message occupies a shared port in addition to the time of its bytes, in nanoseconds.
    pub port_message_ns: f64,
    /// Which ranks share a node.
    pub placement: Placement,
}

/// Which ranks share a port to other nodes. A port passes one message after the other in each direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedPort {
    /// No ranks: each has its own port.
    None,
    /// The ranks of a node.
    Node,
    /// All ranks, for example where simulated nodes share the cores of one machine.
    All,
}

/// Which ranks share a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Placement {
    /// Neighbouring ranks.
    Block,
    /// Ranks are dealt to the nodes round-robin.
    RoundRobin {
        /// The number of nodes.
        nodes: usize,
        /// How many neighbouring ranks a node gets at a time.
        ranks_at_once: usize,
    },
}

impl Machine {
    /// A machine whose links are all alike, with one port per rank.
    #[must_use]
    pub fn flat(link: Link) -> Self {
        Self {
            near: link,
            far: link,
            node_ranks: 1,
            ports: 1,
            shared_port: SharedPort::None,
            port_message_ns: 0.0,
            placement: Placement::Block,
        }
    }

    /// A machine with the links of `network`, for `ranks` ranks. Unless the network is flat, a rank's messages overlap, except in
    /// the port that its node shares.
    #[must_use]
    pub fn of(network: &Network, ranks: usize) -> Self {
        if network.is_flat() {
            return Self::flat(network.far);
        }
        Self {
            near: network.near,
            node_ranks: network.node_ranks,
            ports: ranks,
            shared_port: match network.port_ranks {
                port_ranks if port_ranks >= ranks => SharedPort::All,
                _ => SharedPort::Node,
            },
            port_message_ns: network.crowding_ns,
            ..Self::flat(network.far)
        }
    }

    /// The number of the port that a node uses.
    pub(super) fn port(&self, node: usize) -> usize {
        match self.shared_port {
            SharedPort::All => 0,
            SharedPort::None | SharedPort::Node => node,
        }
    }

    pub(super) fn node(&self, rank: usize) -> usize {
        match self.placement {
            Placement::Block => rank / self.node_ranks,
            Placement::RoundRobin {
                nodes,
                ranks_at_once,
            } => rank / ranks_at_once % nodes,
        }
    }

    pub(super) fn link(&self, a: usize, b: usize) -> &Link {
        if self.node(a) == self.node(b) {
            &self.near
        } else {
            &self.far
        }
    }
}

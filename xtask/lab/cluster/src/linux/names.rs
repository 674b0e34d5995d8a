//! What the parts of a cluster call nodes, and where they find them.

use std::net::Ipv4Addr;

/// The environment variable with the processes that keep the nodes, inside the cluster.
pub(super) const NODES_VARIABLE: &str = "TREEFOLD_CLUSTER_NODES";

/// Where a node has memory of its own. Temporary files are there, too.
pub(super) const MEMORY: &str = "/dev/shm";

/// A node's host name.
pub(super) fn name(number: usize) -> String {
    format!("node{number}")
}

/// A node's address.
pub(super) fn address(number: usize) -> Ipv4Addr {
    let host = u8::try_from(number + 1).expect("there are at most 64 nodes");
    Ipv4Addr::new(10, 77, 0, host)
}

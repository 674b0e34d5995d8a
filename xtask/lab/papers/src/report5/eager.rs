//! A reduce whose messages do not wait for their receivers.

use schedule::{Machine, Schedule};

use crate::cluster::{Run, link};

/// The time of a reduce to rank 0 along a tree, in nanoseconds, for rows of this number of bytes.
///
/// A message leaves when its sender reaches it, travels for α, and occupies the receiver's port for β per byte, one message after the other.
pub(super) fn reduce_ns(run: &Run, row_bytes: f64) -> f64 {
    let tree = Tree {
        schedule: run.schedule(1),
        machine: run.machine,
        row_bytes,
    };
    tree.done_ns(0)
}

struct Tree {
    schedule: Schedule,
    machine: Machine,
    row_bytes: f64,
}

impl Tree {
    /// When a rank has combined what is below it: its children's steps come before its own send, so they end the recursion at the leaves.
    fn done_ns(&self, rank: usize) -> f64 {
        let combine_ns = self.machine.near.combine_byte_ns * self.row_bytes;
        let (mut port_ns, mut done_ns) = (0.0_f64, 0.0_f64);
        for child in self.schedule.steps(rank).flat_map(|step| step.receives) {
            let link = link(&self.machine, rank, child.peer);
            let there_ns = self.done_ns(child.peer) + link.latency_ns;
            port_ns = port_ns.max(there_ns) + link.byte_ns * self.row_bytes;
            done_ns = done_ns.max(port_ns) + combine_ns;
        }
        done_ns
    }
}

#[cfg(test)]
mod tests {
    use schedule::{Algorithm, Collective, Link};

    use super::reduce_ns;
    use crate::cluster::Run;

    const LINK: Link = Link {
        latency_ns: 100.0,
        byte_ns: 1.0,
        combine_byte_ns: 0.5,
    };

    /// One message costs the same in both models; two children's latencies overlap.
    #[test]
    fn latencies_overlap() {
        let reduce = Collective::Reduce { root: 0 };
        let [chain, tree] = [Algorithm::LinearPipelined, Algorithm::Binary]
            .map(|algorithm| Run::flat(algorithm, reduce, 3, LINK));
        let same = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
        same(reduce_ns(&chain, 10.0), 230.0);
        same(chain.time_ns(10.0, 1), 230.0);
        // Both leaves' messages come at 100, and take 10 each; the second is combined after both.
        same(reduce_ns(&tree, 10.0), 125.0);
        same(tree.time_ns(10.0, 1), 230.0);
    }
}

//! Simulates Algorithm 1 by the rules of simulated schedules: a message of b bytes takes alpha + beta b of
//! its sender's and its receiver's port, combining takes gamma per byte, and a rank does one thing at a time.

use std::collections::HashMap;
use std::mem;

use distribution::Distribution;
use reduce::MessageBuffer;
use schedule::{Algorithm, Collective, Machine, Schedule, simulate};
use tree_index::{Tree, parent};

use crate::cluster::link;

/// Bytes of a value, and of the item number that travels with it.
const VALUE_BYTES: f64 = 8.0;
const ENTRY_BYTES: f64 = 16.0;

/// The time of an allreduce in nanoseconds, for ranks that fold an item in `item_ns`: Algorithm 1 with the published message buffer, and
/// a binomial tree that brings the result to all.
pub(super) fn allreduce_ns(distribution: &Distribution, machine: &Machine, item_ns: f64) -> f64 {
    let holder = distribution.rank_of(0);
    let back = Collective::Broadcast { root: holder };
    let back = Schedule::new(Algorithm::Binomial, back, distribution.ranks());
    let back = back.expect("the holder is a rank");
    let back_ns = simulate(&back, machine, VALUE_BYTES, &|_| 1).time_ns;
    reduce_ns(distribution, machine, item_ns) + back_ns
}

/// When the rank that owns item 0 has the root.
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
    /// Messages by their receivers: when they were begun, how long they take, and their items.
    under_way: Vec<Vec<(f64, f64, Vec<u64>)>>,
    /// The rank that works, the time there, and the rank for which values are buffered.
    rank: usize,
    now_ns: f64,
    to: usize,
    items: Vec<u64>,
}

impl Ranks<'_> {
    /// The rank begins. Returns when each value arrives there: a port takes one message after the other, as they come.
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

    /// Buffers a value until there are enough for one rank.
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

    /// The sender goes on when its port has sent.
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

    use super::{allreduce_ns, reduce_ns};
    use crate::cluster::link_of;

    const LINK: Link = link_of(100.0, 0.0, 0.5);

    fn lower(items: u64, ranks: usize) -> Distribution {
        Distribution::lower(items, ranks).expect("there are ranks")
    }

    /// Aligned shares are leaves of a binomial tree, and Algorithm 1 is a reduce along it.
    #[test]
    fn aligned_shares_take_what_a_binomial_tree_takes() {
        let machine = Machine::flat(LINK);
        for ranks in [1, 2, 8, 64] {
            let schedule = Schedule::new(Algorithm::Binomial, Collective::Allreduce, ranks);
            let schedule = schedule.expect("there are ranks");
            let binomial_ns = simulate(&schedule, &machine, 8.0, &|_| 1).time_ns;
            let ours_ns = allreduce_ns(&lower(4 * ranks as u64, ranks), &machine, 3.0);
            let off_ns = ours_ns - 12.0 - binomial_ns;
            assert!(off_ns.abs() < 1e-9, "{ranks}: {ours_ns}");
        }
    }

    /// N = 9 over three ranks, the drawing in `reduce::engines::algorithm1`: rank 2 sends 6 and 8, rank 1 waits for 6 and sends 3 and 4.
    #[test]
    fn values_travel_together_and_wait_for_their_turn() {
        // Rank 2: item 6 to rank 1 from 3 to 103, then item 8 to rank 0 until 203. Rank 1 combines 6 with its own until 107, and sends 3 and
        // 4 together; rank 0's port takes them from 203 to 303, after 8. Three combinations end at 315.
        let reduced_ns = reduce_ns(&lower(9, 3), &Machine::flat(LINK), 1.0);
        assert!((reduced_ns - 315.0).abs() < 1e-9, "{reduced_ns}");
    }
}

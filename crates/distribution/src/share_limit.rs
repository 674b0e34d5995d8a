//! The fewest messages with which p ranks of at most M items each cover N items, where M lies
//! between the same two powers of two as N/p.
//!
//! # What a boundary costs
//!
//! Item x > 0 is sent if and only if a boundary lies in (x - lowbit(x), x]: it is *cut*. So
//! boundary b cuts b, f(b), f(f(b)), … < N with f(x) = x + lowbit(x), and the number m of
//! messages is that of all items that are cut. Let 2^L <= M < B = 2^(L+1). A multiple x of B below N
//! is always cut, as lowbit(x) > M. Every *block* of B items that begins at one has a boundary
//! inside, as B > M. Let the *hops* h(b) of a boundary be how many of b, f(b), … come before the next
//! multiple of B and before N. Then
//!
//! ```text
//! m <= ⌊(N-1)/B⌋ + Σ h(b),    and    min m = ⌊(N-1)/B⌋ + min Σ h(b).
//! ```
//!
//! The first holds because a union is at most as large as its parts are together. For the second,
//! take any boundaries and move some, so that m does not grow and the sum becomes m. Boundaries in different
//! blocks share no hops. In a whole block with several let a be the first and z the last, as distances from the
//! block's end: their hops clear one set bit after the other.
//!
//! - If a <= M, z moves to the block's end, where it costs nothing, and all between them go.
//! - If a > M and z >= 2^L, then a moves to the block's begin, where it costs nothing, and z to 2^L, which a
//!   has cut: bit L of a is set.
//! - If a > M and z < 2^L, then no item is cut by both, because bit L is set in the hops of one and
//!   not in those of the other. What is between them goes; or if a - z > M, then a moves to
//!   the block's begin, and one that was between them to 2^L.
//!
//! In the last block, of r < B items: if r <= M, all move to its begin; if r > M and they are several, they
//! move to its begin and 2^L behind it, where they cut one item inside, as any do. After each move shares are M items
//! or fewer, there are no more boundaries than before, and none is missing before the next block.
//!
//! # The shortest path
//!
//! With sums in place of unions, costs are paid boundary by boundary. Of two ways to place i
//! boundaries at the same cost, the one that reaches further is never worse: it goes on with those of the
//! other's that lie behind. So for each i and each cost only the furthest position x counts. And the
//! next boundary is x + M, or that with some of its lowest set bits cleared. For let another one, b', differ from
//! x + M first at bit j, which x + M has and b' has not. Then a, which is x + M with all bits below j cleared,
//! lies behind b' and is among f(b'), f(f(b')), …: it costs less and reaches further. That makes a dynamic
//! programme over i, exact for every N. Bounds prune it: blocks that are left cost at least one hop each,
//! and ranks that are left must be able to reach N.

use tree_index::parent;

/// N items, at most p ranks, and B, the power of two above N/p.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Blocks {
    pub(crate) items: u64,
    pub(crate) ranks: u64,
    /// B = 2^(L+1).
    pub(crate) block_items: u64,
}

/// Boundaries with the fewest messages for a share limit.
#[derive(Clone, Debug)]
pub(crate) struct Cover {
    pub(crate) messages: u64,
    /// The largest share that occurs, which may lie below the limit.
    pub(crate) share_items_max: u64,
    /// Boundaries in ascending order, without 0 and N.
    pub(crate) inner: Vec<u64>,
}

/// The last of some boundaries, which cost so many hops together.
#[derive(Clone, Copy, Debug)]
struct State {
    position: u64,
    hops: u64,
    /// Where the state of the boundary before it is kept.
    before: usize,
}

/// How far i boundaries reach at the lowest cost, one more, and so on; 0 stands for nowhere.
type Reach = Vec<(u64, usize)>;

impl Blocks {
    /// No cover has fewer messages: multiples of B, and one inside each block that needs it.
    pub(crate) fn messages_least(&self, share_items_max: u64) -> u64 {
        self.forced_messages() + self.hops_behind(0, share_items_max)
    }

    /// The cover with the fewest messages, if that needs at most `messages_max` of them, for B/2 <= `share_items_max` < B.
    pub(crate) fn cover(&self, share_items_max: u64, messages_max: u64) -> Option<Cover> {
        let hops_max = messages_max.checked_sub(self.forced_messages())?;
        // From here on no further boundary is needed.
        let last_start = self.items - share_items_max;
        let mut hops_below = hops_max + 1;
        let mut end = None;
        let mut states = vec![State {
            position: 0,
            hops: 0,
            before: 0,
        }];
        let mut layer = 0..1;
        let mut reach = Reach::new();
        for ranks_left in (0..self.ranks).rev() {
            let arrived = layer.clone().find(|&i| states[i].position >= last_start);
            if let Some(arrived) = arrived.filter(|&i| states[i].hops < hops_below) {
                hops_below = states[arrived].hops;
                end = Some(arrived);
            }
            if layer.is_empty() || ranks_left == 0 {
                break;
            }
            let hops_first = states[layer.start].hops;
            let share = share_items_max;
            let further = (u128::from(ranks_left) - 1) * u128::from(share);
            let position_min = u128::from(last_start).saturating_sub(further);
            let position_min = u64::try_from(position_min).expect("it is at most N");
            reach.clear();
            for before in layer.clone() {
                let State { position, hops, .. } = states[before];
                if position >= last_start {
                    break;
                }
                let limits = (position_min.max(position + 1), hops_below);
                self.extend(&mut reach, position + share, share, limits, |own| {
                    (index(hops - hops_first + own), hops + own, before)
                });
            }
            let start = states.len();
            let mut furthest = 0;
            for (hops, &(position, before)) in (hops_first..).zip(&reach) {
                if position > furthest {
                    furthest = position;
                    states.push(State {
                        position,
                        hops,
                        before,
                    });
                }
            }
            layer = start..states.len();
        }
        end.map(|end| self.trace(&states, end))
    }

    /// Notes every place for the next boundary: `latest`, and what remains of it as bits go.
    fn extend(
        &self,
        reach: &mut Reach,
        latest: u64,
        share_items_max: u64,
        (position_min, hops_below): (u64, u64),
        total: impl Fn(u64) -> (usize, u64, usize),
    ) {
        let mut position = latest;
        let mut own = self.hops(position);
        let mut own_before = u64::MAX;
        while position >= position_min {
            // To the left of a place that costs as little there is nothing to gain.
            if own < own_before {
                own_before = own;
                let (at, hops, before) = total(own);
                if hops + self.hops_behind(position, share_items_max) < hops_below {
                    if reach.len() <= at {
                        reach.resize(at + 1, (0, 0));
                    }
                    if reach[at].0 < position {
                        reach[at] = (position, before);
                    }
                }
            }
            if own == 0 {
                break;
            }
            own = self.hops_of_parent(position, own);
            position = parent(position);
        }
    }

    fn trace(&self, states: &[State], end: usize) -> Cover {
        let mut inner = Vec::new();
        let mut at = end;
        while at > 0 {
            inner.push(states[at].position);
            at = states[at].before;
        }
        inner.reverse();
        let mut share_items_max = 0;
        let mut start = 0;
        for &next in inner.iter().chain([&self.items]) {
            share_items_max = share_items_max.max(next - start);
            start = next;
        }
        Cover {
            messages: self.forced_messages() + states[end].hops,
            share_items_max,
            inner,
        }
    }

    /// The multiples of B between 0 and N.
    fn forced_messages(&self) -> u64 {
        (self.items - 1) >> self.block_items.trailing_zeros()
    }

    /// h(b): what boundary b > 0 cuts before the next multiple of B.
    fn hops(&self, start: u64) -> u64 {
        let inside = self.block_items - 1;
        if start < self.items & !inside {
            return u64::from((start.wrapping_neg() & inside).count_ones());
        }
        let mut hops = 0;
        let mut x = start;
        while x & inside > 0 && x < self.items {
            hops += 1;
            // Within the block of N - 1, or one item behind it: B <= 2^63.
            x = x.saturating_add(x & x.wrapping_neg());
        }
        hops
    }

    /// h(parent(b)) from h(b), without counting bits again: as b loses its lowest bit, its distance from the block's end
    /// gains it, and loses a set bit for every zero of b above.
    fn hops_of_parent(&self, start: u64, hops: u64) -> u64 {
        let inside = self.block_items - 1;
        let parent = parent(start);
        if start >= self.items & !inside {
            return self.hops(parent);
        }
        if parent & inside == 0 {
            return 0;
        }
        hops + 1 - u64::from(parent.trailing_zeros() - start.trailing_zeros())
    }

    /// A lower bound on the hops of boundaries behind `start`: one for each block there.
    fn hops_behind(&self, start: u64, share_items_max: u64) -> u64 {
        let shift = self.block_items.trailing_zeros();
        let full_blocks = self.items >> shift;
        let begun = start.saturating_add(self.block_items - 1) >> shift;
        let is_last_cut = self.items & (self.block_items - 1) > share_items_max;
        full_blocks.saturating_sub(begun) + u64::from(is_last_cut && begun <= full_blocks)
    }
}

fn index(hops: u64) -> usize {
    usize::try_from(hops).expect("64 hops a rank fit")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::Blocks;
    use tree_index::message_count;

    /// The shortest path from 0 to N over all boundaries, a rank from x to y at what it sends.
    fn by_definition(items: u64, ranks: u64, share_items_max: u64) -> u64 {
        let sent = |start, end| message_count([0, start, end]) - message_count([0, start]);
        let mut fewest: HashMap<u64, u64> = HashMap::from([(0, 0)]);
        for _ in 0..ranks {
            for (start, messages) in fewest.clone() {
                for end in start + 1..=items.min(start + share_items_max) {
                    let messages = messages + sent(start, end);
                    let known = fewest.entry(end).or_insert(messages);
                    *known = messages.min(*known);
                }
            }
        }
        fewest[&items]
    }

    #[test]
    fn covers_are_the_shortest_paths() {
        let mut covers = 0;
        for items in 3..=70_u64 {
            for ranks in 2..=items.min(12) {
                let fair_items = items.div_ceil(ranks);
                let block_items = fair_items.next_power_of_two();
                let blocks = Blocks {
                    items,
                    ranks,
                    block_items,
                };
                if fair_items == block_items || fair_items == items {
                    continue;
                }
                for share_items_max in fair_items..block_items {
                    let expected = by_definition(items, ranks, share_items_max);
                    let case = format!("N = {items}, p = {ranks}, M = {share_items_max}");
                    let cover = blocks.cover(share_items_max, items).unwrap();
                    assert_eq!(cover.messages, expected, "{case}");
                    assert!(blocks.messages_least(share_items_max) <= expected, "{case}");
                    assert!(
                        blocks.cover(share_items_max, expected - 1).is_none(),
                        "{case}"
                    );
                    assert!(blocks.cover(share_items_max, expected).is_some(), "{case}");
                    let starts = [&[0], &cover.inner[..], &[items]].concat();
                    assert_eq!(message_count(starts.iter().copied()), expected, "{case}");
                    let largest = starts.windows(2).map(|pair| pair[1] - pair[0]).max();
                    assert_eq!(largest, Some(cover.share_items_max), "{case}");
                    assert!(cover.share_items_max <= share_items_max, "{case}");
                    assert!(starts.len() as u64 <= ranks + 1, "{case}");
                    covers += 1;
                }
            }
        }
        assert!(covers > 1000, "{covers} covers");
    }
}

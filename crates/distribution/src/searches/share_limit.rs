//! Computes the fewest messages with which p ranks of at most M items each cover N items, where M is between the same two powers
//! of two as N/p. The problem is a shortest path over boundaries, whose costs are the hops of [`crate::searches::hops`].
//!
//! The cost of several boundaries is the sum of their hops. Of two placements of i boundaries at the same cost, the one that
//! reaches further is never worse: it can be continued with those later boundaries of the other that are after its own last
//! boundary. For each i and each cost, only the placement with the furthest last boundary x is therefore kept.
//!
//! The next boundary is x + M, or that number with some of its lowest set bits cleared. Suppose that b' < x + M is another
//! boundary, and that j is the highest bit in which the two differ, set in x + M and clear in b'. Let a be x + M with all bits
//! below j cleared. Then a is after b' and is among f(b'), f(f(b')), …, so a costs less than b' and reaches further.
//!
//! The search is a dynamic program over i, exact for every N. Two bounds prune it: each remaining block costs at least one hop,
//! and the remaining ranks must be able to reach N.

use tree_index::parent;

use crate::searches::hops::Blocks;

/// Boundaries with the fewest messages for a share limit.
#[derive(Clone, Debug)]
pub(crate) struct Cover {
    pub(crate) messages: u64,
    /// The largest share, which may be less than the limit.
    pub(crate) share_items_max: u64,
    /// Boundaries in ascending order, without 0 and N.
    pub(crate) inner: Vec<u64>,
}

/// A placement of some boundaries: the position of the last boundary, and the hops of all.
#[derive(Clone, Copy, Debug)]
struct HopState {
    position: u64,
    hops: u64,
    /// The index of the state without the last boundary.
    before: usize,
}

/// For each number of hops from the lowest on: the furthest last boundary, or 0 if there is none, and the index of the state before it.
type Reach = Vec<(u64, usize)>;

impl Blocks {
    /// The cover with the fewest messages, if it needs at most `messages_max`, for B/2 <= `share_items_max` < B.
    pub(crate) fn cover(&self, share_items_max: u64, messages_max: u64) -> Option<Cover> {
        let hops_max = messages_max.checked_sub(self.forced_messages())?;
        // A boundary at this position or after it may be the last.
        let last_start = self.items - share_items_max;
        let mut hops_below = hops_max + 1;
        let mut end = None;
        let mut states = vec![HopState {
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
            let position_min = u64::try_from(position_min).expect("a position is at most N");
            reach.clear();
            for before in layer.clone() {
                let HopState { position, hops, .. } = states[before];
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
                    states.push(HopState {
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

    /// Enters the positions for the next boundary into `reach`: `latest`, then `latest` with more and more lowest set bits cleared.
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
            // A position further left gains nothing unless it costs less.
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

    fn trace(&self, states: &[HopState], end: usize) -> Cover {
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
}

fn index(hops: u64) -> usize {
    usize::try_from(hops).expect("64 hops per rank fit into a usize")
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use tree_index::message_count;

    use crate::searches::hops::Blocks;

    /// The shortest path from 0 to N over all boundaries. A step from x to y costs the messages that the owner of x..y sends.
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

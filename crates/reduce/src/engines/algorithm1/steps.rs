//! Algorithm 1 of the thesis, with and without its message buffer (section 3.1.1).
//!
//! A rank owns items [start, end). It computes its *outbound* subtrees: those rooted at one of its items x whose parent is before
//! `start`. Each value goes to the parent's rank. The last subtree may extend past `end`; higher ranks, which never wait for lower
//! ranks, send its missing values. The example has N = 9 items on three ranks (Figure 2.2); a value at an `o` goes to another rank:
//!
//! ```text
//!   y
//!   3  ·------------------------------·        rank 0: fold [0, 3), receive 3, combine,
//!   2  ·---------------·              |                receive 4, combine, receive 8, combine
//!   1  ·------·        o-------o      |        rank 1: fold [3, 4), send 3;
//!   0  ·---·  ·---o    ·---·   ·---·  o                fold [4, 6), receive 6, combine, send 4
//!      0   1  2 | 3    4   5 | 6   7  8        rank 2: fold [6, 8), send 6; fold [8, 9), send 8
//!      rank 0     rank 1       rank 2
//! ```
//!
//! The distribution alone determines what a rank does. The rank's program is therefore computed once, as the steps of a stack machine.

use std::ops::Range;

use distribution::Distribution;
use tree_index::{Node, Tree};

/// One step of a rank, which works on a stack of values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum StackStep {
    /// Work begins on an outbound subtree of `leaves` leaves.
    Begin { leaves: u64 },
    /// Pushes the fold of these local items.
    Fold(Range<usize>),
    /// Pushes the value of the outbound subtree rooted at item x, which another rank computes.
    Receive { x: u64, from: usize },
    /// Replaces the two topmost values by their combination, the lower one on the left.
    Combine,
    /// Pops the topmost value, the value of the subtree rooted at item x, and sends it to the rank that needs it.
    Send { x: u64, to: usize },
}

/// Returns the steps of a rank. They leave the result on the stack of the rank that owns item 0.
pub(super) fn steps(distribution: &Distribution, rank: usize) -> Vec<StackStep> {
    let tree = Tree::new(distribution.items());
    let local = distribution.range(rank);
    let mut steps = Vec::new();
    for root in tree.outbound_roots(local.clone()) {
        let span = tree.span(root);
        steps.push(StackStep::Begin {
            leaves: span.end - span.start,
        });
        push_subtree(&mut steps, &tree, distribution, root, &local);
        if root.x > 0 {
            steps.push(StackStep::Send {
                x: root.x,
                to: distribution.rank_of(tree_index::parent(root.x)),
            });
        }
    }
    steps
}

/// Adds the steps that leave the value of one outbound subtree on the stack.
fn push_subtree(
    steps: &mut Vec<StackStep>,
    tree: &Tree,
    distribution: &Distribution,
    root: Node,
    local: &Range<u64>,
) {
    // A rank may own more items than a slice can hold. Then no run passes the length check.
    let in_slice = |item: u64| usize::try_from(item - local.start).unwrap_or(usize::MAX);
    let own = root.x..local.end.min(tree.span(root).end);
    let mut last = root;
    for piece in tree.subtree_roots(own) {
        let span = tree.span(piece);
        steps.push(StackStep::Fold(in_slice(span.start)..in_slice(span.end)));
        last = piece;
    }
    // Climbs from the last piece to the root. The nodes left of the piece are on the stack; the items right of it belong to other ranks.
    while last.y < root.y {
        let is_right_child = (last.x >> last.y) & 1 == 1;
        let right_sibling = last.x.checked_add(1 << last.y);
        if is_right_child {
            last.x -= 1 << last.y;
            steps.push(StackStep::Combine);
        } else if let Some(x) = right_sibling.filter(|&x| x < tree.items()) {
            let from = distribution.rank_of(x);
            steps.push(StackStep::Receive { x, from });
            steps.push(StackStep::Combine);
        }
        last.y += 1;
    }
}

#[cfg(test)]
mod tests {
    use distribution::Distribution;

    use super::{StackStep, steps};

    #[test]
    fn figure_2_2() {
        let distribution = Distribution::lower(9, 3).unwrap();
        assert_eq!(
            steps(&distribution, 0),
            [
                StackStep::Begin { leaves: 9 },
                StackStep::Fold(0..2),
                StackStep::Fold(2..3),
                StackStep::Receive { x: 3, from: 1 },
                StackStep::Combine,
                StackStep::Combine,
                StackStep::Receive { x: 4, from: 1 },
                StackStep::Combine,
                StackStep::Receive { x: 8, from: 2 },
                StackStep::Combine,
            ]
        );
        assert_eq!(
            steps(&distribution, 1),
            [
                StackStep::Begin { leaves: 1 },
                StackStep::Fold(0..1),
                StackStep::Send { x: 3, to: 0 },
                StackStep::Begin { leaves: 4 },
                StackStep::Fold(1..3),
                StackStep::Receive { x: 6, from: 2 },
                StackStep::Combine,
                StackStep::Send { x: 4, to: 0 },
            ]
        );
    }
}

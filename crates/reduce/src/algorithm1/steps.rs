//! Algorithm 1 of the thesis, with and without its message buffer (section 3.1.1).
//!
//! A rank owns items [start, end). It computes the subtrees that it must hand on, the *outbound* ones: those rooted
//! at an item x of its own whose parent lies before start. The last of them may reach past `end`; what it lacks there, it
//! receives from higher ranks, which never wait for lower ones. N = 9 over three ranks (Figure 2.2; `o` goes to
//! another rank):
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
//! What a rank does follows from the distribution alone, so it is worked out once, as [`Step`]s of a stack machine.

use std::collections::VecDeque;
use std::ops::Range;

use bytemuck::Pod;
use comm::{Communicator, Tag, collective};
use distribution::Distribution;
use tree_index::{Node, Tree};

use crate::error::RunError;
use crate::operator::Operator;
use crate::outbox::{MessageBuffer, Outbox};
use crate::trace::span;
use crate::wire;

/// One step of a rank: values are pushed on and taken from a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Work begins on an outbound subtree of so many leaves.
    Begin { leaves: u64 },
    /// Pushes the fold of these local items.
    Fold(Range<usize>),
    /// Pushes the value of the outbound subtree rooted at item x, which another rank computes.
    Receive { x: u64, from: usize },
    /// Replaces the two topmost values by their combination, the lower one on the left.
    Combine,
    /// Takes the topmost value, of the subtree rooted at item x, to the rank that lacks it.
    Send { x: u64, to: usize },
}

/// What a rank does. The rank that owns item 0 is left with the result on its stack.
pub(crate) fn steps(distribution: &Distribution, rank: usize) -> Vec<Step> {
    let tree = Tree::new(distribution.items());
    let local = distribution.range(rank);
    let mut steps = Vec::new();
    for root in tree.outbound_roots(local.clone()) {
        let span = tree.span(root);
        steps.push(Step::Begin {
            leaves: span.end - span.start,
        });
        push_subtree(&mut steps, &tree, distribution, root, &local);
        if root.x > 0 {
            steps.push(Step::Send {
                x: root.x,
                to: distribution.rank_of(tree_index::parent(root.x)),
            });
        }
    }
    steps
}

/// The steps that leave the value of one outbound subtree on the stack.
fn push_subtree(
    steps: &mut Vec<Step>,
    tree: &Tree,
    distribution: &Distribution,
    root: Node,
    local: &Range<u64>,
) {
    let in_slice =
        |item: u64| usize::try_from(item - local.start).expect("local items fit a slice");
    let own = root.x..local.end.min(tree.span(root).end);
    let mut last = root;
    for piece in tree.subtree_roots(own) {
        let span = tree.span(piece);
        steps.push(Step::Fold(in_slice(span.start)..in_slice(span.end)));
        last = piece;
    }
    // From the last piece up to the root. What lies left of it is on the stack, what lies right of it is not ours.
    while last.y < root.y {
        let is_right_child = (last.x >> last.y) & 1 == 1;
        let right_sibling = last.x.checked_add(1 << last.y);
        if is_right_child {
            last.x -= 1 << last.y;
            steps.push(Step::Combine);
        } else if let Some(x) = right_sibling.filter(|&x| x < tree.items()) {
            let from = distribution.rank_of(x);
            steps.push(Step::Receive { x, from });
            steps.push(Step::Combine);
        }
        last.y += 1;
    }
}

/// Runs the steps. The rank that owns item 0 gets the result, the others `None`.
///
/// `local` may be an error: the ranks that depend on this one are then told.
pub(crate) fn run<T: Pod, O: Operator<T>>(
    comm: &dyn Communicator,
    tag: Tag,
    operator: &O,
    steps: &[Step],
    buffer: MessageBuffer,
    local: Result<&[T], RunError>,
) -> Result<Option<T>, RunError> {
    let frame_bytes = wire::frame_bytes(buffer.values * entry_bytes(size_of::<T>()));
    let tag = comm.tag_for(tag, frame_bytes);
    let mut machine = Machine {
        comm,
        tag,
        frame_bytes,
        operator,
        stack: Vec::new(),
        received: VecDeque::new(),
        outbox: Outbox::new(comm, tag, buffer),
    };
    let mut remaining = steps;
    let result = local.and_then(|local| machine.execute(&mut remaining, local));
    if let Err(error) = &result {
        let culprit = match error {
            RunError::RankFailed { rank } => *rank,
            _ => comm.rank(),
        };
        let waiting = remaining.iter().filter_map(|step| match step {
            Step::Send { to, .. } => Some(*to),
            _ => None,
        });
        machine.outbox.tell_failed(culprit, waiting);
    }
    machine.outbox.finish()?;
    result
}

struct Machine<'r, T, O> {
    comm: &'r dyn Communicator,
    tag: Tag,
    /// The length of a full message.
    frame_bytes: usize,
    operator: &'r O,
    stack: Vec<T>,
    /// Values received before they were needed, with their items, in order.
    received: VecDeque<(u64, T)>,
    outbox: Outbox<'r>,
}

impl<T: Pod, O: Operator<T>> Machine<'_, T, O> {
    /// Takes steps off `remaining` until none is left.
    fn execute(&mut self, remaining: &mut &[Step], local: &[T]) -> Result<Option<T>, RunError> {
        while let Some((step, rest)) = remaining.split_first() {
            match step {
                Step::Begin { leaves } => self.outbox.begin(*leaves)?,
                Step::Fold(range) => {
                    span!("local work", items = range.len());
                    let value = self.operator.fold(&local[range.clone()]);
                    self.stack.extend(value);
                }
                Step::Receive { x, from } => {
                    let value = self.receive(*x, *from)?;
                    self.stack.push(value);
                }
                Step::Combine => {
                    let right = self.pop();
                    let left = self.pop();
                    self.stack.push(self.operator.combine(left, right));
                }
                Step::Send { x, to } => {
                    let value = self.pop();
                    self.outbox.push(*to, *x, bytemuck::bytes_of(&value))?;
                }
            }
            *remaining = rest;
        }
        self.outbox.flush()?;
        Ok(self.stack.pop())
    }

    fn pop(&mut self) -> T {
        self.stack
            .pop()
            .expect("every step finds the values that it takes")
    }

    /// The value of the subtree rooted at `x`, from the messages of `from`.
    ///
    /// Needed values lie further and further right, and every rank sends its own from left to right:
    /// they come in the order in which they are needed.
    fn receive(&mut self, x: u64, from: usize) -> Result<T, RunError> {
        if self.received.is_empty() {
            self.receive_message(from)?;
        }
        let wrong = |reason| RunError::WrongMessage {
            rank: self.comm.rank(),
            from,
            reason,
        };
        match self.received.pop_front() {
            Some((sent, value)) if sent == x => Ok(value),
            Some((sent, _)) => Err(wrong(format!("subtree {sent} where {x} is due"))),
            None => Err(wrong(format!("nothing where subtree {x} is due"))),
        }
    }

    fn receive_message(&mut self, from: usize) -> Result<(), RunError> {
        span!("waiting", from = from);
        let rank = self.comm.rank();
        let entry_bytes = entry_bytes(size_of::<T>());
        let frame = collective::receive(self.comm, from, self.tag, self.frame_bytes)?;
        for entry in wire::payload(&frame, rank, from)?.chunks(entry_bytes) {
            let (x, value) = entry.split_at(entry.len().min(size_of::<u64>()));
            let x = wire::value(x, rank, from)?;
            self.received
                .push_back((x, wire::value(value, rank, from)?));
        }
        Ok(())
    }
}

fn entry_bytes(value_bytes: usize) -> usize {
    size_of::<u64>() + value_bytes
}

#[cfg(test)]
mod tests {
    use super::{Step, run, steps};
    use crate::error::RunError;
    use crate::operator::Sum;
    use crate::outbox::MessageBuffer;
    use crate::wire;
    use comm::collective::send;
    use comm::{Communicator, threads};
    use distribution::Distribution;

    #[test]
    fn figure_2_2() {
        let distribution = Distribution::lower(9, 3).unwrap();
        assert_eq!(
            steps(&distribution, 0),
            [
                Step::Begin { leaves: 9 },
                Step::Fold(0..2),
                Step::Fold(2..3),
                Step::Receive { x: 3, from: 1 },
                Step::Combine,
                Step::Combine,
                Step::Receive { x: 4, from: 1 },
                Step::Combine,
                Step::Receive { x: 8, from: 2 },
                Step::Combine,
            ]
        );
        assert_eq!(
            steps(&distribution, 1),
            [
                Step::Begin { leaves: 1 },
                Step::Fold(0..1),
                Step::Send { x: 3, to: 0 },
                Step::Begin { leaves: 4 },
                Step::Fold(1..3),
                Step::Receive { x: 6, from: 2 },
                Step::Combine,
                Step::Send { x: 4, to: 0 },
            ]
        );
    }

    /// Rank 0 awaits the values of items 3 and 4, of which rank 1 sends `frame` instead.
    fn receive_instead(frame: &[u8]) -> RunError {
        let results = threads::run(2, |comm| {
            let distribution = Distribution::from_counts(&[3, 3]).unwrap();
            let tag = comm.fresh_tag();
            if comm.rank() == 1 {
                send(comm, 0, tag.short(), frame.to_vec()).unwrap();
                return None;
            }
            let steps = steps(&distribution, 0);
            run(
                comm,
                tag,
                &Sum,
                &steps,
                MessageBuffer::default(),
                Ok(&[1.0; 3]),
            )
            .err()
        });
        results.unwrap().swap_remove(0).unwrap()
    }

    /// A value that is missing or another one's never counts as 0.
    #[test]
    fn a_message_is_checked_against_the_plan() {
        let entry = |x: u64, value: f64| [x.to_ne_bytes(), value.to_ne_bytes()].concat();
        let refused = |payload: Vec<u8>| match receive_instead(&wire::delivered(payload)) {
            RunError::WrongMessage {
                rank: 0,
                from: 1,
                reason,
            } => reason,
            error => panic!("{error}"),
        };
        assert_eq!(refused(entry(4, 1.0)), "subtree 4 where 3 is due");
        assert_eq!(
            refused([entry(3, 1.0), entry(5, 1.0)].concat()),
            "subtree 5 where 4 is due"
        );
        assert_eq!(refused(Vec::new()), "nothing where subtree 3 is due");
        assert!(refused(entry(3, 1.0)[..11].to_vec()).starts_with("3 bytes"));
        assert!(refused(vec![0; 5]).starts_with("5 bytes"));
        assert!(matches!(
            receive_instead(&[]),
            RunError::WrongMessage { .. }
        ));
        assert_eq!(
            receive_instead(&wire::failed(7)),
            RunError::RankFailed { rank: 7 }
        );
    }
}

//! Runs the steps of Algorithm 1: a stack machine that sends and receives values.

use std::collections::VecDeque;

use bytemuck::Pod;
use comm::{Communicator, Tag, collective};

use super::outbox::Outbox;
use super::steps::Step;
use super::wire;
use crate::environment;
use crate::error::RunError;
use crate::message_buffer::MessageBuffer;
use crate::operator::Operator;
use crate::trace::span;

/// Runs the steps. The rank that owns item 0 gets the result, the others `None`.
///
/// If `local` is an error, the ranks that depend on this one are notified.
pub(super) fn run<T: Pod, O: Operator<T>>(
    comm: &dyn Communicator,
    tag: Tag,
    operator: &O,
    steps: &[Step],
    buffer: MessageBuffer,
    local: Result<&[T], RunError>,
) -> Result<Option<T>, RunError> {
    let frame_bytes = frame_bytes::<T>(buffer);
    let mut machine = Machine {
        comm,
        tag,
        frame_bytes,
        operator,
        stack: Vec::new(),
        received: VecDeque::new(),
        outbox: Outbox::new(comm, tag, buffer, frame_bytes),
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
                    self.check_environment()?;
                }
                Step::Receive { x, from } => {
                    let value = self.receive(*x, *from)?;
                    self.stack.push(value);
                }
                Step::Combine => {
                    let right = self.pop();
                    let left = self.pop();
                    self.stack.push(self.operator.combine(left, right));
                    self.check_environment()?;
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

    /// What was computed in another environment must not leave this rank.
    fn check_environment(&self) -> Result<(), RunError> {
        let rank = self.comm.rank();
        environment::check().map_err(|error| RunError::Environment { rank, error })
    }

    fn pop(&mut self) -> T {
        self.stack
            .pop()
            .expect("every step finds the values that it takes")
    }

    /// The value of the subtree rooted at `x`, from the messages of `from`.
    ///
    /// This rank needs values from left to right, and every rank sends them from left to right: they arrive in the order in which
    /// they are needed.
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

/// The length of a full message.
fn frame_bytes<T>(buffer: MessageBuffer) -> usize {
    wire::frame_bytes(buffer.values * entry_bytes(size_of::<T>()))
}

fn entry_bytes(value_bytes: usize) -> usize {
    size_of::<u64>() + value_bytes
}

#[cfg(test)]
mod tests {
    use comm::collective::send;
    use comm::{Communicator, Tag, threads};
    use distribution::Distribution;

    use super::{frame_bytes, run};
    use crate::engines::algorithm1::steps::steps;
    use crate::engines::algorithm1::wire;
    use crate::error::RunError;
    use crate::message_buffer::MessageBuffer;
    use crate::operator::Sum;

    /// Rank 0 awaits the values of items 3 and 4, of which rank 1 sends `frame` instead.
    fn receive_instead(frame: &[u8]) -> RunError {
        let results = threads::run(2, |comm| {
            let distribution = Distribution::from_counts(&[3, 3]).unwrap();
            let (tag, buffer) = (Tag::new(1), MessageBuffer::default());
            if comm.rank() == 1 {
                let capacity_bytes = frame_bytes::<f64>(buffer);
                send(&comm, 0, tag, frame.to_vec(), capacity_bytes).unwrap();
                return None;
            }
            let steps = steps(&distribution, 0);
            run(&comm, tag, &Sum, &steps, buffer, Ok(&[1.0; 3])).err()
        });
        results.unwrap().swap_remove(0).unwrap()
    }

    /// A missing or wrong value is an error, never 0.
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

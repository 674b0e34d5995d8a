//! The stack machine that runs the steps of Algorithm 1.

use comm::{Communicator, Tag, collective};

use super::outbox::Outbox;
use super::steps::StackStep;
use super::wire;
use crate::engines::values::{Memory, Values};
use crate::environment;
use crate::error::RunError;
use crate::message_buffer::MessageBuffer;
use crate::trace::span;

/// The memory that a rank keeps between steps and runs. After the last step, it holds the result.
#[derive(Debug)]
pub(super) struct Room {
    /// The value of the latest fold.
    folded: Memory,
    /// The stack: one value after the other, the topmost last.
    stack: Vec<u8>,
}

impl Room {
    pub(super) fn for_items(item_bytes: usize) -> Self {
        Self {
            folded: Memory::zeroed(item_bytes),
            stack: Vec::new(),
        }
    }

    /// The result, on a rank that has it.
    pub(super) fn result(&self) -> &[u8] {
        &self.stack
    }

    /// Room for a result that another rank sends.
    pub(super) fn result_mut(&mut self) -> &mut [u8] {
        self.stack.resize(self.folded.bytes().len(), 0);
        &mut self.stack
    }
}

/// Runs the steps. Returns whether this rank has the result, which only the owner of item 0 has.
///
/// If `local` is an error, or a step fails, notifies the ranks that wait for this rank.
pub(super) fn run(
    comm: &dyn Communicator,
    tag: Tag,
    values: &dyn Values,
    steps: &[StackStep],
    buffer: MessageBuffer,
    local: Result<&[u8], RunError>,
    room: &mut Room,
) -> Result<bool, RunError> {
    let item_bytes = values.item().size();
    let frame_bytes = frame_bytes(item_bytes, buffer);
    let mut machine = StackMachine {
        comm,
        tag,
        frame_bytes,
        values,
        item_bytes,
        folded: &mut room.folded,
        stack: &mut room.stack,
        received: Vec::new(),
        taken: 0,
        outbox: Outbox::new(comm, tag, buffer, frame_bytes),
    };
    machine.stack.clear();
    let mut remaining = steps;
    let result = local.and_then(|local| machine.execute(&mut remaining, local));
    if let Err(error) = &result {
        let culprit = match error {
            RunError::RankFailed { rank } => *rank,
            _ => comm.rank(),
        };
        let waiting = remaining.iter().filter_map(|step| match step {
            StackStep::Send { to, .. } => Some(*to),
            _ => None,
        });
        machine.outbox.notify_failed(culprit, waiting);
    }
    machine.outbox.finish()?;
    result
}

struct StackMachine<'r> {
    comm: &'r dyn Communicator,
    tag: Tag,
    /// The length of a full message.
    frame_bytes: usize,
    values: &'r dyn Values,
    item_bytes: usize,
    folded: &'r mut Memory,
    stack: &'r mut Vec<u8>,
    /// The last message: item numbers with values. Its first `taken` bytes have been used.
    received: Vec<u8>,
    taken: usize,
    outbox: Outbox<'r>,
}

impl StackMachine<'_> {
    /// Executes the steps in `remaining`, and removes each when it is done. Returns whether this rank has the result.
    fn execute(&mut self, remaining: &mut &[StackStep], local: &[u8]) -> Result<bool, RunError> {
        while let Some((step, rest)) = remaining.split_first() {
            match step {
                StackStep::Begin { leaves } => self.outbox.begin(*leaves)?,
                StackStep::Fold(range) => {
                    span!("local work", items = range.len());
                    let items = &local[range.start * self.item_bytes..range.end * self.item_bytes];
                    self.values
                        .fold_runs(items, &[range.len()], self.folded.bytes_mut());
                    self.stack.extend_from_slice(self.folded.bytes());
                    self.check_environment()?;
                }
                StackStep::Receive { x, from } => {
                    self.receive(*x, *from)?;
                }
                StackStep::Combine => {
                    let top = self.top();
                    let (lefts, right) = self.stack.split_at_mut(top);
                    let left = lefts.len() - right.len();
                    self.values.combine(&mut lefts[left..], right);
                    self.stack.truncate(top);
                    self.check_environment()?;
                }
                StackStep::Send { x, to } => {
                    let top = self.top();
                    self.outbox.push(*to, *x, &self.stack[top..])?;
                    self.stack.truncate(top);
                }
            }
            *remaining = rest;
        }
        self.outbox.flush()?;
        Ok(!self.stack.is_empty())
    }

    /// Checks the floating-point environment: values that were computed in another environment must not leave this rank.
    fn check_environment(&self) -> Result<(), RunError> {
        let rank = self.comm.rank();
        environment::check().map_err(|error| RunError::Environment { rank, error })
    }

    /// The offset of the topmost value.
    fn top(&self) -> usize {
        let top = self.stack.len().checked_sub(self.item_bytes);
        top.expect("every step finds the values that it pops")
    }

    /// Pushes the value of the subtree rooted at `x`, from the messages of `from`.
    ///
    /// This rank needs values from left to right, and every rank sends values from left to right. They therefore arrive in the order
    /// in which they are needed.
    fn receive(&mut self, x: u64, from: usize) -> Result<(), RunError> {
        if self.taken == self.received.len() {
            self.receive_message(from)?;
        }
        let wrong = |reason| RunError::WrongMessage {
            rank: self.comm.rank(),
            from,
            reason,
        };
        let Some((number, rest)) = self.received[self.taken..].split_first_chunk() else {
            return Err(wrong(format!("it has no value of subtree {x}")));
        };
        let sent = u64::from_ne_bytes(*number);
        if sent != x {
            return Err(wrong(format!("it has subtree {sent} instead of {x}")));
        }
        self.stack.extend_from_slice(&rest[..self.item_bytes]);
        self.taken += entry_bytes(self.item_bytes);
        Ok(())
    }

    fn receive_message(&mut self, from: usize) -> Result<(), RunError> {
        span!("waiting", from = from);
        let rank = self.comm.rank();
        let entry_bytes = entry_bytes(self.item_bytes);
        let mut frame = collective::receive(self.comm, from, self.tag, self.frame_bytes)?;
        let payload = wire::payload(&frame, rank, from)?;
        for entry in payload.chunks(entry_bytes) {
            wire::check_length(entry, entry_bytes, rank, from)?;
        }
        frame.truncate(payload.len());
        (self.received, self.taken) = (frame, 0);
        Ok(())
    }
}

/// The length of a full message.
fn frame_bytes(item_bytes: usize, buffer: MessageBuffer) -> usize {
    wire::frame_bytes(buffer.values * entry_bytes(item_bytes))
}

fn entry_bytes(value_bytes: usize) -> usize {
    size_of::<u64>() + value_bytes
}

#[cfg(test)]
mod tests {

    use comm::collective::send;
    use comm::{Communicator, Tag, threads};
    use distribution::Distribution;

    use super::{Room, frame_bytes, run};
    use crate::engines::algorithm1::steps::steps;
    use crate::engines::algorithm1::wire;
    use crate::engines::values::Typed;
    use crate::error::RunError;
    use crate::message_buffer::MessageBuffer;
    use crate::operator::Sum;

    /// Rank 0 waits for the values of items 3 and 4; rank 1 sends `frame` instead.
    fn receive_instead(frame: &[u8]) -> RunError {
        let results = threads::run(2, |comm| {
            let distribution = Distribution::from_counts(&[3, 3]).unwrap();
            let (tag, buffer) = (Tag::new(1), MessageBuffer::default());
            if comm.rank() == 1 {
                let capacity_bytes = frame_bytes(size_of::<f64>(), buffer);
                send(&comm, 0, tag, frame.to_vec(), capacity_bytes).unwrap();
                return None;
            }
            let steps = steps(&distribution, 0);
            let values = Typed::<f64, _>::of(Sum);
            let local = [1.0_f64; 3];
            let local = Ok(bytemuck::cast_slice(&local));
            let room = &mut Room::for_items(size_of::<f64>());
            run(&comm, tag, &*values, &steps, buffer, local, room).err()
        });
        results.unwrap().swap_remove(0).unwrap()
    }

    /// A missing or wrong value is an error, never 0.
    #[test]
    fn a_message_is_checked_against_the_plan() {
        let entry = |x: u64, value: f64| [x.to_ne_bytes(), value.to_ne_bytes()].concat();
        let refused = |payload: Vec<u8>| match receive_instead(&wire::delivered(&payload)) {
            RunError::WrongMessage {
                rank: 0,
                from: 1,
                reason,
            } => reason,
            error => panic!("{error}"),
        };
        assert_eq!(refused(entry(4, 1.0)), "it has subtree 4 instead of 3");
        assert_eq!(
            refused([entry(3, 1.0), entry(5, 1.0)].concat()),
            "it has subtree 5 instead of 4"
        );
        assert_eq!(refused(Vec::new()), "it has no value of subtree 3");
        let cut = refused(entry(3, 1.0)[..11].to_vec());
        assert_eq!(cut, "11 bytes instead of 16");
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

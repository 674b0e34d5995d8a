//! Runs the reductions of one communicator. An engine has a world, a cache of plans, and memory that calls reuse.

mod fold;
mod plans;
mod types;

use std::time::Duration;

use treefold::{Operands, Operation, World};

use crate::task::{Element, Task};
pub(crate) use fold::fold;
use plans::{Key, Plans};

/// Longer rows are reduced in blocks of this number of columns.
const COLUMNS_MAX: usize = if cfg!(test) { 100 } else { 1 << 24 };

/// A silence limit of more than a century: in MPI, a rank may arrive at a reduction arbitrarily late.
const FOR_EVER: Duration = Duration::from_secs(1 << 32);

/// The buffers of a call, as bytes.
#[derive(Debug)]
pub(crate) enum Buffers<'a> {
    Apart {
        /// This rank's contribution, of the task's width.
        local: &'a [u8],
        /// The result, of the task's length; empty on a rank that gets none.
        result: &'a mut [u8],
    },
    /// The contribution; the result overwrites its beginning.
    InPlace(&'a mut [u8]),
}

#[derive(Debug)]
pub(crate) struct Engine {
    plans: Plans,
    local: Scratch,
    result: Scratch,
    /// Why the engine has failed. Every later run fails, too, since ranks could behave differently after a failure.
    failure: Option<String>,
}

/// A cached plan: the operation to run, the plan's position in the cache when it was found, and its key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptPlan {
    operation: Operation,
    slot: usize,
    key: Key,
}

/// Memory that is aligned for all element types and grows on demand.
#[derive(Debug, Default)]
struct Scratch(Vec<u64>);

impl Scratch {
    fn bytes(&mut self, length: usize) -> &mut [u8] {
        let words = length.div_ceil(size_of::<u64>());
        if self.0.len() < words {
            self.0.resize(words, 0);
        }
        &mut bytemuck::cast_slice_mut(&mut self.0)[..length]
    }
}

/// Whether elements are aligned.
fn is_aligned(bytes: &[u8], element: Element) -> bool {
    let address = bytes.as_ptr().addr();
    address.is_multiple_of(element.align_bytes())
}

impl Engine {
    pub(crate) fn new(world: World) -> Self {
        world.set_silence_limit(FOR_EVER);
        Self {
            plans: Plans::new(world),
            local: Scratch::default(),
            result: Scratch::default(),
            failure: None,
        }
    }

    /// Runs a task. The first call of its kind builds the plan, without communicating. Collective.
    ///
    /// # Errors
    /// This run or an earlier one has failed.
    pub(crate) fn reduce(&mut self, task: &Task, buffers: Buffers<'_>) -> Result<(), String> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let outcome = self.run_in_place_or_apart(task, buffers);
        outcome.inspect_err(|failure| self.fail(failure))
    }

    /// The plan of a task, if one plan computes the whole result.
    pub(crate) fn kept_plan(&self, task: &Task) -> Option<KeptPlan> {
        let key = Key::of(task, task.width);
        let is_whole = task.width <= COLUMNS_MAX && task.length == task.width;
        let slot = self.plans.slot_of(key).filter(|_| is_whole)?;
        Some(KeptPlan {
            operation: task.call.operation(),
            slot,
            key,
        })
    }

    /// Runs a plan. Returns `None` if the plan is no longer cached or the engine has failed. Collective. The buffers must be aligned.
    #[inline]
    pub(crate) fn run_again(
        &mut self,
        plan: &KeptPlan,
        buffers: Buffers<'_>,
    ) -> Option<Result<(), String>> {
        if self.failure.is_some() {
            return None;
        }
        let kept = self.plans.at(plan.slot, plan.key)?;
        let (local, result) = match buffers {
            Buffers::InPlace(buffer) => {
                let local = self.local.bytes(buffer.len());
                local.copy_from_slice(buffer);
                (&*local, buffer)
            }
            // A plan needs a buffer even if this rank gets no result.
            Buffers::Apart { local, result: [] } => (local, self.result.bytes(local.len())),
            Buffers::Apart { local, result } => (local, result),
        };
        let operation = plan.operation;
        let items = Operands::Items(local);
        let outcome = kept.run(operation, items, result);
        let outcome = outcome.map(drop).map_err(|error| error.to_string());
        Some(outcome.inspect_err(|failure| self.fail(failure)))
    }

    /// Makes every later run fail.
    pub(crate) fn fail(&mut self, failure: &str) {
        self.failure = Some(failure.to_owned());
        self.plans.clear();
    }

    fn run_in_place_or_apart(&mut self, task: &Task, buffers: Buffers<'_>) -> Result<(), String> {
        let buffers = match buffers {
            Buffers::Apart { local, result } if is_aligned(local, task.element) => {
                return self.run_into(task, local, result);
            }
            others => others,
        };
        let mut copy = std::mem::take(&mut self.local);
        let outcome = match buffers {
            Buffers::Apart { local, result } => {
                let aligned = copy.bytes(local.len());
                aligned.copy_from_slice(local);
                self.run_into(task, aligned, result)
            }
            Buffers::InPlace(buffer) => {
                let local = copy.bytes(task.width_bytes());
                local.copy_from_slice(&buffer[..task.width_bytes()]);
                self.run_into(task, local, &mut buffer[..task.length_bytes()])
            }
        };
        self.local = copy;
        outcome
    }

    /// Runs a task whose contribution is aligned.
    fn run_into(&mut self, task: &Task, local: &[u8], result: &mut [u8]) -> Result<(), String> {
        let mut operation = task.call.operation();
        let is_whole = task.width <= COLUMNS_MAX;
        if operation == Operation::ReduceScatter && !(task.is_even && is_whole) {
            operation = Operation::Allreduce;
        }
        let bytes = task.element.bytes();
        // This rank may get less than the plan computes here, or nothing.
        let direct = result.len() == result_length(operation, task) * bytes
            && is_aligned(result, task.element);
        if is_whole && direct {
            return self.run_block(task, operation, task.width, local, result);
        }
        let mut scratch = std::mem::take(&mut self.result);
        let outcome = if is_whole && result.is_empty() {
            // A plan needs a buffer even if this rank gets no result.
            let unused = scratch.bytes(result_length(operation, task) * bytes);
            self.run_block(task, operation, task.width, local, unused)
        } else {
            self.run_blocks(task, operation, local, result, &mut scratch)
        };
        self.result = scratch;
        outcome
    }

    /// Runs a task through the engine's own memory, in blocks of limited length.
    fn run_blocks(
        &mut self,
        task: &Task,
        operation: Operation,
        local: &[u8],
        result: &mut [u8],
        scratch: &mut Scratch,
    ) -> Result<(), String> {
        let (is_whole, bytes) = (task.width <= COLUMNS_MAX, task.element.bytes());
        for begin in (0..task.width).step_by(COLUMNS_MAX) {
            let end = task.width.min(begin + COLUMNS_MAX);
            let columns = end - begin;
            let length = if is_whole {
                result_length(operation, task)
            } else {
                columns
            };
            let block = scratch.bytes(length * bytes);
            let own = &local[begin * bytes..end * bytes];
            self.run_block(task, operation, columns, own, block)?;
            if operation == Operation::ReduceScatter {
                result.copy_from_slice(block);
            } else if !result.is_empty() {
                let first = begin.max(task.first);
                let last = end.min(task.first + task.length);
                if first < last {
                    let source = &block[(first - begin) * bytes..(last - begin) * bytes];
                    result[(first - task.first) * bytes..][..source.len()].copy_from_slice(source);
                }
            }
        }
        Ok(())
    }

    fn run_block(
        &mut self,
        task: &Task,
        operation: Operation,
        width: usize,
        local: &[u8],
        result: &mut [u8],
    ) -> Result<(), String> {
        let plan = self.plans.get(Key::of(task, width))?;
        let items = Operands::Items(local);
        let outcome = plan.run(operation, items, result);
        outcome.map(drop).map_err(|error| error.to_string())
    }
}

/// The number of result elements of a plan on this rank.
fn result_length(operation: Operation, task: &Task) -> usize {
    match operation {
        Operation::ReduceScatter => task.length,
        _ => task.width,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use treefold::threads;

    use super::plans::PLANS_MAX;
    use super::{Buffers, COLUMNS_MAX, Engine};
    use crate::task::{Call, Task, is_even};

    /// Every element of rank r is r + 1.
    #[test]
    fn more_plans_than_are_kept() {
        let sums = threads::run(3, |world| {
            let mut engine = Engine::new(world.clone());
            let mut last = 0.0;
            for width in (1..=PLANS_MAX + 9).chain(1..5) {
                let own = (world.rank() + 1) as f64;
                let mut values = vec![own; width];
                let buffer = bytemuck::cast_slice_mut(&mut values);
                let task = Task::sum(Call::Allreduce, width);
                engine.reduce(&task, Buffers::InPlace(buffer)).unwrap();
                last = values[width - 1];
            }
            last
        });
        assert_eq!(sums.unwrap(), [6.0; 3]);
    }

    /// Reduces rows of two full blocks and a partial block. A rank gets all or some of the columns.
    #[test]
    fn long_rows_go_in_blocks() {
        let width = 2 * COLUMNS_MAX + 50;
        let value = |column: usize, rank: usize| (column + rank) as f64;
        threads::run(2, |world| {
            let rank = world.rank();
            let mut engine = Engine::new(world.clone());
            let local: Vec<f64> = (0..width).map(|column| value(column, rank)).collect();
            for (call, first, length) in [
                (Call::Allreduce, 0, width),
                (Call::Scan, 0, width),
                (Call::ReduceScatter, rank * 130, 130 - rank * 10),
            ] {
                let mut result = vec![-1.0; length];
                let task = Task {
                    first,
                    length,
                    ..Task::sum(call, width)
                };
                let buffers = Buffers::Apart {
                    local: bytemuck::cast_slice(&local),
                    result: bytemuck::cast_slice_mut(&mut result),
                };
                engine.reduce(&task, buffers).unwrap();
                let is_first_of_scan = call == Call::Scan && rank == 0;
                let expected = (first..first + length).map(|column| {
                    if is_first_of_scan {
                        value(column, 0)
                    } else {
                        value(column, 0) + value(column, 1)
                    }
                });
                assert_eq!(result, expected.collect::<Vec<f64>>(), "{call:?}");
            }
        })
        .unwrap();
    }

    #[test]
    fn columns_of_any_length_are_scattered() {
        let counts = [1_usize, 4, 0];
        threads::run(3, |world| {
            let rank = world.rank();
            let mut engine = Engine::new(world.clone());
            let local: Vec<f64> = (0..5)
                .map(|column| f64::from(column) + rank as f64)
                .collect();
            let mut result = vec![-1.0; counts[rank]];
            let first = counts[..rank].iter().fold(0, |total, count| total + count);
            let task = Task {
                first,
                length: counts[rank],
                is_even: is_even(5, counts.into_iter()),
                ..Task::sum(Call::ReduceScatter, 5)
            };
            let buffers = Buffers::Apart {
                local: bytemuck::cast_slice(&local),
                result: bytemuck::cast_slice_mut(&mut result),
            };
            engine.reduce(&task, buffers).unwrap();
            let expected = (first..first + counts[rank]).map(|column| 3.0 * column as f64 + 3.0);
            assert_eq!(result, expected.collect::<Vec<f64>>());
        })
        .unwrap();
    }
}

//! The steps of a run: the ranks agree on units, add up their rows, and send each other what does not fit these.
//!
//! For an allreduce and a reduce-scatter, a key's entries go to the rank that [owns](rank_of_column) it, and from there, for an allreduce, to
//! all; for a reduce they go to the root.

use std::any::Any;
use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

use comm::RequestId;
use exact_sum::wire::{self, Agreed};

use super::by_key::ByKey;
use super::exchange::Exchange;
use super::rows::{Local, Total};
use crate::engines::values::Memory;
use crate::error::RunError;
use crate::operation::Operation;
use crate::plan::{Operands, Part, Steps, check_result};
use crate::world::Progress;
use crate::world::patience::Patience;

/// A run under way.
pub(super) struct KeyedSteps {
    by_key: Rc<ByKey>,
    operation: Operation,
    step: RefCell<Step>,
}

enum Step {
    Agreeing(Part, Local),
    Adding(Part, Vec<Agreed>, Vec<u64>),
    /// Entries go to the ranks that merge them, if this is not the last exchange.
    Exchanging {
        exchange: Exchange,
        is_last: bool,
        rows: Option<Memory>,
        agreed: Vec<Agreed>,
    },
    /// This rank may get no result. `None` once the outcome is taken.
    Over(Option<Result<Option<Total>, RunError>>),
}

impl KeyedSteps {
    /// Starts a run, in a call that has entered the world. Without rows this rank takes no part, for a reason of its own.
    pub(super) fn start(
        by_key: &Rc<ByKey>,
        operation: Operation,
        local: Result<Local, RunError>,
    ) -> Result<Self, RunError> {
        let own = local.as_ref().map_err(Clone::clone);
        let own = own.map(|local| Operands::Items(bytemuck::cast_slice(&local.terms)));
        let part = by_key.terms.start_within(Operation::Allreduce, own)?;
        let local = local.unwrap_or_default();
        by_key.is_under_way.set(true);
        Ok(Self::at(by_key, operation, Step::Agreeing(part, local)))
    }

    /// Continues a run whose rows are added up.
    pub(super) fn exchange(
        by_key: &Rc<ByKey>,
        operation: Operation,
        rows: Option<Memory>,
        agreed: Vec<Agreed>,
        entries: &[u64],
    ) -> Result<Self, RunError> {
        let step = exchanging(by_key, operation, rows, agreed, entries)?;
        Ok(Self::at(by_key, operation, step))
    }

    fn at(by_key: &Rc<ByKey>, operation: Operation, step: Step) -> Self {
        Self {
            by_key: Rc::clone(by_key),
            operation,
            step: RefCell::new(step),
        }
    }

    /// What follows a step that is over.
    fn next(&self, ended: Step) -> Result<Step, RunError> {
        let (by_key, operation) = (&self.by_key, self.operation);
        match ended {
            Step::Agreeing(part, mut local) => {
                let mut all = by_key.no_terms();
                part.deliver(bytemuck::cast_slice_mut(&mut all))?;
                let agreed = by_key.settle(&mut local, &all)?;
                let own = Operands::Items(local.rows.bytes());
                let part = by_key.rows.start_within(operation, Ok(own))?;
                by_key.give_back(local.rows);
                Ok(Step::Adding(part, agreed, local.entries))
            }
            Step::Adding(part, agreed, entries) => {
                let mut rows = by_key.memory(by_key.keys(operation).len());
                let delivered = part.deliver(rows.bytes_mut())?;
                let rows = delivered.then_some(rows);
                if agreed.iter().any(Agreed::may_have_entries) {
                    return exchanging(by_key, operation, rows, agreed, &entries);
                }
                Ok(self.over(rows, agreed, Vec::new()))
            }
            Step::Exchanging {
                exchange,
                is_last,
                rows,
                agreed,
            } => {
                let lists = exchange.deliver()?;
                if is_last {
                    return Ok(self.over(rows, agreed, lists));
                }
                let exchange = match by_key.sums.merged(&lists) {
                    Ok(merged) => {
                        by_key.start_exchange(operation, &vec![&merged[..]; by_key.ranks()])?
                    }
                    Err(error) => return Err(by_key.give_up(operation, error)),
                };
                Ok(Step::Exchanging {
                    exchange,
                    is_last: true,
                    rows,
                    agreed,
                })
            }
            over @ Step::Over(_) => Ok(over),
        }
    }

    fn over(&self, rows: Option<Memory>, agreed: Vec<Agreed>, entries: Vec<Vec<u64>>) -> Step {
        let total = self.by_key.total(self.operation, rows, agreed, entries);
        Step::Over(Some(Ok(total)))
    }

    /// The outcome of a run that is over.
    pub(super) fn outcome(&self) -> Result<Option<Total>, RunError> {
        match &mut *self.step.borrow_mut() {
            Step::Over(outcome) => outcome.take().expect("it is taken once"),
            _ => unreachable!("the run is over"),
        }
    }
}

impl Steps for KeyedSteps {
    fn drive(&self, patience: Patience) -> bool {
        let mut step = self.step.borrow_mut();
        loop {
            let driven = match &*step {
                Step::Agreeing(part, _) => part.drive(patience).unwrap_or(true),
                Step::Adding(part, ..) => part.drive(patience).unwrap_or(true),
                Step::Exchanging { exchange, .. } => exchange.drive(patience).unwrap_or(true),
                Step::Over(_) => return true,
            };
            if !driven {
                return false;
            }
            let ended = mem::replace(&mut *step, Step::Over(None));
            // Errors are those of the step that is over.
            *step = self.next(ended).unwrap_or_else(|error| {
                if !error.is_of_all() {
                    self.by_key.spend();
                }
                Step::Over(Some(Err(error)))
            });
        }
    }

    fn error(&self) -> Option<RunError> {
        match &*self.step.borrow() {
            Step::Over(Some(Err(error))) => Some(error.clone()),
            _ => None,
        }
    }

    fn awaited_ranks(&self) -> Vec<usize> {
        match self.step.try_borrow().as_deref() {
            Ok(Step::Agreeing(part, _)) => part.awaited_ranks(),
            Ok(Step::Adding(part, ..)) => part.awaited_ranks(),
            Ok(Step::Exchanging { exchange, .. }) => exchange.awaited_ranks(),
            Ok(Step::Over(_)) | Err(_) => Vec::new(),
        }
    }

    fn wait(&self, result: &mut [u8]) -> Result<bool, RunError> {
        self.drive(Patience::Unlimited);
        let Some(total) = self.outcome()? else {
            return Ok(false);
        };
        let by_key = &self.by_key;
        let given = result.len() / by_key.sums.value_bytes();
        let expected = by_key.keys(self.operation).len();
        check_result(by_key.world().rank(), expected, given)?;
        by_key.write_values(total, result)?;
        Ok(true)
    }

    fn wait_state(&self, sums: &mut dyn Any) -> Result<bool, RunError> {
        self.drive(Patience::Unlimited);
        match self.outcome()? {
            Some(total) => self.by_key.replace(sums, total).map(|()| true),
            None => Ok(false),
        }
    }

    fn takes(&self, sums: &dyn Any) -> bool {
        self.by_key.takes(sums)
    }
}

impl Drop for KeyedSteps {
    fn drop(&mut self) {
        self.by_key.is_under_way.set(false);
        if !matches!(self.step.get_mut(), Step::Over(_)) {
            self.by_key.abandon();
        }
    }
}

/// Begins to send this rank's entries.
fn exchanging(
    by_key: &Rc<ByKey>,
    operation: Operation,
    rows: Option<Memory>,
    agreed: Vec<Agreed>,
    entries: &[u64],
) -> Result<Step, RunError> {
    let (keys, ranks) = (by_key.rows.width(), by_key.ranks());
    let rank_of = |key: u64| match operation {
        Operation::Reduce => by_key.rows.root(),
        _ => usize::try_from(key).map_or(0, |key| rank_of_column(keys, ranks, key)),
    };
    let lists = wire::dealt(entries, ranks, rank_of).expect("this rank has written them");
    let lists: Vec<&[u64]> = lists.iter().map(Vec::as_slice).collect();
    Ok(Step::Exchanging {
        exchange: by_key.start_exchange(operation, &lists)?,
        is_last: operation != Operation::Allreduce,
        rows,
        agreed,
    })
}

/// The rank that gets a column of a row from a reduce-scatter.
fn rank_of_column(width: usize, ranks: usize, column: usize) -> usize {
    let (few, longer) = (width / ranks, width % ranks);
    match column.checked_sub(longer * (few + 1)) {
        None => column / (few + 1),
        Some(after) => longer + after / few.max(1),
    }
}

impl Progress for KeyedSteps {
    fn progress(&self) {
        // A borrowed step is driven by the call on the stack.
        if self.step.try_borrow_mut().is_ok() {
            self.drive(Patience::InPassing);
        }
    }

    fn awaited(&self, requests: &mut Vec<RequestId>) {
        match self.step.try_borrow().as_deref() {
            Ok(Step::Agreeing(part, _)) => part.awaited(requests),
            Ok(Step::Adding(part, ..)) => part.awaited(requests),
            Ok(Step::Exchanging { exchange, .. }) => exchange.awaited(requests),
            Ok(Step::Over(_)) | Err(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::rank_of_column;
    use crate::engines::scheduled::columns;

    #[test]
    fn columns_have_the_rank_that_gets_them() {
        for width in 1..20 {
            for ranks in 1..9 {
                for rank in 0..ranks {
                    for column in columns(width, ranks, rank) {
                        assert_eq!(rank_of_column(width, ranks, column), rank);
                    }
                }
            }
        }
    }
}

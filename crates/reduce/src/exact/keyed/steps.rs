//! The steps of a run: the ranks agree on units, add up their rows, and send each other what does not fit these.
//!
//! For an allreduce and a reduce-scatter, a key's entries go to the rank that [owns](rank_of_column) it, and from there, for an allreduce, to
//! all; for a reduce they go to the root.

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

use bytemuck::Zeroable;
use comm::RequestId;
use exact_sum::KeyedAccumulator;
use exact_sum::wire::{self, Agreed, NO_TERMS};

use super::exchange::Exchange;
use super::rows::{Local, Total};
use super::shared::Shared;
use crate::error::RunError;
use crate::operation::Operation;
use crate::plan::Part;
use crate::world::Progress;
use crate::world::patience::Patience;

/// A run under way.
pub(super) struct Steps<A: KeyedAccumulator> {
    shared: Rc<Shared<A>>,
    operation: Operation,
    step: RefCell<Step<A>>,
}

enum Step<A: KeyedAccumulator> {
    Agreeing(Part, Local<A>),
    Adding(Part, Vec<Agreed>, Vec<u64>),
    /// Entries go to the ranks that merge them, if this is not the last exchange.
    Exchanging {
        exchange: Exchange,
        is_last: bool,
        rows: Option<Vec<A::Row>>,
        agreed: Vec<Agreed>,
    },
    /// This rank may get no result. `None` once the outcome is taken.
    Over(Option<Result<Option<Total<A>>, RunError>>),
}

impl<A: KeyedAccumulator> Steps<A> {
    /// Starts a run, in a call that has entered the world. Without rows this rank takes no part, for a reason of its own.
    pub(super) fn start(
        shared: &Rc<Shared<A>>,
        operation: Operation,
        local: Result<Local<A>, RunError>,
    ) -> Result<Self, RunError> {
        let (own, local) = match local {
            Ok(local) => (Ok(local.terms.clone()), local),
            Err(error) => {
                let none = A::of_keys(0).expect("no keys take no memory");
                (Err(error), Local::of(&none, Vec::new()))
            }
        };
        let part = shared.terms.start_within(
            Operation::Allreduce,
            own.as_deref().map_err(Clone::clone),
            A::PARTS,
        )?;
        Ok(Self::at(shared, operation, Step::Agreeing(part, local)))
    }

    /// Continues a run whose rows are added up.
    pub(super) fn exchange(
        shared: &Rc<Shared<A>>,
        operation: Operation,
        rows: Option<Vec<A::Row>>,
        agreed: Vec<Agreed>,
        entries: &[u64],
    ) -> Result<Self, RunError> {
        let step = exchanging(shared, operation, rows, agreed, entries)?;
        Ok(Self::at(shared, operation, step))
    }

    fn at(shared: &Rc<Shared<A>>, operation: Operation, step: Step<A>) -> Self {
        Self {
            shared: Rc::clone(shared),
            operation,
            step: RefCell::new(step),
        }
    }

    /// Makes progress, and says whether the run is over. Drives all runs in flight, too, unless only in passing. The caller has entered the
    /// world.
    pub(super) fn drive(&self, patience: Patience) -> bool {
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
                    self.shared.spend();
                }
                Step::Over(Some(Err(error)))
            });
        }
    }

    /// What follows a step that is over.
    fn next(&self, ended: Step<A>) -> Result<Step<A>, RunError> {
        let (shared, operation) = (&self.shared, self.operation);
        match ended {
            Step::Agreeing(part, mut local) => {
                let mut all = vec![NO_TERMS; A::PARTS];
                part.deliver(all.len(), bytemuck::cast_slice_mut(&mut all))?;
                let agreed = local.settle(&all, shared.ranks());
                let agreed = agreed.map_err(|error| shared.limit(error))?;
                let length = shared.result_length(operation);
                let part = shared
                    .rows
                    .start_within(operation, Ok(&local.rows), length)?;
                shared.give_back(local.rows);
                Ok(Step::Adding(part, agreed, local.entries))
            }
            Step::Adding(part, agreed, entries) => {
                let mut rows = shared.memory();
                rows.resize(shared.result_length(operation), A::Row::zeroed());
                let delivered = part.deliver(rows.len(), bytemuck::cast_slice_mut(&mut rows))?;
                let rows = delivered.then_some(rows);
                if agreed.iter().any(Agreed::may_have_entries) {
                    return exchanging(shared, operation, rows, agreed, &entries);
                }
                Ok(over(rows, agreed, Vec::new()))
            }
            Step::Exchanging {
                exchange,
                is_last,
                rows,
                agreed,
            } => {
                let lists = exchange.deliver()?;
                if is_last {
                    return Ok(over(rows, agreed, lists));
                }
                let exchange = match wire::merged::<A>(&lists) {
                    Ok(merged) => {
                        shared.start_exchange(operation, &vec![&merged[..]; shared.ranks()])?
                    }
                    Err(error) => return Err(shared.give_up(operation, error)),
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

    /// The outcome of a run that is over.
    pub(super) fn outcome(&self) -> Result<Option<Total<A>>, RunError> {
        match &mut *self.step.borrow_mut() {
            Step::Over(outcome) => outcome.take().expect("it is taken once"),
            _ => unreachable!("the run is over"),
        }
    }

    /// The error of a run that is over.
    pub(super) fn error(&self) -> Option<RunError> {
        match &*self.step.borrow() {
            Step::Over(Some(Err(error))) => Some(error.clone()),
            _ => None,
        }
    }

    pub(super) fn awaited_ranks(&self) -> Vec<usize> {
        match self.step.try_borrow().as_deref() {
            Ok(Step::Agreeing(part, _)) => part.awaited_ranks(),
            Ok(Step::Adding(part, ..)) => part.awaited_ranks(),
            Ok(Step::Exchanging { exchange, .. }) => exchange.awaited_ranks(),
            Ok(Step::Over(_)) | Err(_) => Vec::new(),
        }
    }
}

impl<A: KeyedAccumulator> Drop for Steps<A> {
    fn drop(&mut self) {
        if !matches!(self.step.get_mut(), Step::Over(_)) {
            self.shared.abandon();
        }
    }
}

fn over<A: KeyedAccumulator>(
    rows: Option<Vec<A::Row>>,
    agreed: Vec<Agreed>,
    entries: Vec<Vec<u64>>,
) -> Step<A> {
    let total = rows.map(|rows| Total {
        rows,
        agreed,
        entries,
    });
    Step::Over(Some(Ok(total)))
}

/// Begins to send this rank's entries.
fn exchanging<A: KeyedAccumulator>(
    shared: &Rc<Shared<A>>,
    operation: Operation,
    rows: Option<Vec<A::Row>>,
    agreed: Vec<Agreed>,
    entries: &[u64],
) -> Result<Step<A>, RunError> {
    let (keys, ranks) = (shared.keys(), shared.ranks());
    let rank_of = |key: u64| match operation {
        Operation::Reduce => shared.root,
        _ => usize::try_from(key).map_or(0, |key| rank_of_column(keys, ranks, key)),
    };
    let lists = wire::dealt(entries, ranks, rank_of).expect("this rank has written them");
    let lists: Vec<&[u64]> = lists.iter().map(Vec::as_slice).collect();
    Ok(Step::Exchanging {
        exchange: shared.start_exchange(operation, &lists)?,
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

impl<A: KeyedAccumulator> Progress for Steps<A> {
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

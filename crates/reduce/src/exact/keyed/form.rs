//! The form of plans that sum by key: ranks agree on units, add up their rows, and exchange *entries*, the values that do not fit the rows.
//!
//! In a reduce, a key's entries go to the root. Otherwise they go to the rank that [owns](rank_of_column) the key; in an allreduce, that
//! rank sends them to all ranks.

use std::any::Any;
use std::rc::Rc;

use exact_sum::wire::{self, Agreed, WrongEntries};

use super::by_key::ByKey;
use super::rows::{Local, Total};
use crate::engines::exchange::Exchange;
use crate::engines::values::Memory;
use crate::error::RunError;
use crate::operation::Operation;
use crate::plan::{EngineRun, Operands, Outcome, Stage, Staged, Stages, check_result, not_taken};
use crate::world::World;

/// The state of a run after its rows are added up and before its entries are merged.
struct Added {
    operation: Operation,
    /// The added rows; `None` if this rank gets none.
    rows: Option<Memory>,
    agreed: Vec<Agreed>,
}

impl ByKey {
    /// This rank's contribution to a run, from its sums.
    fn local(&self, sums: &dyn Any) -> Result<Local, RunError> {
        let rank = self.rank();
        let planned = self.rows.width();
        match self.slots.keys(sums) {
            Some(given) if given == planned => Ok(self.slots.local(sums, self.memory(planned))),
            Some(given) => Err(RunError::WrongKeys {
                rank,
                planned,
                given,
            }),
            None => Err(not_taken(rank)),
        }
    }

    /// Checks that the algorithm supports the run. If not, nothing is sent.
    fn check_offered(&self, operation: Operation, is_split: bool) -> Result<(), RunError> {
        let rank = self.rank();
        // An allreduce always runs the chosen algorithm.
        let chosen = self.rows.algorithm(Operation::Allreduce);
        match chosen.filter(|algorithm| !algorithm.is_scheduled()) {
            Some(algorithm) if is_split || self.rows.algorithm(operation).is_none() => {
                Err(RunError::NotOffered { rank, algorithm })
            }
            _ => Ok(()),
        }
    }

    /// Performs a blocking run by blocking reductions. If `local` is an error, this rank reports it to the other ranks instead of
    /// adding its rows.
    fn run_local(
        self: &Rc<Self>,
        operation: Operation,
        local: Result<Local, RunError>,
    ) -> Result<Outcome, RunError> {
        let allreduce = Operation::Allreduce;
        let mut local =
            local.map_err(|error| self.terms.fail(allreduce, allreduce.into(), error))?;
        let mut all = local.terms.clone();
        let own = Operands::Items(bytemuck::cast_slice(&local.terms));
        self.terms
            .run_items(allreduce.into(), own, bytemuck::cast_slice_mut(&mut all))?;
        let agreed = self.settle(&mut local, &all)?;
        let mut rows = self.memory(self.keys(operation).len());
        let own = Operands::Items(local.rows.bytes());
        let is_mine = self
            .rows
            .run_items(operation.into(), own, rows.bytes_mut())?;
        self.give_back(local.rows);
        let rows = is_mine.then_some(rows);
        let _busy = self.world().enter()?;
        let first = self.exchange(operation, rows, agreed, &local.entries)?;
        Stages::new(Rc::clone(self) as _, first).wait()
    }

    /// Begins the first reduction, in a call that has entered the world.
    fn agree(
        self: &Rc<Self>,
        operation: Operation,
        local: Result<Local, RunError>,
    ) -> Result<Stage, RunError> {
        let own = local.as_ref().map_err(Clone::clone);
        let own = own.map(|local| Operands::Items(bytemuck::cast_slice(&local.terms)));
        let run = self.terms.start_within(Operation::Allreduce, own)?;
        let (form, local) = (Rc::clone(self), local.unwrap_or_default());
        let then = move |part| form.add(operation, local, part);
        Ok(Stage::Run(run, Box::new(then)))
    }

    /// Ends the first reduction, `terms`, and begins the second one.
    fn add(
        self: &Rc<Self>,
        operation: Operation,
        mut local: Local,
        terms: EngineRun,
    ) -> Result<Stage, RunError> {
        let mut all = self.no_terms();
        terms.deliver(bytemuck::cast_slice_mut(&mut all))?;
        let agreed = self.settle(&mut local, &all)?;
        let own = Operands::Items(local.rows.bytes());
        let run = self.rows.start_within(operation, Ok(own))?;
        self.give_back(local.rows);
        let form = Rc::clone(self);
        let then = move |run: EngineRun| {
            let mut rows = form.memory(form.keys(operation).len());
            let rows = run.deliver(rows.bytes_mut())?.then_some(rows);
            form.exchange(operation, rows, agreed, &local.entries)
        };
        Ok(Stage::Run(run, Box::new(then)))
    }

    /// Begins to send entries to the ranks that merge them, if any rank may have entries.
    fn exchange(
        self: &Rc<Self>,
        operation: Operation,
        rows: Option<Memory>,
        agreed: Vec<Agreed>,
        entries: &[u64],
    ) -> Result<Stage, RunError> {
        let may_have_entries = agreed.iter().any(Agreed::may_have_entries);
        let added = Added {
            operation,
            rows,
            agreed,
        };
        if !may_have_entries {
            return Ok(self.over(added, Vec::new()));
        }
        let (keys, ranks) = (self.rows.width(), self.ranks());
        let rank_of = |key: u64| match operation {
            Operation::Reduce => self.rows.root(),
            _ => usize::try_from(key).map_or(0, |key| rank_of_column(keys, ranks, key)),
        };
        let lists = wire::dealt(entries, ranks, rank_of).expect("this rank has written them");
        let lists: Vec<&[u64]> = lists.iter().map(Vec::as_slice).collect();
        let exchange = self.start_exchange(operation, &lists)?;
        let form = Rc::clone(self);
        let then = move |exchange: Exchange| {
            let lists = exchange.deliver()?;
            match operation {
                Operation::Allreduce => form.share(added, &lists),
                _ => Ok(form.over(added, lists)),
            }
        };
        Ok(Stage::Exchange(exchange, Box::new(then)))
    }

    /// Begins to send what this rank has merged to all ranks.
    fn share(self: &Rc<Self>, added: Added, lists: &[Vec<u64>]) -> Result<Stage, RunError> {
        let operation = added.operation;
        let merged = self.slots.merged(lists);
        let merged = merged.map_err(|error| self.give_up(operation, error))?;
        let exchange = self.start_exchange(operation, &vec![&merged[..]; self.ranks()])?;
        let form = Rc::clone(self);
        let then = move |exchange: Exchange| Ok(form.over(added, exchange.deliver()?));
        Ok(Stage::Exchange(exchange, Box::new(then)))
    }

    fn over(&self, added: Added, entries: Vec<Vec<u64>>) -> Stage {
        let first = self.keys(added.operation).start;
        Stage::over(added.rows.map(|rows| Total {
            rows,
            agreed: added.agreed,
            entries,
            first,
        }))
    }

    /// Converts the outcome of a run by `read`, and keeps its memory for later runs.
    fn read<R>(
        &self,
        total: Box<Total>,
        read: impl FnOnce(&Total) -> Result<R, WrongEntries>,
    ) -> Result<R, RunError> {
        let outcome = read(&total);
        self.give_back(total.rows);
        outcome.map_err(|error| self.wrong(error))
    }
}

fn total_of(outcome: Box<dyn Any>) -> Box<Total> {
    outcome.downcast().expect("runs leave a `Total`")
}

impl Staged for ByKey {
    fn world(&self) -> &World {
        self.rows.world()
    }

    fn start(
        self: Rc<Self>,
        operation: Operation,
        sums: Result<&dyn Any, RunError>,
    ) -> Result<Stages, RunError> {
        self.check_offered(operation, true)?;
        let local = sums.and_then(|sums| self.local(sums));
        let first = self.agree(operation, local)?;
        Ok(Stages::new(self, first))
    }

    fn run(
        self: Rc<Self>,
        operation: Operation,
        sums: Result<&dyn Any, RunError>,
    ) -> Result<Outcome, RunError> {
        self.check_offered(operation, false)?;
        let local = sums.and_then(|sums| self.local(sums));
        self.run_local(operation, local).inspect_err(|error| {
            // A call from an operator has not begun a run.
            if !matches!(error, RunError::Nested { .. }) && !error.is_of_all() {
                self.spend();
            }
        })
    }

    fn check_result(&self, operation: Operation, bytes: usize) -> Result<(), RunError> {
        let is_unused = operation == Operation::Reduce && self.rank() != self.rows.root();
        if is_unused && bytes == 0 {
            return Ok(());
        }
        let given = bytes / self.slots.value_bytes();
        check_result(self.rank(), self.keys(operation).len(), given)
    }

    fn write_values(&self, total: Box<dyn Any>, result: &mut [u8]) -> Result<(), RunError> {
        let total = total_of(total);
        let keys = total.rows.bytes().len() / self.rows.item_bytes();
        check_result(self.rank(), keys, result.len() / self.slots.value_bytes())?;
        self.read(total, |total| self.slots.write_values(total, result))
    }

    fn state(&self, total: Box<dyn Any>) -> Result<Box<dyn Any>, RunError> {
        self.read(total_of(total), |total| self.slots.slots(total))
    }

    fn replace(&self, sums: &mut dyn Any, total: Box<dyn Any>) -> Result<(), RunError> {
        self.read(total_of(total), |total| self.slots.replace(sums, total))
    }

    fn takes(&self, sums: &dyn Any) -> bool {
        self.slots.keys(sums).is_some()
    }

    fn refuse(&self, operation: Operation) {
        // Sums by key have only these three operations, and the other ranks may be in any of them.
        let operation = match operation {
            Operation::Reduce | Operation::ReduceScatter => operation,
            _ => Operation::Allreduce,
        };
        if self.check_offered(operation, false).is_ok() {
            self.terms.refuse(Operation::Allreduce);
            self.spend();
        }
    }

    fn spend(&self) {
        self.conversations()
            .for_each(|one| one.spend_between_runs());
    }

    fn abandon(&self) {
        self.conversations()
            .for_each(|one| one.abandon_between_runs());
    }
}

/// The rank that gets a column of a row from a reduce-scatter.
fn rank_of_column(width: usize, ranks: usize, column: usize) -> usize {
    let (few, longer) = (width / ranks, width % ranks);
    match column.checked_sub(longer * (few + 1)) {
        None => column / (few + 1),
        Some(after) => longer + after / few.max(1),
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

//! Sums by key as a form in which a plan reduces: its calls.

use std::any::Any;
use std::rc::Rc;

use exact_sum::wire::Agreed;

use super::by_key::ByKey;
use super::rows::{Local, Total};
use super::steps::KeyedSteps;
use crate::error::RunError;
use crate::operation::Operation;
use crate::plan::{AnyPending, Operands, Steps, Stepwise, check_result, not_taken};
use crate::world::patience::Patience;

impl ByKey {
    /// A blocking call: writes the value of each key that this rank gets. It may take no part, for a reason of its own.
    pub(super) fn run_and_round(
        self: &Rc<Self>,
        operation: Operation,
        sums: Result<&dyn Any, RunError>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        let given = result.len() / self.sums.value_bytes();
        let is_unused = operation == Operation::Reduce && self.rank() != self.rows.root();
        let checked = if is_unused && given == 0 {
            Ok(())
        } else {
            check_result(self.rank(), self.keys(operation).len(), given)
        };
        let Some(total) = self.run_sums(operation, checked.and(sums))? else {
            return Ok(false);
        };
        self.write_values(total, result)?;
        Ok(true)
    }

    fn sums_of<'s>(&self, operands: Operands<'s>) -> Result<&'s dyn Any, RunError> {
        match operands {
            Operands::State(sums) => Ok(sums),
            _ => Err(not_taken(self.rank())),
        }
    }

    /// What a rank with these sums gives to a run.
    fn local(&self, sums: &dyn Any) -> Result<Local, RunError> {
        let rank = self.rank();
        let planned = self.rows.width();
        match self.sums.keys(sums) {
            Some(given) if given == planned => Ok(self.sums.local(sums, self.memory(planned))),
            Some(given) => Err(RunError::WrongKeys {
                rank,
                planned,
                given,
            }),
            None => Err(not_taken(rank)),
        }
    }

    /// Whether a run can begin. If not, nothing is sent.
    fn check_offered(&self, operation: Operation, is_split: bool) -> Result<(), RunError> {
        let rank = self.rank();
        if self.is_under_way.get() {
            return Err(RunError::UnderWay { rank });
        }
        // What it runs for reductions says which algorithm was chosen.
        let chosen = self.rows.algorithm(Operation::Allreduce);
        match chosen.filter(|algorithm| !algorithm.is_scheduled()) {
            Some(algorithm) if is_split || self.rows.algorithm(operation).is_none() => {
                Err(RunError::NotOffered { rank, algorithm })
            }
            _ => Ok(()),
        }
    }

    /// A blocking run. Without sums this rank takes no part, for a reason of its own.
    pub(super) fn run_sums(
        self: &Rc<Self>,
        operation: Operation,
        sums: Result<&dyn Any, RunError>,
    ) -> Result<Option<Total>, RunError> {
        self.check_offered(operation, false)?;
        let local = sums.and_then(|sums| self.local(sums));
        self.run_steps(operation, local).inspect_err(|error| {
            // Within an operator nothing has begun.
            if !matches!(error, RunError::Nested { .. }) && !error.is_of_all() {
                self.spend();
            }
        })
    }

    fn run_steps(
        self: &Rc<Self>,
        operation: Operation,
        local: Result<Local, RunError>,
    ) -> Result<Option<Total>, RunError> {
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
        if agreed.iter().any(Agreed::may_have_entries) {
            let _busy = self.world().enter()?;
            let steps = KeyedSteps::exchange(self, operation, rows, agreed, &local.entries)?;
            steps.drive(Patience::Unlimited);
            return steps.outcome();
        }
        Ok(self.total(operation, rows, agreed, Vec::new()))
    }
}

impl Stepwise for ByKey {
    fn run(
        self: Rc<Self>,
        operation: Operation,
        operands: Operands<'_>,
        result: &mut [u8],
    ) -> Result<bool, RunError> {
        self.run_and_round(operation, self.sums_of(operands), result)
    }

    fn run_state(
        self: Rc<Self>,
        operation: Operation,
        sums: &mut dyn Any,
    ) -> Result<bool, RunError> {
        match self.run_sums(operation, Ok(sums))? {
            Some(total) => self.replace(sums, total).map(|()| true),
            None => Ok(false),
        }
    }

    fn start(
        self: Rc<Self>,
        operation: Operation,
        operands: Operands<'_>,
    ) -> Result<AnyPending, RunError> {
        let _busy = self.world().enter()?;
        self.check_offered(operation, true)?;
        let sums = self.sums_of(operands);
        let local = sums.and_then(|sums| self.local(sums));
        let steps = KeyedSteps::start(&self, operation, local)?;
        Ok(AnyPending::of_steps(self.world(), Rc::new(steps)))
    }

    fn takes(&self, sums: &dyn Any) -> bool {
        self.takes(sums)
    }

    fn refuse(&self, operation: Operation) {
        // The others may be in any operation that there is.
        let operation = match operation {
            Operation::Reduce | Operation::ReduceScatter => operation,
            _ => Operation::Allreduce,
        };
        let is_nested = self.world().is_in_operator();
        if !is_nested && self.check_offered(operation, false).is_ok() {
            self.terms.refuse(Operation::Allreduce);
            self.spend();
        }
    }
}

//! Sums by key as a form in which a plan reduces: what its calls and its runs under way share.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

use exact_sum::wire::{Agreed, NO_TERMS, Terms, WrongEntries};
use exact_sum::{KeyedAccumulator, LimitError};

use super::exchange::Exchange;
use super::rows::{AnySums, Local, SumsOf, Total};
use super::steps::KeyedSteps;
use crate::engines::values::Memory;
use crate::error::RunError;
use crate::operation::Operation;
use crate::plan::{AnyPending, AnyPlan, Form, Operands, Steps, Stepwise, check_result, not_taken};
use crate::world::World;
use crate::world::conversation::Conversation;
use crate::world::patience::Patience;

pub(crate) struct ByKey {
    pub(super) terms: AnyPlan,
    pub(super) rows: AnyPlan,
    /// For what does not fit the rows.
    beside: Rc<Conversation>,
    pub(super) sums: Box<dyn AnySums>,
    pub(super) is_under_way: Cell<bool>,
    /// That of earlier runs.
    memory: RefCell<Vec<Memory>>,
}

impl ByKey {
    pub(crate) fn new<A: KeyedAccumulator>(
        terms: AnyPlan,
        rows: &AnyPlan,
        beside: Rc<Conversation>,
    ) -> Self {
        Self {
            terms,
            rows: rows.with_form(Form::Items),
            beside,
            sums: Box::new(SumsOf::<A>(PhantomData)),
            is_under_way: Cell::new(false),
            memory: RefCell::default(),
        }
    }

    pub(super) fn world(&self) -> &World {
        self.rows.world()
    }

    fn rank(&self) -> usize {
        self.world().rank()
    }

    pub(super) fn ranks(&self) -> usize {
        self.world().size()
    }

    /// The keys that a rank gets, if it gets any.
    pub(super) fn keys(&self, operation: Operation) -> Range<usize> {
        match operation {
            Operation::ReduceScatter => self.rows.scattered_columns(),
            _ => 0..self.rows.width(),
        }
    }

    /// Memory for rows, of any content.
    pub(super) fn memory(&self, rows: usize) -> Memory {
        let mut memory = self.memory.borrow_mut().pop().unwrap_or_default();
        memory.resize(rows * self.rows.item_bytes());
        memory
    }

    pub(super) fn give_back(&self, rows: Memory) {
        self.memory.borrow_mut().push(rows);
    }

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

    /// Leaves the value of each key, rounded once.
    pub(super) fn write_values(&self, total: Total, result: &mut [u8]) -> Result<(), RunError> {
        let written = self.sums.write_values(&total, result);
        self.give_back(total.rows);
        written.map_err(|error| self.wrong(error))
    }

    /// Replaces sums by those that a run left.
    pub(super) fn replace(&self, sums: &mut dyn Any, total: Total) -> Result<(), RunError> {
        let replaced = self.sums.replace(sums, &total);
        self.give_back(total.rows);
        replaced.map_err(|error| self.wrong(error))
    }

    /// The sums that a run left, of a type that is known.
    pub(super) fn typed<A: KeyedAccumulator>(&self, total: Total) -> Result<A, RunError> {
        let sums = total.sums();
        self.give_back(total.rows);
        sums.map_err(|error| self.wrong(error))
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

    /// Brings a rank's rows to the units that follow from the terms of all ranks.
    pub(super) fn settle(&self, local: &mut Local, all: &[Terms]) -> Result<Vec<Agreed>, RunError> {
        let agreed = all.iter().map(|&terms| Agreed::on(terms, self.ranks()));
        let agreed: Result<Vec<Agreed>, LimitError> = agreed.collect();
        let agreed = agreed.map_err(|error| self.limit(error))?;
        self.sums.settle(local, &agreed);
        Ok(agreed)
    }

    /// What is left of a run, on a rank that gets some.
    pub(super) fn total(
        &self,
        operation: Operation,
        rows: Option<Memory>,
        agreed: Vec<Agreed>,
        entries: Vec<Vec<u64>>,
    ) -> Option<Total> {
        rows.map(|rows| Total {
            rows,
            agreed,
            entries,
            first: self.keys(operation).start,
        })
    }

    /// Terms of no sums.
    pub(super) fn no_terms(&self) -> Vec<Terms> {
        vec![NO_TERMS; self.sums.parts()]
    }

    /// Starts an exchange of entries, in a call that has entered the world.
    pub(super) fn start_exchange(
        &self,
        operation: Operation,
        lists: &[&[u64]],
    ) -> Result<Exchange, RunError> {
        Exchange::start(self.world(), &self.beside, operation, lists)
    }

    /// Takes no part in an exchange after one that has brought wrong entries. The others hear of it.
    pub(super) fn give_up(&self, operation: Operation, error: WrongEntries) -> RunError {
        let claim = match self.beside.begin_within(operation) {
            Ok(claim) => claim,
            Err(refused) => return refused,
        };
        self.beside.give_up();
        match claim.end::<()>(Err(self.wrong(error))) {
            Err(error) => error,
            Ok(()) => unreachable!("a run that is given an error returns it"),
        }
    }

    fn conversations(&self) -> [&Conversation; 3] {
        [
            &self.terms.conversation,
            &self.rows.conversation,
            &self.beside,
        ]
    }

    /// After a failed run: others may wait for this rank in any of its later steps.
    pub(super) fn spend(&self) {
        let all = self.conversations().into_iter();
        all.for_each(Conversation::spend_between_runs);
    }

    /// After a run that was dropped.
    pub(super) fn abandon(&self) {
        let all = self.conversations().into_iter();
        all.for_each(Conversation::abandon_between_runs);
    }

    /// The error of all ranks.
    fn limit(&self, error: LimitError) -> RunError {
        let rank = self.world().rank();
        RunError::Limit { rank, error }
    }

    /// What entries mean that no rank of this program writes.
    pub(super) fn wrong(&self, error: WrongEntries) -> RunError {
        RunError::WrongEntries {
            rank: self.world().rank(),
            reason: error.to_string(),
        }
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
        self.sums.keys(sums).is_some()
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

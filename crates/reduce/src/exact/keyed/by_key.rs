//! What the calls of a plan by key share with its runs under way.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

use exact_sum::wire::{Agreed, NO_TERMS, Terms, WrongEntries};
use exact_sum::{KeyedAccumulator, LimitError};

use super::exchange::Exchange;
use super::rows::{AnySums, Local, SumsOf, Total};
use crate::engines::values::Memory;
use crate::error::RunError;
use crate::operation::Operation;
use crate::plan::{AnyPlan, Form};
use crate::world::World;
use crate::world::conversation::Conversation;

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

    pub(super) fn rank(&self) -> usize {
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

    /// Whether sums are of the plan's type.
    pub(super) fn takes(&self, sums: &dyn Any) -> bool {
        self.sums.keys(sums).is_some()
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

//! The data that a plan of sums by key shares with its runs under way.

use std::cell::RefCell;
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

use exact_sum::wire::{Agreed, Terms, WrongEntries};
use exact_sum::{KeyedSlot, LimitError};

use super::rows::{AnySlots, Local, SlotsOf};
use crate::engines::exchange::Exchange;
use crate::engines::values::Memory;
use crate::error::RunError;
use crate::operation::Operation;
use crate::plan::{AnyPlan, Form, Staged};
use crate::world::conversation::Conversation;

/// The plans of a run's two reductions: the first reduces terms, the second rows.
pub(crate) struct ByKey {
    pub(super) terms: AnyPlan,
    pub(super) rows: AnyPlan,
    /// The conversation in which ranks exchange entries, the values that do not fit the rows.
    beside: Rc<Conversation>,
    pub(super) slots: Box<dyn AnySlots>,
    /// Memory of earlier runs, which later runs use again.
    memory: RefCell<Vec<Memory>>,
}

impl ByKey {
    pub(crate) fn new<S: KeyedSlot>(
        terms: AnyPlan,
        rows: &AnyPlan,
        beside: Rc<Conversation>,
    ) -> Self {
        Self {
            terms,
            rows: rows.with_form(Form::Items),
            beside,
            slots: Box::new(SlotsOf::<S>(PhantomData)),
            memory: RefCell::default(),
        }
    }

    pub(super) fn rank(&self) -> usize {
        self.world().rank()
    }

    pub(super) fn ranks(&self) -> usize {
        self.world().size()
    }

    /// The keys that this rank gets, if it gets any.
    pub(super) fn keys(&self, operation: Operation) -> Range<usize> {
        match operation {
            Operation::ReduceScatter => self.rows.scattered_columns(),
            _ => 0..self.rows.width(),
        }
    }

    /// Memory for `rows` rows, with undefined content.
    pub(super) fn memory(&self, rows: usize) -> Memory {
        let mut memory = self.memory.borrow_mut().pop().unwrap_or_default();
        memory.resize(rows * self.rows.item_bytes());
        memory
    }

    pub(super) fn give_back(&self, rows: Memory) {
        self.memory.borrow_mut().push(rows);
    }

    /// Converts a rank's rows to the units that follow from the terms of all ranks.
    pub(super) fn settle(&self, local: &mut Local, all: &[Terms]) -> Result<Vec<Agreed>, RunError> {
        let agreed = all.iter().map(|&terms| Agreed::on(terms, self.ranks()));
        let agreed: Result<Vec<Agreed>, LimitError> = agreed.collect();
        let agreed = agreed.map_err(|error| self.limit(error))?;
        self.slots.settle(local, &agreed);
        Ok(agreed)
    }

    /// The terms of a rank that has no sums.
    pub(super) fn no_terms(&self) -> Vec<Terms> {
        self.slots.no_terms()
    }

    /// Starts an exchange of entries, in a call that has entered the world.
    pub(super) fn start_exchange(
        &self,
        operation: Operation,
        lists: &[&[u64]],
    ) -> Result<Exchange, RunError> {
        Exchange::start(self.world(), &self.beside, operation, lists)
    }

    /// Skips an exchange, because the previous exchange delivered wrong entries. The other ranks are notified.
    pub(super) fn give_up(&self, operation: Operation, error: WrongEntries) -> RunError {
        self.beside.refuse_within(operation, self.wrong(error))
    }

    /// The conversations of all stages.
    pub(super) fn conversations(&self) -> impl Iterator<Item = &Conversation> {
        let [terms, rows] = [&self.terms, &self.rows].map(|plan| &*plan.conversation);
        [terms, rows, &self.beside].into_iter()
    }

    /// The error for a sum over its limit, which all ranks return.
    fn limit(&self, error: LimitError) -> RunError {
        let rank = self.world().rank();
        RunError::Limit { rank, error }
    }

    /// The error for entries that no rank that runs this program would write.
    pub(super) fn wrong(&self, error: WrongEntries) -> RunError {
        RunError::WrongEntries {
            rank: self.world().rank(),
            reason: error.to_string(),
        }
    }
}

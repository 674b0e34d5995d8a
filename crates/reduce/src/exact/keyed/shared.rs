//! What a keyed plan and its run under way share.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use exact_sum::wire::{Terms, WrongEntries};
use exact_sum::{KeyedAccumulator, LimitError};

use super::exchange::Exchange;
use super::rows::{AddRows, CombineTerms, Total};
use crate::error::RunError;
use crate::operation::Operation;
use crate::plan::Plan;
use crate::world::World;
use crate::world::conversation::Conversation;

pub(crate) struct Shared<A: KeyedAccumulator> {
    pub(super) terms: Plan<Terms, CombineTerms>,
    pub(super) rows: Plan<A::Row, AddRows<A>>,
    /// For what does not fit the rows.
    beside: Rc<Conversation>,
    pub(super) root: usize,
    pub(super) is_under_way: Cell<bool>,
    /// That of earlier runs.
    memory: RefCell<Vec<Vec<A::Row>>>,
}

impl<A: KeyedAccumulator> Shared<A> {
    pub(crate) fn new(
        terms: Plan<Terms, CombineTerms>,
        rows: Plan<A::Row, AddRows<A>>,
        beside: Rc<Conversation>,
        root: usize,
    ) -> Self {
        Self {
            terms,
            rows,
            beside,
            root,
            is_under_way: Cell::new(false),
            memory: RefCell::default(),
        }
    }

    pub(super) fn world(&self) -> &World {
        self.rows.world()
    }

    pub(super) fn ranks(&self) -> usize {
        self.world().size()
    }

    pub(super) fn keys(&self) -> usize {
        self.rows.width()
    }

    /// The rows of a result.
    pub(super) fn result_length(&self, operation: Operation) -> usize {
        match operation {
            Operation::ReduceScatter => self.rows.scattered_columns().len(),
            _ => self.keys(),
        }
    }

    /// Memory for rows, which may have any.
    pub(super) fn memory(&self) -> Vec<A::Row> {
        self.memory.borrow_mut().pop().unwrap_or_default()
    }

    pub(super) fn give_back(&self, rows: Vec<A::Row>) {
        self.memory.borrow_mut().push(rows);
    }

    /// The sums that a run leaves, the first of which is that of this key.
    pub(super) fn sums(&self, total: Total<A>, first: usize) -> Result<A, RunError> {
        let mut sums = A::of_rows(&total.rows, &total.agreed);
        self.give_back(total.rows);
        for entries in &total.entries {
            let added = sums.add_entries(entries, first);
            added.map_err(|error| self.wrong(error))?;
        }
        Ok(sums)
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
            self.terms.conversation(),
            self.rows.conversation(),
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
    pub(super) fn limit(&self, error: LimitError) -> RunError {
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

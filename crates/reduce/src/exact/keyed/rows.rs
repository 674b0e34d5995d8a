//! What a keyed plan reduces: rows of integers, and the terms by which the ranks agree on their units.

use std::marker::PhantomData;

use bytemuck::{Pod, Zeroable};
use exact_sum::wire::{self, Agreed, NO_TERMS, Terms};
use exact_sum::{KeyedAccumulator, LimitError};

use crate::exact::words::copy_row;
use crate::operator::Operator;

/// Adds the integers of keys, which are far from overflowing.
pub(crate) struct AddRows<A> {
    name: String,
    accumulator: PhantomData<fn() -> A>,
}

impl<A: KeyedAccumulator> AddRows<A> {
    pub(crate) fn new() -> Self {
        Self {
            name: A::name(),
            accumulator: PhantomData,
        }
    }
}

fn integers<R: Pod>(rows: &[R]) -> &[i128] {
    bytemuck::cast_slice(rows)
}

impl<A: KeyedAccumulator> Operator<A::Row> for AddRows<A> {
    fn name(&self) -> &str {
        &self.name
    }

    fn combine(&self, mut left: A::Row, right: A::Row) -> A::Row {
        for (left, right) in left.as_mut().iter_mut().zip(right.as_ref()) {
            *left = left.wrapping_add(*right);
        }
        left
    }

    fn empty(&self) -> Option<A::Row> {
        Some(A::Row::zeroed())
    }

    fn canonical(&self, row: A::Row) -> A::Row {
        row
    }

    fn fold_rows(
        &self,
        items: &[A::Row],
        _width: usize,
        _scratch: &mut Vec<A::Row>,
        result: &mut [A::Row],
    ) -> Option<()> {
        copy_row(items, result)
    }

    fn combine_rows(&self, left: &[A::Row], right: &[A::Row], into: &mut [A::Row]) {
        let pairs = integers(left).iter().zip(integers(right));
        let into: &mut [i128] = bytemuck::cast_slice_mut(into);
        for (into, (left, right)) in into.iter_mut().zip(pairs) {
            *into = left.wrapping_add(*right);
        }
    }

    fn combine_rows_canonical(&self, left: &[A::Row], right: &[A::Row], into: &mut [A::Row]) {
        self.combine_rows(left, right, into);
    }

    fn make_canonical(&self, _row: &mut [A::Row]) {}

    fn copy_canonical(&self, row: &[A::Row], into: &mut [A::Row]) {
        into.copy_from_slice(row);
    }
}

/// Combines terms.
pub(crate) struct CombineTerms;

impl Operator<Terms> for CombineTerms {
    fn name(&self) -> &'static str {
        "terms of sums by key"
    }

    fn combine(&self, left: Terms, right: Terms) -> Terms {
        wire::combine(left, right)
    }

    fn empty(&self) -> Option<Terms> {
        Some(NO_TERMS)
    }

    fn fold_rows(
        &self,
        items: &[Terms],
        _width: usize,
        _scratch: &mut Vec<Terms>,
        result: &mut [Terms],
    ) -> Option<()> {
        copy_row(items, result)
    }
}

/// What a rank gives to a run.
pub(super) struct Local<A: KeyedAccumulator> {
    pub(super) rows: Vec<A::Row>,
    pub(super) terms: Vec<Terms>,
    pub(super) entries: Vec<u64>,
}

impl<A: KeyedAccumulator> Local<A> {
    /// In memory that was used before.
    pub(super) fn of(sums: &A, mut rows: Vec<A::Row>) -> Self {
        rows.resize(sums.keys_count(), A::Row::zeroed());
        let mut local = Self {
            rows,
            terms: vec![NO_TERMS; A::PARTS],
            entries: Vec::new(),
        };
        sums.write(&mut local.rows, &mut local.terms, &mut local.entries);
        local
    }

    /// Brings the rows to the units that follow from the terms of all ranks.
    pub(super) fn settle(
        &mut self,
        all: &[Terms],
        ranks: usize,
    ) -> Result<Vec<Agreed>, LimitError> {
        let agreed = all.iter().map(|&terms| Agreed::on(terms, ranks));
        let agreed: Vec<Agreed> = agreed.collect::<Result<_, _>>()?;
        A::settle(&mut self.rows, &self.terms, &agreed, &mut self.entries);
        Ok(agreed)
    }
}

/// What a run leaves on a rank.
pub(super) struct Total<A: KeyedAccumulator> {
    pub(super) rows: Vec<A::Row>,
    pub(super) agreed: Vec<Agreed>,
    /// By rank.
    pub(super) entries: Vec<Vec<u64>>,
}

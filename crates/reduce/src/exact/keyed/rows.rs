//! What a plan of sums by key reduces: rows of integers, and the terms by which the ranks agree on the rows' units. Also the plan's access to
//! the program's sums by key, whose type the plan does not know.

use std::any::Any;
use std::marker::PhantomData;
use std::rc::Rc;
use std::slice;

use bytemuck::Pod;
use exact_sum::wire::{self, Agreed, NO_TERMS, Terms, WrongEntries};
use exact_sum::{Keyed, KeyedSlot};

use crate::engines::values::{Memory, Typed, Values, typed, typed_mut};
use crate::operator::Operator;

/// The operator on rows: adds the integers of keys, which are far from overflowing, or takes their maxima.
pub(crate) struct CombineRows {
    name: String,
    adds: bool,
}

impl CombineRows {
    pub(crate) fn values<S: KeyedSlot>(name: String) -> Rc<dyn Values> {
        let adds = wire::adds::<S>();
        Typed::<S::Row, Self>::of(Self { name, adds })
    }
}

fn integers<R: Pod>(rows: &[R]) -> &[i128] {
    bytemuck::cast_slice(rows)
}

impl<R: Pod> Operator<R> for CombineRows {
    fn name(&self) -> &str {
        &self.name
    }

    fn combine(&self, left: R, right: R) -> R {
        let mut sum = R::zeroed();
        self.combine_rows(&[left], &[right], slice::from_mut(&mut sum));
        sum
    }

    fn empty(&self) -> Option<R> {
        let mut row = R::zeroed();
        let row_integers: &mut [i128] = bytemuck::cast_slice_mut(slice::from_mut(&mut row));
        row_integers.fill(wire::empty(self.adds));
        Some(row)
    }

    fn canonical(&self, row: R) -> R {
        row
    }

    fn fold_rows(
        &self,
        items: &[R],
        _width: usize,
        _scratch: &mut Vec<R>,
        result: &mut [R],
    ) -> Option<()> {
        copy_row(items, result)
    }

    fn combine_rows(&self, left: &[R], right: &[R], into: &mut [R]) {
        let pairs = integers(left).iter().zip(integers(right));
        let into: &mut [i128] = bytemuck::cast_slice_mut(into);
        for (into, (left, right)) in into.iter_mut().zip(pairs) {
            *into = wire::combined(self.adds, *left, *right);
        }
    }

    fn combine_rows_canonical(&self, left: &[R], right: &[R], into: &mut [R]) {
        self.combine_rows(left, right, into);
    }

    fn make_canonical(&self, _row: &mut [R]) {}

    fn copy_canonical(&self, row: &[R], into: &mut [R]) {
        into.copy_from_slice(row);
    }
}

/// Folds the rows of a rank that has only one row, which is simply copied.
fn copy_row<T: Copy>(row: &[T], result: &mut [T]) -> Option<()> {
    result.copy_from_slice(row);
    Some(())
}

/// The operator on terms.
pub(crate) struct CombineTerms;

impl CombineTerms {
    pub(crate) fn values() -> Rc<dyn Values> {
        Typed::<Terms, Self>::of(Self)
    }
}

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

/// What a rank contributes to a run.
#[derive(Default)]
pub(super) struct Local {
    pub(super) rows: Memory,
    pub(super) terms: Vec<Terms>,
    pub(super) entries: Vec<u64>,
}

/// What a run leaves on a rank.
pub(super) struct Total {
    pub(super) rows: Memory,
    pub(super) agreed: Vec<Agreed>,
    /// The entries that each rank has sent.
    pub(super) entries: Vec<Vec<u64>>,
    /// The key of the first row.
    pub(super) first: usize,
}

impl Total {
    /// The slots, from rows and entries.
    fn slots<S: KeyedSlot>(&self) -> Result<Keyed<S>, WrongEntries> {
        let mut slots = wire::of_rows(typed(self.rows.bytes()), &self.agreed);
        for entries in &self.entries {
            wire::add_entries(&mut slots, entries, self.first)?;
        }
        Ok(slots)
    }
}

/// Slots of a type that the program knows and a plan does not.
pub(super) trait AnySlots {
    /// The number of parts of a key's slot.
    fn parts(&self) -> usize;

    /// The terms of a rank without items.
    fn no_terms(&self) -> Vec<Terms> {
        vec![NO_TERMS; self.parts()]
    }

    /// The size of a key's value, in bytes.
    fn value_bytes(&self) -> usize;

    /// The number of keys of slots; `None` for slots of another type.
    fn keys(&self, slots: &dyn Any) -> Option<usize>;

    /// What a rank with these slots contributes to a run. `rows` is memory for its rows.
    fn local(&self, slots: &dyn Any, rows: Memory) -> Local;

    /// Converts the rows to the units that the ranks agreed on.
    fn settle(&self, local: &mut Local, agreed: &[Agreed]);

    /// Merges the entries of several ranks into one entry for each part of a key.
    fn merged(&self, lists: &[Vec<u64>]) -> Result<Vec<u64>, WrongEntries>;

    /// The slots that a run left.
    fn slots(&self, total: &Total) -> Result<Box<dyn Any>, WrongEntries>;

    /// Replaces slots by those that a run left.
    fn replace(&self, slots: &mut dyn Any, total: &Total) -> Result<(), WrongEntries>;

    /// Writes the value of each key that a run left, rounded once.
    fn write_values(&self, total: &Total, result: &mut [u8]) -> Result<(), WrongEntries>;
}

pub(super) struct SlotsOf<S>(pub(super) PhantomData<fn() -> S>);

/// What callers know once [`AnySlots::keys`] has not returned `None`.
const OF_THE_TYPE: &str = "slots are of the plan's type";

impl<S: KeyedSlot> AnySlots for SlotsOf<S> {
    fn parts(&self) -> usize {
        wire::parts::<S>()
    }

    fn value_bytes(&self) -> usize {
        size_of::<S::Item>()
    }

    fn keys(&self, slots: &dyn Any) -> Option<usize> {
        slots.downcast_ref::<Keyed<S>>().map(wire::rows)
    }

    fn local(&self, slots: &dyn Any, mut rows: Memory) -> Local {
        let slots: &Keyed<S> = slots.downcast_ref().expect(OF_THE_TYPE);
        rows.resize(wire::rows(slots) * size_of::<S::Row>());
        let mut local = Local {
            rows,
            terms: self.no_terms(),
            entries: Vec::new(),
        };
        let rows = typed_mut(local.rows.bytes_mut());
        wire::write(slots, rows, &mut local.terms, &mut local.entries);
        local
    }

    fn settle(&self, local: &mut Local, agreed: &[Agreed]) {
        let rows = typed_mut(local.rows.bytes_mut());
        wire::settle::<S>(rows, &local.terms, agreed, &mut local.entries);
    }

    fn merged(&self, lists: &[Vec<u64>]) -> Result<Vec<u64>, WrongEntries> {
        wire::merged::<S>(lists)
    }

    fn slots(&self, total: &Total) -> Result<Box<dyn Any>, WrongEntries> {
        Ok(Box::new(total.slots::<S>()?))
    }

    fn replace(&self, slots: &mut dyn Any, total: &Total) -> Result<(), WrongEntries> {
        let slots: &mut Keyed<S> = slots.downcast_mut().expect(OF_THE_TYPE);
        *slots = total.slots()?;
        Ok(())
    }

    fn write_values(&self, total: &Total, result: &mut [u8]) -> Result<(), WrongEntries> {
        let result = typed_mut(result);
        if total.entries.iter().all(Vec::is_empty) {
            wire::write_values::<S>(typed(total.rows.bytes()), &total.agreed, result);
        } else {
            result.copy_from_slice(&total.slots::<S>()?.values());
        }
        Ok(())
    }
}

//! Computes an aggregate for all groups of a query.

use std::mem::take;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, Decimal128Array, Float64Array, UInt64Array,
};
use arrow::buffer::NullBuffer;
use datafusion_common::{Result, internal_datafusion_err};
use datafusion_expr::{EmitTo, GroupsAccumulator};
use exact_sum::{KeyError, LimitError};

use crate::accumulator::split;
use crate::input::Items;
use crate::kind::{Kind, LONG};

/// The states of an aggregate for all groups.
pub(crate) trait Groups: Default + Send + 'static {
    type Item: ArrowPrimitiveType;

    /// The number of items of each group.
    fn counts(&self) -> &[u64];

    fn grow(&mut self, groups: usize) -> Result<(), LimitError>;

    fn forget_first(&mut self, groups: usize);

    /// The number of allocated bytes.
    fn memory(&self) -> usize;

    fn add(&mut self, groups: &[usize], items: GroupColumns<'_, Self>) -> Result<(), KeyError>;

    /// The values of the first groups, whether or not they have enough items.
    fn values(&self, kind: Kind, groups: usize) -> Values;

    /// Returns the columns in which the states of the first groups are sent. The column with the
    /// numbers of items is not among them.
    fn write(&self, groups: usize) -> Vec<ArrayRef>;

    /// Merges states into those of `groups`. They were sent in the columns that [`write`](Self::write) returns.
    fn merge(&mut self, groups: &[usize], counts: &[u64], columns: &[ArrayRef]) -> Result<()>;

    /// Treats each row as a separate group, and returns the columns of the groups' states. The state
    /// of a row that is not kept is empty.
    fn write_rows(items: &Items<'_, Self::Item>) -> Vec<ArrayRef>;
}

/// The items of each argument. For functions of one argument, the second slice is empty.
pub(crate) type GroupColumns<'i, G> =
    [&'i [<<G as Groups>::Item as ArrowPrimitiveType>::Native]; 2];

pub(crate) enum Values {
    Doubles(Vec<f64>),
    Integers(Vec<i128>),
}

/// An aggregate of many groups, in the form that the engine calls.
#[derive(Debug)]
pub(crate) struct ExactGroups<G> {
    kind: Kind,
    groups: G,
}

impl<G: Groups> ExactGroups<G> {
    pub(crate) fn new(kind: Kind) -> Self {
        Self {
            kind,
            groups: G::default(),
        }
    }

    /// Returns the number of groups that the engine asks for.
    fn count(&self, emit_to: EmitTo) -> usize {
        let groups = self.groups.counts().len();
        match emit_to {
            EmitTo::All => groups,
            EmitTo::First(first) => first.min(groups),
        }
    }

    fn forget(&mut self, emitted: usize) {
        if emitted == self.groups.counts().len() {
            take(&mut self.groups);
        } else {
            self.groups.forget_first(emitted);
        }
    }
}

impl<G: Groups> GroupsAccumulator for ExactGroups<G> {
    fn update_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        opt_filter: Option<&BooleanArray>,
        total_num_groups: usize,
    ) -> Result<()> {
        let items = Items::<G::Item>::of(values, opt_filter)?;
        let grown = self.groups.grow(total_num_groups);
        grown.map_err(|error| internal_datafusion_err!("{}: {error}", self.kind.name()))?;
        let groups = items.of_rows(group_indices);
        let added = self.groups.add(&groups, items.columns());
        added.map_err(|error| internal_datafusion_err!("{}: {error}", self.kind.name()))
    }

    fn merge_batch(
        &mut self,
        values: &[ArrayRef],
        group_indices: &[usize],
        total_num_groups: usize,
    ) -> Result<()> {
        let (counts, columns) = split(values)?;
        let grown = self.groups.grow(total_num_groups);
        grown.map_err(|error| internal_datafusion_err!("{}: {error}", self.kind.name()))?;
        let merged = self.groups.merge(group_indices, counts, columns);
        merged.map_err(|error| error.context(self.kind.name()))
    }

    fn evaluate(&mut self, emit_to: EmitTo) -> Result<ArrayRef> {
        let emitted = self.count(emit_to);
        let least = self.kind.least_items();
        let counts = &self.groups.counts()[..emitted];
        let nulls: NullBuffer = counts.iter().map(|&items| items >= least).collect();
        let nulls = Some(nulls).filter(|nulls| nulls.null_count() > 0);
        let values: ArrayRef = match self.groups.values(self.kind, emitted) {
            Values::Doubles(doubles) => Arc::new(Float64Array::new(doubles.into(), nulls)),
            Values::Integers(sums) => {
                Arc::new(Decimal128Array::new(sums.into(), nulls).with_data_type(LONG))
            }
        };
        self.forget(emitted);
        Ok(values)
    }

    fn state(&mut self, emit_to: EmitTo) -> Result<Vec<ArrayRef>> {
        let emitted = self.count(emit_to);
        let counts = self.groups.counts()[..emitted].to_vec();
        let mut columns: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from(counts))];
        columns.extend(self.groups.write(emitted));
        self.forget(emitted);
        Ok(columns)
    }

    fn convert_to_state(
        &self,
        values: &[ArrayRef],
        opt_filter: Option<&BooleanArray>,
    ) -> Result<Vec<ArrayRef>> {
        let items = Items::<G::Item>::of(values, opt_filter)?;
        let counts: UInt64Array = items
            .are_kept()
            .map(|is_kept| Some(is_kept.into()))
            .collect();
        let mut columns: Vec<ArrayRef> = vec![Arc::new(counts)];
        columns.extend(G::write_rows(&items));
        Ok(columns)
    }

    fn size(&self) -> usize {
        size_of_val(self) + self.groups.memory()
    }
}

//! Runs plans whose items are in GPU memory.

use reduce::{Operation, Operator, Plan, Sum};

use crate::device::Device;
use crate::error::Error;
use crate::items::{Element, Items};

impl Device {
    /// Runs [`Plan::allreduce_into`] on items in this device's memory: the device folds them, and the ranks exchange the folds in
    /// ordinary memory. Collective.
    ///
    /// One rank may have its items on a GPU and another rank in ordinary memory; the bits are the same. If the plan's algorithm does not
    /// use a schedule, the items are copied to ordinary memory first.
    ///
    /// # Errors
    /// Those of [`Plan::allreduce_into`]. If the driver fails, the run fails on the other ranks, too.
    pub fn allreduce<T: Element>(
        &self,
        plan: &Plan<T, Sum>,
        local: Items<'_, T>,
        result: &mut [T],
    ) -> Result<(), Error>
    where
        Sum: Operator<T>,
    {
        match self.folded(plan, Operation::Allreduce, local) {
            Ok(Local::Items(items)) => plan.allreduce_into(&items, result)?,
            Ok(Local::Nodes(nodes)) => plan.allreduce_folded(Ok(&nodes), result)?,
            Err(error) => plan.allreduce_folded(Err(error.to_string()), result)?,
        }
        Ok(())
    }

    /// Runs [`Plan::reduce_into`] on items in this device's memory, like [`allreduce`](Device::allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](Device::allreduce).
    pub fn reduce<T: Element>(
        &self,
        plan: &Plan<T, Sum>,
        local: Items<'_, T>,
        result: &mut [T],
    ) -> Result<bool, Error>
    where
        Sum: Operator<T>,
    {
        let is_root = match self.folded(plan, Operation::Reduce, local) {
            Ok(Local::Items(items)) => plan.reduce_into(&items, result)?,
            Ok(Local::Nodes(nodes)) => plan.reduce_folded(Ok(&nodes), result)?,
            Err(error) => plan.reduce_folded(Err(error.to_string()), result)?,
        };
        Ok(is_root)
    }

    /// Runs [`Plan::reduce_scatter`] on items in this device's memory, like [`allreduce`](Device::allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](Device::allreduce).
    pub fn reduce_scatter<T: Element>(
        &self,
        plan: &Plan<T, Sum>,
        local: Items<'_, T>,
        result: &mut [T],
    ) -> Result<(), Error>
    where
        Sum: Operator<T>,
    {
        match self.folded(plan, Operation::ReduceScatter, local) {
            Ok(Local::Items(items)) => plan.reduce_scatter(&items, result)?,
            Ok(Local::Nodes(nodes)) => plan.reduce_scatter_folded(Ok(&nodes), result)?,
            Err(error) => plan.reduce_scatter_folded(Err(error.to_string()), result)?,
        }
        Ok(())
    }

    /// The operands of this rank: the folds of its own nodes, or its items if the plan has no such nodes.
    fn folded<T: Element>(
        &self,
        plan: &Plan<T, Sum>,
        operation: Operation,
        local: Items<'_, T>,
    ) -> Result<Local<T>, Error>
    where
        Sum: Operator<T>,
    {
        let Some(lengths) = plan.own_node_lengths(operation) else {
            return self.copied(local).map(Local::Items);
        };
        let width = plan.width();
        let mut nodes = vec![T::zeroed(); lengths.len() * width];
        self.fold_runs(local, width, &lengths, &mut nodes)?;
        Ok(Local::Nodes(nodes))
    }

    /// Copies items to ordinary memory.
    #[expect(unsafe_code, reason = "a copy from a pointer")]
    fn copied<T: Element>(&self, local: Items<'_, T>) -> Result<Vec<T>, Error>
    where
        Sum: Operator<T>,
    {
        let mut items = vec![T::zeroed(); local.len()];
        if !items.is_empty() {
            let into = bytemuck::cast_slice_mut(&mut items);
            // SAFETY: the caller of `items`, or a buffer, guarantees that there are that many items.
            unsafe { self.copy_from(local.pointer, into) }?;
        }
        Ok(items)
    }
}

/// The operands of this rank in ordinary memory.
enum Local<T> {
    Items(Vec<T>),
    Nodes(Vec<T>),
}

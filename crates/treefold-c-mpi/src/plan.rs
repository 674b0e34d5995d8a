//! Plans without the type of their items.

use std::cell::RefCell;
use std::ops::Deref;
use std::ops::Range;
use std::rc::Rc;

use bytemuck::Zeroable;
use treefold::{Operation, Operator, Plan, RunError};
use treefold_c::failure::Failure;

use crate::failure::of_run;
use crate::handle::handle;
use crate::items::{Layout, into, read};
use crate::run::{AnyRun, Started, ToldOfPanics, TypedRun};

handle!(
    /// `treefold_plan`: a plan.
    pub treefold_plan, Shaped, 3, "plan"
);

/// A plan with what each call asks of it, which lies beside it: a call that is answered through the table of a type takes longer.
pub(crate) struct Shaped {
    /// The bytes of an item's element in an array.
    pub(crate) element_bytes: usize,
    /// The elements of an item.
    pub(crate) width: usize,
    /// Whether this rank gets a reduction's result.
    pub(crate) is_root: bool,
    plan: Box<dyn AnyPlan>,
}

impl Deref for Shaped {
    type Target = dyn AnyPlan;

    #[inline]
    fn deref(&self) -> &Self::Target {
        &*self.plan
    }
}

/// A plan, whose items are bytes to its caller.
///
/// A call that cannot be made on this rank, for a reason that the plan does not see, is made [without items](AnyPlan::refuse), so that
/// the other ranks hear of it.
pub(crate) trait AnyPlan {
    /// A blocking operation other than a broadcast: says whether this rank gets a result.
    fn run(&self, operation: Operation, local: &[u8], result: &mut [u8]) -> Result<bool, Failure>;

    /// Copies the root's row.
    fn broadcast(&self, row: &mut [u8]) -> Result<(), Failure>;

    /// Starts an operation other than a broadcast.
    fn start(&self, operation: Operation, local: &[u8]) -> Result<Rc<dyn AnyRun>, Failure>;

    /// Takes part in an operation without being able to: it fails, here and on the ranks that need this one.
    fn refuse(&self, operation: Operation);

    /// The same where an operation is started: does not wait, if the plan's algorithm can be started. The plan is spent.
    fn refuse_to_start(&self, operation: Operation);

    /// The name of the algorithm that runs for an operation.
    fn algorithm(&self, operation: Operation) -> Option<treefold::Algorithm>;

    /// This rank's columns of a reduce-scatter.
    fn scattered_columns(&self) -> Range<usize>;

    /// Who sends what to whom.
    fn text(&self) -> String;
}

/// A plan whose items lie as a layout says.
pub(crate) struct TypedPlan<L: Layout, O: Operator<L::Item> + 'static> {
    plan: Plan<L::Item, O>,
    layout: L,
    is_root: bool,
    /// A row for results that this rank does not get.
    unused: RefCell<Vec<L::Item>>,
}

impl<L: Layout + Copy + 'static, O: Operator<L::Item> + 'static> TypedPlan<L, O> {
    pub(crate) fn shaped(plan: Plan<L::Item, O>, layout: L, is_root: bool) -> Shaped {
        Shaped {
            element_bytes: layout.bytes(),
            width: plan.width(),
            is_root,
            plan: Box::new(Self {
                plan,
                layout,
                is_root,
                unused: RefCell::default(),
            }),
        }
    }

    fn run_typed(
        &self,
        operation: Operation,
        local: &[L::Item],
        result: &mut [L::Item],
    ) -> Result<bool, RunError> {
        let plan = &self.plan;
        match operation {
            Operation::Allreduce => plan.allreduce_into(local, result).map(|()| true),
            Operation::Reduce => plan.reduce_into(local, result),
            Operation::ReduceScatter => plan.reduce_scatter(local, result).map(|()| true),
            Operation::Scan => plan.scan(local, result).map(|()| true),
            Operation::Exscan => plan.exscan(local, result).map(|()| true),
            Operation::Broadcast => plan.broadcast(result).map(|()| true),
            _ => unreachable!("`operation_of_code` knows no other"),
        }
    }

    fn start_typed(
        &self,
        operation: Operation,
        local: &[L::Item],
    ) -> Result<Started<L::Item>, RunError> {
        let plan = &self.plan;
        match operation {
            Operation::Allreduce => plan.start_allreduce_row(local).map(Started::Allreduce),
            Operation::Reduce => plan.start_reduce_row(local).map(Started::Reduce),
            Operation::ReduceScatter => {
                plan.start_reduce_scatter(local).map(Started::ReduceScatter)
            }
            Operation::Scan => plan.start_scan(local).map(Started::Scan),
            Operation::Exscan => plan.start_exscan(local).map(Started::Scan),
            _ => unreachable!("no other operation can be started"),
        }
    }

    /// Items that cannot be right: none where there should be some, and one where there should be none.
    fn wrong_items(&self) -> Vec<L::Item> {
        match self.plan.ownership().count(self.plan.world().rank()) {
            0 => vec![L::Item::zeroed()],
            _ => Vec::new(),
        }
    }

    /// A blocking operation on items that may have to be copied.
    fn run_any(
        &self,
        operation: Operation,
        local: &[u8],
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        let local = read(&self.layout, "local", local);
        let local = local.inspect_err(|_| self.refuse(operation))?;
        let run = |result: &mut [L::Item]| {
            let outcome = self.run_typed(operation, &local, result);
            outcome.map_err(|error| of_run(&error))
        };
        let is_unused = operation == Operation::Reduce && !self.is_root && result.is_empty();
        // An operator may call this plan again: that fails, but not here.
        if is_unused && let Ok(mut unused) = self.unused.try_borrow_mut() {
            unused.resize(self.plan.width(), L::Item::zeroed());
            return run(&mut unused);
        }
        let mut was_run = false;
        let outcome = into(&self.layout, "result", result, |result| {
            was_run = true;
            run(result)
        });
        if !was_run {
            self.refuse(operation);
        }
        outcome
    }
}

impl<L: Layout + Copy + 'static, O: Operator<L::Item> + 'static> AnyPlan for TypedPlan<L, O> {
    #[inline]
    fn run(&self, operation: Operation, local: &[u8], result: &mut [u8]) -> Result<bool, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        // Single items that lie as the plan takes them have a short way.
        if operation == Operation::Allreduce
            && self.plan.width() == 1
            && let Some(local) = self.layout.in_place(local)
            && let Some([result]) = self.layout.in_place_mut(result)
        {
            *result = self.plan.allreduce(local).map_err(|error| of_run(&error))?;
            return Ok(true);
        }
        self.run_any(operation, local, result)
    }

    fn broadcast(&self, row: &mut [u8]) -> Result<(), Failure> {
        self.run_any(Operation::Broadcast, &[], row).map(drop)
    }

    fn start(&self, operation: Operation, local: &[u8]) -> Result<Rc<dyn AnyRun>, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        let local = read(&self.layout, "local", local);
        let local = local.inspect_err(|_| self.refuse_to_start(operation))?;
        let started = self.start_typed(operation, &local);
        let started = started.map_err(|error| of_run(&error))?;
        let is_unused = operation == Operation::Reduce && !self.is_root;
        Ok(Rc::new(TypedRun {
            world: self.plan.world().clone(),
            layout: self.layout,
            started: RefCell::new(Some(started)),
            unused_result: is_unused.then_some(self.plan.width()),
        }))
    }

    fn refuse(&self, operation: Operation) {
        let _ = self.run_typed(operation, &self.wrong_items(), &mut []);
    }

    fn refuse_to_start(&self, operation: Operation) {
        match self.start_typed(operation, &self.wrong_items()) {
            Ok(started) => {
                drop(started);
                self.plan.world().tell_abandoned();
            }
            Err(RunError::NotOffered { .. }) => self.refuse(operation),
            Err(_) => {}
        }
    }

    fn algorithm(&self, operation: Operation) -> Option<treefold::Algorithm> {
        self.plan.algorithm(operation)
    }

    fn scattered_columns(&self) -> Range<usize> {
        self.plan.scattered_columns()
    }

    fn text(&self) -> String {
        self.plan.to_string()
    }
}

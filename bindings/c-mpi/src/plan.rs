//! Plans without the type of their items.

#[cfg(feature = "cuda")]
pub(crate) mod device;

#[cfg(feature = "cuda")]
use std::any::Any;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::{Deref, Range};
use std::rc::Rc;

use bytemuck::{Pod, Zeroable};
use treefold::{Algorithm, Operation, Operator, Plan, RunError, World};
use treefold_c::failure::Failure;

use crate::failure::of_run;
#[cfg(feature = "cuda")]
use crate::gpu::Gpu;
use crate::handle::handle;
use crate::items::{Layout, into, read};
use crate::run::{AnyRun, Origin, Started, ToldOfPanics, TypedRun, UnderWay};

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
    #[cfg(feature = "cuda")]
    pub(crate) gpu: Gpu,
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

    /// The same on pairs of items.
    fn run_pairs(
        &self,
        operation: Operation,
        local: [&[u8]; 2],
        result: &mut [u8],
    ) -> Result<bool, Failure>;

    /// Copies the root's row.
    fn broadcast(&self, row: &mut [u8]) -> Result<(), Failure>;

    /// Starts an operation other than a broadcast on the plan of this name.
    fn start(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        local: &[u8],
    ) -> Result<Rc<dyn AnyRun>, Failure>;

    /// The same on pairs of items.
    fn start_pairs(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        local: [&[u8]; 2],
    ) -> Result<Rc<dyn AnyRun>, Failure>;

    /// Whether a run was started, and neither waited for nor abandoned.
    fn is_pending(&self) -> bool;

    /// Takes part in an operation without being able to: it fails, here and on the ranks that need this one.
    fn refuse(&self, operation: Operation);

    /// The same where an operation is started: does not wait, if the plan's algorithm can be started. The plan is spent.
    fn refuse_to_start(&self, operation: Operation);

    /// The name of the algorithm that runs for an operation.
    fn algorithm(&self, operation: Operation) -> Option<Algorithm>;

    /// This rank's columns of a reduce-scatter.
    fn scattered_columns(&self) -> Range<usize>;

    /// Who sends what to whom.
    fn text(&self) -> String;

    /// The plan with its type.
    #[cfg(feature = "cuda")]
    fn as_any(&self) -> &dyn Any;
}

/// A plan of either kind, tree or exact sum, on items of a type.
pub(crate) trait Reduction<T>: 'static {
    /// A run of it.
    type Started: UnderWay<T> + 'static;

    fn world(&self) -> &World;

    /// The elements of an item.
    fn width(&self) -> usize;

    fn algorithm(&self, operation: Operation) -> Option<Algorithm>;

    fn scattered_columns(&self) -> Range<usize>;

    fn text(&self) -> String;

    /// An allreduce of single items.
    fn allreduce(&self, local: &[T]) -> Result<T, Failure>;

    /// A blocking operation: says whether this rank gets a result.
    fn run(&self, operation: Operation, local: &[T], result: &mut [T]) -> Result<bool, Failure>;

    /// The same on pairs of items, which a plan of tree order does not have.
    fn run_pairs(&self, operation: Operation, _: [&[T]; 2], _: &mut [T]) -> Result<bool, Failure> {
        self.refuse(operation);
        Err(no_pairs())
    }

    fn start(&self, operation: Operation, local: &[T]) -> Result<Self::Started, Failure>;

    /// The same on pairs of items, which a plan of tree order does not have.
    fn start_pairs(&self, operation: Operation, _: [&[T]; 2]) -> Result<Self::Started, Failure> {
        self.refuse_to_start(operation);
        Err(no_pairs())
    }

    /// As [`AnyPlan::refuse`].
    fn refuse(&self, operation: Operation);

    /// As [`AnyPlan::refuse_to_start`].
    fn refuse_to_start(&self, operation: Operation);
}

/// Two arrays are given to a plan that takes one.
pub(crate) fn no_pairs() -> Failure {
    Failure::argument(
        "plan",
        "it takes one array of items: it is of no dot products",
    )
}

/// What comes of starting an operation with items that cannot be right: the run is abandoned, or its failure told by `refuse`.
pub(crate) fn end_refused<S>(world: &World, started: Result<S, RunError>, refuse: impl FnOnce()) {
    match started {
        Ok(started) => {
            drop(started);
            world.tell_abandoned();
        }
        Err(RunError::NotOffered { .. }) => refuse(),
        Err(_) => {}
    }
}

impl<T: Pod, O: Operator<T> + 'static> Reduction<T> for Plan<T, O> {
    type Started = Started<T>;

    fn world(&self) -> &World {
        self.world()
    }

    fn width(&self) -> usize {
        self.width()
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        self.algorithm(operation)
    }

    fn scattered_columns(&self) -> Range<usize> {
        self.scattered_columns()
    }

    fn text(&self) -> String {
        self.to_string()
    }

    #[inline]
    fn allreduce(&self, local: &[T]) -> Result<T, Failure> {
        self.allreduce(local).map_err(|error| of_run(&error))
    }

    fn run(&self, operation: Operation, local: &[T], result: &mut [T]) -> Result<bool, Failure> {
        run(self, operation, local, result).map_err(|error| of_run(&error))
    }

    fn start(&self, operation: Operation, local: &[T]) -> Result<Started<T>, Failure> {
        start(self, operation, local).map_err(|error| of_run(&error))
    }

    fn refuse(&self, operation: Operation) {
        let _ = run(self, operation, &wrong_items(self), &mut []);
    }

    fn refuse_to_start(&self, operation: Operation) {
        let started = start(self, operation, &wrong_items(self));
        end_refused(self.world(), started, || Reduction::refuse(self, operation));
    }
}

fn run<T: Pod, O: Operator<T>>(
    plan: &Plan<T, O>,
    operation: Operation,
    local: &[T],
    result: &mut [T],
) -> Result<bool, RunError> {
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

fn start<T: Pod, O: Operator<T>>(
    plan: &Plan<T, O>,
    operation: Operation,
    local: &[T],
) -> Result<Started<T>, RunError> {
    match operation {
        Operation::Allreduce => plan.start_allreduce_row(local).map(Started::Allreduce),
        Operation::Reduce => plan.start_reduce_row(local).map(Started::Reduce),
        Operation::ReduceScatter => plan.start_reduce_scatter(local).map(Started::ReduceScatter),
        Operation::Scan => plan.start_scan(local).map(Started::Scan),
        Operation::Exscan => plan.start_exscan(local).map(Started::Scan),
        _ => unreachable!("no other operation can be started"),
    }
}

/// Items that cannot be right: none where there should be some, and one where there should be none.
fn wrong_items<T: Pod, O: Operator<T>>(plan: &Plan<T, O>) -> Vec<T> {
    match plan.ownership().count(plan.world().rank()) {
        0 => vec![T::zeroed()],
        _ => Vec::new(),
    }
}

/// A plan whose items lie as a layout says.
pub(crate) struct TypedPlan<L: Layout, P> {
    plan: P,
    layout: L,
    is_root: bool,
    /// A row for results that this rank does not get.
    unused: RefCell<Vec<L::Item>>,
    /// Whether a run was started, and neither waited for nor abandoned.
    is_pending: Rc<Cell<bool>>,
    /// What runs for each operation that was started, which takes some time to find out.
    algorithms: [OnceCell<Option<Algorithm>>; STARTED.len()],
}

/// The operations that can be started.
const STARTED: [Operation; 5] = [
    Operation::Allreduce,
    Operation::Reduce,
    Operation::ReduceScatter,
    Operation::Scan,
    Operation::Exscan,
];

impl<L: Layout + Copy + 'static, P: Reduction<L::Item>> TypedPlan<L, P> {
    pub(crate) fn shaped(plan: P, layout: L, is_root: bool) -> Shaped {
        Shaped {
            element_bytes: layout.bytes(),
            width: plan.width(),
            is_root,
            #[cfg(feature = "cuda")]
            gpu: Gpu::default(),
            plan: Box::new(Self {
                plan,
                layout,
                is_root,
                unused: RefCell::default(),
                is_pending: Rc::default(),
                algorithms: Default::default(),
            }),
        }
    }

    /// Lets `run` write to a result, an argument of this name, that may have to be copied, or that this rank does not get.
    fn run_into(
        &self,
        operation: Operation,
        name: &'static str,
        result: &mut [u8],
        run: impl FnOnce(&mut [L::Item]) -> Result<bool, Failure>,
    ) -> Result<bool, Failure> {
        let is_unused = operation == Operation::Reduce && !self.is_root && result.is_empty();
        // An operator may call this plan again: that fails, but not here.
        if is_unused && let Ok(mut unused) = self.unused.try_borrow_mut() {
            unused.resize(self.plan.width(), L::Item::zeroed());
            return run(&mut unused);
        }
        let mut was_run = false;
        let outcome = into(&self.layout, name, result, |result| {
            was_run = true;
            run(result)
        });
        if !was_run {
            self.plan.refuse(operation);
        }
        outcome
    }

    /// A blocking operation on items that may have to be copied.
    fn run_any(
        &self,
        operation: Operation,
        local: &[u8],
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        let local = read(&self.layout, "local", local);
        let local = local.inspect_err(|_| self.plan.refuse(operation))?;
        self.run_into(operation, "result", result, |result| {
            self.plan.run(operation, &local, result)
        })
    }

    fn read_pairs<'a>(&self, [x, y]: [&'a [u8]; 2]) -> Result<[Cow<'a, [L::Item]>; 2], Failure> {
        Ok([read(&self.layout, "x", x)?, read(&self.layout, "y", y)?])
    }

    fn under_way(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        started: P::Started,
    ) -> Rc<dyn AnyRun> {
        let is_unused = operation == Operation::Reduce && !self.is_root;
        let place = STARTED.iter().position(|&known| known == operation);
        let place = place.expect("no other can be started");
        let algorithm =
            *self.algorithms[place].get_or_init(|| Reduction::algorithm(&self.plan, operation));
        self.is_pending.set(true);
        Rc::new(TypedRun {
            world: self.plan.world().clone(),
            layout: self.layout,
            started: RefCell::new(Some(started)),
            unused_result: is_unused.then_some(self.plan.width()),
            origin: Origin {
                plan: name.cast(),
                algorithm,
            },
            is_pending: Rc::clone(&self.is_pending),
        })
    }
}

impl<L: Layout + Copy + 'static, P: Reduction<L::Item>> AnyPlan for TypedPlan<L, P> {
    #[inline]
    fn run(&self, operation: Operation, local: &[u8], result: &mut [u8]) -> Result<bool, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        // Single items that lie as the plan takes them have a short way.
        if operation == Operation::Allreduce
            && self.plan.width() == 1
            && let Some(local) = self.layout.in_place(local)
            && let Some([result]) = self.layout.in_place_mut(result)
        {
            *result = self.plan.allreduce(local)?;
            return Ok(true);
        }
        self.run_any(operation, local, result)
    }

    fn run_pairs(
        &self,
        operation: Operation,
        local: [&[u8]; 2],
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        let local = self.read_pairs(local);
        let [x, y] = local.inspect_err(|_| self.plan.refuse(operation))?;
        self.run_into(operation, "result", result, |result| {
            self.plan.run_pairs(operation, [&x, &y], result)
        })
    }

    fn broadcast(&self, row: &mut [u8]) -> Result<(), Failure> {
        let outcome = self.run_into(Operation::Broadcast, "row", row, |row| {
            self.plan.run(Operation::Broadcast, &[], row)
        });
        outcome.map(drop)
    }

    fn start(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        local: &[u8],
    ) -> Result<Rc<dyn AnyRun>, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        let local = read(&self.layout, "local", local);
        let local = local.inspect_err(|_| self.plan.refuse_to_start(operation))?;
        let started = self.plan.start(operation, &local)?;
        Ok(self.under_way(name, operation, started))
    }

    fn start_pairs(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        local: [&[u8]; 2],
    ) -> Result<Rc<dyn AnyRun>, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        let local = self.read_pairs(local);
        let [x, y] = local.inspect_err(|_| self.plan.refuse_to_start(operation))?;
        let started = self.plan.start_pairs(operation, [&x, &y])?;
        Ok(self.under_way(name, operation, started))
    }

    fn is_pending(&self) -> bool {
        self.is_pending.get()
    }

    fn refuse(&self, operation: Operation) {
        self.plan.refuse(operation);
    }

    fn refuse_to_start(&self, operation: Operation) {
        self.plan.refuse_to_start(operation);
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        self.plan.algorithm(operation)
    }

    fn scattered_columns(&self) -> Range<usize> {
        self.plan.scattered_columns()
    }

    fn text(&self) -> String {
        self.plan.text()
    }

    #[cfg(feature = "cuda")]
    fn as_any(&self) -> &dyn Any {
        self
    }
}

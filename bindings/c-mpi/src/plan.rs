//! Plans without the type of their items.

#[cfg(feature = "cuda")]
pub(crate) mod device;

#[cfg(feature = "cuda")]
use std::any::Any;
use std::borrow::Cow;
use std::cell::{Cell, OnceCell, RefCell};
use std::ops::{Deref, Range};
use std::rc::Rc;

use bytemuck::Zeroable;
use treefold::{Algorithm, Operation};
use treefold_c::boundary::treefold_keyed;
use treefold_c::failure::Failure;
use treefold_c::keyed::Keys;

#[cfg(feature = "cuda")]
use crate::gpu::Gpu;
use crate::handle::handle;
use crate::items::{Layout, into, read};
use crate::reduction::Reduction;
use crate::run::{AnyRun, Origin, ToldOfPanics, TypedRun};

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

    /// Several dot products at once: each pair of arrays gives an element of the result.
    fn run_dots(
        &self,
        operation: Operation,
        pairs: &[[&[u8]; 2]],
        result: &mut [u8],
    ) -> Result<bool, Failure>;

    /// The same on items with keys.
    fn run_by_key(
        &self,
        operation: Operation,
        keys: Keys<'_>,
        items: &[u8],
        result: &mut [u8],
    ) -> Result<bool, Failure>;

    /// The same on a state by key, which becomes the result: says whether this rank gets one.
    fn run_keyed(
        &self,
        operation: Operation,
        keyed: *const treefold_keyed,
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

    /// Several dot products at once.
    fn start_dots(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        pairs: &[[&[u8]; 2]],
    ) -> Result<Rc<dyn AnyRun>, Failure>;

    /// The same on items with keys.
    fn start_by_key(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        keys: Keys<'_>,
        items: &[u8],
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

/// The arrays of a dot product, which may have been copied.
type Pair<'a, T> = [Cow<'a, [T]>; 2];

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

    fn read_pairs<'a>(&self, [x, y]: [&'a [u8]; 2]) -> Result<Pair<'a, L::Item>, Failure> {
        Ok([read(&self.layout, "x", x)?, read(&self.layout, "y", y)?])
    }

    fn read_each_pair<'a>(
        &self,
        pairs: &[[&'a [u8]; 2]],
    ) -> Result<Vec<Pair<'a, L::Item>>, Failure> {
        pairs.iter().map(|&pair| self.read_pairs(pair)).collect()
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

fn slices<'a, T: Clone>(pairs: &'a [Pair<'_, T>]) -> Vec<[&'a [T]; 2]> {
    pairs.iter().map(|[x, y]| [&**x, &**y]).collect()
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

    fn run_dots(
        &self,
        operation: Operation,
        pairs: &[[&[u8]; 2]],
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        let pairs = self.read_each_pair(pairs);
        let pairs = pairs.inspect_err(|_| self.plan.refuse(operation))?;
        self.run_into(operation, "result", result, |result| {
            self.plan.run_dots(operation, &slices(&pairs), result)
        })
    }

    fn run_by_key(
        &self,
        operation: Operation,
        keys: Keys<'_>,
        items: &[u8],
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        let items = read(&self.layout, "items", items);
        let items = items.inspect_err(|_| self.plan.refuse(operation))?;
        // A result that this rank does not get is left out: there may be many keys.
        if result.is_empty() {
            return self.plan.run_by_key(operation, keys, &items, &mut []);
        }
        self.run_into(operation, "result", result, |result| {
            self.plan.run_by_key(operation, keys, &items, result)
        })
    }

    fn run_keyed(
        &self,
        operation: Operation,
        keyed: *const treefold_keyed,
    ) -> Result<bool, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        self.plan.run_keyed(operation, keyed)
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

    fn start_dots(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        pairs: &[[&[u8]; 2]],
    ) -> Result<Rc<dyn AnyRun>, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        let pairs = self.read_each_pair(pairs);
        let pairs = pairs.inspect_err(|_| self.plan.refuse_to_start(operation))?;
        let started = self.plan.start_dots(operation, &slices(&pairs))?;
        Ok(self.under_way(name, operation, started))
    }

    fn start_by_key(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        keys: Keys<'_>,
        items: &[u8],
    ) -> Result<Rc<dyn AnyRun>, Failure> {
        let _told = ToldOfPanics(self.plan.world());
        let items = read(&self.layout, "items", items);
        let items = items.inspect_err(|_| self.plan.refuse_to_start(operation))?;
        let started = self.plan.start_by_key(operation, keys, &items)?;
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

//! Plans of all kinds, and how they run on a program's arrays.

#[cfg(feature = "cuda")]
pub(crate) mod device;

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use treefold::{Algorithm, AnyPending, AnyPlan, Call, Operand, Operands, Operation, RunError};
use treefold_c::boundary::treefold_keyed;
use treefold_c::failure::Failure;
use treefold_c::states;

use crate::failure::of_run;

#[cfg(feature = "cuda")]
use crate::gpu::Gpu;
use crate::handle::handle;
use crate::items::{Items, Read};
use crate::operands::{Given, OF_STARTS, OPERATIONS, Takes};
use crate::run::{NotifyOnPanic, Origin, Output, Run, is_place};

handle!(
    /// `treefold_plan`: a plan.
    pub treefold_plan, Shaped, 3, "plan"
);

/// A plan with the data that each call needs. The data are stored here because getting them from the plan takes a dynamic call.
// With the fields in this order, a fold reads two cache lines.
#[repr(C)]
pub(crate) struct Shaped {
    pub(crate) items: Items,
    pub(crate) plan: AnyPlan,
    /// The number of elements per item.
    pub(crate) width: usize,
    /// Whether this rank gets the result of a reduce.
    pub(crate) is_root: bool,
    #[cfg(feature = "cuda")]
    pub(crate) gpu: Gpu,
    pub(crate) takes: Takes,
    /// A scratch row, for operations whose result this rank does not get.
    unused: RefCell<Vec<u64>>,
    /// Whether a run was started, and neither waited for nor abandoned.
    is_pending: Rc<Cell<bool>>,
    /// The algorithm of each operation that was started, cached because it takes time to find.
    algorithms: [OnceCell<Option<Algorithm>>; OF_STARTS],
}

impl Shaped {
    pub(crate) fn new(plan: AnyPlan, takes: Takes, items: Items, is_root: bool) -> Self {
        Self {
            items,
            // A sum in lanes is one item.
            width: if takes == Takes::InLanes {
                1
            } else {
                plan.width()
            },
            is_root,
            #[cfg(feature = "cuda")]
            gpu: Gpu::default(),
            plan,
            takes,
            unused: RefCell::default(),
            is_pending: Rc::default(),
            algorithms: Default::default(),
        }
    }

    /// Whether this rank gets no result of an operation.
    #[inline]
    pub(crate) fn is_unused(&self, operation: Operation) -> bool {
        operation == Operation::Reduce && !self.is_root
    }

    /// Refuses a call that cannot be made on this rank; the other ranks get an error.
    pub(crate) fn refuse(&self, operation: Operation) {
        // Exact sums have no broadcast, so no rank waits for one.
        let is_exact = matches!(self.takes, Takes::Exact | Takes::ExactPairs);
        if !(is_exact && operation == Operation::Broadcast) {
            self.plan.refuse(operation);
        }
    }

    /// Refuses a call that should have started a run; the other ranks get an error.
    pub(crate) fn refuse_to_start(&self, operation: Operation) {
        self.plan.refuse_to_start(operation);
    }

    /// The algorithm of an operation, if the plan has it.
    pub(crate) fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        let is_there = self.takes.has(operation);
        is_there.then(|| self.plan.algorithm(operation))?
    }

    /// Runs a blocking operation on items in tree order that are in the plan's layout, and writes to a result in this layout. Returns whether
    /// this rank gets a result.
    #[inline]
    pub(crate) fn run_items(
        &self,
        operation: Operation,
        local: &[u8],
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        let _notify = NotifyOnPanic(self.plan.world());
        let outcome = self.plan.run(operation, Operands::Items(local), result);
        outcome.map_err(|error| of_run(&error))
    }

    /// Runs a blocking operation. Returns whether this rank gets a result.
    pub(crate) fn run(
        &self,
        operation: Operation,
        given: Given<'_>,
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        let _notify = NotifyOnPanic(self.plan.world());
        let outcome = self.read(given, |given| self.run_into(operation, given, result));
        outcome.unwrap_or_else(|failure| {
            self.refuse(operation);
            Err(failure)
        })
    }

    /// Starts an operation other than a broadcast. The wait writes to `result`, unless `result` is NULL.
    pub(crate) fn start(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        given: Given<'_>,
        result: Output,
    ) -> Result<Rc<Run>, Failure> {
        let _notify = NotifyOnPanic(self.plan.world());
        let started = self.read(given, |given| {
            self.start_given(operation, given, is_place(result))
        });
        let started = started.unwrap_or_else(|failure| {
            self.refuse_to_start(operation);
            Err(failure)
        });
        Ok(self.under_way(name, operation, started?, result))
    }

    fn run_given(
        &self,
        operation: Operation,
        given: Given<'_>,
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        if let Given::Keyed(state) = given {
            return self.run_state(operation, state);
        }
        self.with_operands(operation, given, (true, Self::refuse), |call, operands| {
            self.plan.run(call, operands, result)
        })
    }

    fn start_given(
        &self,
        operation: Operation,
        given: Given<'_>,
        has_place: bool,
    ) -> Result<AnyPending, Failure> {
        let refuse = (has_place, Self::refuse_to_start as _);
        self.with_operands(operation, given, refuse, |call, operands| {
            self.plan.start(call, operands)
        })
    }

    /// Makes a call with the given input, which is not a state by key. If `wants_values`, the call computes values; otherwise it starts a
    /// run whose result may be a state. If the input is invalid, `refuse` gives the other ranks an error.
    fn with_operands<R>(
        &self,
        operation: Operation,
        given: Given<'_>,
        (wants_values, refuse): (bool, fn(&Self, Operation)),
        call: impl FnOnce(Call, Operands<'_>) -> Result<R, RunError>,
    ) -> Result<R, Failure> {
        let refuse = |_: &Failure| refuse(self, operation);
        let checked = self.takes.check(&self.plan, operation, given);
        checked.inspect_err(refuse)?;
        if wants_values {
            self.takes.check_values().inspect_err(refuse)?;
        }
        let of_pairs = match self.takes {
            Takes::InTree => operation.of(Operand::Products),
            _ => operation.into(),
        };
        let outcome = match given {
            Given::Items(items) => call(operation.into(), Operands::Items(items)),
            Given::Pair(pair) => call(of_pairs, Operands::Pair(pair)),
            Given::Pairs(pairs) => call(of_pairs, Operands::Pairs(pairs)),
            Given::ByKey(keys, items) => {
                let added = self.takes.added(self.width, keys, items);
                let added = added.map_err(|failure| failure.of_rank(self.plan.world().rank()));
                let added = added.inspect_err(refuse)?;
                call(operation.into(), Operands::State(&*added))
            }
            Given::Keyed(_) => unreachable!("a state is its own result"),
            #[cfg(feature = "cuda")]
            Given::Nodes(nodes) => call(operation.into(), Operands::Nodes(nodes)),
        };
        outcome.map_err(|error| of_run(&error))
    }

    /// Runs an operation on a state by key, which becomes the result.
    fn run_state(
        &self,
        operation: Operation,
        state: *const treefold_keyed,
    ) -> Result<bool, Failure> {
        let mut was_run = false;
        let checked = self.takes.check(&self.plan, operation, Given::Keyed(state));
        let outcome = checked.and_then(|()| {
            states::change(state, |state| {
                if !self.plan.takes_state(state) {
                    return Err(states::of_another_type());
                }
                was_run = true;
                let outcome = self.plan.run_state(operation, state);
                outcome.map_err(|error| of_run(&error))
            })
        });
        if !was_run {
            self.refuse(operation);
        }
        outcome
    }

    /// Calls `call` with the input in the plan's layout.
    ///
    /// # Errors
    /// An array is not in the plan's layout and cannot be copied.
    fn read<R>(&self, given: Given<'_>, call: impl FnOnce(Given<'_>) -> R) -> Result<R, Failure> {
        let pair = |[x, y]: [_; 2]| Ok([self.items.read("x", x)?, self.items.read("y", y)?]);
        Ok(match given {
            Given::Items(local) => call(Given::Items(&self.items.read("local", local)?)),
            Given::Pair(arrays) => {
                let [x, y] = &pair(arrays)?;
                call(Given::Pair([x, y]))
            }
            Given::Pairs(arrays) => {
                let pairs: Result<Vec<[Read<'_>; 2]>, Failure> =
                    arrays.iter().copied().map(pair).collect();
                let pairs = pairs?;
                let pairs: Vec<[&[u8]; 2]> = pairs.iter().map(|[x, y]| [&**x, &**y]).collect();
                call(Given::Pairs(&pairs))
            }
            Given::ByKey(keys, items) => {
                call(Given::ByKey(keys, &self.items.read("items", items)?))
            }
            given => call(given),
        })
    }

    /// Runs a blocking operation. The result may have to be copied, and this rank may get no result.
    fn run_into(
        &self,
        operation: Operation,
        given: Given<'_>,
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        let run = |result: &mut [u8]| self.run_given(operation, given, result);
        match given {
            // With many keys, a scratch row for unused results would be long. A state is its own result.
            Given::ByKey(..) if result.is_empty() => return run(&mut []),
            Given::Keyed(_) => return run(&mut []),
            _ => {}
        }
        let is_unused = self.is_unused(operation) && result.is_empty();
        // An operator may call this plan again. Such a call fails, but must not panic here.
        if is_unused && let Ok(mut unused) = self.unused.try_borrow_mut() {
            return run(self.items.room(self.width, &mut unused));
        }
        let name = match operation {
            Operation::Broadcast => "row",
            _ => "result",
        };
        let mut was_run = false;
        let outcome = self.items.into(name, result, |result| {
            was_run = true;
            run(result)
        });
        if !was_run {
            self.refuse(operation);
        }
        outcome
    }

    fn under_way(
        &self,
        name: *const treefold_plan,
        operation: Operation,
        started: AnyPending,
        result: Output,
    ) -> Rc<Run> {
        let mut known = self.algorithms.iter().zip(OPERATIONS);
        let known = known.find(|(_, (known, _))| *known == operation);
        let (algorithm, _) = known.expect("only these operations can be started");
        let algorithm = *algorithm.get_or_init(|| self.algorithm(operation));
        self.is_pending.set(true);
        Rc::new(Run {
            world: self.plan.world().clone(),
            items: self.items,
            started: RefCell::new(Some(started)),
            takes: self.takes,
            unused_result: self.is_unused(operation).then_some(self.width),
            place: is_place(result).then_some(result),
            origin: Origin {
                plan: name.cast(),
                algorithm,
            },
            is_pending: Rc::clone(&self.is_pending),
        })
    }

    /// Whether a run was started, and neither waited for nor abandoned.
    pub(crate) fn is_pending(&self) -> bool {
        self.is_pending.get()
    }
}

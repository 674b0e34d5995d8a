//! Plans: reductions that ranks agree on once and run many times.

mod agreement;
mod any;
mod builder;
mod choice;
mod display;
mod dots;
mod engine_run;
mod folded;
mod form;
mod given;
mod lanes;
mod memory;
mod operands;
mod pending;
mod proposal;
mod refusal;
mod request;
mod run;
mod scattered;
mod split_phase;
mod stages;
mod table;
mod wait_all;

use std::rc::Rc;

use bytemuck::Pod;

use crate::engines::values::Typed;
use crate::environment;
use crate::error::RunError;
use crate::operation::Operation;
use crate::operator::Operator;
use crate::world::World;

pub use any::AnyPlan;
pub use builder::Builder;
pub(crate) use builder::{MakeEngine, make_native};
pub use choice::ALGORITHM_VARIABLE;
pub use dots::Factors;
pub(crate) use engine_run::EngineRun;
pub(crate) use form::{Encoded, Encoding, Form};
pub use lanes::LanesPlan;
#[doc(hidden)]
pub use operands::Operands;
pub(crate) use operands::{check_pair, check_result, not_taken};
pub use pending::{AnyPending, Pending};
pub(crate) use request::PlanKind;
pub(crate) use stages::{Outcome, Stage, Staged, Stages};
pub use wait_all::{WaitAllError, wait_all};

/// A reduction of the items, of type `T`, that the ranks of a [`World`] have, by operator `O`.
///
/// All ranks build the plan together. They run it together any number of times, each rank with its own items. A call's `local` holds exactly
/// the planned rows of this rank, in ownership order.
///
/// If the algorithm is a schedule, the first run of each collective operation compiles the schedule, the first two runs allocate buffers, and
/// later runs allocate nothing.
///
/// A plan owns what it needs, and stays on its world's thread. Dropping a plan does not communicate.
///
/// # Errors of all runs
///
/// A run fails if the slice does not have the planned length, the floating-point environment has changed, another rank failed in this
/// run or takes no part in it, ranks are in different calls, or the transport failed. The plan is then spent, and later runs return
/// [`RunError::Spent`]; build another plan. The other ranks get an error, too, in this run or in their next run.
///
/// After these errors the plan can still be used, because nothing was sent: [`RunError::UnderWay`] if a run of this plan is under way,
/// [`RunError::NotOffered`] if the [algorithm](crate::AnyPlan::algorithm) does not support the operation, [`RunError::NoOwnNodes`] if the
/// algorithm does not support rows that were folded elsewhere, and [`RunError::Nested`] if an operator makes the call.
///
/// A plan printed with `{}` shows what this rank sends to whom, and when.
pub struct Plan<T: Pod, O: Operator<T> + 'static> {
    plan: AnyPlan,
    /// The plan's operator, which [`fold`](Self::fold) calls directly.
    typed: Rc<Typed<T, O>>,
}

impl Plan<f64, crate::Sum> {
    /// Returns a builder of a plan for the ranks of a world.
    pub fn builder(world: &World) -> Builder {
        Builder::new(world)
    }
}

/// Lets a typed plan dereference to its [`AnyPlan`], and print as the `AnyPlan` does.
macro_rules! dereferences {
    ([$($generics:tt)*] $plan:ty) => {
        impl<$($generics)*> std::ops::Deref for $plan {
            type Target = $crate::AnyPlan;

            fn deref(&self) -> &$crate::AnyPlan {
                &self.plan
            }
        }

        impl<$($generics)*> std::fmt::Debug for $plan {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.plan.fmt(f)
            }
        }

        /// Prints the plan's [`AnyPlan`](crate::AnyPlan).
        impl<$($generics)*> std::fmt::Display for $plan {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                std::fmt::Display::fmt(&self.plan, f)
            }
        }
    };
}

pub(crate) use dereferences;

dereferences!([T: Pod, O: Operator<T> + 'static] Plan<T, O>);

impl<T: Pod, O: Operator<T> + 'static> Plan<T, O> {
    fn new(plan: AnyPlan, typed: Rc<Typed<T, O>>) -> Self {
        Self { plan, typed }
    }

    /// The plan as an `AnyPlan`, which hides its types.
    #[doc(hidden)]
    pub fn into_any(self) -> AnyPlan {
        self.plan
    }

    /// Reduces the ranks' items; every rank gets the result. Collective.
    ///
    /// # Errors
    /// Those of [all runs](Plan#errors-of-all-runs), or an error if items are rows.
    pub fn allreduce(&self, local: &[T]) -> Result<T, RunError> {
        if let Some(result) = self.fold(local) {
            return Ok(result);
        }
        let mut result = [T::zeroed()];
        self.run(Operation::Allreduce, local, &mut result)?;
        Ok(result[0])
    }

    /// Reduces the ranks' rows element by element; every rank gets the resulting row. Collective.
    ///
    /// # Errors
    /// Those of [all runs](Plan#errors-of-all-runs), or an error if `result` does not have [`width`](crate::AnyPlan::width) elements. An
    /// error may leave `result` partly overwritten.
    pub fn allreduce_into(&self, local: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.run(Operation::Allreduce, local, result).map(drop)
    }

    /// Reduces the ranks' items; the root gets the result, all other ranks get `None`. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](Plan::allreduce). A rank that neither depends on the failed rank nor gets the result
    /// may not learn of the failure in this run.
    pub fn reduce(&self, local: &[T]) -> Result<Option<T>, RunError> {
        if let Some(result) = self.fold(local) {
            return Ok(Some(result));
        }
        let mut result = [T::zeroed()];
        let is_root = self.run(Operation::Reduce, local, &mut result)?;
        Ok(is_root.then_some(result[0]))
    }

    /// Reduces the ranks' rows element by element; the root gets the resulting row. Collective.
    ///
    /// Returns whether this rank is the root. On the other ranks, `result` must have the same length, and does not change. An error may
    /// leave the root's `result` partly overwritten.
    ///
    /// # Errors
    /// Those of [`reduce`](Plan::reduce), or an error if `result` does not have [`width`](crate::AnyPlan::width) elements.
    pub fn reduce_into(&self, local: &[T], result: &mut [T]) -> Result<bool, RunError> {
        self.run(Operation::Reduce, local, result)
    }

    /// Reduces the ranks' rows element by element; every rank gets its
    /// [`scattered_columns`](crate::AnyPlan::scattered_columns) of the resulting row. Collective.
    ///
    /// # Errors
    /// Those of [all runs](Plan#errors-of-all-runs), or an error if `result.len() != scattered_columns().len()`.
    pub fn reduce_scatter(&self, local: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.run(Operation::ReduceScatter, local, result).map(drop)
    }

    /// Writes, for each of this rank's items i, the reduction of the items 0 to i, including i. It has the bits of
    /// a reduction of these items alone. Collective.
    ///
    /// # Errors
    /// Those of [all runs](Plan#errors-of-all-runs), or an error if `result.len() != local.len()`.
    pub fn scan(&self, local: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.run(Operation::Scan, local, result).map(drop)
    }

    /// Writes, for each of this rank's items i, the reduction of the items 0 to i, excluding i. For item 0, this is the
    /// operator's empty value. Collective.
    ///
    /// # Errors
    /// Those of [`scan`](Plan::scan), or an error if the operator has no empty value.
    pub fn exscan(&self, local: &[T], result: &mut [T]) -> Result<(), RunError> {
        self.run(Operation::Exscan, local, result).map(drop)
    }

    /// Copies the root's row to every rank. Collective.
    ///
    /// # Errors
    /// Those of [all runs](Plan#errors-of-all-runs), or an error if `row` does not have [`width`](crate::AnyPlan::width) elements.
    pub fn broadcast(&self, row: &mut [T]) -> Result<(), RunError> {
        self.run(Operation::Broadcast, &[], row).map(drop)
    }

    /// The reduction, if this rank has all items. Otherwise, or if anything is wrong, `None`; the engine then handles the call.
    ///
    /// After other work a plan is not in cache, so this function reads as few of its fields as possible.
    #[inline]
    fn fold(&self, local: &[T]) -> Option<T> {
        let plan = &self.plan;
        let is_valid = plan.is_local
            && local.len() as u64 == plan.local_length
            && environment::check().is_ok();
        if !is_valid {
            return None;
        }
        if self.typed.operator.is_plain() {
            return plan
                .is_idle()
                .then(|| self.typed.operator.fold_canonical(local))?;
        }
        let claim = plan.conversation.begin(&plan.world, Operation::Allreduce);
        let claim = claim.ok()?;
        let result = self.typed.operator.fold_canonical(local)?;
        claim.end(Ok(())).ok()?;
        // The operator may have changed the environment.
        environment::check().is_ok().then_some(result)
    }

    /// Makes a blocking call: leaves the result in `result`, and returns whether this rank gets a result.
    fn run(&self, operation: Operation, local: &[T], result: &mut [T]) -> Result<bool, RunError> {
        let items = Operands::Items(bytemuck::cast_slice(local));
        self.plan
            .run(operation, items, bytemuck::cast_slice_mut(result))
    }
}

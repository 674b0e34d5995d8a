//! Plans of exact sums and moments by key, for keys 0 to K - 1.

use std::ops::Range;
use std::time::Duration;

use treefold::exact::{Float, KeyedAccumulator, KeyedMoments, KeyedPending, KeyedPlan, KeyedSums};
use treefold::{Algorithm, Operation, RunError, World, call};
use treefold_c::boundary::treefold_keyed;
use treefold_c::failure::{Code, Failure};
use treefold_c::keyed::{Collected, Keys};
use treefold_c::states;

use crate::failure::of_run;
use crate::items::typed_mut;
use crate::reduction::{Given, Reduction, UnderWay, check_length, end_refused, no_pairs};

/// What a plan by key adds up.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Summary {
    Sums,
    Moments,
}

impl Summary {
    /// That of a code of `treefold.h`.
    ///
    /// # Errors
    /// There is none by key.
    pub(crate) fn of_code(figure: i32) -> Result<Self, Failure> {
        match figure {
            1 => Ok(Self::Sums),
            5 => Ok(Self::Moments),
            _ => {
                let reason = format_args!("there are no exact figures {figure} by key");
                Err(Failure::argument("figure", reason))
            }
        }
    }
}

/// Sums by key that give a value for each key.
pub(crate) trait ByKey: KeyedAccumulator + Collected {
    /// Writes the values. There are as many.
    fn write_values(&self, result: &mut [Self::Item]);

    /// The values of all ranks' sums.
    fn allreduce(
        plan: &KeyedPlan<Self>,
        local: &Self,
        result: &mut [Self::Item],
    ) -> Result<(), RunError> {
        plan.allreduce(local)?.write_values(result);
        Ok(())
    }
}

impl<T: Float> ByKey for KeyedSums<T>
where
    Self: Collected,
{
    fn write_values(&self, result: &mut [T]) {
        result.copy_from_slice(&self.values());
    }

    /// Rounds rows where they are.
    fn allreduce(plan: &KeyedPlan<Self>, local: &Self, result: &mut [T]) -> Result<(), RunError> {
        plan.allreduce_values(local, result)
    }
}

impl<T: Float> ByKey for KeyedMoments<T>
where
    Self: Collected,
{
    fn write_values(&self, result: &mut [T]) {
        for (key, mean) in result.iter_mut().enumerate() {
            *mean = self.mean(key);
        }
    }
}

/// A plan of sums by key, on a program's items.
pub(crate) struct ByKeyPlan<A: KeyedAccumulator> {
    plan: KeyedPlan<A>,
    is_root: bool,
}

impl<A: ByKey> ByKeyPlan<A> {
    pub(crate) fn new(plan: KeyedPlan<A>, is_root: bool) -> Self {
        Self { plan, is_root }
    }

    fn rank(&self) -> usize {
        self.plan.world().rank()
    }

    /// This rank's items, added up by key.
    fn local(&self, keys: Keys<'_>, items: &[u8]) -> Result<A, Failure> {
        let local = A::collected(self.plan.keys(), keys, items);
        local.map_err(|failure| failure.of_rank(self.rank()))
    }

    fn run_on(&self, operation: Operation, local: &A) -> Result<Option<A>, RunError> {
        match operation {
            Operation::Reduce => self.plan.reduce(local),
            Operation::ReduceScatter => self.plan.reduce_scatter(local).map(Some),
            _ => self.plan.allreduce(local).map(Some),
        }
    }

    fn start_on(&self, operation: Operation, local: &A) -> Result<ByKeyStarted<A>, RunError> {
        let plan = &self.plan;
        let pending = match operation {
            Operation::Reduce => plan.start_reduce(local).map(Kind::Reduce)?,
            Operation::ReduceScatter => {
                plan.start_reduce_scatter(local).map(Kind::ReduceScatter)?
            }
            _ => plan.start_allreduce(local).map(Kind::Allreduce)?,
        };
        let rank = self.rank();
        Ok(ByKeyStarted { rank, pending })
    }

    /// Whether a result has as many elements as this rank gets. One that it does not get may have none.
    fn check_result(&self, operation: Operation, length: usize) -> Result<(), RunError> {
        let expected = match operation {
            Operation::ReduceScatter => self.plan.scattered_keys().len(),
            Operation::Reduce if !self.is_root && length == 0 => 0,
            _ => self.plan.keys(),
        };
        check_length(self.rank(), expected, length)
    }

    /// The call is not one for this plan.
    fn takes_keys(operation: Operation, given: Given<'_>) -> Failure {
        if let Given::Pair(_) | Given::Pairs(_) = given {
            return no_pairs();
        }
        if matches!(
            operation,
            Operation::Scan | Operation::Exscan | Operation::Broadcast
        ) {
            let message = "plans by key have neither scans nor a broadcast";
            return Failure::new(Code::Unsupported, message);
        }
        let reason = "it is by key, and takes items with their keys: treefold_allreduce_by_key";
        Failure::argument("plan", reason)
    }

    fn run_by_key(
        &self,
        operation: Operation,
        keys: Keys<'_>,
        items: &[u8],
        result: &mut [A::Item],
    ) -> Result<bool, Failure> {
        let local = self
            .check_result(operation, result.len())
            .map_err(|error| of_run(&error))
            .and_then(|()| self.local(keys, items))
            .inspect_err(|_| self.refuse(operation))?;
        if operation == Operation::Allreduce {
            let outcome = A::allreduce(&self.plan, &local, result);
            return outcome.map(|()| true).map_err(|error| of_run(&error));
        }
        let sums = self.run_on(operation, &local);
        let sums = sums.map_err(|error| of_run(&error))?;
        if let Some(sums) = &sums {
            sums.write_values(result);
        }
        Ok(sums.is_some())
    }

    /// A state becomes the result.
    fn run_keyed(
        &self,
        operation: Operation,
        keyed: *const treefold_keyed,
    ) -> Result<bool, Failure> {
        let mut was_run = false;
        let outcome = states::change(keyed, |state: &mut A| {
            was_run = true;
            let sums = self.run_on(operation, state);
            let sums = sums.map_err(|error| of_run(&error))?;
            let is_mine = sums.is_some();
            if let Some(sums) = sums {
                *state = sums;
            }
            Ok(is_mine)
        });
        if !was_run {
            self.refuse(operation);
        }
        outcome
    }
}

/// Sums that are for no plan.
fn no_keys<A: ByKey>() -> A {
    A::of_keys(0).expect("no keys take no memory")
}

impl<A: ByKey> Reduction for ByKeyPlan<A> {
    fn world(&self) -> &World {
        self.plan.world()
    }

    fn width(&self) -> usize {
        self.plan.keys()
    }

    fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        match operation {
            Operation::Allreduce | Operation::Reduce | Operation::ReduceScatter => {
                self.plan.algorithm(operation)
            }
            _ => None,
        }
    }

    fn scattered_columns(&self) -> Range<usize> {
        self.plan.scattered_keys()
    }

    fn text(&self) -> String {
        self.plan.to_string()
    }

    fn run(
        &self,
        operation: Operation,
        given: Given<'_>,
        result: &mut [u8],
    ) -> Result<bool, Failure> {
        match given {
            Given::ByKey(keys, items) => self.run_by_key(operation, keys, items, typed_mut(result)),
            Given::Keyed(keyed) => self.run_keyed(operation, keyed),
            given => {
                self.refuse(operation);
                Err(Self::takes_keys(operation, given))
            }
        }
    }

    fn start(&self, operation: Operation, given: Given<'_>) -> Result<Box<dyn UnderWay>, Failure> {
        let Given::ByKey(keys, items) = given else {
            self.refuse_to_start(operation);
            return Err(Self::takes_keys(operation, given));
        };
        let local = self.local(keys, items);
        let local = local.inspect_err(|_| self.refuse_to_start(operation))?;
        let started = self.start_on(operation, &local);
        Ok(Box::new(started.map_err(|error| of_run(&error))?))
    }

    /// Sums of no keys are never right.
    fn refuse(&self, operation: Operation) {
        let _ = self.run_on(operation, &no_keys::<A>());
    }

    fn refuse_to_start(&self, operation: Operation) {
        let started = self.start_on(operation, &no_keys::<A>());
        end_refused(self.world(), started, || self.refuse(operation));
    }
}

/// A run of a plan by key.
pub(crate) struct ByKeyStarted<A: KeyedAccumulator> {
    rank: usize,
    pending: Kind<A>,
}

impl<A: ByKey> ByKeyStarted<A> {
    /// Waits for the sums that this rank gets, if it gets any.
    fn wait_for_sums(self) -> Result<Option<A>, RunError> {
        match self.pending {
            Kind::Allreduce(pending) => pending.wait().map(Some),
            Kind::Reduce(pending) => pending.wait(),
            Kind::ReduceScatter(pending) => pending.wait().map(Some),
        }
    }
}

enum Kind<A: KeyedAccumulator> {
    Allreduce(KeyedPending<call::Allreduce, A>),
    Reduce(KeyedPending<call::Reduce, A>),
    ReduceScatter(KeyedPending<call::ReduceScatter, A>),
}

impl<A: ByKey> UnderWay for ByKeyStarted<A> {
    fn test(&self) -> Result<bool, RunError> {
        match &self.pending {
            Kind::Allreduce(pending) => pending.test(),
            Kind::Reduce(pending) => pending.test(),
            Kind::ReduceScatter(pending) => pending.test(),
        }
    }

    fn wait_timeout(&self, timeout: Duration) -> Result<(), RunError> {
        match &self.pending {
            Kind::Allreduce(pending) => pending.wait_timeout(timeout),
            Kind::Reduce(pending) => pending.wait_timeout(timeout),
            Kind::ReduceScatter(pending) => pending.wait_timeout(timeout),
        }
    }

    fn wait(self: Box<Self>, _: usize, result: &mut [u8]) -> Result<bool, RunError> {
        let (rank, result) = (self.rank, typed_mut(result));
        let sums = self.wait_for_sums()?;
        if let Some(sums) = &sums {
            check_length(rank, sums.keys_count(), result.len())?;
            sums.write_values(result);
        }
        Ok(sums.is_some())
    }

    fn wait_keyed(self: Box<Self>, keyed: *const treefold_keyed) -> Result<bool, Failure> {
        let sums = self.wait_for_sums().map_err(|error| of_run(&error))?;
        let is_mine = sums.is_some();
        if let Some(sums) = sums {
            states::change(keyed, |state: &mut A| {
                *state = sums;
                Ok(())
            })?;
        }
        Ok(is_mine)
    }
}

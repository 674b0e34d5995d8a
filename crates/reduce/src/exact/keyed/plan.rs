//! Sums by key over the ranks of a world, for keys 0 to K - 1.

use std::fmt;
use std::ops::Range;
use std::rc::Rc;

use bytemuck::Zeroable;
use exact_sum::wire::Agreed;
use exact_sum::{Float, Key, KeyError, KeyedAccumulator, KeyedSums};

use super::pending::KeyedPending;
use super::rows::{Local, Total};
use super::shared::Shared;
use super::steps::Steps;
use crate::algorithm::Algorithm;
use crate::error::RunError;
use crate::operation::Operation;
use crate::plan::call;
use crate::world::World;
use crate::world::patience::Patience;

/// Exact sums, or moments, of the items of each of the keys 0 to K - 1 over the ranks of a [`World`]: `A` is [`KeyedSums`] or
/// [`KeyedMoments`](exact_sum::KeyedMoments). Made by [`Builder::build_keyed`](crate::Builder::build_keyed).
///
/// All ranks build it together and run it together, any number of times, as a [`Plan`](crate::Plan). Nobody says which keys a rank's items
/// have, or how many items there are: that may change from run to run.
///
/// Each value has the bits of [`by_key`](exact_sum::by_key) on all ranks' items, whatever the number of ranks, the distribution of the items
/// and the algorithm. A key is 16 bytes of a row that the [algorithm](crate::Algorithm) adds up, or 64 for moments; before, the ranks agree on a
/// unit in a short reduction. Keys whose sums do not fit, such as those of items that are not finite, travel beside the row.
///
/// ```
/// use reduce::{Plan, exact, threads};
///
/// // A histogram of three bins. Rank 1 has no items.
/// let histograms = threads::run(2, |world| {
///     let plan = Plan::builder(world).build_keyed::<exact::KeyedSums<f64>>(3).unwrap();
///     let (bins, weights): (&[u32], &[f64]) = match world.rank() {
///         0 => (&[0, 2, 0, 2], &[1e300, 0.1, 1.0, 0.2]),
///         _ => (&[0], &[-1e300]),
///     };
///     let mut histogram = [0.0; 3];
///     plan.by_key(bins, weights, &mut histogram).unwrap();
///     histogram
/// })?;
/// assert_eq!(histograms, [[1.0, 0.0, 0.1 + 0.2]; 2]);
/// # Ok::<(), threads::RunError>(())
/// ```
///
/// # Errors of all runs
///
/// [Those of a `Plan`](crate::Plan#errors-of-all-runs), or sums have another number of keys than the plan.
pub struct KeyedPlan<A: KeyedAccumulator> {
    shared: Rc<Shared<A>>,
}

impl<A: KeyedAccumulator> fmt::Debug for KeyedPlan<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.shared.rows.fmt(f)
    }
}

/// Prints this rank's part in an allreduce of the rows, step by step.
impl<A: KeyedAccumulator> fmt::Display for KeyedPlan<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let world = self.world();
        let bytes = size_of::<A::Row>();
        write!(
            f,
            "rank {} of {}: {}, {} keys of {bytes} bytes",
            world.rank(),
            world.size(),
            A::name(),
            self.keys(),
        )?;
        self.shared.rows.write_steps(f)
    }
}

impl<A: KeyedAccumulator> KeyedPlan<A> {
    pub(crate) fn new(shared: Shared<A>) -> Self {
        Self {
            shared: Rc::new(shared),
        }
    }

    /// The world that it was built on.
    pub fn world(&self) -> &World {
        self.shared.world()
    }

    /// The number of keys.
    pub fn keys(&self) -> usize {
        self.shared.keys()
    }

    /// The algorithm that adds the rows of an operation; `None` if the plan does not offer the operation.
    pub fn algorithm(&self, operation: Operation) -> Option<Algorithm> {
        self.shared.rows.algorithm(operation)
    }

    /// The keys whose sums this rank gets from [`reduce_scatter`](KeyedPlan::reduce_scatter).
    pub fn scattered_keys(&self) -> Range<usize> {
        self.shared.rows.scattered_columns()
    }

    /// Adds up the ranks' sums; every rank gets those of all keys. Collective.
    ///
    /// # Errors
    /// As [all runs](KeyedPlan#errors-of-all-runs).
    pub fn allreduce(&self, local: &A) -> Result<A, RunError> {
        let total = self.run(Operation::Allreduce, Ok(local))?;
        self.shared.sums(total.expect("every rank gets it"), 0)
    }

    /// Adds this rank's items up by key, and then the ranks' sums, as [`allreduce`](KeyedPlan::allreduce). Collective.
    ///
    /// # Errors
    /// As [`allreduce`](KeyedPlan::allreduce); or a rank does not have as many keys as items, or has a key that is not one of the plan's.
    pub fn allreduce_items<K: Key>(&self, keys: &[K], items: &[A::Item]) -> Result<A, RunError> {
        let local = self.collected(keys, items);
        let total = self.run(Operation::Allreduce, local.as_ref().map_err(Clone::clone))?;
        self.shared.sums(total.expect("every rank gets it"), 0)
    }

    /// Adds up the ranks' sums; the root gets those of all keys, the others `None`. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](KeyedPlan::allreduce). A rank that the failed one does not depend on, and that does not get the
    /// result, may not hear of the failure in this run.
    pub fn reduce(&self, local: &A) -> Result<Option<A>, RunError> {
        let total = self.run(Operation::Reduce, Ok(local))?;
        total.map(|total| self.shared.sums(total, 0)).transpose()
    }

    /// Adds up the ranks' sums; every rank gets those of its [`scattered_keys`](KeyedPlan::scattered_keys), the first of which is number 0 in
    /// the result. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](KeyedPlan::allreduce), or the [algorithm](KeyedPlan::algorithm) is not a schedule.
    pub fn reduce_scatter(&self, local: &A) -> Result<A, RunError> {
        let total = self.run(Operation::ReduceScatter, Ok(local))?;
        let first = self.scattered_keys().start;
        self.shared
            .sums(total.expect("every rank gets some"), first)
    }

    /// Starts [`allreduce`](KeyedPlan::allreduce); the sums are free when this returns. Collective.
    ///
    /// # Errors
    /// The plan is spent or under way, or the [algorithm](KeyedPlan::algorithm) is not a schedule. The wait returns this rank's other errors.
    pub fn start_allreduce(&self, local: &A) -> Result<KeyedPending<call::Allreduce, A>, RunError> {
        self.start(Operation::Allreduce, local, 0..self.keys())
    }

    /// Starts [`reduce`](KeyedPlan::reduce), as [`start_allreduce`](KeyedPlan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](KeyedPlan::start_allreduce).
    pub fn start_reduce(&self, local: &A) -> Result<KeyedPending<call::Reduce, A>, RunError> {
        self.start(Operation::Reduce, local, 0..self.keys())
    }

    /// Starts [`reduce_scatter`](KeyedPlan::reduce_scatter), as [`start_allreduce`](KeyedPlan::start_allreduce). Collective.
    ///
    /// # Errors
    /// As [`start_allreduce`](KeyedPlan::start_allreduce).
    pub fn start_reduce_scatter(
        &self,
        local: &A,
    ) -> Result<KeyedPending<call::ReduceScatter, A>, RunError> {
        self.start(Operation::ReduceScatter, local, self.scattered_keys())
    }

    fn start<C>(
        &self,
        operation: Operation,
        local: &A,
        keys: Range<usize>,
    ) -> Result<KeyedPending<C, A>, RunError> {
        let _busy = self.world().enter()?;
        self.check_offered(operation, true)?;
        let checked = self.check_keys(local);
        let local = checked.map(|()| Local::of(local, self.shared.memory()));
        let steps = Steps::start(&self.shared, operation, local)?;
        Ok(KeyedPending::new(steps, &self.shared, keys))
    }

    /// Whether a run can begin. If not, nothing is sent.
    fn check_offered(&self, operation: Operation, is_split: bool) -> Result<(), RunError> {
        let rank = self.world().rank();
        if self.shared.is_under_way.get() {
            return Err(RunError::UnderWay { rank });
        }
        // What it runs for reductions says which algorithm was chosen.
        let chosen = self.algorithm(Operation::Allreduce);
        match chosen.filter(|algorithm| !algorithm.is_scheduled()) {
            Some(algorithm) if is_split || self.algorithm(operation).is_none() => {
                Err(RunError::NotOffered { rank, algorithm })
            }
            _ => Ok(()),
        }
    }

    fn check_keys(&self, local: &A) -> Result<(), RunError> {
        let (planned, given) = (self.keys(), local.keys_count());
        if planned == given {
            return Ok(());
        }
        let rank = self.world().rank();
        Err(RunError::WrongKeys {
            rank,
            planned,
            given,
        })
    }

    /// This rank's items, added up by key.
    fn collected<K: Key>(&self, keys: &[K], items: &[A::Item]) -> Result<A, RunError> {
        let mut local = A::of_keys(self.keys()).map_err(|error| self.shared.limit(error))?;
        match local.add_items(keys, items) {
            Ok(()) => Ok(local),
            Err(error) => Err(self.of_keys(error)),
        }
    }

    fn of_keys(&self, error: KeyError) -> RunError {
        let rank = self.world().rank();
        RunError::Keys { rank, error }
    }

    /// A blocking run. Without sums this rank takes no part, for a reason of its own.
    fn run(
        &self,
        operation: Operation,
        local: Result<&A, RunError>,
    ) -> Result<Option<Total<A>>, RunError> {
        self.check_offered(operation, false)?;
        self.run_steps(operation, local).inspect_err(|error| {
            // Within an operator nothing has begun.
            if !matches!(error, RunError::Nested { .. }) && !error.is_of_all() {
                self.shared.spend();
            }
        })
    }

    fn run_steps(
        &self,
        operation: Operation,
        local: Result<&A, RunError>,
    ) -> Result<Option<Total<A>>, RunError> {
        let shared = &self.shared;
        let checked = local.and_then(|local| self.check_keys(local).map(|()| local));
        let local = match checked {
            Ok(local) => local,
            Err(error) => return Err(shared.terms.fail(Operation::Allreduce, error)),
        };
        let mut local = Local::of(local, shared.memory());
        let mut all = local.terms.clone();
        shared.terms.allreduce_into(&local.terms, &mut all)?;
        let agreed = local.settle(&all, shared.ranks());
        let agreed = agreed.map_err(|error| shared.limit(error))?;
        let mut rows = shared.memory();
        rows.resize(shared.result_length(operation), A::Row::zeroed());
        let is_mine = shared.rows.run(operation, &local.rows, &mut rows)?;
        shared.give_back(local.rows);
        let rows = is_mine.then_some(rows);
        if agreed.iter().any(Agreed::may_have_entries) {
            let _busy = self.world().enter()?;
            let steps = Steps::exchange(shared, operation, rows, agreed, &local.entries)?;
            steps.drive(Patience::Unlimited);
            return steps.outcome();
        }
        Ok(rows.map(|rows| Total {
            rows,
            agreed,
            entries: Vec::new(),
        }))
    }
}

impl<T: Float> KeyedPlan<KeyedSums<T>> {
    /// As [`allreduce`](KeyedPlan::allreduce), each sum rounded once. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](KeyedPlan::allreduce), or `result` does not have a place for each key.
    pub fn allreduce_values(&self, local: &KeyedSums<T>, result: &mut [T]) -> Result<(), RunError> {
        self.run_and_round(self.check_result(result.len()).map(|()| local), result)
    }

    /// The sums of all ranks' items of each key, each rounded once: those of [`by_key`](exact_sum::by_key) on all items. A rank may have
    /// any number of items. Collective.
    ///
    /// # Errors
    /// As [`allreduce_items`](KeyedPlan::allreduce_items), or `result` does not have a place for each key.
    pub fn by_key<K: Key>(
        &self,
        keys: &[K],
        items: &[T],
        result: &mut [T],
    ) -> Result<(), RunError> {
        let checked = self.check_result(result.len());
        let local = checked.and_then(|()| self.collected(keys, items));
        self.run_and_round(local.as_ref().map_err(Clone::clone), result)
    }

    fn check_result(&self, given: usize) -> Result<(), RunError> {
        let (rank, expected) = (self.world().rank(), self.keys());
        if expected == given {
            return Ok(());
        }
        Err(RunError::WrongResultLength {
            rank,
            expected,
            given,
        })
    }

    fn run_and_round(
        &self,
        local: Result<&KeyedSums<T>, RunError>,
        result: &mut [T],
    ) -> Result<(), RunError> {
        let total = self.run(Operation::Allreduce, local)?;
        let total = total.expect("every rank gets it");
        if total.entries.iter().all(Vec::is_empty) {
            exact_sum::round_rows(&total.rows, &total.agreed, result);
            self.shared.give_back(total.rows);
        } else {
            result.copy_from_slice(&self.shared.sums(total, 0)?.values());
        }
        Ok(())
    }
}

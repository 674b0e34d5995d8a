//! Sums by key over the ranks of a world, for keys 0 to K - 1.

use std::any::Any;
use std::marker::PhantomData;
use std::ops::Range;
use std::rc::Rc;

use exact_sum::{Hashed, Key, Keyed, KeyedSlot, SparseKey};

use crate::error::RunError;
use crate::operation::Operation;
use crate::plan::{AnyPlan, Form, Operands, Outcome, Pending, Staged, dereferences};

/// What a [`KeyedPlan`] adds up: [`Keyed`] or [`Hashed`]. No other type implements this trait.
pub trait KeyedState: Sealed + 'static {
    /// The result for all keys.
    type All: 'static;
}

pub trait Sealed {}

impl<S: KeyedSlot> Sealed for Keyed<S> {}
impl<K: SparseKey, S: KeyedSlot> Sealed for Hashed<K, S> {}

impl<S: KeyedSlot> KeyedState for Keyed<S> {
    type All = Self;
}

impl<K: SparseKey, S: KeyedSlot> KeyedState for Hashed<K, S> {
    /// The keys that have items on any rank, in ascending order, and their [values](Keyed::value), each rounded once.
    type All = Vec<(K, S::Item)>;
}

/// A plan for exact sums or other [slots](KeyedSlot) of each key's items over a [`World`](crate::World). A plan of [`Keyed`] has keys 0 to
/// K - 1, and is made by [`Builder::build_keyed`](crate::Builder::build_keyed). For [`Hashed`], see [`HashedPlan`](super::HashedPlan).
///
/// All ranks build the plan together and run it together, any number of times, like a [`Plan`](crate::Plan). A rank's keys and its number of
/// items need not be known beforehand; they may differ from run to run.
///
/// Each value has the bits of [`by_key`](exact_sum::by_key) on all ranks' items, whatever the number of ranks, the distribution of the items and the
/// algorithm. First, the ranks agree on a unit in a short reduction. The [algorithm](crate::Algorithm) then adds up rows, which have 16 bytes for
/// each key, or 64 bytes for moments. Sums that do not fit a row, such as those of items that are not finite, are sent separately.
///
/// ```
/// use reduce::{Plan, exact, threads};
///
/// // A histogram of three bins. Rank 1 has no items.
/// let histograms = threads::run(2, |world| {
///     let plan = Plan::builder(world).build_keyed::<exact::Sum<f64>>(3).unwrap();
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
/// The [errors of a `Plan`](crate::Plan#errors-of-all-runs), or an error if a rank's sums do not have as many keys as the plan or if there
/// are more items than fit into one sum ([`RunError::Limit`], which leaves the plan usable).
pub struct KeyedPlan<S: KeyedState> {
    plan: AnyPlan,
    state: PhantomData<fn() -> S>,
}

dereferences!([S: KeyedState] KeyedPlan<S>);

impl<S: KeyedState> KeyedPlan<S> {
    pub(crate) fn new(plan: &AnyPlan, form: Rc<dyn Staged>) -> Self {
        Self {
            plan: plan.with_form(Form::Staged(form, Rc::default())),
            state: PhantomData,
        }
    }

    /// The plan as an `AnyPlan`, which hides its types.
    #[doc(hidden)]
    pub fn into_any(self) -> AnyPlan {
        self.plan
    }

    /// Adds up the ranks' sums. Every rank gets the sums of all keys; with [`Hashed`], of all keys that have items on any rank. Collective.
    ///
    /// # Errors
    /// Those of [all runs](KeyedPlan#errors-of-all-runs).
    pub fn allreduce(&self, local: &S) -> Result<S::All, RunError> {
        self.run(Operation::Allreduce, Ok(local)).map(all)
    }

    /// Like [`allreduce`](KeyedPlan::allreduce), but only the root gets the result; the other ranks get `None`. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](KeyedPlan::allreduce). A rank that neither depends on the failed rank nor gets the result
    /// may not learn of the failure in this run.
    pub fn reduce(&self, local: &S) -> Result<Option<S::All>, RunError> {
        self.run(Operation::Reduce, Ok(local)).map(typed)
    }

    /// Adds up the ranks' sums. Every rank gets the sums of its own keys. With [`Keyed`], these keys are its
    /// [`scattered_keys`](KeyedPlan::scattered_keys), renumbered from 0; with [`Hashed`], those that it [owns](KeyedPlan::owner). Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](KeyedPlan::allreduce); for [`Keyed`], also if the [algorithm](crate::AnyPlan::algorithm) is not a schedule.
    pub fn reduce_scatter(&self, local: &S) -> Result<S, RunError> {
        self.run(Operation::ReduceScatter, Ok(local)).map(all)
    }

    /// Starts [`allreduce`](KeyedPlan::allreduce). When this call returns, `local` is free for other use. Collective.
    ///
    /// # Errors
    /// The plan is spent or under way, or the [algorithm](crate::AnyPlan::algorithm) of a plan for keys 0 to K - 1 is not a schedule. This
    /// call or the wait returns this rank's other errors.
    pub fn start_allreduce(&self, local: &S) -> Result<Pending<S::All>, RunError> {
        self.start(Operation::Allreduce, local, all)
    }

    /// Starts [`reduce`](KeyedPlan::reduce), in the same way as [`start_allreduce`](KeyedPlan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](KeyedPlan::start_allreduce).
    pub fn start_reduce(&self, local: &S) -> Result<Pending<Option<S::All>>, RunError> {
        self.start(Operation::Reduce, local, typed)
    }

    /// Starts [`reduce_scatter`](KeyedPlan::reduce_scatter), in the same way as [`start_allreduce`](KeyedPlan::start_allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`start_allreduce`](KeyedPlan::start_allreduce).
    pub fn start_reduce_scatter(&self, local: &S) -> Result<Pending<S>, RunError> {
        self.start(Operation::ReduceScatter, local, all)
    }

    /// Runs an operation. A rank without valid sums passes an error instead, and the run reports this rank's failure to the other ranks.
    pub(super) fn run(
        &self,
        operation: Operation,
        local: Result<&S, RunError>,
    ) -> Result<Outcome, RunError> {
        let local = local.map(|sums| sums as &dyn Any);
        self.plan.run_states(operation, local)
    }

    fn start<R: 'static>(
        &self,
        operation: Operation,
        local: &S,
        read: fn(Outcome) -> R,
    ) -> Result<Pending<R>, RunError> {
        let run = self.plan.start(operation, Operands::State(local))?;
        Ok(Pending::new(run, move |run| run.wait_for_state().map(read)))
    }
}

/// This rank's result, if it gets one.
pub(super) fn typed<R: 'static>(outcome: Outcome) -> Option<R> {
    let of_type = |state: Box<dyn Any>| *state.downcast().expect("runs leave this type");
    outcome.map(of_type)
}

/// This rank's result of an operation that gives every rank a result.
pub(super) fn all<R: 'static>(outcome: Outcome) -> R {
    typed(outcome).expect("every rank gets a result")
}

impl<S: KeyedSlot> KeyedPlan<Keyed<S>> {
    /// The number of keys.
    pub fn keys(&self) -> usize {
        self.width()
    }

    /// The keys whose slots this rank gets from [`reduce_scatter`](KeyedPlan::reduce_scatter).
    pub fn scattered_keys(&self) -> Range<usize> {
        self.scattered_columns()
    }

    /// Adds up this rank's items by key, and then the ranks' slots, like [`allreduce`](KeyedPlan::allreduce). Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](KeyedPlan::allreduce), or an error if a rank does not have one key per item, or has a key that the plan lacks.
    pub fn allreduce_items<K: Key>(
        &self,
        keys: &[K],
        items: S::Items<'_>,
    ) -> Result<Keyed<S>, RunError> {
        let local = self.collected(keys, items);
        let slots = self.run(Operation::Allreduce, local.as_ref().map_err(Clone::clone));
        slots.map(all)
    }

    /// This rank's items, added up by key.
    fn collected<K: Key>(&self, keys: &[K], items: S::Items<'_>) -> Result<Keyed<S>, RunError> {
        let rank = self.world().rank();
        let local = Keyed::new(self.keys());
        let mut local = local.map_err(|error| RunError::Limit { rank, error })?;
        let added = local.add(keys, items);
        added.map_err(|error| RunError::Keys { rank, error })?;
        Ok(local)
    }

    /// Like [`allreduce`](KeyedPlan::allreduce), but writes each key's [value](Keyed::value), rounded once. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](KeyedPlan::allreduce), or an error if the length of `result` is not the number of keys.
    pub fn allreduce_values(
        &self,
        local: &Keyed<S>,
        result: &mut [S::Item],
    ) -> Result<(), RunError> {
        self.run_and_round(Ok(local), result)
    }

    /// Writes the [value](Keyed::value) of each key over all ranks' items, rounded once. For sums, these are the values that
    /// [`by_key`](exact_sum::by_key) computes from all items. A rank may have any number of items. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce_items`](KeyedPlan::allreduce_items), or an error if the length of `result` is not the number of keys.
    pub fn by_key<K: Key>(
        &self,
        keys: &[K],
        items: S::Items<'_>,
        result: &mut [S::Item],
    ) -> Result<(), RunError> {
        let local = self.collected(keys, items);
        self.run_and_round(local.as_ref().map_err(Clone::clone), result)
    }

    fn run_and_round(
        &self,
        local: Result<&Keyed<S>, RunError>,
        result: &mut [S::Item],
    ) -> Result<(), RunError> {
        let local = local.map(|slots| slots as &dyn Any);
        let result = bytemuck::cast_slice_mut(result);
        self.plan
            .run_values(Operation::Allreduce, local, result)
            .map(drop)
    }
}

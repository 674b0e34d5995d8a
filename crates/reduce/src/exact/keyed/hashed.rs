//! The form of plans for sums by 64-bit keys. Each key's sums go to the rank that owns the key. That rank sends the rounded values
//! to the ranks that get all keys.

use std::any::Any;
use std::marker::PhantomData;
use std::rc::Rc;

use exact_sum::{Float, Hashed, KeyedSlot, SparseKey, sparse};

use super::plan::{KeyedPlan, all, typed};
use crate::engines::exchange::Exchange;
use crate::environment;
use crate::error::RunError;
use crate::operation::Operation;
use crate::plan::{AnyPlan, Outcome, Stage, Staged, Stages, check_result, not_taken};
use crate::world::World;
use crate::world::conversation::Conversation;

/// A plan for exact sums or other [slots](KeyedSlot) of each key's items over the ranks of a [`World`]. Keys are arbitrary 64-bit integers.
/// Made by [`Builder::build_hashed`](crate::Builder::build_hashed).
///
/// One rank [owns](KeyedPlan::owner) each key; the other ranks send their sums of the key to the owner. For keys 0 to K - 1 that most ranks
/// have, a plan of [`Keyed`](exact_sum::Keyed) is cheaper. The keys need not be known beforehand, and each run may have other keys.
///
/// Each value has the bits of one process's [`Hashed`] on all ranks' items, whatever the number of ranks and the distribution of the
/// items.
///
/// ```
/// use reduce::{Plan, exact, threads};
///
/// let sums = threads::run(2, |world| {
///     let plan = Plan::builder(world).build_hashed::<i64, exact::Sum<f64>>().unwrap();
///     let (keys, prices) = match world.rank() {
///         0 => ([-7, 1 << 40], [0.1, 5.0]),
///         _ => ([-7, 3], [0.2, 1e300]),
///     };
///     plan.by_key(&keys, &prices).unwrap()
/// })?;
/// for of_rank in sums {
///     assert_eq!(of_rank, [(-7, 0.1 + 0.2), (3, 1e300), (1 << 40, 5.0)]);
/// }
/// # Ok::<(), threads::RunError>(())
/// ```
///
/// # Errors of all runs
///
/// The [errors of a `KeyedPlan`](KeyedPlan#errors-of-all-runs).
pub type HashedPlan<K, S> = KeyedPlan<Hashed<K, S>>;

impl<K: SparseKey, S: KeyedSlot> KeyedPlan<Hashed<K, S>> {
    pub(crate) fn of_keys(plan: &AnyPlan) -> Self {
        let form = ByOwner::<K, S> {
            world: plan.world().clone(),
            conversation: Rc::clone(&plan.conversation),
            root: plan.root(),
            slots: PhantomData,
        };
        Self::new(plan, Rc::new(form))
    }

    /// The rank that adds up a key's sums. It depends only on the key and on the number of ranks.
    #[must_use]
    pub fn owner(&self, key: K) -> usize {
        owner(key, self.world().size())
    }

    /// Adds up this rank's items by key, and then the ranks' sums, like [`allreduce`](KeyedPlan::allreduce). A rank may have any number of
    /// items. Collective.
    ///
    /// # Errors
    /// Those of [`allreduce`](KeyedPlan::allreduce), or an error if a rank does not have as many keys as items.
    pub fn by_key(&self, keys: &[K], items: S::Items<'_>) -> Result<Vec<(K, S::Item)>, RunError> {
        self.collected(Operation::Allreduce, keys, items).map(all)
    }

    /// Like [`by_key`](KeyedPlan::by_key), but only the root gets the result; the other ranks get `None`. Collective.
    ///
    /// # Errors
    /// Those of [`by_key`](KeyedPlan::by_key).
    #[expect(clippy::type_complexity, reason = "an optional list of pairs")]
    pub fn reduce_by_key(
        &self,
        keys: &[K],
        items: S::Items<'_>,
    ) -> Result<Option<Vec<(K, S::Item)>>, RunError> {
        self.collected(Operation::Reduce, keys, items).map(typed)
    }

    /// Adds up this rank's items by key, and then the ranks' sums, like [`reduce_scatter`](KeyedPlan::reduce_scatter). Collective.
    ///
    /// # Errors
    /// Those of [`by_key`](KeyedPlan::by_key).
    pub fn reduce_scatter_by_key(
        &self,
        keys: &[K],
        items: S::Items<'_>,
    ) -> Result<Hashed<K, S>, RunError> {
        self.collected(Operation::ReduceScatter, keys, items)
            .map(all)
    }

    fn collected(
        &self,
        operation: Operation,
        keys: &[K],
        items: S::Items<'_>,
    ) -> Result<Outcome, RunError> {
        let rank = self.world().rank();
        let mut local = Hashed::<K, S>::new();
        let added = local.add(keys, items);
        let added = added.map_err(|error| RunError::Keys { rank, error });
        self.run(operation, added.map(|()| &local))
    }
}

/// Which of `ranks` ranks owns a key.
fn owner(key: impl SparseKey, ranks: usize) -> usize {
    // The 64-bit finalizer of MurmurHash3 (Appleby), which spreads consecutive keys over the ranks.
    let mut mixed = key.to_word();
    mixed = (mixed ^ mixed >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
    mixed = (mixed ^ mixed >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
    mixed ^= mixed >> 33;
    let scaled = (u128::from(mixed) * ranks as u128) >> u64::BITS;
    usize::try_from(scaled).expect("it is less than the number of ranks")
}

struct ByOwner<K, S> {
    world: World,
    conversation: Rc<Conversation>,
    root: usize,
    slots: PhantomData<fn() -> (K, S)>,
}

impl<K: SparseKey, S: KeyedSlot> ByOwner<K, S> {
    fn exchange(&self, operation: Operation, lists: &[&[u64]]) -> Result<Exchange, RunError> {
        Exchange::start(&self.world, &self.conversation, operation, lists)
    }

    /// This rank's sums, or the error because of which the rank cannot take part.
    fn checked<'s>(
        &self,
        state: Result<&'s dyn Any, RunError>,
    ) -> Result<&'s Hashed<K, S>, RunError> {
        let rank = self.world.rank();
        let sums = state?.downcast_ref().ok_or_else(|| not_taken(rank))?;
        environment::check().map_err(|error| RunError::Environment { rank, error })?;
        Ok(sums)
    }

    /// The sums of this rank's own keys.
    fn own(&self, operation: Operation, sent: Exchange) -> Result<Hashed<K, S>, RunError> {
        let lists = sent.deliver()?;
        let rank = self.world.rank();
        sparse::check_items(&lists).map_err(|error| RunError::Limit { rank, error })?;
        let mut sums = Hashed::<K, S>::new();
        for list in lists {
            sparse::add_entries(&mut sums, &list).map_err(|error| {
                let reason = error.to_string();
                let wrong = RunError::WrongEntries { rank, reason };
                self.conversation.refuse_within(operation, wrong)
            })?;
        }
        Ok(sums)
    }

    /// Begins to send the values of this rank's keys to the ranks that get all keys.
    fn share(&self, operation: Operation, own: &Hashed<K, S>) -> Result<Stage, RunError> {
        let pairs = own.values().into_iter();
        let words: Vec<u64> = pairs
            .flat_map(|(key, value)| [key.to_word(), word(value)])
            .collect();
        let root = self.root;
        let gets = move |rank: usize| operation == Operation::Allreduce || rank == root;
        let list = |rank: usize| if gets(rank) { &words[..] } else { &[] };
        let lists: Vec<&[u64]> = (0..self.world.size()).map(list).collect();
        let is_mine = gets(self.world.rank());
        let then = move |sent: Exchange| {
            let lists = sent.deliver()?;
            let pairs = lists.iter().flat_map(|list| list.as_chunks().0);
            let mut all: Vec<(K, S::Item)> = pairs
                .map(|&[key, value]| (K::of_word(key), of_word(value)))
                .collect();
            all.sort_unstable_by_key(|(key, _)| *key);
            Ok(Stage::over(is_mine.then_some(all)))
        };
        let exchange = self.exchange(operation, &lists)?;
        Ok(Stage::Exchange(exchange, Box::new(then)))
    }
}

impl<K: SparseKey, S: KeyedSlot> Staged for ByOwner<K, S> {
    fn world(&self) -> &World {
        &self.world
    }

    fn start(
        self: Rc<Self>,
        operation: Operation,
        state: Result<&dyn Any, RunError>,
    ) -> Result<Stages, RunError> {
        let sums = self.checked(state);
        let sums = sums.map_err(|error| self.conversation.refuse_within(operation, error))?;
        let ranks = self.world.size();
        let lists = sparse::to_entries(sums, ranks, |key| owner(key, ranks));
        let lists: Vec<&[u64]> = lists.iter().map(Vec::as_slice).collect();
        let exchange = self.exchange(operation, &lists)?;
        let form = Rc::clone(&self);
        let then = move |sent: Exchange| {
            let own = form.own(operation, sent)?;
            match operation {
                Operation::ReduceScatter => Ok(Stage::over(Some(own))),
                _ => form.share(operation, &own),
            }
        };
        let first = Stage::Exchange(exchange, Box::new(then));
        Ok(Stages::new(self, first))
    }

    /// Accepts every length: the number of keys is not known beforehand.
    fn check_result(&self, _operation: Operation, _bytes: usize) -> Result<(), RunError> {
        Ok(())
    }

    fn write_values(&self, total: Box<dyn Any>, result: &mut [u8]) -> Result<(), RunError> {
        let values: Vec<S::Item> = match total.downcast::<Hashed<K, S>>() {
            Ok(own) => own.values().into_iter().map(|(_, value)| value).collect(),
            Err(total) => {
                let all: Vec<(K, S::Item)> = all(Some(total));
                all.into_iter().map(|(_, value)| value).collect()
            }
        };
        let given = result.len() / size_of::<S::Item>();
        check_result(self.world.rank(), values.len(), given)?;
        result.copy_from_slice(bytemuck::cast_slice(&values));
        Ok(())
    }

    fn state(&self, total: Box<dyn Any>) -> Result<Box<dyn Any>, RunError> {
        Ok(total)
    }

    fn replace(&self, state: &mut dyn Any, total: Box<dyn Any>) -> Result<(), RunError> {
        let rank = self.world.rank();
        let own = total.downcast::<Hashed<K, S>>();
        let (Some(state), Ok(own)) = (state.downcast_mut(), own) else {
            return Err(not_taken(rank));
        };
        *state = *own;
        Ok(())
    }

    fn takes(&self, state: &dyn Any) -> bool {
        state.is::<Hashed<K, S>>()
    }

    fn refuse(&self, operation: Operation) {
        if let Ok(_busy) = self.world.enter() {
            let error = not_taken(self.world.rank());
            self.conversation.refuse_within(operation, error);
        }
    }

    fn spend(&self) {
        self.conversation.spend_between_runs();
    }

    /// Does nothing: a dropped exchange abandons itself.
    fn abandon(&self) {}
}

/// The bits of a float, in a word.
fn word<T: Float>(value: T) -> u64 {
    let mut word = [0; size_of::<u64>()];
    word[..size_of::<T>()].copy_from_slice(bytemuck::bytes_of(&value));
    u64::from_ne_bytes(word)
}

fn of_word<T: Float>(word: u64) -> T {
    bytemuck::pod_read_unaligned(&word.to_ne_bytes()[..size_of::<T>()])
}

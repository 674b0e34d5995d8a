//! Sums by keys of 64 bits over the ranks of a world.

use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;

use exact_sum::wire::WrongEntries;
use exact_sum::{Float, HashedSums, SparseKey, sparse};

use super::exchange::Exchange;
use crate::environment;
use crate::error::RunError;
use crate::operation::Operation;
use crate::world::World;
use crate::world::conversation::Conversation;

/// Exact sums of the items of each key over the ranks of a [`World`], for keys that are any integers of 64 bits. Made by
/// [`Builder::build_hashed`](crate::Builder::build_hashed).
///
/// Each key is [owned](HashedPlan::owner) by one rank, to which the ranks send what they have of it. For keys 0 to K - 1 that most ranks have,
/// [`KeyedPlan`](super::KeyedPlan) is cheaper. Nobody says beforehand which keys there are, and each run may have others.
///
/// Each value has the bits of one process's [`HashedSums`] on all ranks' items, whatever the number of ranks and the distribution of the
/// items.
///
/// ```
/// use reduce::{Plan, exact, threads};
///
/// let sums = threads::run(2, |world| {
///     let plan = Plan::builder(world).build_hashed::<i64, f64>().unwrap();
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
/// [Those of a `Plan`](crate::Plan#errors-of-all-runs), and [`RunError::Limit`]. A run needs the default floating-point environment.
pub struct HashedPlan<K: SparseKey, T: Float> {
    world: World,
    conversation: Rc<Conversation>,
    root: usize,
    sums: PhantomData<fn() -> (K, T)>,
}

impl<K: SparseKey, T: Float> fmt::Debug for HashedPlan<K, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashedPlan")
            .field("world", &self.world)
            .field("root", &self.root)
            .finish_non_exhaustive()
    }
}

impl<K: SparseKey, T: Float> HashedPlan<K, T> {
    pub(crate) fn new(world: &World, conversation: Rc<Conversation>, root: usize) -> Self {
        Self {
            world: world.clone(),
            conversation,
            root,
            sums: PhantomData,
        }
    }

    /// The world that it was built on.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// The rank that adds up a key's sums: the same on all ranks, and in all programs that have as many ranks.
    #[must_use]
    pub fn owner(&self, key: K) -> usize {
        // The finalizer of MurmurHash3, 64 bits (Appleby): keys that follow each other have owners far from each other.
        let mut mixed = key.to_word();
        mixed = (mixed ^ mixed >> 33).wrapping_mul(0xFF51_AFD7_ED55_8CCD);
        mixed = (mixed ^ mixed >> 33).wrapping_mul(0xC4CE_B9FE_1A85_EC53);
        mixed ^= mixed >> 33;
        let scaled = (u128::from(mixed) * self.world.size() as u128) >> u64::BITS;
        usize::try_from(scaled).expect("it is less than the number of ranks")
    }

    /// Adds up the ranks' sums; every rank gets the keys that it [owns](HashedPlan::owner), and of these those that have items anywhere.
    /// Their [`values`](HashedSums::values) are sorted by key. Collective.
    ///
    /// # Errors
    /// As [all runs](HashedPlan#errors-of-all-runs).
    pub fn reduce_scatter(&self, local: &HashedSums<K, T>) -> Result<HashedSums<K, T>, RunError> {
        let _busy = self.world.enter()?;
        self.scattered(Operation::ReduceScatter, local)
    }

    /// Adds up the ranks' sums; every rank gets all keys that have items anywhere and their sums, each rounded once, in ascending order of
    /// the keys. Collective.
    ///
    /// # Errors
    /// As [`reduce_scatter`](HashedPlan::reduce_scatter).
    pub fn allreduce(&self, local: &HashedSums<K, T>) -> Result<Vec<(K, T)>, RunError> {
        let _busy = self.world.enter()?;
        self.gathered(Operation::Allreduce, local)
    }

    /// As [`allreduce`](HashedPlan::allreduce), for the root alone; the others get `None`. Collective.
    ///
    /// # Errors
    /// As [`reduce_scatter`](HashedPlan::reduce_scatter).
    pub fn reduce(&self, local: &HashedSums<K, T>) -> Result<Option<Vec<(K, T)>>, RunError> {
        let _busy = self.world.enter()?;
        let sums = self.gathered(Operation::Reduce, local)?;
        Ok(self.is_root().then_some(sums))
    }

    /// Adds this rank's items up by key, and then the ranks' sums, as [`allreduce`](HashedPlan::allreduce). A rank may have any number
    /// of items. Collective.
    ///
    /// # Errors
    /// As [`allreduce`](HashedPlan::allreduce), or a rank does not have as many keys as items.
    pub fn by_key(&self, keys: &[K], items: &[T]) -> Result<Vec<(K, T)>, RunError> {
        let operation = Operation::Allreduce;
        self.collected(operation, keys, items, |local| {
            self.gathered(operation, local)
        })
    }

    /// As [`by_key`](HashedPlan::by_key), for the root alone; the others get `None`. Collective.
    ///
    /// # Errors
    /// As [`by_key`](HashedPlan::by_key).
    pub fn reduce_by_key(&self, keys: &[K], items: &[T]) -> Result<Option<Vec<(K, T)>>, RunError> {
        let operation = Operation::Reduce;
        let sums = self.collected(operation, keys, items, |local| {
            self.gathered(operation, local)
        })?;
        Ok(self.is_root().then_some(sums))
    }

    /// Adds this rank's items up by key, and then the ranks' sums, as [`reduce_scatter`](HashedPlan::reduce_scatter). Collective.
    ///
    /// # Errors
    /// As [`by_key`](HashedPlan::by_key).
    pub fn reduce_scatter_by_key(
        &self,
        keys: &[K],
        items: &[T],
    ) -> Result<HashedSums<K, T>, RunError> {
        let operation = Operation::ReduceScatter;
        self.collected(operation, keys, items, |local| {
            self.scattered(operation, local)
        })
    }

    /// Adds this rank's items up by key, enters the world and runs; or takes no part, if that fails.
    fn collected<R>(
        &self,
        operation: Operation,
        keys: &[K],
        items: &[T],
        run: impl FnOnce(&HashedSums<K, T>) -> Result<R, RunError>,
    ) -> Result<R, RunError> {
        let mut local = HashedSums::new();
        let added = local.add(keys, items);
        let _busy = self.world.enter()?;
        match added {
            Ok(()) => run(&local),
            Err(error) => {
                let rank = self.world.rank();
                self.give_up(operation, RunError::Keys { rank, error })
            }
        }
    }

    fn is_root(&self) -> bool {
        self.world.rank() == self.root
    }

    /// The sums of this rank's own keys. The caller has entered the world.
    fn scattered(
        &self,
        operation: Operation,
        local: &HashedSums<K, T>,
    ) -> Result<HashedSums<K, T>, RunError> {
        if let Err(error) = environment::check() {
            let rank = self.world.rank();
            return self.give_up(operation, RunError::Environment { rank, error });
        }
        let lists = sparse::to_entries(local, self.world.size(), |key| self.owner(key));
        let mut sums = HashedSums::new();
        let lists: Vec<&[u64]> = lists.iter().map(Vec::as_slice).collect();
        let lists = self.exchange(operation, &lists)?;
        let rank = self.world.rank();
        sparse::check_items(&lists).map_err(|error| RunError::Limit { rank, error })?;
        for list in lists {
            if let Err(error) = sparse::add_entries(&mut sums, &list) {
                return self.wrong(operation, error);
            }
        }
        Ok(sums)
    }

    /// All keys and values, if this rank gets them.
    fn gathered(
        &self,
        operation: Operation,
        local: &HashedSums<K, T>,
    ) -> Result<Vec<(K, T)>, RunError> {
        let own = self.scattered(operation, local)?;
        let pairs = own.values().into_iter();
        let own: Vec<u64> = pairs
            .flat_map(|(key, value)| [key.to_word(), word(value)])
            .collect();
        let gets = |rank: usize| operation == Operation::Allreduce || rank == self.root;
        let list = |rank: usize| if gets(rank) { &own[..] } else { &[] };
        let lists: Vec<&[u64]> = (0..self.world.size()).map(list).collect();
        let mut all: Vec<(K, T)> = Vec::new();
        for list in self.exchange(operation, &lists)? {
            let (pairs, _) = list.as_chunks();
            all.extend(
                pairs
                    .iter()
                    .map(|&[key, value]| (K::of_word(key), of_word(value))),
            );
        }
        all.sort_unstable_by_key(|(key, _)| *key);
        Ok(all)
    }

    fn exchange(&self, operation: Operation, lists: &[&[u64]]) -> Result<Vec<Vec<u64>>, RunError> {
        Exchange::start(&self.world, &self.conversation, operation, lists)?.deliver()
    }

    /// The error of entries that no rank of this program writes.
    fn wrong<R>(&self, operation: Operation, error: WrongEntries) -> Result<R, RunError> {
        let wrong = RunError::WrongEntries {
            rank: self.world.rank(),
            reason: error.to_string(),
        };
        self.give_up(operation, wrong)
    }

    /// Takes no part in an exchange. The others hear of it.
    fn give_up<R>(&self, operation: Operation, error: RunError) -> Result<R, RunError> {
        let claim = self.conversation.begin_within(operation)?;
        self.conversation.give_up();
        claim.end(Err(error))
    }
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

//! Reductions of rayon's indexed parallel iterators.

use rayon::iter::IndexedParallelIterator;
use rayon::iter::plumbing::{Producer, ProducerCallback};

use crate::error::FoldError;
use crate::exact;
use crate::fold::finished;
use crate::fold::iterator::{BLOCK_ITEMS, Exact, InTree, OfBlocks, check_count};
use crate::operator::{Operator, Sum};

/// The number of parts for each thread: more than one, since some parts take longer than others.
const PARTS_OF_A_THREAD: usize = 8;

/// Reductions of the items of a parallel iterator, with the same bits as for a slice of these items. The iterator is split where the tree
/// splits, so no bit depends on the pool, or on which thread reduces which part. As usual in rayon, `with_min_len` sets the minimum part.
///
/// ```
/// use rayon::prelude::*;
/// use reduce::par::ParallelTreeIterator;
///
/// let x: Vec<f64> = (1..=100_000).map(f64::from).collect();
/// let reciprocals: Vec<f64> = x.iter().map(|x| 1.0 / x).collect();
/// assert_eq!(x.par_iter().map(|x| 1.0 / x).tree_sum()?, reduce::sum(&reciprocals)?);
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors of all methods
/// The iterator gives fewer or more items than its length, or the floating-point environment of a thread that took part is not IEEE
/// 754's default.
pub trait ParallelTreeIterator: IndexedParallelIterator {
    /// The sum of the items, in tree order. Returns 0 for no items.
    ///
    /// # Errors
    /// Those of [all methods](ParallelTreeIterator#errors-of-all-methods).
    fn tree_sum(self) -> Result<Self::Item, FoldError>
    where
        Self::Item: Copy + 'static,
        Sum: Operator<Self::Item>,
    {
        self.tree_reduce(Sum)
    }

    /// The reduction of the items by an operator, in tree order. For no items, returns the operator's empty value.
    ///
    /// # Errors
    /// Those of [all methods](ParallelTreeIterator#errors-of-all-methods), or an error if there are no items and no empty value.
    fn tree_reduce<O>(self, operator: O) -> Result<Self::Item, FoldError>
    where
        Self::Item: Copy + 'static,
        O: Operator<Self::Item> + Sync,
    {
        let combine = |left: Option<Self::Item>, right: Option<Self::Item>| {
            Some(operator.combine(left?, right?))
        };
        let value = reduced(self, &InTree(&operator), &combine)?;
        finished(value, &operator)
    }

    /// The exact sum of the items, rounded once.
    ///
    /// # Errors
    /// The iterator gives fewer or more items than its length.
    fn exact_sum(self) -> Result<Self::Item, FoldError>
    where
        Self::Item: exact::Float,
    {
        let merge = |mut left: exact::Sum<Self::Item>, right: exact::Sum<Self::Item>| {
            let merged = left.merge(&right);
            merged.expect("each item was counted");
            left
        };
        Ok(reduced(self, &Exact, &merge)?.value())
    }
}

impl<I: IndexedParallelIterator> ParallelTreeIterator for I {}

fn reduced<I, W, C>(items: I, way: &W, combine: &C) -> Result<W::Value, FoldError>
where
    I: IndexedParallelIterator,
    W: OfBlocks<I::Item, Value: Send> + Sync,
    C: Fn(W::Value, W::Value) -> W::Value + Sync,
{
    let count = items.len();
    let reduction = Reduction {
        way,
        combine,
        count,
    };
    items.with_producer(reduction)
}

struct Reduction<'r, W, C> {
    way: &'r W,
    combine: &'r C,
    count: usize,
}

impl<T, W, C> ProducerCallback<T> for Reduction<'_, W, C>
where
    W: OfBlocks<T, Value: Send> + Sync,
    C: Fn(W::Value, W::Value) -> W::Value + Sync,
{
    type Output = Result<W::Value, FoldError>;

    fn callback<P: Producer<Item = T>>(self, items: P) -> Self::Output {
        let parts = rayon::current_num_threads().saturating_mul(PARTS_OF_A_THREAD);
        let grain = self.count.div_ceil(parts).min(items.max_len());
        let grain = grain.max(items.min_len()).max(1);
        self.by_subtrees(items, self.count, grain)
    }
}

impl<W, C> Reduction<'_, W, C> {
    /// The value of the tree over `count` items, which begin where a subtree of its size may begin.
    fn by_subtrees<T, P>(&self, items: P, count: usize, grain: usize) -> Result<W::Value, FoldError>
    where
        P: Producer<Item = T>,
        W: OfBlocks<T, Value: Send> + Sync,
        C: Fn(W::Value, W::Value) -> W::Value + Sync,
    {
        if count <= grain {
            return self.of_part(items, count);
        }
        let middle = count.next_power_of_two() / 2;
        let (left, right) = items.split_at(middle);
        let (left, right) = exact_sum::par::join(
            || self.by_subtrees(left, middle, grain),
            || self.by_subtrees(right, count - middle, grain),
        );
        let value = (self.combine)(left?, right?);
        self.way.check()?;
        Ok(value)
    }

    /// Reduces a part on one thread, block by block. Each block has an iterator of its own, whose length is known.
    fn of_part<T, P>(&self, items: P, count: usize) -> Result<W::Value, FoldError>
    where
        P: Producer<Item = T>,
        W: OfBlocks<T>,
    {
        self.way.check()?;
        let mut state = self.way.state();
        let mut block = Vec::with_capacity(count.min(BLOCK_ITEMS));
        let (mut items, mut missing) = (items, count);
        loop {
            let planned = missing.min(BLOCK_ITEMS);
            let (own, others) = items.split_at(planned);
            block.clear();
            block.extend(own.into_iter().take(planned + 1));
            check_count(planned, block.len())?;
            if planned > 0 {
                self.way.add(&mut state, &block);
            }
            missing -= planned;
            if missing == 0 {
                let more = others.into_iter().take(1).count();
                check_count(planned, planned + more)?;
                break;
            }
            items = others;
        }
        // Items and operators may have changed the environment.
        self.way.check()?;
        Ok(self.way.value(state))
    }
}

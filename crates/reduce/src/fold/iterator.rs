//! Reductions of the items of iterators, with the same bits as for a slice of these items.
//!
//! Items are collected in blocks, and each block is reduced as a slice. Blocks are subtrees of equal height, so their results are combined
//! like the items of a scan.

use exact_sum::Sum as ExactSum;

use super::finished;
use super::prefix::Stack;
use crate::environment;
use crate::error::FoldError;
use crate::exact;
use crate::operator::{Operator, Sum};

/// The number of items of a block: a power of two, small enough for the L1 cache.
pub(super) const BLOCK_ITEMS: usize = 1024;

/// Reductions of the items of an iterator, in its order.
///
/// ```
/// use reduce::TreeIterator;
///
/// let x = [0.1, 0.2, 0.3];
/// assert_eq!(x.iter().map(|x| x * x).tree_sum()?, reduce::sum(&x.map(|x| x * x))?);
/// assert_eq!([1e300, 0.5, -1e300].into_iter().exact_sum()?, 0.5);
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors of all methods
/// The iterator gives fewer or more items than its length, or this thread's floating-point environment is not IEEE 754's default.
pub trait TreeIterator: ExactSizeIterator {
    /// The sum of the items, in tree order. Returns 0 for no items.
    ///
    /// # Errors
    /// Those of [all methods](TreeIterator#errors-of-all-methods).
    fn tree_sum(self) -> Result<Self::Item, FoldError>
    where
        Self: Sized,
        Self::Item: Copy + 'static,
        Sum: Operator<Self::Item>,
    {
        self.tree_reduce(Sum)
    }

    /// The reduction of the items by an operator, in tree order. For no items, returns the operator's empty value.
    ///
    /// # Errors
    /// Those of [all methods](TreeIterator#errors-of-all-methods), or an error if there are no items and the operator has no empty value.
    fn tree_reduce<O>(self, operator: O) -> Result<Self::Item, FoldError>
    where
        Self: Sized,
        Self::Item: Copy + 'static,
        O: Operator<Self::Item>,
    {
        finished(InTree(&operator).all(self)?, &operator)
    }

    /// The exact sum of the items, rounded once.
    ///
    /// # Errors
    /// The iterator gives fewer or more items than its length.
    fn exact_sum(self) -> Result<Self::Item, FoldError>
    where
        Self: Sized,
        Self::Item: exact::Float,
    {
        Ok(Exact.all(self)?.value())
    }
}

impl<I: ExactSizeIterator> TreeIterator for I {}

/// A reduction of items that arrive block by block.
pub(super) trait OfBlocks<T> {
    type State;
    type Value;

    /// Checks this thread's floating-point environment.
    fn check(&self) -> Result<(), FoldError>;

    /// The state before the first item.
    fn state(&self) -> Self::State;

    /// Adds the next items. All blocks but the last are full.
    fn add(&self, state: &mut Self::State, block: &[T]);

    fn value(&self, state: Self::State) -> Self::Value;

    /// The value of all items of an iterator; an error if their number is not the iterator's length.
    fn all(&self, mut items: impl ExactSizeIterator<Item = T>) -> Result<Self::Value, FoldError> {
        self.check()?;
        let promised = items.len();
        let mut state = self.state();
        let mut block = Vec::with_capacity(promised.min(BLOCK_ITEMS));
        let mut found = 0;
        // If the iterator never ends, the loop stops at most one block after the promised number.
        while found <= promised {
            block.clear();
            block.extend(items.by_ref().take(BLOCK_ITEMS));
            found += block.len();
            if block.is_empty() {
                break;
            }
            self.add(&mut state, &block);
            if block.len() < BLOCK_ITEMS {
                break;
            }
        }
        check_count(promised, found)?;
        Ok(self.value(state))
    }
}

/// Checks that an iterator has given as many items as it promised.
pub(super) fn check_count(promised: usize, found: usize) -> Result<(), FoldError> {
    if promised == found {
        return Ok(());
    }
    Err(FoldError::Iterator {
        promised: promised as u64,
        found: (found < promised).then_some(found as u64),
    })
}

/// Reductions in tree order.
pub(super) struct InTree<'o, O>(pub(super) &'o O);

impl<T: Copy + 'static, O: Operator<T>> OfBlocks<T> for InTree<'_, O> {
    /// The number of blocks, and the subtrees that wait for their right siblings.
    type State = (u64, Vec<T>);
    type Value = Option<T>;

    fn check(&self) -> Result<(), FoldError> {
        Ok(environment::check()?)
    }

    fn state(&self) -> Self::State {
        (0, Vec::new())
    }

    fn add(&self, (blocks, waiting): &mut Self::State, block: &[T]) {
        let root = self.0.fold(block).expect("a block has items");
        let mut stack = Stack {
            width: 1,
            rows: waiting,
            operator: self.0,
        };
        stack.push(*blocks, &[root]);
        *blocks += 1;
    }

    fn value(&self, (_, waiting): Self::State) -> Option<T> {
        let combine = |right, left| self.0.combine(left, right);
        waiting.into_iter().rev().reduce(combine)
    }
}

/// Exact sums, which are right in every floating-point environment.
pub(super) struct Exact;

impl<T: exact::Float> OfBlocks<T> for Exact {
    type State = ExactSum<T>;
    type Value = ExactSum<T>;

    fn check(&self) -> Result<(), FoldError> {
        Ok(())
    }

    fn state(&self) -> ExactSum<T> {
        ExactSum::new()
    }

    fn add(&self, sum: &mut ExactSum<T>, block: &[T]) {
        sum.add(block);
    }

    fn value(&self, sum: ExactSum<T>) -> ExactSum<T> {
        sum
    }
}

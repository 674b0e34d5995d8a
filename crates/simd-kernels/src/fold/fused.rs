//! Sums leaves that are computed from slices in the same pass, without being written to memory.

use crate::fold::block::{self, register_bytes};
use crate::fold::counter::Counter;
use crate::fold::few::{FEW_LEAVES, fold_few};
use crate::fold::merge;
use crate::fold::reading::{ByColumns, FromMemory, FromSharedCache, InOrder, Reading};
use crate::fold::slice::sum_of;
use crate::fold::source::{Absolute, Mapped, Products, Source, Square};
use crate::fold::stream::is_reference;
use crate::processor::prefetch::Ahead;
use crate::sets::bits::Bits;
use crate::sets::dispatch::{Float, compute};
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// The limit for products, in place of [`FEW_LEAVES`], because their kernel costs more to set up.
const FEW_PRODUCTS: usize = 2 * FEW_LEAVES;

/// The sum of x0 * y0, x1 * y1, … in tree order; `None` for no elements. All levels give the same bits.
///
/// Each product is rounded once. The products are then added like the leaves of [`sum`](crate::sum), without fused
/// multiply-add.
///
/// # Panics
/// The slices differ in length.
///
/// ```
/// use simd_kernels::{Level, dot};
///
/// let (x, y) = ([0.1, 0.2, 0.3], [0.7, 0.8, 0.9]);
/// assert_eq!(dot(Level::best(), &x, &y), Some((0.1 * 0.7 + 0.2 * 0.8) + 0.3 * 0.9));
/// ```
#[inline]
pub fn dot<T: Float>(level: Level, x: &[T], y: &[T]) -> Option<T> {
    T::dot_kernel(level, x, y)
}

pub(crate) fn dot_kernel<T: Float>(level: Level, x: &[T], y: &[T]) -> Option<T> {
    sum_of(level, Products::new(x, y), FEW_PRODUCTS)
}

/// The sum of x0 * x0, x1 * x1, … in tree order; `None` for no elements. [`dot`] of the slice with itself has the same bits.
///
/// ```
/// assert_eq!(simd_kernels::squared_norm(simd_kernels::Level::best(), &[3.0, 4.0]), Some(25.0));
/// ```
#[inline]
pub fn squared_norm<T: Float>(level: Level, x: &[T]) -> Option<T> {
    T::squared_norm_kernel(level, x)
}

pub(crate) fn squared_norm_kernel<T: Float>(level: Level, x: &[T]) -> Option<T> {
    let squares = Mapped {
        elements: x,
        function: Square,
    };
    sum_of(level, squares, FEW_PRODUCTS)
}

/// The sum of the leaves and the sum of their absolute values, each in tree order; `None` for no leaves.
///
/// Both sums are computed in one pass over memory. The ratio of the second sum to the magnitude of the first is Higham's condition number
/// of summation, which measures cancellation.
///
/// ```
/// use simd_kernels::{Level, sum_and_absolute_sum};
///
/// assert_eq!(sum_and_absolute_sum(Level::best(), &[3.0, -4.0]), Some((-1.0, 7.0)));
/// ```
#[inline]
pub fn sum_and_absolute_sum<T: Float>(level: Level, leaves: &[T]) -> Option<(T, T)> {
    T::sum_and_absolute_sum_kernel(level, leaves)
}

pub(crate) fn sum_and_absolute_sum_kernel<T: Float>(level: Level, leaves: &[T]) -> Option<(T, T)> {
    compute(level, SumAndAbsoluteSum(leaves))
}

/// Computes both sums block by block, so that the second sum reads each block from the L1 cache.
#[derive(Clone, Copy, Debug)]
struct SumAndAbsoluteSum<'a, T>(&'a [T]);

impl<T: Bits> Kernel<T> for SumAndAbsoluteSum<'_, T> {
    type Output = Option<(T, T)>;

    #[inline(always)]
    fn few<O: Combine<T>>(&mut self) -> Option<Self::Output> {
        (self.0.len() < FEW_LEAVES).then(|| self.by_leaves::<O>())
    }

    #[inline(always)]
    fn compute<V, O>(self, proven: Proven<V>) -> Self::Output
    where
        V: Vector<Element = T>,
        O: Combine<T>,
    {
        if const { is_reference::<V, O>() } {
            return self.by_leaves::<O>();
        }
        let ahead = Ahead::of_fold(self.0.bytes(), register_bytes::<V>());
        Some(match ahead {
            Ahead::Nothing => both::<V, O, ByColumns>(proven, self.0),
            _ if const { !V::PREFETCHES } => both::<V, O, InOrder>(proven, self.0),
            Ahead::InOrder => both::<V, O, InOrder>(proven, self.0),
            Ahead::SharedCache => both::<V, O, FromSharedCache>(proven, self.0),
            Ahead::Memory => both::<V, O, FromMemory>(proven, self.0),
        })
    }
}

impl<T: Bits> SumAndAbsoluteSum<'_, T> {
    /// Both sums, one after the other, without registers.
    #[inline(always)]
    fn by_leaves<O: Combine<T>>(self) -> Option<(T, T)> {
        fold_few(self.0, O::single).zip(fold_few(absolutes(self.0), O::single))
    }
}

fn absolutes<T>(elements: &[T]) -> Mapped<'_, T, Absolute> {
    Mapped {
        elements,
        function: Absolute,
    }
}

#[inline(always)]
fn both<V, O, R: Reading>(proven: Proven<V>, mut leaves: &[V::Element]) -> (V::Element, V::Element)
where
    V: Vector<Element: Bits>,
    O: Combine<V::Element>,
{
    let (mut sums, mut absolute_sums) = (Counter::new(), Counter::new());
    let (block_leaves, square_leaves) = (block::block_leaves::<V>(), V::LANES * V::LANES);
    while let Some((block, rest)) = leaves.split_at_checked(block_leaves) {
        leaves = rest;
        let (sum, absolute_sum) = both_roots::<V, O, R>(proven, block);
        sums.push(sum, block_leaves.ilog2(), O::single);
        absolute_sums.push(absolute_sum, block_leaves.ilog2(), O::single);
    }
    while let Some((square, rest)) = leaves.split_at_checked(square_leaves) {
        leaves = rest;
        let sum = block::square_root::<V, O, _, R>(proven, square);
        sums.push(sum, square_leaves.ilog2(), O::single);
        let absolute_sum = block::square_root::<V, O, _, ByColumns>(proven, absolutes(square));
        absolute_sums.push(absolute_sum, square_leaves.ilog2(), O::single);
    }
    let absolute_sum = absolute_sums.finish(absolutes(leaves), O::single);
    (sums.finish(leaves, O::single), absolute_sum)
}

/// The two roots of a block, computed in parts, so that prefetches are evenly spaced.
#[inline(always)]
fn both_roots<V, O, R: Reading>(proven: Proven<V>, block: &[V::Element]) -> (V::Element, V::Element)
where
    V: Vector<Element: Bits>,
    O: Combine<V::Element>,
{
    if V::LANES == 16 {
        let sum = block::square_root::<V, O, _, R>(proven, block);
        let absolute_sum = block::square_root::<V, O, _, ByColumns>(proven, absolutes(block));
        return (sum, absolute_sum);
    }
    let (mut nodes, mut absolute_nodes) = (
        block::Registers::<V>::new_const(),
        block::Registers::<V>::new_const(),
    );
    for part in block.chunks_exact(block.len() / V::LANES) {
        nodes.push(block::part_nodes::<V, O, _, R>(proven, part));
        absolute_nodes.push(block::part_nodes::<V, O, _, ByColumns>(
            proven,
            absolutes(part),
        ));
    }
    let root = |nodes: &[V]| merge::root::<V, O>(proven, merge::rows::<V, O>(proven, nodes));
    (root(&nodes), root(&absolute_nodes))
}

//! The streaming kernel takes one pass over the leaves and O(log N) memory. All instruction sets use the same algorithm.
//!
//! A register holds L adjacent leaves, but the tree combines neighbours. The kernel therefore turns L registers into one register
//! whose lane i is the root of register i. This takes log2 L levels. Each level moves siblings into the same lanes and combines
//! them. It uses all lanes, so it takes half the instructions of reducing each register separately:
//!
//! ```text
//! L = 4     a0 a1 a2 a3   b0 b1 b2 b3   c0 c1 c2 c3   d0 d1 d2 d3
//! level 1         a01 b01 a23 b23             c01 d01 c23 d23
//! level 2                      a0123 b0123 c0123 d0123
//! ```
//!
//! The result is a register of L adjacent nodes, so the same step applies to L such registers. [Blocks](block) of a few hundred
//! leaves stay in registers. A binary counter combines the roots of the blocks.

use crate::fold::block::{
    Registers, block_leaves, block_nodes, block_nodes_by_loop, lanes_by_loop, part_leaves,
    part_nodes, register_bytes, square_root,
};
use crate::fold::counter::Counter;
use crate::fold::merge::{root, rows};
use crate::fold::reading::{ByColumns, FromMemory, FromSharedCache, InOrder, Reading};
use crate::fold::source::Source;
use crate::processor::prefetch::Ahead;
use crate::sets::kernel::{For, Kernel};
use crate::sets::vector::{Combine, Proven, Vector};

/// Folds do not use SSE2's registers of two doubles, which take 1.3 to 1.7 times as long as plain Rust.
pub(crate) const FOR_FOLDS: For = For {
    two_doubles: false,
    ..For::ALL
};

/// The fold of the leaves in tree order; `None` for no leaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fold<S>(pub(crate) S);

impl<S: Source> Kernel<S::Leaf> for Fold<S> {
    type Output = Option<S::Leaf>;

    const FOR: For = FOR_FOLDS;

    #[inline(always)]
    fn compute<V, O>(self, proven: Proven<V>) -> Self::Output
    where
        V: Vector<Element = S::Leaf>,
        O: Combine<S::Leaf>,
    {
        Some(fold_any::<V, O, S>(proven, self.0, self.0.bytes()))
    }
}

/// The fold of few leaves. It lacks the code for blocks and prefetches, because after other work, the processor waits for each cache line
/// of code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShortFold<S>(pub(crate) S);

impl<S: Source> Kernel<S::Leaf> for ShortFold<S> {
    type Output = Option<S::Leaf>;

    // Registers of 16 floats would leave up to 255 leaves to the code for the last leaves.
    const FOR: For = For {
        long_registers: size_of::<S::Leaf>() > 4,
        ..FOR_FOLDS
    };

    #[inline(always)]
    fn compute<V, O>(self, proven: Proven<V>) -> Self::Output
    where
        V: Vector<Element = S::Leaf>,
        O: Combine<S::Leaf>,
    {
        let mut roots = Counter::new();
        if const { is_reference::<V, O>() } {
            return Some(roots.finish(self.0, O::single));
        }
        let leaves = push_parts::<V, O, S, ByColumns>(proven, &mut roots, self.0);
        Some(roots.finish_here(leaves, O::single))
    }
}

/// Whether small code matters more than fast code. That is so in builds without optimisation, where each value of a block has its own place
/// on the stack. It is also so for plain Rust on architectures with a vector set, except for sums and products of doubles.
pub(crate) const fn is_reference<V: Vector, O: Combine<V::Element>>() -> bool {
    cfg!(unoptimised)
        || cfg!(any(target_arch = "aarch64", target_arch = "x86_64"))
            && V::IS_PLAIN_RUST
            && (O::COMPARES || size_of::<V::Element>() < 8)
}

/// The fold of at least one leaf. `bytes` is the size of the whole input, which determines the prefetch distance.
#[inline(always)]
pub(crate) fn fold_any<V, O, S>(proven: Proven<V>, leaves: S, bytes: usize) -> V::Element
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    if const { is_reference::<V, O>() } {
        return Counter::new().finish(leaves, O::single);
    }
    match Ahead::of_fold(bytes, register_bytes::<V>()) {
        Ahead::Nothing => fold_blocks::<V, O, S, ByColumns>(proven, leaves),
        Ahead::InOrder => fold_blocks::<V, O, S, InOrder>(proven, leaves),
        _ if const { !V::PREFETCHES } => fold_blocks::<V, O, S, InOrder>(proven, leaves),
        // Comparisons take long enough that the distance hardly matters.
        Ahead::Memory if const { !O::COMPARES } => {
            fold_blocks::<V, O, S, FromMemory>(proven, leaves)
        }
        _ => fold_blocks::<V, O, S, FromSharedCache>(proven, leaves),
    }
}

/// The fold of at least one leaf. `R` says how leaves are read.
#[inline(always)]
fn fold_blocks<V, O, S, R: Reading>(proven: Proven<V>, mut leaves: S) -> V::Element
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    let mut roots = Counter::new();
    // Decreasing sizes: groups of L blocks, then single blocks, then parts of a block, then squares of L^2 leaves, then single leaves.
    let group_leaves = V::LANES * block_leaves::<V>();
    while let Some((group, rest)) = leaves.split_at_checked(group_leaves) {
        leaves = rest;
        let mut blocks = Registers::<V>::new_const();
        let mut group_rest = group;
        for _ in 0..lanes_by_loop::<V, R>() {
            let (block, rest) = group_rest.split_at(block_leaves::<V>());
            group_rest = rest;
            blocks.push(block_nodes::<V, O, S, R>(proven, block));
        }
        let root = root::<V, O>(proven, rows::<V, O>(proven, &blocks));
        roots.push(root, group_leaves.ilog2(), O::single);
    }
    while part_leaves::<V>() < block_leaves::<V>()
        && let Some((block, rest)) = leaves.split_at_checked(block_leaves::<V>())
    {
        leaves = rest;
        let root = root::<V, O>(proven, block_nodes_by_loop::<V, O, S, R>(proven, block));
        roots.push(root, block_leaves::<V>().ilog2(), O::single);
    }
    let leaves = push_parts::<V, O, S, R>(proven, &mut roots, leaves);
    roots.finish(leaves, O::single)
}

/// Adds the roots of the parts and squares of these leaves, and returns the last leaves.
#[inline(always)]
fn push_parts<V, O, S, R: Reading>(
    proven: Proven<V>,
    roots: &mut Counter<V::Element>,
    mut leaves: S,
) -> S
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    let square_leaves = V::LANES * V::LANES;
    // This step is skipped if a part is a square, and for large inputs, because few of their leaves get here.
    if !R::IN_ORDER && square_leaves < part_leaves::<V>() {
        while let Some((part, rest)) = leaves.split_at_checked(part_leaves::<V>()) {
            leaves = rest;
            let root = root::<V, O>(proven, part_nodes::<V, O, S, R>(proven, part));
            roots.push(root, part_leaves::<V>().ilog2(), O::single);
        }
    }
    while let Some((square, rest)) = leaves.split_at_checked(square_leaves) {
        leaves = rest;
        let root = square_root::<V, O, S, R>(proven, square);
        roots.push(root, square_leaves.ilog2(), O::single);
    }
    leaves
}

#[cfg(test)]
mod tests {
    use core::fmt::Debug;
    use core::marker::PhantomData;

    use super::*;
    use crate::by_definition;
    use crate::sets::dispatch::{Float, compute};
    use crate::sets::level::Level;

    /// A fold whose leaves are read as `R` says, on any processor and for inputs of any size.
    struct Read<'l, T, R>(&'l [T], PhantomData<R>);

    impl<T: Copy, R: Reading> Kernel<T> for Read<'_, T, R> {
        type Output = T;

        #[inline(always)]
        fn compute<V: Vector<Element = T>, O: Combine<T>>(self, proven: Proven<V>) -> T {
            fold_blocks::<V, O, &[T], R>(proven, self.0)
        }
    }

    fn check<T: Float + Debug + PartialEq, R: Reading>(level: Level, leaves: &[T]) {
        let sum = compute(level, Read::<T, R>(leaves, PhantomData));
        let expected = by_definition(leaves, &|a, b| a + b);
        assert_eq!(Some(sum), expected, "{} leaves, {level}", leaves.len());
    }

    fn check_all<T: Float + Debug + PartialEq>(leaves: &[T]) {
        for level in Level::available() {
            check::<T, ByColumns>(level, leaves);
            check::<T, InOrder>(level, leaves);
            check::<T, FromSharedCache>(level, leaves);
            check::<T, FromMemory>(level, leaves);
        }
    }

    /// Tests all ways of reading, because each processor uses only some of them.
    #[test]
    fn ways_of_reading_give_the_same_bits() {
        let floats: Vec<f32> = (1..10_000).map(|i| 1.0 / i as f32).collect();
        let doubles: Vec<f64> = floats.iter().map(|&item| f64::from(item).sqrt()).collect();
        for leaves in [1, 15, 64, 100, 255, 512, 1023, 1024, 2500, 4095, 8192, 9999] {
            check_all(&floats[..leaves]);
            check_all(&doubles[..leaves]);
        }
    }
}

//! Blocks of leaves that are folded in registers.
//!
//! A block is 64 registers of L adjacent leaves, which become one register of L nodes. Depth first, the code is a straight line that needs one
//! register per level. It folds a part of a block, or one of many blocks as a whole:
//!
//! ```text
//! nodes(registers): one register         load it
//!                   2^h registers        level h of (nodes(first half), nodes(second half))
//! ```
//!
//! The sizes are types, so that the compiler unrolls the recursion. Level h moves siblings within a register as level h mod log2 L does, because log2
//! L levels turn L registers into one register of adjacent nodes.

use core::hint::black_box;

use arrayvec::ArrayVec;

use crate::fold::merge::{level, root, rows};
use crate::fold::powers::{
    Eight, Four, One, PowerOfTwo, Sixteen, SixtyFour, ThirtyTwo, Twice, Two,
};
use crate::fold::source::Source;
use crate::processor::prefetch::MEMORY_AHEAD_BYTES;
use crate::sets::vector::{Combine, Proven, Vector};

/// Up to L registers of L lanes each. Their memory is not initialised, which would take time in short folds.
pub(crate) type Registers<V> = ArrayVec<V, 16>;

/// The number of leaves in a block: 64 registers, or 16 registers of 16 lanes.
#[inline(always)]
pub(crate) const fn block_leaves<V: Vector>() -> usize {
    match V::LANES {
        16 => 256,
        lanes => 64 * lanes,
    }
}

/// The number of leaves in a part of a block: an L-th of it, or all of it if a block is a square.
#[inline(always)]
pub(crate) const fn part_leaves<V: Vector>() -> usize {
    match V::LANES {
        16 => 256,
        _ => 64,
    }
}

/// The root of L^2 leaves.
#[inline(always)]
pub(crate) fn square_root<V, O, S, const AHEAD_BYTES: usize>(
    proven: Proven<V>,
    square: S,
) -> V::Element
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    root::<V, O>(proven, square_nodes::<V, O, S, AHEAD_BYTES>(proven, square))
}

/// The nodes of a block of [`block_leaves`], in one register.
#[inline(always)]
pub(crate) fn block_nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, block: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    if V::LANES == 16 {
        return square_nodes::<V, O, S, AHEAD_BYTES>(proven, block);
    }
    let mut nodes = Registers::<V>::new_const();
    let (part_leaves, mut block_rest) = (block.len() / V::LANES, block);
    for _ in 0..lanes_by_loop::<V, AHEAD_BYTES>() {
        let (part, rest) = block_rest.split_at(part_leaves);
        block_rest = rest;
        nodes.push(part_nodes::<V, O, S, AHEAD_BYTES>(proven, part));
    }
    rows::<V, O>(proven, &nodes)
}

/// [`block_nodes`] for one of many blocks. Straight-line code takes 0.90 to 0.96 times as long as the loop with AVX2, 0.78 times in plain
/// Rust, but has 16 more cache lines of code, which would have to be loaded for a single block.
#[inline(always)]
pub(crate) fn one_of_many_nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, block: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    // With prefetches, straight-line code takes up to 1.3 times as long as the loop. With registers of 64 bytes, which can hold all parts, it takes
    // 1.05 times as long.
    if const { AHEAD_BYTES == 0 && register_bytes::<V>() < 64 } {
        SixtyFour::nodes::<V, O, S, AHEAD_BYTES>(proven, block)
    } else {
        block_nodes::<V, O, S, AHEAD_BYTES>(proven, block)
    }
}

/// The number of lanes. For leaves from memory the compiler must not know this number, so that it emits a loop.
///
/// The hardware prefetcher follows a single instruction that reads at equal distances within a page. In straight-line code for
/// a whole block, many different instructions read each page.
#[inline(always)]
pub(crate) fn lanes_by_loop<V: Vector, const AHEAD_BYTES: usize>() -> usize {
    match AHEAD_BYTES {
        MEMORY_AHEAD_BYTES => black_box(V::LANES),
        _ => V::LANES,
    }
}

/// The nodes of a part of a block.
#[inline(always)]
pub(crate) fn part_nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, part: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    match V::LANES {
        2 => ThirtyTwo::nodes::<V, O, S, AHEAD_BYTES>(proven, part),
        8 => Eight::nodes::<V, O, S, AHEAD_BYTES>(proven, part),
        _ => Sixteen::nodes::<V, O, S, AHEAD_BYTES>(proven, part),
    }
}

/// The nodes of a square: L registers.
#[inline(always)]
pub(crate) fn square_nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, leaves: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    match V::LANES {
        2 => Two::nodes::<V, O, S, AHEAD_BYTES>(proven, leaves),
        4 => Four::nodes::<V, O, S, AHEAD_BYTES>(proven, leaves),
        8 => Eight::nodes::<V, O, S, AHEAD_BYTES>(proven, leaves),
        _ => Sixteen::nodes::<V, O, S, AHEAD_BYTES>(proven, leaves),
    }
}

/// A number of adjacent registers of leaves, whose logarithm is the number of levels that combine them.
trait Adjacent: PowerOfTwo {
    /// The common ancestors of these registers of leaves, in one register.
    fn nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, leaves: S) -> V
    where
        V: Vector,
        O: Combine<V::Element>,
        S: Source<Leaf = V::Element>;
}

impl Adjacent for One {
    #[inline(always)]
    fn nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, leaves: S) -> V
    where
        V: Vector,
        O: Combine<V::Element>,
        S: Source<Leaf = V::Element>,
    {
        prefetch_line::<Self, V, S, AHEAD_BYTES>(leaves);
        leaves.load(proven)
    }
}

impl<A: Adjacent> Adjacent for Twice<A> {
    #[inline(always)]
    fn nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, leaves: S) -> V
    where
        V: Vector,
        O: Combine<V::Element>,
        S: Source<Leaf = V::Element>,
    {
        prefetch_line::<Self, V, S, AHEAD_BYTES>(leaves);
        let (left, right) = leaves.split_at(V::LANES << A::LOG2);
        let left = A::nodes::<V, O, S, AHEAD_BYTES>(proven, left);
        let right = A::nodes::<V, O, S, AHEAD_BYTES>(proven, right);
        match A::LOG2 % V::LANES.ilog2() {
            0 => level::<V, O, 1>(proven, left, right),
            1 => level::<V, O, 2>(proven, left, right),
            2 => level::<V, O, 3>(proven, left, right),
            _ => level::<V, O, 4>(proven, left, right),
        }
    }
}

/// Prefetches for registers that fill a cache line. Prefetches one line at a time, because bursts of prefetches stall.
#[inline(always)]
fn prefetch_line<A: Adjacent, V: Vector, S: Source, const AHEAD_BYTES: usize>(leaves: S) {
    if const { AHEAD_BYTES > 0 && register_bytes::<V>() << A::LOG2 == 64 } {
        leaves.prefetch(AHEAD_BYTES);
    }
}

const fn register_bytes<V: Vector>() -> usize {
    V::LANES * size_of::<V::Element>()
}

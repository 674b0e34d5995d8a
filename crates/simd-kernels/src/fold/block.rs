//! Blocks of leaves that are folded in registers.
//!
//! A block is 64 registers of adjacent leaves (16 for L = 16), which become one register of L nodes. It is cut into L strips. A *column* is one register
//! of each strip. The first log2 L levels turn each column into a register whose lane j belongs to strip j. All further levels combine these registers
//! lane by lane, without shuffles:
//!
//! ```text
//! L = 4           column 0      column 1     …
//! strip 0         a0 a1 a2 a3   b0 b1 b2 b3
//! strip 1         c0 c1 c2 c3   d0 d1 d2 d3
//! strips 2, 3     …             …
//!
//! levels 1 and 2  a0123 c0123 …              of column 0
//!                 b0123 d0123 …              of column 1
//! level 3         a0123 + b0123   c0123 + d0123   …
//! ```
//!
//! If adjacent registers were combined instead, each level would shuffle: a third more for L = 4. Depth first, the code is a straight line that needs one
//! register per level. The sizes are types, so that the compiler unrolls the recursion.
//!
//! Leaves from memory are read in order, part by part, because prefetchers follow that.

use core::hint::black_box;

use arrayvec::ArrayVec;

use crate::fold::merge::{root, rows};
use crate::fold::powers::{Eight, Four, One, PowerOfTwo, Sixteen, ThirtyTwo, Twice};
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

/// The nodes of a block of [`block_leaves`], in one register, by a loop of L steps. Leaves in the core's own caches are read by columns, others in order.
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
    let (part_leaves, mut rest) = (part_leaves::<V>(), block);
    let mut nodes = Registers::<V>::new_const();
    if const { AHEAD_BYTES > 0 } {
        for _ in 0..lanes_by_loop::<V, AHEAD_BYTES>() {
            let part;
            (part, rest) = rest.split_at(part_leaves);
            nodes.push(part_nodes::<V, O, S, AHEAD_BYTES>(proven, part));
        }
        return rows::<V, O>(proven, &nodes);
    }
    for _ in 0..V::LANES {
        let columns = strips_of_part::<V, O, S, 0>(proven, rest, part_leaves);
        nodes.push(columns);
        rest = rest.split_at(part_leaves / V::LANES).1;
    }
    let mut count = V::LANES;
    while count > 1 {
        count /= 2;
        for i in 0..count {
            nodes[i] = O::lanes(proven, nodes[2 * i], nodes[2 * i + 1]);
        }
    }
    nodes[0]
}

/// Stands for a prefetch distance where leaves are read in order, but not prefetched.
pub(crate) const IN_ORDER: usize = 1;

/// [`block_nodes`] for one of many blocks, without a loop. A loop remains where straight-line code takes longer, with prefetches and with registers of
/// 64 bytes, and for comparisons, which have the most code and gain nothing. Single blocks use the loop, because its code has fewer cache lines to load.
#[inline(always)]
pub(crate) fn one_of_many_nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, block: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    let strip_leaves = part_leaves::<V>();
    match V::LANES {
        _ if const { AHEAD_BYTES > IN_ORDER || register_bytes::<V>() == 64 || O::COMPARES } => {
            block_nodes::<V, O, S, AHEAD_BYTES>(proven, block)
        }
        4 if const { AHEAD_BYTES == IN_ORDER } => {
            let nodes = |number| {
                let (part, _) = block
                    .split_at(number * strip_leaves)
                    .1
                    .split_at(strip_leaves);
                part_nodes::<V, O, S, AHEAD_BYTES>(proven, part)
            };
            rows::<V, O>(proven, &[nodes(0), nodes(1), nodes(2), nodes(3)])
        }
        2 => ThirtyTwo::strips::<V, O, S, AHEAD_BYTES>(proven, block, strip_leaves, 0),
        4 => Sixteen::strips::<V, O, S, AHEAD_BYTES>(proven, block, strip_leaves, 0),
        _ => Eight::strips::<V, O, S, AHEAD_BYTES>(proven, block, strip_leaves, 0),
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

/// The nodes of a part of a block. Prefetched leaves are read in order, square by square.
#[inline(always)]
pub(crate) fn part_nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, mut part: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    let square_leaves = V::LANES * V::LANES;
    if const { AHEAD_BYTES == 0 || V::LANES != 4 } {
        return strips_of_part::<V, O, S, AHEAD_BYTES>(proven, part, part_leaves::<V>() / V::LANES);
    }
    let mut nodes = Registers::<V>::new_const();
    for _ in 0..V::LANES {
        let (square, rest) = part.split_at(square_leaves);
        part = rest;
        nodes.push(square_nodes::<V, O, S, AHEAD_BYTES>(proven, square));
    }
    rows::<V, O>(proven, &nodes)
}

/// As many columns of strips as a part has.
#[inline(always)]
fn strips_of_part<V, O, S, const AHEAD_BYTES: usize>(
    proven: Proven<V>,
    leaves: S,
    strip_leaves: usize,
) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    match V::LANES {
        2 => Sixteen::strips::<V, O, S, AHEAD_BYTES>(proven, leaves, strip_leaves, 0),
        4 => Four::strips::<V, O, S, AHEAD_BYTES>(proven, leaves, strip_leaves, 0),
        _ => One::strips::<V, O, S, AHEAD_BYTES>(proven, leaves, strip_leaves, 0),
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
    One::strips::<V, O, S, AHEAD_BYTES>(proven, leaves, V::LANES, 0)
}

/// A number of adjacent columns, each of which has one register of each of L strips.
trait Columns: PowerOfTwo {
    /// In lane j, the common ancestor of the leaves in strip j, in these columns from `column` on. The strips have `strip_leaves` leaves each, and
    /// follow each other.
    fn strips<V, O, S, const AHEAD_BYTES: usize>(
        proven: Proven<V>,
        leaves: S,
        strip_leaves: usize,
        column: usize,
    ) -> V
    where
        V: Vector,
        O: Combine<V::Element>,
        S: Source<Leaf = V::Element>;
}

impl Columns for One {
    #[inline(always)]
    fn strips<V, O, S, const AHEAD_BYTES: usize>(
        proven: Proven<V>,
        leaves: S,
        strip_leaves: usize,
        column: usize,
    ) -> V
    where
        V: Vector,
        O: Combine<V::Element>,
        S: Source<Leaf = V::Element>,
    {
        let line_leaves = 64 / size_of::<V::Element>();
        let mut registers = Registers::<V>::new_const();
        for strip in 0..V::LANES {
            let first = strip * strip_leaves + column * V::LANES;
            let leaves = leaves.split_at(first).1;
            // One line at a time, because bursts of prefetches stall.
            if AHEAD_BYTES > 0 && V::PREFETCHES && first.is_multiple_of(line_leaves) {
                leaves.split_at(V::LANES).0.prefetch(AHEAD_BYTES);
            }
            registers.push(leaves.load(proven));
        }
        rows::<V, O>(proven, &registers)
    }
}

impl<A: Columns> Columns for Twice<A> {
    #[inline(always)]
    fn strips<V, O, S, const AHEAD_BYTES: usize>(
        proven: Proven<V>,
        leaves: S,
        strip_leaves: usize,
        column: usize,
    ) -> V
    where
        V: Vector,
        O: Combine<V::Element>,
        S: Source<Leaf = V::Element>,
    {
        let next = column + (1 << A::LOG2);
        let left = A::strips::<V, O, S, AHEAD_BYTES>(proven, leaves, strip_leaves, column);
        let right = A::strips::<V, O, S, AHEAD_BYTES>(proven, leaves, strip_leaves, next);
        O::lanes(proven, left, right)
    }
}

const fn register_bytes<V: Vector>() -> usize {
    V::LANES * size_of::<V::Element>()
}

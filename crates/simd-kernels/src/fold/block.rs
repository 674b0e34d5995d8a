//! Folds blocks of leaves in registers. L is the number of lanes of a register.
//!
//! A block has L parts of 64 leaves, or of 128 floats with AVX2. For L = 16, it has one part of 256 floats. The kernel cuts a block into L
//! strips and reduces it to one register of L nodes. A *column* is one register of each strip. The first log2 L levels turn each column
//! into a register whose lane j belongs to strip j. All further levels combine these registers lane by lane, without shuffles:
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
//! If adjacent registers were combined instead, each level would need shuffles; for L = 4, a third more shuffles in total. The recursion
//! goes depth first, so the code is a straight line that needs one register per level. Sizes are types, so that the compiler unrolls the
//! recursion.
//!
//! Leaves that are not in the core's own caches are read part by part, in an order that prefetchers follow: on Zen 4, reading columns of a
//! whole block takes three times as long. A part has strips and columns of its own, but is so small that they can be read in any order.

use core::hint::black_box;

use arrayvec::ArrayVec;

use crate::fold::merge::{level, root, rows};
use crate::fold::powers::{Eight, Four, One, PowerOfTwo, Sixteen, ThirtyTwo, Twice, Two};
use crate::fold::reading::Reading;
use crate::fold::source::Source;
use crate::processor::prefetch::MEMORY_AHEAD_BYTES;
use crate::sets::vector::{Combine, Proven, Vector};

/// Up to L registers of L lanes each. Their memory starts uninitialised, because initialising it would take time in short folds.
pub(crate) type Registers<V> = ArrayVec<V, 16>;

/// The number of leaves in a block.
#[inline(always)]
pub(crate) const fn block_leaves<V: Vector>() -> usize {
    match V::LANES {
        16 => 256,
        lanes => lanes * part_leaves::<V>(),
    }
}

/// The number of leaves in a part of a block.
#[inline(always)]
pub(crate) const fn part_leaves<V: Vector>() -> usize {
    match V::LANES {
        16 => 256,
        8 if size_of::<V::Element>() == 4 => 128,
        _ => 64,
    }
}

/// The root of a square, which is L^2 leaves.
#[inline(always)]
pub(crate) fn square_root<V, O, S, R: Reading>(proven: Proven<V>, square: S) -> V::Element
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    root::<V, O>(proven, square_nodes::<V, O, S, R>(proven, square))
}

/// Reduces a block of [`block_leaves`] to one register of nodes, by straight-line code. With prefetches or with registers of 64 bytes, a loop is
/// faster and is used instead. Comparisons use the loop, too, since their straight-line code would be the longest and no faster.
#[inline(always)]
pub(crate) fn block_nodes<V, O, S, R: Reading>(proven: Proven<V>, block: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    match V::LANES {
        _ if const { R::AHEAD_BYTES > 0 || register_bytes::<V>() == 64 || O::COMPARES } => {
            block_nodes_by_loop::<V, O, S, R>(proven, block)
        }
        _ if const { R::IN_ORDER && !V::COMBINES_HALVES } => {
            block_nodes_by_loop::<V, O, S, R>(proven, block)
        }
        4 if R::IN_ORDER => Four::parts::<V, O, S, R>(proven, block, 0),
        _ if R::IN_ORDER => Eight::parts::<V, O, S, R>(proven, block, 0),
        lanes => {
            let strip_leaves = part_leaves::<V>();
            columns::<V, O, S, R>(proven, block, strip_leaves, strip_leaves / lanes)
        }
    }
}

/// Does what [`block_nodes`] does, by a loop of L steps. Single blocks use the loop, because its code fills fewer cache lines.
#[inline(always)]
pub(crate) fn block_nodes_by_loop<V, O, S, R: Reading>(proven: Proven<V>, block: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    if V::LANES == 16 {
        return square_nodes::<V, O, S, R>(proven, block);
    }
    let (part_leaves, mut rest) = (part_leaves::<V>(), block);
    let mut nodes = Registers::<V>::new_const();
    if const { R::IN_ORDER } {
        for _ in 0..lanes_by_loop::<V, R>() {
            let part;
            (part, rest) = rest.split_at(part_leaves);
            nodes.push(part_nodes::<V, O, S, R>(proven, part));
        }
        return rows::<V, O>(proven, &nodes);
    }
    for _ in 0..V::LANES {
        let count = part_leaves / (V::LANES * V::LANES);
        nodes.push(columns::<V, O, S, R>(proven, rest, part_leaves, count));
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

/// The number of lanes. For leaves from memory, this number is hidden from the compiler, so that the compiler emits a loop.
///
/// The hardware prefetcher follows a single instruction that reads at equal distances within a page. In straight-line code for
/// a whole block, many different instructions read each page.
#[inline(always)]
pub(crate) fn lanes_by_loop<V: Vector, R: Reading>() -> usize {
    // The compiler would vectorise unrolled plain Rust across parts, and thus read all parts at once.
    let is_plain_in_order = V::IS_PLAIN_RUST && R::IN_ORDER;
    if R::AHEAD_BYTES == MEMORY_AHEAD_BYTES || is_plain_in_order {
        black_box(V::LANES)
    } else {
        V::LANES
    }
}

/// Reduces a part of a block to one register of nodes. With prefetches, a part of L squares is read square by square.
#[inline(always)]
pub(crate) fn part_nodes<V, O, S, R: Reading>(proven: Proven<V>, mut part: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    let (part_leaves, square_leaves) = (part_leaves::<V>(), V::LANES * V::LANES);
    if R::AHEAD_BYTES == 0 || part_leaves != V::LANES * square_leaves {
        let (strip_leaves, count) = (part_leaves / V::LANES, part_leaves / square_leaves);
        return columns::<V, O, S, R>(proven, part, strip_leaves, count);
    }
    let mut nodes = Registers::<V>::new_const();
    for _ in 0..V::LANES {
        let (square, rest) = part.split_at(square_leaves);
        part = rest;
        nodes.push(square_nodes::<V, O, S, R>(proven, square));
    }
    rows::<V, O>(proven, &nodes)
}

/// Reduces the first `count` columns of L strips, of `strip_leaves` leaves each, to one register.
#[inline(always)]
fn columns<V, O, S, R: Reading>(
    proven: Proven<V>,
    leaves: S,
    strip_leaves: usize,
    count: usize,
) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    match count {
        1 => One::strips::<V, O, S, R>(proven, leaves, strip_leaves, 0),
        2 => Two::strips::<V, O, S, R>(proven, leaves, strip_leaves, 0),
        4 => Four::strips::<V, O, S, R>(proven, leaves, strip_leaves, 0),
        8 => Eight::strips::<V, O, S, R>(proven, leaves, strip_leaves, 0),
        16 => Sixteen::strips::<V, O, S, R>(proven, leaves, strip_leaves, 0),
        _ => ThirtyTwo::strips::<V, O, S, R>(proven, leaves, strip_leaves, 0),
    }
}

/// Reduces a square, which is L registers, to one register of nodes.
#[inline(always)]
pub(crate) fn square_nodes<V, O, S, R: Reading>(proven: Proven<V>, leaves: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    One::strips::<V, O, S, R>(proven, leaves, V::LANES, 0)
}

/// A number of adjacent columns. A column is one register of each of the L strips.
trait ColumnGroup: PowerOfTwo {
    /// Reduces these columns, beginning with `column`. Lane j of the result is the common ancestor of their leaves in strip j. The strips
    /// are adjacent and have `strip_leaves` leaves each.
    fn strips<V, O, S, R: Reading>(
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

impl ColumnGroup for One {
    #[inline(always)]
    fn strips<V, O, S, R: Reading>(
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
            // Prefetches one cache line at a time, because bursts of prefetches stall.
            if R::AHEAD_BYTES > 0 && first.is_multiple_of(line_leaves) {
                leaves.split_at(V::LANES).0.prefetch(R::AHEAD_BYTES);
            }
            registers.push(leaves.load(proven));
        }
        rows::<V, O>(proven, &registers)
    }
}

impl<A: ColumnGroup> ColumnGroup for Twice<A> {
    #[inline(always)]
    fn strips<V, O, S, R: Reading>(
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
        let left = A::strips::<V, O, S, R>(proven, leaves, strip_leaves, column);
        let right = A::strips::<V, O, S, R>(proven, leaves, strip_leaves, next);
        O::lanes(proven, left, right)
    }
}

/// A number of adjacent parts of a block.
trait Parts: PowerOfTwo {
    /// Reduces these parts, beginning with `part`: each part to a register of nodes, and these registers to a single register.
    fn parts<V, O, S, R: Reading>(proven: Proven<V>, block: S, part: usize) -> V
    where
        V: Vector,
        O: Combine<V::Element>,
        S: Source<Leaf = V::Element>;
}

impl Parts for One {
    #[inline(always)]
    fn parts<V, O, S, R: Reading>(proven: Proven<V>, block: S, part: usize) -> V
    where
        V: Vector,
        O: Combine<V::Element>,
        S: Source<Leaf = V::Element>,
    {
        let leaves = part_leaves::<V>();
        let (_, rest) = block.split_at(part * leaves);
        part_nodes::<V, O, S, R>(proven, rest.split_at(leaves).0)
    }
}

impl<A: Parts> Parts for Twice<A> {
    #[inline(always)]
    fn parts<V, O, S, R: Reading>(proven: Proven<V>, block: S, part: usize) -> V
    where
        V: Vector,
        O: Combine<V::Element>,
        S: Source<Leaf = V::Element>,
    {
        let left = A::parts::<V, O, S, R>(proven, block, part);
        let right = A::parts::<V, O, S, R>(proven, block, part + (1 << A::LOG2));
        match A::LOG2 {
            0 => level::<V, O, 1>(proven, left, right),
            1 => level::<V, O, 2>(proven, left, right),
            _ => level::<V, O, 3>(proven, left, right),
        }
    }
}

pub(crate) const fn register_bytes<V: Vector>() -> usize {
    V::LANES * size_of::<V::Element>()
}

//! The streaming kernel: one pass over the leaves, O(log N) memory, one algorithm for all instruction sets.
//!
//! A register holds L leaves that lie side by side, while the tree wants neighbours combined. So L registers are turned into one
//! whose lane i is the root of register i: log2 L levels, each of which moves siblings into the same lanes and combines
//! (half the instructions of doing it register by register, because no lane is idle):
//!
//! ```text
//! L = 4     a0 a1 a2 a3   b0 b1 b2 b3   c0 c1 c2 c3   d0 d1 d2 d3
//! level 1         a01 b01 a23 b23             c01 d01 c23 d23
//! level 2                      a0123 b0123 c0123 d0123
//! ```
//!
//! The result is a register of L nodes that lie side by side, so the same step takes L of them further up. Blocks of some
//! hundred leaves stay in registers; a binary counter joins the blocks' roots as they come.

use crate::counter::{ALL_HEIGHTS, Counter};
use crate::vector::{Combine, Proven, Vector};

/// More leaves than this many bytes are fetched ahead of use; fewer lie in near caches, where fetching costs more than it brings.
const PREFETCH_FROM_BYTES: usize = 1 << 22;

/// How far ahead, in bytes.
const PREFETCH_BYTES: usize = 1 << 14;

/// The fold of at least one leaf, in tree order.
#[inline(always)]
pub(crate) fn fold<V, O>(proven: Proven<V>, _operation: O, leaves: &[V::Element]) -> V::Element
where
    V: Vector,
    O: Combine<V::Element>,
{
    if size_of_val(leaves) < PREFETCH_FROM_BYTES {
        fold_blocks::<V, O, false>(proven, leaves)
    } else {
        fold_blocks::<V, O, true>(proven, leaves)
    }
}

#[inline(always)]
fn fold_blocks<V, O, const PREFETCH: bool>(
    proven: Proven<V>,
    mut leaves: &[V::Element],
) -> V::Element
where
    V: Vector,
    O: Combine<V::Element>,
{
    let mut roots = Counter::<_, ALL_HEIGHTS>::new(leaves[0]);
    // Ever smaller blocks: first as many registers of nodes as fill a register once more, then one, then its rows.
    let group_leaves = V::LANES * block_leaves::<V>();
    while let Some((group, rest)) = leaves.split_at_checked(group_leaves) {
        leaves = rest;
        let mut blocks = [proven.load(group); 16];
        for (node, block) in blocks[..V::LANES]
            .iter_mut()
            .zip(group.chunks_exact(block_leaves::<V>()))
        {
            *node = block_nodes::<V, O, PREFETCH>(proven, block);
        }
        let root = root::<V, O>(proven, rows::<V, O>(proven, &blocks));
        roots.push(root, group_leaves.ilog2(), O::single);
    }
    while let Some((block, rest)) = leaves.split_at_checked(block_leaves::<V>()) {
        leaves = rest;
        let root = root::<V, O>(proven, block_nodes::<V, O, PREFETCH>(proven, block));
        roots.push(root, block_leaves::<V>().ilog2(), O::single);
    }
    let square_leaves = V::LANES * V::LANES;
    while let Some((square, rest)) = leaves.split_at_checked(square_leaves) {
        leaves = rest;
        let root = root::<V, O>(proven, square_nodes::<V, O, PREFETCH>(proven, square));
        roots.push(root, square_leaves.ilog2(), O::single);
    }
    roots.finish(leaves, O::single)
}

/// The leaves of a block: 64 registers full, 16 where a register is wide.
#[inline(always)]
const fn block_leaves<V: Vector>() -> usize {
    match V::LANES {
        2 => 128,
        4 => 256,
        8 => 512,
        _ => 256,
    }
}

/// The nodes of a block of [`block_leaves`], one register of them.
#[inline(always)]
fn block_nodes<V, O, const PREFETCH: bool>(proven: Proven<V>, block: &[V::Element]) -> V
where
    V: Vector,
    O: Combine<V::Element>,
{
    if V::LANES == 16 {
        return square_nodes::<V, O, PREFETCH>(proven, block);
    }
    let mut nodes = [proven.load(block); 16];
    let part_leaves = block.len() / V::LANES;
    for (node, part) in nodes[..V::LANES]
        .iter_mut()
        .zip(block.chunks_exact(part_leaves))
    {
        *node = match V::LANES {
            2 => pairs_nodes::<V, O, PREFETCH>(proven, part),
            4 => cube_nodes::<V, O, PREFETCH>(proven, part),
            _ => square_nodes::<V, O, PREFETCH>(proven, part),
        };
    }
    rows::<V, O>(proven, &nodes)
}

/// The nodes of L^3 leaves.
#[inline(always)]
fn cube_nodes<V, O, const PREFETCH: bool>(proven: Proven<V>, leaves: &[V::Element]) -> V
where
    V: Vector,
    O: Combine<V::Element>,
{
    let mut nodes = [proven.load(leaves); 16];
    for (node, square) in nodes[..V::LANES]
        .iter_mut()
        .zip(leaves.chunks_exact(V::LANES * V::LANES))
    {
        *node = square_nodes::<V, O, PREFETCH>(proven, square);
    }
    rows::<V, O>(proven, &nodes)
}

/// The nodes of 64 leaves in registers of two: four levels above squares, depth first, because registers are few.
#[inline(always)]
fn pairs_nodes<V, O, const PREFETCH: bool>(proven: Proven<V>, leaves: &[V::Element]) -> V
where
    V: Vector,
    O: Combine<V::Element>,
{
    let (a, b) = leaves.split_at(32);
    level::<V, O, 1>(
        proven,
        pairs_32::<V, O, PREFETCH>(proven, a),
        pairs_32::<V, O, PREFETCH>(proven, b),
    )
}

#[inline(always)]
fn pairs_32<V, O, const PREFETCH: bool>(proven: Proven<V>, leaves: &[V::Element]) -> V
where
    V: Vector,
    O: Combine<V::Element>,
{
    let (a, b) = leaves.split_at(16);
    level::<V, O, 1>(
        proven,
        pairs_16::<V, O, PREFETCH>(proven, a),
        pairs_16::<V, O, PREFETCH>(proven, b),
    )
}

#[inline(always)]
fn pairs_16<V, O, const PREFETCH: bool>(proven: Proven<V>, leaves: &[V::Element]) -> V
where
    V: Vector,
    O: Combine<V::Element>,
{
    let (a, b) = leaves.split_at(8);
    level::<V, O, 1>(
        proven,
        pairs_8::<V, O, PREFETCH>(proven, a),
        pairs_8::<V, O, PREFETCH>(proven, b),
    )
}

#[inline(always)]
fn pairs_8<V, O, const PREFETCH: bool>(proven: Proven<V>, leaves: &[V::Element]) -> V
where
    V: Vector,
    O: Combine<V::Element>,
{
    let (a, b) = leaves.split_at(4);
    level::<V, O, 1>(
        proven,
        square_nodes::<V, O, PREFETCH>(proven, a),
        square_nodes::<V, O, PREFETCH>(proven, b),
    )
}

/// The nodes of L^2 leaves, read from memory.
#[inline(always)]
fn square_nodes<V, O, const PREFETCH: bool>(proven: Proven<V>, leaves: &[V::Element]) -> V
where
    V: Vector,
    O: Combine<V::Element>,
{
    if PREFETCH {
        prefetch_ahead(&leaves[..V::LANES * V::LANES]);
    }
    let mut registers = [proven.load(leaves); 16];
    for (register, row) in registers[..V::LANES]
        .iter_mut()
        .zip(leaves.chunks_exact(V::LANES))
    {
        *register = proven.load(row);
    }
    rows::<V, O>(proven, &registers)
}

/// The roots of the first L registers, one a lane.
#[inline(always)]
fn rows<V: Vector, O: Combine<V::Element>>(proven: Proven<V>, registers: &[V; 16]) -> V {
    match V::LANES {
        2 => level1::<V, O>(proven, registers, 0),
        4 => level2::<V, O>(proven, registers, 0),
        8 => level3::<V, O>(proven, registers, 0),
        _ => {
            let (left, right) = (
                level3::<V, O>(proven, registers, 0),
                level3::<V, O>(proven, registers, 8),
            );
            level::<V, O, 4>(proven, left, right)
        }
    }
}

/// The ancestors one level up of two registers from `first` on.
#[inline(always)]
fn level1<V: Vector, O: Combine<V::Element>>(proven: Proven<V>, r: &[V; 16], first: usize) -> V {
    level::<V, O, 1>(proven, r[first], r[first + 1])
}

/// The ancestors two levels up of four registers.
#[inline(always)]
fn level2<V: Vector, O: Combine<V::Element>>(proven: Proven<V>, r: &[V; 16], first: usize) -> V {
    let (left, right) = (
        level1::<V, O>(proven, r, first),
        level1::<V, O>(proven, r, first + 2),
    );
    level::<V, O, 2>(proven, left, right)
}

/// The ancestors three levels up of eight registers.
#[inline(always)]
fn level3<V: Vector, O: Combine<V::Element>>(proven: Proven<V>, r: &[V; 16], first: usize) -> V {
    let (left, right) = (
        level2::<V, O>(proven, r, first),
        level2::<V, O>(proven, r, first + 4),
    );
    level::<V, O, 3>(proven, left, right)
}

/// One level of the tree, for two registers.
#[inline(always)]
fn level<V, O, const LEVEL: u32>(proven: Proven<V>, a: V, b: V) -> V
where
    V: Vector,
    O: Combine<V::Element>,
{
    let (left, right) = proven.neighbours::<LEVEL>(a, b);
    O::lanes(proven, left, right)
}

/// The root of one register's lanes.
#[inline(always)]
fn root<V: Vector, O: Combine<V::Element>>(proven: Proven<V>, register: V) -> V::Element {
    let mut nodes = [V::Element::default(); 16];
    proven.store(register, &mut nodes);
    let mut count = V::LANES;
    while count > 1 {
        count /= 2;
        for i in 0..count {
            nodes[i] = O::single(nodes[2 * i], nodes[2 * i + 1]);
        }
    }
    nodes[0]
}

/// Asks for the lines that lie ahead of these leaves.
#[inline(always)]
fn prefetch_ahead<T>(leaves: &[T]) {
    #[cfg(target_arch = "x86_64")]
    for line in leaves.chunks(64 / size_of::<T>()) {
        crate::x86::prefetch(line.as_ptr().wrapping_byte_add(PREFETCH_BYTES));
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (leaves, PREFETCH_BYTES);
}

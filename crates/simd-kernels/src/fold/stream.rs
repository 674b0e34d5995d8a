//! The streaming kernel: one pass over the leaves, O(log N) memory, one algorithm for all instruction sets.
//!
//! A register holds L adjacent leaves, but the tree combines neighbours. The kernel therefore turns L registers into one register
//! whose lane i is the root of register i. This takes log2 L levels. Each level moves siblings into the same lanes and combines
//! them, and uses all lanes, which takes half the instructions of reducing each register separately:
//!
//! ```text
//! L = 4     a0 a1 a2 a3   b0 b1 b2 b3   c0 c1 c2 c3   d0 d1 d2 d3
//! level 1         a01 b01 a23 b23             c01 d01 c23 d23
//! level 2                      a0123 b0123 c0123 d0123
//! ```
//!
//! The result is a register of L adjacent nodes, so the same step applies to L such registers. Blocks of some hundred leaves
//! stay in registers. A binary counter combines the roots of the blocks.

use core::hint::black_box;

use arrayvec::ArrayVec;

use crate::fold::counter::Counter;
use crate::fold::few::{SHORT_LEAVES, fold_few};
use crate::fold::merge::{level, root, rows};
use crate::fold::source::Source;
use crate::processor::prefetch::{Ahead, MEMORY_AHEAD_BYTES, SHARED_CACHE_AHEAD_BYTES};
use crate::sets::kernel::{For, Kernel};
use crate::sets::vector::{Combine, Proven, Vector};

/// As many registers as one has lanes, or fewer. Their memory is not initialised, which would take a part of a short fold's time.
pub(crate) type Registers<V> = ArrayVec<V, 16>;

/// For folds, SSE2's registers of two doubles take 1.3 to 1.7 times as long as plain Rust.
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
    fn few<O: Combine<S::Leaf>>(&mut self) -> Option<Self::Output> {
        (self.0.len() < SHORT_LEAVES).then(|| fold_few(self.0, O::single))
    }

    #[inline(always)]
    fn compute<V, O>(self, proven: Proven<V>) -> Self::Output
    where
        V: Vector<Element = S::Leaf>,
        O: Combine<S::Leaf>,
    {
        Some(fold_any::<V, O, S>(proven, self.0, self.0.bytes()))
    }
}

/// The fold of at least one leaf. `bytes` is the size of the whole input, which determines the prefetch distance.
#[inline(always)]
pub(crate) fn fold_any<V, O, S>(proven: Proven<V>, leaves: S, bytes: usize) -> V::Element
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    match Ahead::of_bytes(bytes) {
        _ if const { !V::PREFETCHES } => fold_blocks::<V, O, S, 0>(proven, leaves),
        Ahead::Nothing => fold_blocks::<V, O, S, 0>(proven, leaves),
        Ahead::SharedCache => fold_blocks::<V, O, S, SHARED_CACHE_AHEAD_BYTES>(proven, leaves),
        Ahead::Memory => fold_blocks::<V, O, S, MEMORY_AHEAD_BYTES>(proven, leaves),
    }
}

/// The fold of at least one leaf, with the given prefetch distance; 0 means no prefetch.
#[inline(always)]
fn fold_blocks<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, mut leaves: S) -> V::Element
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    let mut roots = Counter::new();
    // Decreasing sizes: groups of L blocks, then single blocks, then squares of L^2 leaves, then single leaves.
    let group_leaves = V::LANES * block_leaves::<V>();
    while let Some((group, rest)) = leaves.split_at_checked(group_leaves) {
        leaves = rest;
        let mut blocks = Registers::<V>::new_const();
        let mut group_rest = group;
        for _ in 0..lanes_in_turn::<V, AHEAD_BYTES>() {
            let (block, rest) = group_rest.split_at(block_leaves::<V>());
            group_rest = rest;
            blocks.push(block_nodes::<V, O, S, AHEAD_BYTES>(proven, block));
        }
        let root = root::<V, O>(proven, rows::<V, O>(proven, &blocks));
        roots.push(root, group_leaves.ilog2(), O::single);
    }
    while let Some((block, rest)) = leaves.split_at_checked(block_leaves::<V>()) {
        leaves = rest;
        let root = block_root::<V, O, S, AHEAD_BYTES>(proven, block);
        roots.push(root, block_leaves::<V>().ilog2(), O::single);
    }
    let square_leaves = V::LANES * V::LANES;
    while let Some((square, rest)) = leaves.split_at_checked(square_leaves) {
        leaves = rest;
        let root = square_root::<V, O, S, AHEAD_BYTES>(proven, square);
        roots.push(root, square_leaves.ilog2(), O::single);
    }
    roots.finish(leaves, O::single)
}

/// The number of lanes. For leaves from memory the compiler must not know it, so that it emits a loop.
///
/// The hardware prefetcher follows a single instruction that reads at equal distances within a page. In straight-line code for
/// a whole block, many different instructions read each page.
#[inline(always)]
fn lanes_in_turn<V: Vector, const AHEAD_BYTES: usize>() -> usize {
    match AHEAD_BYTES {
        MEMORY_AHEAD_BYTES => black_box(V::LANES),
        _ => V::LANES,
    }
}

/// The number of leaves in a block: 64 registers, or 16 registers of 16 lanes.
#[inline(always)]
pub(crate) const fn block_leaves<V: Vector>() -> usize {
    match V::LANES {
        2 => 128,
        4 => 256,
        8 => 512,
        _ => 256,
    }
}

/// The root of a block of [`block_leaves`].
#[inline(always)]
pub(crate) fn block_root<V, O, S, const AHEAD_BYTES: usize>(
    proven: Proven<V>,
    block: S,
) -> V::Element
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    root::<V, O>(proven, block_nodes::<V, O, S, AHEAD_BYTES>(proven, block))
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
fn block_nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, block: S) -> V
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
    for _ in 0..lanes_in_turn::<V, AHEAD_BYTES>() {
        let (part, rest) = block_rest.split_at(part_leaves);
        block_rest = rest;
        nodes.push(part_nodes::<V, O, S, AHEAD_BYTES>(proven, part));
    }
    rows::<V, O>(proven, &nodes)
}

/// The nodes of one L-th of a block, for blocks larger than a square.
#[inline(always)]
pub(crate) fn part_nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, part: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    match V::LANES {
        2 => pairs_nodes::<V, O, S, AHEAD_BYTES>(proven, part),
        4 => cube_nodes::<V, O, S, AHEAD_BYTES>(proven, part),
        _ => square_nodes::<V, O, S, AHEAD_BYTES>(proven, part),
    }
}

/// The nodes of L^3 leaves.
#[inline(always)]
fn cube_nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, leaves: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    let (mut nodes, mut leaves_rest) = (Registers::<V>::new_const(), leaves);
    for _ in 0..V::LANES {
        let (square, rest) = leaves_rest.split_at(V::LANES * V::LANES);
        leaves_rest = rest;
        nodes.push(square_nodes::<V, O, S, AHEAD_BYTES>(proven, square));
    }
    rows::<V, O>(proven, &nodes)
}

/// The nodes of 64 leaves in registers of two: four levels above squares, depth first, to need few registers.
#[inline(always)]
fn pairs_nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, leaves: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    let (a, b) = leaves.split_at(32);
    level::<V, O, 1>(
        proven,
        pairs_32::<V, O, S, AHEAD_BYTES>(proven, a),
        pairs_32::<V, O, S, AHEAD_BYTES>(proven, b),
    )
}

#[inline(always)]
fn pairs_32<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, leaves: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    let (a, b) = leaves.split_at(16);
    level::<V, O, 1>(
        proven,
        pairs_16::<V, O, S, AHEAD_BYTES>(proven, a),
        pairs_16::<V, O, S, AHEAD_BYTES>(proven, b),
    )
}

#[inline(always)]
fn pairs_16<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, leaves: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    let (a, b) = leaves.split_at(8);
    level::<V, O, 1>(
        proven,
        pairs_8::<V, O, S, AHEAD_BYTES>(proven, a),
        pairs_8::<V, O, S, AHEAD_BYTES>(proven, b),
    )
}

#[inline(always)]
fn pairs_8<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, leaves: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    let (a, b) = leaves.split_at(4);
    level::<V, O, 1>(
        proven,
        square_nodes::<V, O, S, AHEAD_BYTES>(proven, a),
        square_nodes::<V, O, S, AHEAD_BYTES>(proven, b),
    )
}

/// The nodes of L^2 leaves, read from memory.
#[inline(always)]
pub(crate) fn square_nodes<V, O, S, const AHEAD_BYTES: usize>(proven: Proven<V>, leaves: S) -> V
where
    V: Vector,
    O: Combine<V::Element>,
    S: Source<Leaf = V::Element>,
{
    let (mut registers, mut leaves_rest) = ([leaves.load(proven); 16], leaves);
    for (i, register) in registers[..V::LANES].iter_mut().enumerate() {
        let (row, rest) = leaves_rest.split_at(V::LANES);
        // One cache line at a time: bursts of prefetches stall.
        if AHEAD_BYTES > 0 && i.is_multiple_of(registers_of_a_line::<V>()) {
            row.prefetch(AHEAD_BYTES);
        }
        leaves_rest = rest;
        *register = row.load(proven);
    }
    rows::<V, O>(proven, &registers)
}

/// The number of registers in a cache line of 64 bytes, at least 1.
#[inline(always)]
const fn registers_of_a_line<V: Vector>() -> usize {
    let register_bytes = V::LANES * size_of::<V::Element>();
    if register_bytes < 64 {
        64 / register_bytes
    } else {
        1
    }
}

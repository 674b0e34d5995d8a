//! Computes sums in lanes: item i belongs to lane i mod L. Each lane is summed in tree order. The lanes' sums are added in tree order, too.
//!
//! Items form rows of L columns; the last row may be shorter. A register holds adjacent lanes, so a merge is one addition, and no
//! shuffles are needed before the end. Groups of 32 rows are summed in registers. Several registers of each row are summed together, so that
//! memory is read in order. A binary counter in memory combines the groups. The remaining rows are combined from right to left, as at the
//! right edge of the tree, whether or not a lane has an item in the last row:
//!
//! ```text
//! 41 rows, and a last row of a few lanes     32 + (8 + (1 + last)) in these lanes, 32 + (8 + 1) in the others
//! ```

use crate::fold::block::square_nodes;
use crate::fold::merge;
use crate::fold::powers::{Eight, Four, One, PowerOfTwo, Sixteen, ThirtyTwo, Twice, Two};
use crate::fold::reading::ByColumns;
use crate::processor::prefetch::RowsAhead;
use crate::rows::scratch::REGISTER_ELEMENTS;
use crate::sets::dispatch::{Float, compute};
use crate::sets::kernel::{For, Kernel};
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// The number of rows in a group. The tree over a group needs six registers of partial sums for each register of a row.
const GROUP_ROWS: usize = 32;

/// The most rows that can wait for their right siblings: 2^48 groups of 32 rows of 16 floats exceed any address space.
const MOST_WAITING: usize = 48;

/// The sum in `lanes` lanes: item i belongs to lane i mod `lanes`. Each lane is summed in tree order, and then the lanes' sums are added in
/// tree order. All levels with a kernel give the same bits.
///
/// Returns `None` if there is no kernel, that is, for fewer items than lanes, for numbers of lanes other than 16, 32, 64 and 128, and at
/// [`Level::SCALAR`]. The caller must then sum the lanes as columns of rows.
///
/// ```
/// use simd_kernels::{Level, sum, sum_lanes};
///
/// // Two rows, and a third of one item.
/// let x: Vec<f64> = (1..=33).map(|i| 1.0 / f64::from(i)).collect();
/// let mut lanes: Vec<f64> = (0..16).map(|lane| x[lane] + x[lane + 16]).collect();
/// lanes[0] += x[32];
/// let sum = sum(Level::SCALAR, &lanes);
/// assert!(Level::available().skip(1).all(|level| sum_lanes(level, 16, &x) == sum));
/// ```
#[inline]
pub fn sum_lanes<T: Float>(level: Level, lanes: usize, items: &[T]) -> Option<T> {
    T::sum_lanes_kernel(level, lanes, items)
}

pub(crate) fn sum_lanes_kernel<T: Float>(level: Level, lanes: usize, items: &[T]) -> Option<T> {
    match lanes {
        _ if level == Level::SCALAR => None,
        16 => sum_in::<T, 16>(level, items),
        32 => sum_in::<T, 32>(level, items),
        64 => sum_in::<T, 64>(level, items),
        128 => sum_in::<T, 128>(level, items),
        _ => None,
    }
}

fn sum_in<T: Float, const L: usize>(level: Level, items: &[T]) -> Option<T> {
    let (rows, last) = items.as_chunks::<L>();
    let level = level.for_leaf_bytes(size_of_val(items));
    (!rows.is_empty()).then(|| compute(level, Lanes { rows, last }))
}

/// At least one row of L items, and the last row if it is shorter.
struct Lanes<'l, T, const L: usize> {
    rows: &'l [[T; L]],
    last: &'l [T],
}

impl<T: Float, const L: usize> Kernel<T> for Lanes<'_, T, L> {
    type Output = T;

    const FOR: For = For {
        scalar: false,
        // For `f32`, registers of 32 bytes are at least as fast.
        long_registers: size_of::<T>() > size_of::<f32>(),
        ..For::ALL
    };

    #[inline(always)]
    fn compute<V, O>(self, proven: Proven<V>) -> T
    where
        V: Vector<Element = T>,
        O: Combine<T>,
    {
        // Initialising more memory than the waiting rows need would take as long as a short sum.
        let (mut few, mut more, mut most);
        let waiting: &mut [[T; L]] = match self.rows.len() / GROUP_ROWS {
            0 | 1 => &mut [],
            2..4 => {
                few = [[T::ZERO; L]; 2];
                &mut few
            }
            4..64 => {
                more = [[T::ZERO; L]; 6];
                &mut more
            }
            _ => {
                most = [[T::ZERO; L]; MOST_WAITING];
                &mut most
            }
        };
        root::<V, O, L>(proven, self.lanes::<V, O>(proven, waiting))
    }
}

impl<T: Float, const L: usize> Lanes<'_, T, L> {
    /// The sum of each lane, a register of lanes at a time.
    #[inline(always)]
    fn lanes<V, O>(&self, proven: Proven<V>, waiting: &mut [[T; L]]) -> [T; L]
    where
        V: Vector<Element = T>,
        O: Combine<T>,
    {
        let (groups, rest) = if waiting.is_empty() {
            // Fewer than two groups need no memory.
            (&[][..], self.rows)
        } else {
            self.rows.as_chunks::<GROUP_ROWS>()
        };
        let ahead = RowsAhead::of_bytes(size_of::<[T; L]>(), size_of_val(self.rows));
        for (number, group) in groups.iter().enumerate() {
            ahead.bring(group.as_flattened(), L, &(0..L));
            let carries = number.trailing_ones() as usize;
            let left = [number.count_ones() as usize - carries, carries];
            match beside::<V>(L) {
                4 => add_group::<V, O, L, 4>(proven, group, waiting, left),
                2 => add_group::<V, O, L, 2>(proven, group, waiting, left),
                _ => add_group::<V, O, L, 1>(proven, group, waiting, left),
            }
        }
        let mut edge = Edge {
            rows: rest,
            last: self.last,
            sums: [T::ZERO; L],
            is_empty: true,
        };
        edge.add::<V, O, One, 1>(proven);
        edge.add::<V, O, Two, 2>(proven);
        edge.add::<V, O, Four, 4>(proven);
        edge.add::<V, O, Eight, 8>(proven);
        edge.add::<V, O, Sixteen, 16>(proven);
        edge.add::<V, O, ThirtyTwo, 32>(proven);
        for row in waiting[..groups.len().count_ones() as usize].iter().rev() {
            edge.add_node::<V, O>(proven, |first| proven.load(&row[first..]));
        }
        edge.sums
    }
}

/// The number of registers of a row that are reduced together, so that memory is read in order. The other registers hold partial sums.
#[inline(always)]
fn beside<V: Vector>(lanes: usize) -> usize {
    let has_many_registers = V::LANES * size_of::<V::Element>() == 64;
    let most = if has_many_registers { 4 } else { 2 };
    most.min(lanes / V::LANES)
}

/// Combines a group of rows with its left siblings, which are `carries` waiting rows beginning at `place`. Stores the result at `place`.
#[inline(always)]
fn add_group<V, O, const L: usize, const W: usize>(
    proven: Proven<V>,
    group: &[[V::Element; L]; GROUP_ROWS],
    waiting: &mut [[V::Element; L]],
    [place, carries]: [usize; 2],
) where
    V: Vector,
    O: Combine<V::Element>,
{
    for first in (0..L).step_by(W * V::LANES) {
        let nodes = ThirtyTwo::node::<V, O, L, W>(proven, group, first);
        for (number, mut node) in nodes.into_iter().enumerate() {
            let first = first + number * V::LANES;
            for left in waiting[place..place + carries].iter().rev() {
                node = O::lanes(proven, proven.load(&left[first..]), node);
            }
            proven.store_first(node, &mut waiting[place][first..]);
        }
    }
}

/// The right edge of the tree, which grows to the left.
struct Edge<'e, T, const L: usize> {
    /// The rows outside groups that have not been added.
    rows: &'e [[T; L]],
    /// The items of a shorter last row.
    last: &'e [T],
    sums: [T; L],
    /// Whether no whole row has been added.
    is_empty: bool,
}

impl<T: Copy, const L: usize> Edge<'_, T, L> {
    /// Adds the last `ROWS` rows if the bit `ROWS` is set in the number of remaining rows. Earlier calls have cleared the lower bits.
    #[inline(always)]
    fn add<V, O, N, const ROWS: usize>(&mut self, proven: Proven<V>)
    where
        V: Vector<Element = T>,
        O: Combine<T>,
        N: Subtree,
    {
        if self.rows.len() & ROWS == 0 {
            return;
        }
        if let Some((left, own)) = self.rows.split_last_chunk::<ROWS>() {
            self.rows = left;
            self.add_node::<V, O>(proven, |first| {
                let [node] = N::node::<V, O, L, 1>(proven, own, first);
                node
            });
        }
    }

    /// Adds a node on the left. `register(lane)` returns a register of the node's lanes, beginning with `lane`.
    #[inline(always)]
    fn add_node<V, O>(&mut self, proven: Proven<V>, register: impl Fn(usize) -> V)
    where
        V: Vector<Element = T>,
        O: Combine<T>,
    {
        for first in (0..L).step_by(V::LANES) {
            let place = &mut self.sums[first..];
            let mut node = register(first);
            if !self.is_empty {
                node = O::lanes(proven, node, proven.load(place));
            }
            proven.store_first(node, place);
        }
        if self.is_empty {
            self.is_empty = false;
            for (sum, &last) in self.sums.iter_mut().zip(self.last) {
                *sum = O::single(*sum, last);
            }
        }
    }
}

/// A number of rows that form a subtree.
trait Subtree: PowerOfTwo {
    /// The root of the rows, in `W` registers of lanes, beginning with lane `first`.
    fn node<V, O, const L: usize, const W: usize>(
        proven: Proven<V>,
        rows: &[[V::Element; L]],
        first: usize,
    ) -> [V; W]
    where
        V: Vector,
        O: Combine<V::Element>;
}

impl Subtree for One {
    #[inline(always)]
    fn node<V, O, const L: usize, const W: usize>(
        proven: Proven<V>,
        rows: &[[V::Element; L]],
        first: usize,
    ) -> [V; W]
    where
        V: Vector,
        O: Combine<V::Element>,
    {
        core::array::from_fn(|place| proven.load(&rows[0][first + place * V::LANES..]))
    }
}

impl<N: Subtree> Subtree for Twice<N> {
    #[inline(always)]
    fn node<V, O, const L: usize, const W: usize>(
        proven: Proven<V>,
        rows: &[[V::Element; L]],
        first: usize,
    ) -> [V; W]
    where
        V: Vector,
        O: Combine<V::Element>,
    {
        let (left, right) = rows.split_at(1 << N::LOG2);
        let left = N::node::<V, O, L, W>(proven, left, first);
        let right = N::node::<V, O, L, W>(proven, right, first);
        core::array::from_fn(|place| O::lanes(proven, left[place], right[place]))
    }
}

/// The sum of all lanes' sums, in tree order.
#[inline(always)]
fn root<V, O, const L: usize>(proven: Proven<V>, mut nodes: [V::Element; L]) -> V::Element
where
    V: Vector,
    O: Combine<V::Element>,
{
    // Each step reduces V::LANES registers to one.
    let square = V::LANES * V::LANES;
    let mut count = L;
    while count >= square {
        count /= V::LANES;
        for first in (0..count).step_by(V::LANES) {
            let leaves = &nodes[first * V::LANES..][..square];
            let register = square_nodes::<V, O, &[V::Element], ByColumns>(proven, leaves);
            proven.store_first(register, &mut nodes[first..]);
        }
    }
    // Fewer registers remain than a square has. They are repeated to fill a square, and only the first roots are used.
    let filled = count / V::LANES;
    let mut registers = [proven.load(&nodes); 16];
    for (number, register) in registers[..V::LANES].iter_mut().enumerate() {
        *register = proven.load(&nodes[number % filled * V::LANES..]);
    }
    let mut roots = [V::Element::default(); REGISTER_ELEMENTS];
    proven.store(merge::rows::<V, O>(proven, &registers), &mut roots);
    let mut count = filled;
    while count > 1 {
        count /= 2;
        for node in 0..count {
            roots[node] = O::single(roots[2 * node], roots[2 * node + 1]);
        }
    }
    roots[0]
}

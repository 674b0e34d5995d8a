//! Folds rows that fit into one or two registers.
//!
//! If a row is narrower than a register, the register extends into the next row, whose lanes are ignored. If a row needs two registers, the
//! second one ends at the end of the row.
//!
//! Rows of half a register are read two at a time instead. The highest level of a register's tree comes first: it combines two registers, one from
//! each half of a group of rows, into one. Each half of the result is the sum of two rows. All other levels combine whole registers:
//!
//! ```text
//! first half of the group     a0 a1 | b0 b1                        rows a and b
//! second half                 c0 c1 | d0 d1                        rows c and d
//! highest level               a0 + b0  a1 + b1 | c0 + d0  c1 + d1
//! ```

use arrayvec::ArrayVec;

use crate::fold::counter::WAITS;
use crate::fold::merge::level;
use crate::processor::prefetch::RowsAhead;
use crate::rows::panel::{eight, four};
use crate::rows::scratch::REGISTER_ELEMENTS;
use crate::sets::kernel::{For, Kernel};
use crate::sets::vector::{Combine, Proven, Vector};

/// The number of rows in a group.
const GROUP_ROWS: usize = 64;

/// At least one row, of at most `Level::narrow_row_bytes` bytes.
#[derive(Debug)]
pub(crate) struct NarrowRows<'a, T> {
    pub(crate) width: usize,
    pub(crate) items: &'a [T],
    pub(crate) result: &'a mut [T],
}

impl<T: Copy + Default> Kernel<T> for NarrowRows<'_, T> {
    type Output = ();

    const FOR: For = For {
        scalar: false,
        long_registers: false,
        ..For::ALL
    };

    #[inline(always)]
    fn compute<V, O>(self, proven: Proven<V>)
    where
        V: Vector<Element = T>,
        O: Combine<T>,
    {
        if V::COMBINES_HALVES && self.width > V::LANES {
            fold::<V, O, 2>(proven, self.width, self.items, self.result);
        } else {
            fold::<V, O, 1>(proven, self.width, self.items, self.result);
        }
    }
}

/// Folds rows of `width` elements. Each row is read as `REGISTERS` registers.
#[inline(always)]
fn fold<V, O, const REGISTERS: usize>(
    proven: Proven<V>,
    width: usize,
    items: &[V::Element],
    result: &mut [V::Element],
) where
    V: Vector,
    O: Combine<V::Element>,
{
    let mut rows = NarrowFold::<V, REGISTERS> {
        proven,
        width,
        rest: items,
        ahead: RowsAhead::of_bytes(width * size_of::<V::Element>(), size_of_val(items)),
        roots: ArrayVec::new_const(),
        count: 0,
    };
    // Takes eight groups at a time where that is faster, because branches that depend on the counter are unpredictable.
    while const { V::COMBINES_HALVES && REGISTERS == 1 && !O::COMPARES } && rows.have_groups(8) {
        let mut nodes = [[proven.load(rows.rest); REGISTERS]; 8];
        for node in &mut nodes {
            *node = rows.next_group::<O>();
        }
        let root = rows.eight::<O>(nodes);
        rows.push::<O>(root, 3 + GROUP_ROWS.ilog2());
    }
    // Comparisons take so long that groups would save hardly any time.
    while const { !O::COMPARES } && rows.have_groups(1) {
        let root = rows.next_group::<O>();
        rows.push::<O>(root, GROUP_ROWS.ilog2());
    }
    while rows.have(8) {
        let root = rows.next_eight::<O>();
        rows.push::<O>(root, 3);
    }
    while !rows.rest.is_empty() {
        let row = rows.next_row();
        rows.push::<O>(row, 0);
    }
    let root = rows.root::<O>();
    if width < V::LANES {
        let mut lanes = [V::Element::default(); REGISTER_ELEMENTS];
        proven.store(root[0], &mut lanes);
        result.copy_from_slice(&lanes[..width]);
    } else {
        for (number, &register) in root.iter().enumerate() {
            proven.store_first(register, &mut result[rows.column(number)..]);
        }
    }
}

/// The rows that are not yet folded, and the roots of the folded rows.
struct NarrowFold<'r, V: Vector, const REGISTERS: usize> {
    proven: Proven<V>,
    width: usize,
    rest: &'r [V::Element],
    ahead: RowsAhead,
    /// The roots of finished subtrees, as in [`Counter`](crate::fold::counter::Counter). `Counter` itself would combine them by a closure, which
    /// cannot use the set's instructions unless it is inlined.
    roots: ArrayVec<[V; REGISTERS], { usize::BITS as usize }>,
    /// The number of folded rows.
    count: usize,
}

impl<V: Vector, const REGISTERS: usize> NarrowFold<'_, V, REGISTERS> {
    /// Whether this number of groups can be read.
    #[inline(always)]
    fn have_groups(&self, groups: usize) -> bool {
        let rows = groups * GROUP_ROWS;
        if self.are_half_registers() {
            self.rest.len() >= rows * self.width
        } else {
            self.have(rows)
        }
    }

    /// Whether this number of rows can be read as registers, which may extend past the last row.
    #[inline(always)]
    fn have(&self, rows: usize) -> bool {
        self.rest.len() >= rows * self.width + V::LANES.saturating_sub(self.width)
    }

    #[inline(always)]
    fn are_half_registers(&self) -> bool {
        V::COMBINES_HALVES && 2 * self.width == V::LANES
    }

    /// The first column of a register.
    #[inline(always)]
    fn column(&self, register: usize) -> usize {
        (register * V::LANES).min(self.width.saturating_sub(V::LANES))
    }

    /// The root of the next [`GROUP_ROWS`] rows.
    #[inline(always)]
    fn next_group<O: Combine<V::Element>>(&mut self) -> [V; REGISTERS] {
        let group = &self.rest[..GROUP_ROWS * self.width];
        self.ahead.bring(group, self.width, &(0..self.width));
        if self.are_half_registers() {
            self.rest = &self.rest[group.len()..];
            return [group_of_half_registers::<V, O>(self.proven, group); REGISTERS];
        }
        let mut nodes = [[self.proven.load(self.rest); REGISTERS]; GROUP_ROWS / 8];
        for (number, node) in nodes.iter_mut().enumerate() {
            *node = self.root_of_eight::<O>(&self.rest[8 * self.width * number..]);
        }
        self.rest = &self.rest[group.len()..];
        self.eight::<O>(nodes)
    }

    /// The root of the next eight rows.
    #[inline(always)]
    fn next_eight<O: Combine<V::Element>>(&mut self) -> [V; REGISTERS] {
        let root = self.root_of_eight::<O>(self.rest);
        self.rest = &self.rest[8 * self.width..];
        root
    }

    /// The root of the first eight of these rows.
    #[inline(always)]
    fn root_of_eight<O: Combine<V::Element>>(&self, rows: &[V::Element]) -> [V; REGISTERS] {
        let mut node = [self.proven.load(rows); REGISTERS];
        for (number, register) in node.iter_mut().enumerate() {
            let of_register = self
                .proven
                .load_rows::<8>(rows, self.width, self.column(number));
            *register = eight::<V, O>(self.proven, of_register);
        }
        node
    }

    #[inline(always)]
    fn next_row(&mut self) -> [V; REGISTERS] {
        let first = if self.rest.len() < V::LANES {
            self.proven.load_padded(self.rest)
        } else {
            self.proven.load(self.rest)
        };
        let mut row = [first; REGISTERS];
        for (number, register) in row.iter_mut().enumerate().skip(1) {
            *register = self.proven.load(&self.rest[self.column(number)..]);
        }
        self.rest = &self.rest[self.width..];
        row
    }

    /// The root of eight nodes.
    #[inline(always)]
    fn eight<O: Combine<V::Element>>(&self, nodes: [[V; REGISTERS]; 8]) -> [V; REGISTERS] {
        let mut root = nodes[0];
        for (number, register) in root.iter_mut().enumerate() {
            let mut of_register = [nodes[0][number]; 8];
            for (to, node) in of_register.iter_mut().zip(&nodes) {
                *to = node[number];
            }
            *register = eight::<V, O>(self.proven, of_register);
        }
        root
    }

    /// Adds the next subtree, of 2^height rows.
    #[inline(always)]
    fn push<O: Combine<V::Element>>(&mut self, root: [V; REGISTERS], height: u32) {
        let mut node = root;
        for _ in 0..(self.count >> height).trailing_ones() {
            node = self.combine::<O>(node);
        }
        self.roots.push(node);
        self.count += 1 << height;
    }

    /// The root of all rows.
    #[inline(always)]
    fn root<O: Combine<V::Element>>(&mut self) -> [V; REGISTERS] {
        let mut root = self.roots.pop().expect(WAITS);
        while !self.roots.is_empty() {
            root = self.combine::<O>(root);
        }
        root
    }

    /// Combines the last waiting root with its right sibling.
    #[inline(always)]
    fn combine<O: Combine<V::Element>>(&mut self, right: [V; REGISTERS]) -> [V; REGISTERS] {
        let mut node = self.roots.pop().expect(WAITS);
        for (register, right) in node.iter_mut().zip(right) {
            *register = O::lanes(self.proven, *register, right);
        }
        node
    }
}

/// The root of a group of rows of half a register each, in both halves.
#[inline(always)]
fn group_of_half_registers<V, O>(proven: Proven<V>, rows: &[V::Element]) -> V
where
    V: Vector,
    O: Combine<V::Element>,
{
    let (first, second) = rows.split_at(rows.len() / 2);
    let mut nodes = [proven.load(rows); 4];
    for (number, node) in nodes.iter_mut().enumerate() {
        let from = number * 4 * V::LANES;
        let [a, b, c, d] = proven.load_rows::<4>(&first[from..], V::LANES, 0);
        let [e, f, g, h] = proven.load_rows::<4>(&second[from..], V::LANES, 0);
        let columns = [
            halves::<V, O>(proven, a, e),
            halves::<V, O>(proven, b, f),
            halves::<V, O>(proven, c, g),
            halves::<V, O>(proven, d, h),
        ];
        *node = four::<V, O>(proven, columns);
    }
    let node = four::<V, O>(proven, nodes);
    halves::<V, O>(proven, node, node)
}

/// Combines the halves of `a`, and the halves of `b`. This is the highest level of a register's tree.
#[inline(always)]
fn halves<V: Vector, O: Combine<V::Element>>(proven: Proven<V>, a: V, b: V) -> V {
    match V::LANES {
        4 => level::<V, O, 2>(proven, a, b),
        _ => level::<V, O, 3>(proven, a, b),
    }
}

//! Reduces blocks that arrive one at a time, in tree order, in a fixed amount of memory.
//!
//! A block is a subtree over a power of two items. The roots of blocks wait for their right siblings, as in a binary counter. If the items
//! of different results are nearer in memory than the items of one result, a block has many columns, one for each result.

use crate::block::Block;
use crate::element::{Chosen, Item};
use crate::strided::{Shape, Tile};

/// The size of a block, in bytes: together with the unconverted items, it fits into a core's own cache.
const BLOCK_BYTES: usize = 1 << 15;

/// If neighbouring items are far apart in memory, a block has enough rows that each page is rarely revisited, and enough items of each row
/// that few subtrees are cut.
const ROWS: usize = 32;
const ROW_ITEMS: usize = 1 << 10;

/// The maximum number of columns of a block. A column has the items of one result.
const COLUMNS: usize = 256;

/// The roots of subtrees that wait for their right siblings, the highest first, as rows of columns.
struct Waiting<L: 'static> {
    rows: Vec<L>,
    joined: Vec<L>,
    operator: Chosen<L>,
}

impl<L: Item> Waiting<L> {
    /// An empty list.
    fn new(operator: Chosen<L>) -> Self {
        Self {
            rows: Vec::new(),
            joined: Vec::new(),
            operator,
        }
    }

    /// Adds the root of the subtree that follows `number` subtrees of the same size.
    fn push(&mut self, number: usize, row: &[L]) {
        self.rows.extend_from_slice(row);
        for _ in 0..number.trailing_ones() {
            self.join(row.len());
        }
    }

    /// Combines the last two rows.
    fn join(&mut self, width: usize) {
        let rest = self.rows.len() - width;
        let (lefts, right) = self.rows.split_at_mut(rest);
        let first = lefts.len() - width;
        let left = &mut lefts[first..];
        if let ([left], [right]) = (&mut *left, &*right) {
            *left = self.operator.combine(*left, *right);
        } else {
            self.joined.resize(width, L::zeroed());
            self.operator.combine_rows(left, right, &mut self.joined);
            left.copy_from_slice(&self.joined);
        }
        self.rows.truncate(rest);
    }

    /// Combines all subtrees, at least one, into a row.
    fn finish(&mut self, width: usize) -> &[L] {
        while self.rows.len() > width {
            self.join(width);
        }
        &self.rows
    }
}

/// The roots of the largest subtrees of consecutive items, in order.
struct Run<L: 'static> {
    first: usize,
    end: usize,
    /// Each root with its height.
    roots: Vec<(u32, L)>,
}

impl<L: Item> Run<L> {
    /// An empty list for items that begin at item `first`.
    fn from(first: usize) -> Self {
        Self {
            first,
            end: first,
            roots: Vec::new(),
        }
    }

    /// Adds the next items.
    fn extend(&mut self, operator: Chosen<L>, mut items: &[L]) {
        while !items.is_empty() {
            let mut height = items.len().ilog2().min(self.end.trailing_zeros());
            let (subtree, others) = items.split_at(1 << height);
            let mut root = operator.fold(subtree).expect("a subtree has items");
            let mut number = self.end >> height;
            // The left sibling of this subtree may belong to another run.
            while number % 2 == 1 && (number - 1) << height >= self.first {
                let (_, left) = self.roots.pop().expect("its left sibling is there");
                root = operator.combine(left, root);
                (number, height) = (number / 2, height + 1);
            }
            self.roots.push((height, root));
            self.end += subtree.len();
            items = others;
        }
    }
}

/// Writes the leaves of a tile.
type Fill<'f, L> = dyn FnMut(&Tile<'_>, &mut [L]) + 'f;

/// Reduces the items of each result, which has at least one item. `fill` writes the leaves of a tile.
pub(crate) fn reduce<L: Item>(
    shape: &Shape,
    operator: Chosen<L>,
    fill: &mut Fill<'_, L>,
    results: &mut [L],
) {
    let mut waiting = Waiting::new(operator);
    let mut block = Block::default();
    let (mut scratch, mut row) = (Vec::new(), Vec::new());
    for group in shape.groups(COLUMNS) {
        let width = group.columns.len;
        waiting.rows.clear();
        if width == 1 && shape.is_transposed() {
            across(group, &mut waiting, &mut block, fill);
        } else {
            row.resize(width, L::zeroed());
            let items = 1 << (BLOCK_BYTES / size_of::<L>() / width).max(8).ilog2();
            for tile in group.blocks(items) {
                fill(&tile, block.room(tile.len()));
                if let [root] = &mut *row {
                    *root = operator.fold(&block).expect("a block has items");
                } else {
                    let folded = operator.fold_rows(&block, width, &mut scratch, &mut row);
                    folded.expect("a block has rows");
                }
                waiting.push(tile.first_item / items, &row);
            }
        }
        for (result, &value) in group.results().zip(waiting.finish(width)) {
            results[result] = value;
        }
    }
}

/// Reduces the items of one result whose rows are spread over memory, in pieces of many rows.
fn across<L: Item>(
    group: Tile<'_>,
    waiting: &mut Waiting<L>,
    block: &mut Block<L>,
    fill: &mut Fill<'_, L>,
) {
    let operator = waiting.operator;
    let mut runs: Vec<Run<L>> = Vec::new();
    let row_items = group.row_items();
    group.pieces_across(ROWS, ROW_ITEMS, |axes, place, [first_row, first_item]| {
        let tile = Tile::along(&axes, place);
        fill(&tile, block.room(tile.items));
        if tile.items == group.items {
            let root = operator.fold(block).expect("a piece has items");
            waiting.push(0, &[root]);
            return;
        }
        // Whole rows are consecutive items, so together they are one run.
        let [rows, pieces] = axes.map(|axis| axis.len);
        let [rows, pieces] = if pieces == row_items {
            [1, rows * pieces]
        } else {
            [rows, pieces]
        };
        if first_item == 0 {
            runs.clear();
            runs.extend((first_row..first_row + rows).map(|row| Run::from(row * row_items)));
        }
        for (run, items) in runs.iter_mut().zip(block.chunks_exact(pieces)) {
            run.extend(operator, items);
        }
        if first_item + axes[1].len == row_items {
            for run in &runs {
                let mut place = run.first;
                for &(height, root) in &run.roots {
                    waiting.push(place >> height, &[root]);
                    place += 1 << height;
                }
            }
        }
    });
}

/// The number of items per block of one result, if each block is read separately.
pub(crate) fn block_items<L>(shape: &Shape) -> usize {
    let bytes = if shape.is_transposed() {
        8 * BLOCK_BYTES
    } else {
        BLOCK_BYTES
    };
    bytes / size_of::<L>().next_power_of_two()
}

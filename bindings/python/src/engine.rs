//! Reductions in tree order of what comes a block at a time, in memory of a fixed size.
//!
//! Blocks are subtrees of a power of two of items, whose roots wait and combine as items do in a scan. Where results lie nearer to each
//! other in memory than items do, the blocks are rows of many results.

use crate::block::Block;
use crate::element::{Chosen, Item};
use crate::strided::{Place, Shape, Tile};

/// The bytes of a block: with what it is converted from it stays in a core's own cache.
const BLOCK_BYTES: usize = 1 << 15;

/// Where neighbouring items are far from each other in memory, a block has enough of them for their neighbours there: eight rows, if they fit. More is
/// memory that the allocator takes from the system anew in each call.
const TRANSPOSED_BLOCK_BYTES: usize = 1 << 16;
const LARGE_TRANSPOSED_BLOCK_BYTES: usize = 1 << 18;

/// The most columns of a block.
const COLUMNS: usize = 256;

/// Roots of blocks that wait for their right siblings, the highest first: rows of some columns.
struct Waiting<L: 'static> {
    rows: Vec<L>,
    joined: Vec<L>,
    operator: Chosen<L>,
}

impl<L: Item> Waiting<L> {
    /// Of no blocks.
    fn new(operator: Chosen<L>) -> Self {
        Self {
            rows: Vec::new(),
            joined: Vec::new(),
            operator,
        }
    }

    /// Adds the root of block number `block`.
    fn push(&mut self, block: usize, row: &[L]) {
        self.rows.extend_from_slice(row);
        for _ in 0..block.trailing_ones() {
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

    /// The row of all blocks, which are at least one.
    fn finish(&mut self, width: usize) -> &[L] {
        while self.rows.len() > width {
            self.join(width);
        }
        &self.rows
    }
}

/// Reduces the items of each result, at least one. `fill` writes the leaves of a tile.
pub(crate) fn reduce<L: Item>(
    shape: &Shape,
    operator: Chosen<L>,
    fill: &mut dyn FnMut(&Tile, &mut [L]),
    results: &mut [L],
) {
    let mut waiting = Waiting::new(operator);
    let mut block = Block::default();
    let Some(axis) = shape.column_axis() else {
        for place in shape.places(None) {
            results[place.result] = one(shape, place, &mut waiting, &mut block, fill);
        }
        return;
    };
    let (mut scratch, mut row) = (Vec::new(), Vec::new());
    for place in shape.places(Some(axis)) {
        for first in (0..shape.kept[axis].len).step_by(COLUMNS) {
            let mut tile = Tile::column(place, 0, 0);
            tile.columns = shape.kept[axis];
            tile.step = shape.step(axis);
            tile.columns.len = COLUMNS.min(shape.kept[axis].len - first);
            tile.place.result += first * tile.step;
            for (offset, stride) in tile.place.offsets.iter_mut().zip(tile.columns.strides) {
                *offset += stride * first.cast_signed();
            }
            let width = tile.columns.len;
            let rows = (BLOCK_BYTES / size_of::<L>() / width).max(8);
            let rows = 1 << rows.ilog2();
            row.resize(width, L::zeroed());
            waiting.rows.clear();
            let firsts = (0..shape.items_count()).step_by(rows);
            for (number, first_item) in firsts.enumerate() {
                tile.first_item = first_item;
                tile.items = rows.min(shape.items_count() - first_item);
                fill(&tile, block.room(tile.len()));
                let folded = operator.fold_rows(&block, width, &mut scratch, &mut row);
                folded.expect("a block has rows");
                waiting.push(number, &row);
            }
            for (result, &value) in tile.results().zip(waiting.finish(width)) {
                results[result] = value;
            }
        }
    }
}

/// The items of a block of one result: a power of two.
pub(crate) fn block_items<L>(shape: &Shape) -> usize {
    let eight_rows = shape
        .items
        .last()
        .map_or(0, |axis| 8 * axis.len * size_of::<L>());
    let bytes = if !shape.is_transposed() {
        BLOCK_BYTES
    } else if eight_rows <= TRANSPOSED_BLOCK_BYTES {
        TRANSPOSED_BLOCK_BYTES
    } else {
        LARGE_TRANSPOSED_BLOCK_BYTES
    };
    bytes / size_of::<L>().next_power_of_two()
}

fn one<L: Item>(
    shape: &Shape,
    place: Place,
    waiting: &mut Waiting<L>,
    block: &mut Block<L>,
    fill: &mut dyn FnMut(&Tile, &mut [L]),
) -> L {
    let count = shape.items_count();
    let items = block_items::<L>(shape);
    waiting.rows.clear();
    for (number, first) in (0..count).step_by(items).enumerate() {
        let tile = Tile::column(place, first, items.min(count - first));
        fill(&tile, block.room(tile.items));
        let root = waiting.operator.fold(block).expect("a block has items");
        if tile.items == count {
            return root;
        }
        waiting.push(number, &[root]);
    }
    waiting.finish(1)[0]
}

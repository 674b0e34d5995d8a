//! Reads arrays in blocks: converts their items, computes leaves from them, and replaces masked items by holes, which change no result.

use num_complex::Complex;

use crate::block::Block;
use crate::convert::{Kind, Target, to_half, trues};
use crate::element::{Item, Op};
use crate::strided::{Memory, Shape, Tile};

/// The items of an array, their factors or weights, and masks that select items.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) shape: Shape,
    pub(crate) x: Memory,
    pub(crate) y: Option<Memory>,
    /// Masks, each with a flag. If the flag is true, the mask marks the items to skip; otherwise, the items to keep.
    pub(crate) masks: Vec<(Memory, bool)>,
    pub(crate) skips_nan: bool,
    /// Whether each item is rounded to half precision first.
    pub(crate) halves: bool,
}

impl Source {
    /// Whether some items may be skipped.
    pub(crate) fn has_holes(&self) -> bool {
        self.skips_nan || !self.masks.is_empty()
    }
}

/// Computes the leaves of a tile from its items and the other array's items.
pub(crate) type Make<'m, T, L> = dyn Fn(&Tile<'_>, &[T], &[T], &mut [L]) + Sync + 'm;

/// Reads blocks of items.
#[derive(Debug)]
pub(crate) struct Reader<'a, T> {
    source: &'a Source,
    words: Block<u64>,
    values: Block<T>,
    factors: Block<T>,
    mask: Mask,
}

impl<'a, T: Item> Reader<'a, T> {
    pub(crate) fn new(source: &'a Source) -> Self {
        Self {
            source,
            words: Block::default(),
            values: Block::default(),
            factors: Block::default(),
            mask: Mask::default(),
        }
    }

    /// Reads and converts the items of a tile.
    pub(crate) fn values(&mut self, tile: &Tile<'_>) -> &[T] {
        let room = self.values.room(tile.len());
        read(self.source, self.source.x, tile, &mut self.words, room);
        room
    }

    fn read_factors(&mut self, tile: &Tile<'_>) {
        if let Some(factors) = self.source.y {
            let room = self.factors.room(tile.len());
            read(self.source, factors, tile, &mut self.words, room);
        }
    }

    /// Appends the items of a tile of one column to `x`, and the other array's items to `y`, without skipped items.
    pub(crate) fn compact(&mut self, tile: &Tile<'_>, x: &mut Vec<T>, y: &mut Vec<T>) {
        self.values(tile);
        self.read_factors(tile);
        if !self.source.has_holes() {
            x.extend_from_slice(&self.values);
            y.extend_from_slice(&self.factors);
            return;
        }
        let mask = self.mask.read(self.source, tile, &self.values);
        let counting = |values: &[T], into: &mut Vec<T>| {
            let counting = values.iter().zip(mask);
            into.extend(
                counting
                    .filter(|&(_, &counts)| counts != 0)
                    .map(|(&value, _)| value),
            );
        };
        counting(&self.values, x);
        counting(&self.factors, y);
    }

    /// Reads the items of a tile, and replaces skipped items by holes of `op`. Adds the numbers of the other items to `counts`, which has
    /// one element for each result.
    pub(crate) fn items(&mut self, tile: &Tile<'_>, op: Op, counts: &mut [i64], into: &mut [T]) {
        read(self.source, self.source.x, tile, &mut self.words, into);
        if self.source.has_holes() {
            let mask = self.mask.read(self.source, tile, into);
            make_holes(tile, mask, op, counts, into);
        }
    }

    /// Works like [`items`](Self::items), but writes the leaves that `make` computes from the items and the other array's items.
    pub(crate) fn leaves<L: Item>(
        &mut self,
        tile: &Tile<'_>,
        make: &Make<'_, T, L>,
        op: Op,
        counts: &mut [i64],
        into: &mut [L],
    ) {
        self.values(tile);
        self.read_factors(tile);
        make(tile, &self.values, &self.factors, into);
        if self.source.has_holes() {
            let mask = self.mask.read(self.source, tile, &self.values);
            make_holes(tile, mask, op, counts, into);
        }
    }
}

/// Reads and converts the elements of an array that belong to a tile.
fn read<T: Item>(
    source: &Source,
    memory: Memory,
    tile: &Tile<'_>,
    words: &mut Block<u64>,
    into: &mut [T],
) {
    if memory.kind == T::KIND && !source.halves {
        return memory.read(tile, bytemuck::cast_slice_mut(into));
    }
    let bytes = tile.len() * memory.kind.bytes();
    let words = words.room(bytes.div_ceil(8));
    let read = &mut bytemuck::cast_slice_mut(words)[..bytes];
    memory.read(tile, read);
    if !source.halves || memory.kind == Kind::F16 {
        return T::convert(memory.kind, words, into);
    }
    let mut doubles = vec![0.0; tile.len()];
    f64::convert(memory.kind, words, &mut doubles);
    let mut rounded = vec![0; tile.len().div_ceil(4)];
    let halves = bytemuck::cast_slice_mut::<u64, u16>(&mut rounded);
    for (half, &double) in halves.iter_mut().zip(&doubles) {
        *half = to_half(double);
    }
    T::convert(Kind::F16, &rounded, into);
}

/// For each item of a tile, 0 if the item is skipped, otherwise 1.
#[derive(Debug, Default)]
struct Mask {
    counting: Block<u8>,
    other: Block<u8>,
    words: Block<u64>,
    unconverted: Block<Complex<f64>>,
}

impl Mask {
    /// Reads the masks of a tile whose items have the given values.
    fn read<T: Item>(&mut self, source: &Source, tile: &Tile<'_>, values: &[T]) -> &[u8] {
        let counting = self.counting.room(tile.len());
        let mut masks = source.masks.iter();
        if let Some(&(memory, excludes)) = masks.next() {
            memory.read(tile, counting);
            for counts in &mut *counting {
                *counts = u8::from((*counts != 0) != excludes);
            }
        } else {
            counting.fill(1);
        }
        for &(memory, excludes) in masks {
            let other = self.other.room(tile.len());
            memory.read(tile, other);
            for (counts, &byte) in counting.iter_mut().zip(&*other) {
                *counts &= u8::from((byte != 0) != excludes);
            }
        }
        if source.skips_nan {
            // Conversion to an integer, or of a complex number to its real part, loses NaNs.
            let loses = source.x.kind.is_complex() && !T::KIND.is_complex();
            if loses || T::KIND.is_integer() {
                let unconverted = self.unconverted.room(tile.len());
                read(source, source.x, tile, &mut self.words, unconverted);
                leave_out_nan(counting, unconverted);
            } else {
                leave_out_nan(counting, values);
            }
        }
        counting
    }
}

fn leave_out_nan<T: Item>(counting: &mut [u8], values: &[T]) {
    for (counts, value) in counting.iter_mut().zip(values) {
        *counts &= u8::from(!value.has_nan());
    }
}

/// Replaces skipped items by holes, and adds the numbers of the other items to `counts`.
fn make_holes<L: Item>(tile: &Tile<'_>, mask: &[u8], op: Op, counts: &mut [i64], into: &mut [L]) {
    let hole = L::hole(op);
    for (leaf, &counts) in into.iter_mut().zip(mask) {
        *leaf = if counts == 0 {
            hole
        } else {
            leaf.unlike_hole()
        };
    }
    if tile.columns.len == 1 {
        counts[tile.place.result] += trues(mask);
        return;
    }
    for (column, result) in tile.results().enumerate() {
        let own = mask.iter().skip(column).step_by(tile.columns.len);
        counts[result] += own.fold(0, |all, &counts| all + i64::from(counts));
    }
}

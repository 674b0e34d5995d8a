//! What is reduced: the items of arrays, converted and computed a block at a time, with masks for holes.

use crate::convert::{Kind, Target, to_half};
use crate::element::{Item, Op};
use crate::strided::{Memory, Shape, Tile};

/// The items of an array, factors or weights of them, and which of them count.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) shape: Shape,
    pub(crate) x: Memory,
    pub(crate) y: Option<Memory>,
    /// Each says which items count, or which do not.
    pub(crate) masks: Vec<(Memory, bool)>,
    pub(crate) skips_nan: bool,
    /// Whether each item is rounded to half precision first.
    pub(crate) halves: bool,
}

impl Source {
    /// Whether some items may not count.
    pub(crate) fn has_holes(&self) -> bool {
        self.skips_nan || !self.masks.is_empty()
    }
}

/// Reads blocks of items.
#[derive(Debug)]
pub(crate) struct Reader<'a, T> {
    source: &'a Source,
    words: Vec<u64>,
    values: Vec<T>,
    factors: Vec<T>,
    mask: Vec<bool>,
    bytes: Vec<u8>,
}

impl<'a, T: Item> Reader<'a, T> {
    pub(crate) fn new(source: &'a Source) -> Self {
        Self {
            source,
            words: Vec::new(),
            values: Vec::new(),
            factors: Vec::new(),
            mask: Vec::new(),
            bytes: Vec::new(),
        }
    }

    /// The items of a tile, converted.
    pub(crate) fn values(&mut self, tile: &Tile) -> &[T] {
        let mut values = std::mem::take(&mut self.values);
        values.resize(tile.len(), T::zeroed());
        self.read(self.source.x, tile, &mut values);
        self.values = values;
        &self.values
    }

    fn read_factors(&mut self, tile: &Tile) {
        if let Some(factors) = self.source.y {
            let mut values = std::mem::take(&mut self.factors);
            values.resize(tile.len(), T::zeroed());
            self.read(factors, tile, &mut values);
            self.factors = values;
        }
    }

    fn read(&mut self, memory: Memory, tile: &Tile, into: &mut [T]) {
        let shape = &self.source.shape;
        if memory.kind == T::KIND && !self.source.halves {
            return memory.read(shape, tile, bytemuck::cast_slice_mut(into));
        }
        let bytes = tile.len() * memory.kind.bytes();
        self.words.resize(bytes.div_ceil(8), 0);
        memory.read(
            shape,
            tile,
            &mut bytemuck::cast_slice_mut(&mut self.words)[..bytes],
        );
        if self.source.halves && memory.kind != Kind::F16 {
            let mut doubles = vec![0.0; tile.len()];
            f64::convert(memory.kind, &self.words, &mut doubles);
            self.words.clear();
            self.words.resize(tile.len().div_ceil(4), 0);
            let halves = bytemuck::cast_slice_mut::<u64, u16>(&mut self.words);
            for (half, &double) in halves.iter_mut().zip(&doubles) {
                *half = to_half(double);
            }
            T::convert(Kind::F16, &self.words, into);
        } else {
            T::convert(memory.kind, &self.words, into);
        }
    }

    /// Which items of a tile count.
    fn read_mask(&mut self, tile: &Tile) {
        self.mask.clear();
        self.mask.resize(tile.len(), true);
        for &(memory, excludes) in &self.source.masks {
            self.bytes.resize(tile.len(), 0);
            memory.read(&self.source.shape, tile, &mut self.bytes);
            for (counts, &byte) in self.mask.iter_mut().zip(&self.bytes) {
                *counts &= (byte != 0) != excludes;
            }
        }
        if self.source.skips_nan {
            for (counts, value) in self.mask.iter_mut().zip(&self.values) {
                *counts &= !value.has_nan();
            }
        }
    }

    /// Appends the items of a tile of one column that count, and the other array's.
    pub(crate) fn compact(&mut self, tile: &Tile, x: &mut Vec<T>, y: &mut Vec<T>) {
        self.values(tile);
        self.read_factors(tile);
        if !self.source.has_holes() {
            x.extend_from_slice(&self.values);
            y.extend_from_slice(&self.factors);
            return;
        }
        self.read_mask(tile);
        let counting = |values: &[T], into: &mut Vec<T>| {
            let counting = values.iter().zip(&self.mask);
            into.extend(
                counting
                    .filter(|(_, counts)| **counts)
                    .map(|(&value, _)| value),
            );
        };
        counting(&self.values, x);
        counting(&self.factors, y);
    }

    /// The items of a tile, of which those that do not count have no effect in a reduction by `op`; `counts`, one for each result, grow by the
    /// number of those that count.
    pub(crate) fn items(&mut self, tile: &Tile, op: Op, counts: &mut [i64], into: &mut [T]) {
        if self.source.has_holes() {
            let value =
                |_: &Tile, values: &[T], _: &[T], into: &mut [T]| into.copy_from_slice(values);
            self.leaves(tile, value, op, counts, into);
        } else {
            self.read(self.source.x, tile, into);
        }
    }

    /// The same with leaves that are made of the items and the other array's.
    pub(crate) fn leaves<L: Item>(
        &mut self,
        tile: &Tile,
        make: impl Fn(&Tile, &[T], &[T], &mut [L]),
        op: Op,
        counts: &mut [i64],
        into: &mut [L],
    ) {
        self.values(tile);
        self.read_factors(tile);
        make(tile, &self.values, &self.factors, into);
        if !self.source.has_holes() {
            return;
        }
        self.read_mask(tile);
        let hole = L::hole(op);
        for (leaf, &counts) in into.iter_mut().zip(&self.mask) {
            *leaf = if counts { leaf.unlike_hole() } else { hole };
        }
        for (column, result) in tile.results().enumerate() {
            let own = self.mask.iter().skip(column).step_by(tile.columns.len);
            counts[result] += own.fold(0, |all, &counts| all + i64::from(counts));
        }
    }
}

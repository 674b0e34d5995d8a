//! Reads arrays of any strides, alignment and byte order a block at a time.

use std::ptr::{self, with_exposed_provenance, with_exposed_provenance_mut};
use std::slice;

use numpy::{
    PyArrayDescrMethods, PyArrayMethods, PyReadonlyArrayDyn, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::Kind;
use crate::copy::{Line, copy, place};

/// The maximum number of arrays that are traversed together: the items, factors or weights, and masks.
pub(crate) const TOGETHER: usize = 4;

/// An axis of arrays that are traversed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Axis {
    pub(crate) len: usize,
    /// The distance in bytes from one element to the next, for each array.
    pub(crate) strides: [isize; TOGETHER],
}

impl Axis {
    const NONE: Self = Self {
        len: 1,
        strides: [0; TOGETHER],
    };

    pub(crate) fn of_length(self, len: usize) -> Self {
        Self { len, ..self }
    }

    /// Whether this axis continues where an inner axis ends, so that both can be merged.
    fn continues(&self, inner: &Self) -> bool {
        let steps = self.strides.iter().zip(&inner.strides);
        steps
            .map(|(&outer, &inner_stride)| {
                inner_stride.checked_mul(inner.len.cast_signed()) == Some(outer)
            })
            .fold(true, |all, one| all && one)
    }
}

/// Merges adjacent axes where possible, from the outermost to the innermost; at least one remains.
fn joined(axes: impl Iterator<Item = Axis>) -> Vec<Axis> {
    let mut all: Vec<Axis> = Vec::new();
    for axis in axes.filter(|axis| axis.len != 1) {
        match all.last_mut() {
            Some(outer) if outer.continues(&axis) => {
                outer.len *= axis.len;
                outer.strides = axis.strides;
            }
            _ => all.push(axis),
        }
    }
    if all.is_empty() {
        all.push(Axis::NONE);
    }
    all
}

/// The axes along which arrays of one shape are reduced, and the axes that are kept.
#[derive(Clone, Debug)]
pub(crate) struct Shape {
    /// The reduced axes, in the order of the items' numbers.
    pub(crate) items: Vec<Axis>,
    /// The kept axes, in the order of the results.
    pub(crate) kept: Vec<Axis>,
}

impl Shape {
    /// The common shape of arrays, with the given ascending axes reduced; an error if the arrays have different shapes.
    pub(crate) fn new(arrays: &[&Bound<'_, PyUntypedArray>], reduced: &[usize]) -> PyResult<Self> {
        let lengths = arrays[0].shape();
        if arrays.iter().any(|array| array.shape() != lengths) || arrays.len() > TOGETHER {
            return Err(PyValueError::new_err("the arrays have different shapes"));
        }
        let axis = |number: usize| {
            let mut strides = [0; TOGETHER];
            for (stride, array) in strides.iter_mut().zip(arrays) {
                *stride = array.strides()[number];
            }
            let len = lengths[number];
            Axis { len, strides }
        };
        let (items, kept): (Vec<usize>, Vec<usize>) =
            (0..lengths.len()).partition(|number| reduced.contains(number));
        Ok(Self {
            items: joined(items.into_iter().map(axis)),
            kept: joined(kept.into_iter().map(axis)),
        })
    }

    /// The number of items of each result.
    pub(crate) fn items_count(&self) -> usize {
        count(&self.items)
    }

    /// The number of results.
    pub(crate) fn results_count(&self) -> usize {
        count(&self.kept)
    }

    /// The kept axis whose elements are nearest to each other in the first array, if they are nearer than consecutive items. Columns along this axis
    /// are then read together.
    pub(crate) fn column_axis(&self) -> Option<usize> {
        let near = |axis: &Axis| axis.strides[0].unsigned_abs();
        let item = self.items.last().filter(|axis| axis.len > 1)?;
        let axes = (0..self.kept.len()).filter(|&number| self.kept[number].len > 1);
        let nearest = axes.min_by_key(|&number| near(&self.kept[number]))?;
        (near(&self.kept[nearest]) < near(item)).then_some(nearest)
    }

    /// Whether items of other rows are nearer in memory than the next item of a row. If so, many rows are read at once.
    pub(crate) fn is_transposed(&self) -> bool {
        let [.., outer, inner] = &*self.items else {
            return false;
        };
        outer.strides[0].unsigned_abs() < inner.strides[0].unsigned_abs()
    }

    /// Divides all items into tiles: of one result or, if the items of different results are nearer in memory, of up to `columns` results.
    pub(crate) fn groups(&self, columns: usize) -> impl Iterator<Item = Tile<'_>> {
        let axis = self.column_axis();
        let all = axis.map_or(Axis::NONE, |axis| self.kept[axis]);
        let step = axis.map_or(1, |axis| count(&self.kept[axis + 1..]));
        let items = self.items_count();
        self.places(axis).flat_map(move |place| {
            let firsts = (0..all.len).step_by(columns);
            firsts.map(move |first| {
                let whole = Tile {
                    axes: &self.items,
                    place,
                    first_item: 0,
                    items,
                    columns: all,
                    step,
                };
                whole.some_columns(first, columns.min(all.len - first))
            })
        })
    }

    /// The places along all kept axes except `without`, each with the number of its result.
    fn places(&self, without: Option<usize>) -> impl Iterator<Item = Place> + use<'_> {
        let len = move |number: usize| {
            if without == Some(number) {
                1
            } else {
                self.kept[number].len
            }
        };
        let all = (0..self.kept.len()).map(len).fold(1, |all, one| all * one);
        (0..all).map(move |mut rest| {
            let mut place = Place::default();
            let mut step = 1;
            for (number, axis) in self.kept.iter().enumerate().rev() {
                let index = rest % len(number);
                rest /= len(number);
                place.advance(axis, index);
                place.result += index * step;
                step *= axis.len;
            }
            place
        })
    }
}

fn count(axes: &[Axis]) -> usize {
    axes.iter().fold(1, |all, axis| all * axis.len)
}

/// A place on the kept axes: its offset in bytes in each array, and the number of its result.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Place {
    offsets: [isize; TOGETHER],
    pub(crate) result: usize,
}

impl Place {
    /// Moves to element `index` of an axis.
    fn advance(&mut self, axis: &Axis, index: usize) {
        for (offset, stride) in self.offsets.iter_mut().zip(axis.strides) {
            *offset += stride * index.cast_signed();
        }
    }
}

/// Some items of some results. A column has the items of one result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile<'s> {
    /// The axes of the items.
    axes: &'s [Axis],
    pub(crate) place: Place,
    pub(crate) first_item: usize,
    pub(crate) items: usize,
    /// The axis of the columns: one column for each result.
    pub(crate) columns: Axis,
    /// The difference between the result numbers of neighbouring columns.
    step: usize,
}

impl<'s> Tile<'s> {
    pub(crate) fn len(&self) -> usize {
        self.items * self.columns.len
    }

    /// The number of the result of each column.
    pub(crate) fn results(&self) -> impl Iterator<Item = usize> + use<> {
        let (first, step) = (self.place.result, self.step);
        (0..self.columns.len).map(move |column| first + column * step)
    }

    /// The number of items in a row. A row follows the innermost axis.
    pub(crate) fn row_items(&self) -> usize {
        self.axes.last().map_or(1, |axis| axis.len)
    }

    /// Splits the tile into tiles of up to `items` items.
    pub(crate) fn blocks(self, items: usize) -> impl Iterator<Item = Self> {
        let firsts = (0..self.items).step_by(items);
        firsts.map(move |first| Self {
            first_item: self.first_item + first,
            items: items.min(self.items - first),
            ..self
        })
    }

    /// Divides groups of up to `rows` adjacent rows into pieces of up to `columns` items of each row. A row has consecutive items. Calls
    /// `piece` with the axes and the place of each piece, the number of its first row, and the number of its first item in a row.
    pub(crate) fn pieces_across(
        self,
        rows: usize,
        columns: usize,
        mut piece: impl FnMut([Axis; 2], Place, [usize; 2]),
    ) {
        let [outer_axes @ .., outer, inner] = self.axes else {
            return;
        };
        for number in 0..count(outer_axes) {
            let mut place = self.place;
            let mut rest = number;
            for axis in outer_axes.iter().rev() {
                place.advance(axis, rest % axis.len);
                rest /= axis.len;
            }
            for row in (0..outer.len).step_by(rows) {
                for column in (0..inner.len).step_by(columns) {
                    let mut place = place;
                    place.advance(outer, row);
                    place.advance(inner, column);
                    let axes = [
                        outer.of_length(rows.min(outer.len - row)),
                        inner.of_length(columns.min(inner.len - column)),
                    ];
                    piece(axes, place, [number * outer.len + row, column]);
                }
            }
        }
    }

    /// All items along some axes, for one result.
    pub(crate) fn along(axes: &'s [Axis], place: Place) -> Self {
        Self {
            axes,
            place,
            first_item: 0,
            items: count(axes),
            columns: Axis::NONE,
            step: 1,
        }
    }

    /// Each column as a tile.
    pub(crate) fn each_column(self) -> impl Iterator<Item = Self> {
        (0..self.columns.len).map(move |column| self.some_columns(column, 1))
    }

    fn some_columns(mut self, first: usize, len: usize) -> Self {
        self.place.advance(&self.columns, first);
        self.place.result += first * self.step;
        self.columns.len = len;
        self
    }
}

/// The bytes of a contiguous bool array. For NumPy any byte but 0 is true; Rust allows only 0 and 1.
#[expect(unsafe_code, reason = "a slice of `bool` could hold invalid bytes")]
pub(crate) fn bytes_of_bools<'a>(array: &'a PyReadonlyArrayDyn<'_, bool>) -> Option<&'a [u8]> {
    if !array.is_c_contiguous() {
        return None;
    }
    let first = array.data().cast::<u8>();
    // SAFETY: these are all elements of the array, of one byte each, in C order. The array is borrowed for reading as long as the slice.
    Some(unsafe { slice::from_raw_parts(first, array.len()) })
}

/// The elements of an array: their address, strides and type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Memory {
    address: usize,
    pub(crate) kind: Kind,
    is_swapped: bool,
    /// The index of this array's stride among the strides of an axis.
    slot: usize,
}

impl Memory {
    /// Describes an array, which must outlive the reads.
    #[expect(unsafe_code, reason = "NumPy stores an array's address as a pointer")]
    pub(crate) fn of(array: &Bound<'_, PyUntypedArray>, slot: usize) -> PyResult<Self> {
        let dtype = array.dtype();
        let kind = Kind::of_elements(array, "x")?;
        let object = array.as_array_ptr();
        // SAFETY: the array is alive, and so is its object.
        let first = unsafe { (*object).fields.data };
        Ok(Self {
            address: first.expose_provenance(),
            kind,
            is_swapped: dtype.is_native_byteorder() == Some(false),
            slot,
        })
    }

    /// Copies the elements of a tile, row by row, in native byte order, into a buffer of the same size.
    pub(crate) fn read(&self, tile: &Tile<'_>, into: &mut [u8]) {
        let bytes = self.kind.bytes();
        assert_eq!(
            into.len(),
            tile.len() * bytes,
            "the block and the tile have different lengths"
        );
        self.pieces(tile, |first, rows, columns, done| {
            let values = rows.len * columns.len;
            let into = &mut into[done * bytes..][..values * bytes];
            match bytes {
                1 => copy::<1>(first, rows, columns, into),
                2 => copy::<2>(first, rows, columns, into),
                4 => copy::<4>(first, rows, columns, into),
                8 => copy::<8>(first, rows, columns, into),
                _ => copy::<16>(first, rows, columns, into),
            }
        });
        if self.is_swapped {
            for part in into.chunks_exact_mut(self.kind.part_bytes()) {
                part.reverse();
            }
        }
    }

    /// Overwrites the elements of a tile of one column. They have this type and native byte order, and may be unaligned.
    #[expect(
        unsafe_code,
        reason = "the elements may be anywhere in a writable array"
    )]
    pub(crate) fn write(&self, tile: &Tile<'_>, from: &[u8]) {
        let bytes = self.kind.bytes();
        assert_eq!(
            from.len(),
            tile.len() * bytes,
            "the block and the tile have different lengths"
        );
        self.pieces(tile, |first, rows, columns, done| {
            let from = &from[done * bytes..][..rows.len * columns.len * bytes];
            if columns.len == 1 && rows.stride == bytes.cast_signed() {
                let to = with_exposed_provenance_mut::<u8>(first.expose_provenance());
                // SAFETY: these are adjacent elements of the array, which may be written, as below.
                unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to, from.len()) };
                return;
            }
            for (number, value) in from.chunks_exact(bytes).enumerate() {
                let (row, column) = (number / columns.len, number % columns.len);
                let to = place(place(first, rows.stride, row), columns.stride, column);
                let to = with_exposed_provenance_mut::<u8>(to.expose_provenance());
                // SAFETY: this is an element of the array, which the caller may write; `scans` has checked that the array is writeable.
                unsafe { ptr::copy_nonoverlapping(value.as_ptr(), to, bytes) };
            }
        });
    }

    /// Divides a tile into pieces of two strides each. Passes each piece's address, rows and columns, and the number of values before it.
    fn pieces(&self, tile: &Tile<'_>, mut piece: impl FnMut(*const u8, Line, Line, usize)) {
        let origin = with_exposed_provenance::<u8>(self.address);
        let origin = origin.wrapping_offset(tile.place.offsets[self.slot]);
        let line = |axis: &Axis, len| Line {
            len,
            stride: axis.strides[self.slot],
        };
        let columns = line(&tile.columns, tile.columns.len);
        let [outer_axes @ .., inner] = tile.axes else {
            return;
        };
        let mut done = 0;
        while done < tile.items {
            let mut rest = tile.first_item + done;
            let index = rest % inner.len;
            rest /= inner.len;
            let mut first = place(origin, inner.strides[self.slot], index);
            let mut left_of_outer = 0;
            for (depth, axis) in outer_axes.iter().rev().enumerate() {
                let index = rest % axis.len;
                rest /= axis.len;
                first = place(first, axis.strides[self.slot], index);
                if depth == 0 {
                    left_of_outer = axis.len - index;
                }
            }
            let left = tile.items - done;
            let whole = left_of_outer.min(left / inner.len);
            if columns.len == 1 && index == 0 && whole > 0 {
                let outer = outer_axes.last().unwrap_or(inner);
                piece(first, line(outer, whole), line(inner, inner.len), done);
                done += whole * inner.len;
            } else {
                let run = left.min(inner.len - index);
                piece(first, line(inner, run), columns, done * columns.len);
                done += run;
            }
        }
    }
}

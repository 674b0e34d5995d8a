//! Scans of arrays as they are in memory.

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use treefold::operator::Prefixes;

use crate::convert::{Kind, to_half};
use crate::element::{Chosen, Item, Op, Task, unsupported, with_type};
use crate::engine::block_items;
use crate::fold::{compute, no_type};
use crate::leaves::{Reader, Source};
use crate::pool::Workers;
use crate::reductions::Arrays;
use crate::strided::{Memory, Tile};

/// The columns that are read together, and the items of a block of each.
const COLUMNS: usize = 16;

struct Scan<'a, 'py> {
    op: Op,
    arrays: &'a Arrays<'py>,
    result: &'a Bound<'py, PyUntypedArray>,
}

impl Task for Scan<'_, '_> {
    type Output = bool;

    fn visit<T: Item>(self, like: &Bound<'_, PyArrayDyn<T>>) -> PyResult<bool> {
        let operator =
            T::operator(self.op).ok_or_else(|| unsupported(self.op, like.as_untyped()))?;
        let source = self.arrays.source()?;
        let into = Memory::of(self.result, 1)?;
        let rounds = into.kind == Kind::F16 && T::KIND == Kind::F32;
        if into.kind != T::KIND && !rounds {
            return Err(PyValueError::new_err("the result has another type"));
        }
        let _by = Workers::of(0)?;
        Ok(compute(like.py(), self.arrays.bytes(), || {
            scan(&source, operator, into)
        }))
    }
}

/// Scans the items of each result, into an array of the same shape, whose strides are the source's second ones. Says whether the last
/// results are finite.
pub(crate) fn scan<T: Item>(source: &Source, operator: Chosen<T>, into: Memory) -> bool {
    let shape = &source.shape;
    let rounds = into.kind != T::KIND;
    let mut reader = Reader::<T>::new(source);
    let axis = shape.column_axis();
    let columns = axis.map_or(1, |axis| shape.kept[axis].len);
    let strides = axis.map_or_else(Default::default, |axis| shape.kept[axis].strides);
    let (mut results, mut halves) = (Vec::new(), Vec::new());
    let mut is_ordinary = true;
    for place in shape.places(axis) {
        for first_column in (0..columns).step_by(COLUMNS) {
            let count = COLUMNS.min(columns - first_column);
            let mut states: Vec<_> = (0..count).map(|_| Prefixes::new()).collect();
            let block = block_items::<T>(shape) / count.next_power_of_two();
            for first in (0..shape.items_count()).step_by(block) {
                for (column, prefixes) in (first_column..).zip(&mut states) {
                    let mut place = place;
                    for (offset, stride) in place.offsets.iter_mut().zip(strides) {
                        *offset += stride * column.cast_signed();
                    }
                    let length = block.min(shape.items_count() - first);
                    let tile = Tile::column(place, first, length);
                    results.resize(length, T::zeroed());
                    operator.scan(reader.values(&tile), prefixes, &mut results);
                    is_ordinary &= results.last().is_none_or(Item::is_ordinary);
                    if rounds {
                        halves.clear();
                        let floats = bytemuck::cast_slice::<T, f32>(&results);
                        halves.extend(floats.iter().map(|&x| to_half(f64::from(x))));
                        into.write(shape, &tile, bytemuck::cast_slice(&halves));
                    } else {
                        into.write(shape, &tile, bytemuck::cast_slice(&results));
                    }
                }
            }
        }
    }
    is_ordinary
}

/// The reductions of all beginnings along one axis, converted to the type of `like`, into an array of the same shape, which may be the one
/// that is read: `y` of `arrays` is the result. Says whether the last ones are finite.
#[pyfunction]
pub(crate) fn scan_arrays<'py>(
    op: &str,
    like: &Bound<'py, PyAny>,
    arrays: Arrays<'py>,
    result: &Bound<'py, PyUntypedArray>,
) -> PyResult<bool> {
    let op = Op::of_name(op)?;
    let arrays = &arrays;
    let task = Scan { op, arrays, result };
    with_type(like, task)?.ok_or_else(|| no_type(op, like))
}

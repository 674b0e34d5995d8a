//! Reductions and scans of NumPy's own arrays, with few keywords, in one call: what they cost beside the arithmetic is what short ones cost.

use num_complex::Complex;
use numpy::{
    Element, PyArrayDescr, PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyTuple};
use simd_kernels::{Level, fold_in_any_order};

use crate::arguments::{arithmetic, axes_of, plain, with_kind};
use crate::convert::{Kind, trues};
use crate::element::{Item, Op};
use crate::engine::reduce;
use crate::fold::{are_ordinary, compute, fold_parts, scalar, zeroed, zeros};
use crate::leaves::{Reader, Source};
use crate::pool::Workers;
use crate::reductions::distances;
use crate::scans::scan;
use crate::strided::{Memory, Shape, Tile, bytes_of_bools};

/// What rounds to an infinite half.
const HALVES_END: f32 = 65520.0;

struct Reduction<'a, 'py> {
    op: Op,
    is_mean: bool,
    array: &'a Bound<'py, PyUntypedArray>,
    memory: Memory,
    mask: Option<&'a Bound<'py, PyUntypedArray>>,
    axes: Vec<usize>,
    keeps_axes: bool,
}

impl<'a, 'py> Reduction<'a, 'py> {
    /// The sum of an array's items; `None` where the slower way is taken, or finds what is wrong.
    fn sum(
        x: &'a Bound<'py, PyAny>,
        axis: &Bound<'_, PyAny>,
        keepdims: &Bound<'_, PyAny>,
    ) -> Option<Self> {
        let (array, memory) = plain(x)?;
        Some(Self {
            op: Op::Sum,
            is_mean: false,
            array,
            memory,
            mask: None,
            axes: axes_of(axis, array.ndim())?,
            keeps_axes: keepdims.cast::<PyBool>().ok()?.is_true(),
        })
    }

    /// A scalar or an array of what is written; None if that says that it is not all.
    fn made<T: Item>(
        &self,
        write: impl FnOnce(&mut [T]) -> PyResult<bool>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let py = self.array.py();
        let kept = self
            .array
            .shape()
            .iter()
            .enumerate()
            .filter_map(|(axis, &length)| {
                if self.axes.contains(&axis) {
                    self.keeps_axes.then_some(1)
                } else {
                    Some(length)
                }
            });
        let kept: Vec<usize> = kept.collect();
        if kept.is_empty() {
            let mut result = [T::zeroed()];
            return if write(&mut result)? {
                scalar(py, result[0]).map(Some)
            } else {
                Ok(None)
            };
        }
        let array = zeros::<T>(py, &kept)?;
        let is_all = {
            let mut result = array.try_readwrite()?;
            let results = result.as_slice_mut()?;
            !results.is_empty() && write(results)?
        };
        Ok(is_all.then(|| array.into_any().unbind()))
    }

    fn items(&self) -> usize {
        let lengths = self.array.shape();
        self.axes.iter().fold(1, |all, &axis| all * lengths[axis])
    }

    fn source(&self) -> PyResult<Source> {
        let mut arrays = vec![self.array, self.array];
        arrays.extend(self.mask);
        let masks = self
            .mask
            .map(|mask| Ok::<_, PyErr>((Memory::of(mask, 2)?, false)));
        Ok(Source {
            shape: Shape::new(&arrays, &self.axes)?,
            x: self.memory,
            y: None,
            masks: masks.into_iter().collect::<PyResult<_>>()?,
            skips_nan: false,
            halves: false,
        })
    }

    /// The variance of each result, or its root.
    fn spread<T: Item>(&self, ddof: f64, is_root: bool, results: &mut [T::Real]) -> PyResult<bool> {
        let mut means = zeroed::<T>(results.len())?;
        let left = self.items() as f64 - ddof;
        let (Some(operator), true) = (T::Real::operator(Op::Sum), left > 0.0) else {
            return Ok(false);
        };
        if !self.write(&mut means)? {
            return Ok(false);
        }
        let source = self.source()?;
        let _by = Workers::of(0)?;
        compute(self.array.py(), self.array.len() * size_of::<T>(), || {
            let mut reader = Reader::<T>::new(&source);
            let make = distances(&means);
            let mut fill = |tile: &Tile, into: &mut [T::Real]| {
                reader.leaves(tile, &make, Op::Sum, &mut [], into);
            };
            reduce(&source.shape, operator, &mut fill, results);
            for result in results.iter_mut() {
                let variance = result.over(left);
                *result = if is_root { variance.root() } else { variance };
            }
        });
        Ok(are_ordinary(results))
    }

    /// Whether all is said: the results are there, and finite.
    fn write<T: Item>(&self, results: &mut [T]) -> PyResult<bool> {
        // Means are divided in the same environment.
        let _environment = Workers::of(0)?;
        let items = self.items();
        if items == 0 {
            return Ok(false);
        }
        let Some(operator) = T::operator(self.op) else {
            return Ok(false);
        };
        if self.mask.is_none()
            && let Some(parts) = self.parts()
            && let Ok(array) = self.array.cast::<PyArrayDyn<T>>()
        {
            let array_ref = array.try_readonly()?;
            if let (Ok(slice), Some(reduction)) = (array_ref.as_slice(), T::reduction(self.op)) {
                fold_parts(self.array.py(), reduction, 1, slice, parts, results)?;
                self.divide(results, items);
                return Ok(are_ordinary(results));
            }
        }
        let source = self.source()?;
        if source.has_holes() && (self.is_mean || T::KIND == Kind::C64 || T::KIND == Kind::C128) {
            return Ok(false);
        }
        let op = self.op;
        let mut counts = zeroed(if source.has_holes() { results.len() } else { 0 })?;
        compute(self.array.py(), self.array.len() * size_of::<T>(), || {
            let mut reader = Reader::<T>::new(&source);
            let mut fill = |tile: &Tile, into: &mut [T]| {
                reader.items(tile, op, &mut counts, into);
            };
            reduce(&source.shape, operator, &mut fill, results);
            operator.make_canonical(results);
        });
        self.divide(results, items);
        Ok(!counts.contains(&0) && are_ordinary(results))
    }

    /// Sums and products that are longer than their items; None where `write` makes them.
    fn longer(&self) -> PyResult<Option<Py<PyAny>>> {
        macro_rules! folded {
            ($combine:ident) => {
                match self.memory.kind {
                    Kind::I8 => self.converted::<i8, i64>(i64::$combine),
                    Kind::I16 => self.converted::<i16, i64>(i64::$combine),
                    Kind::I32 => self.converted::<i32, i64>(i64::$combine),
                    Kind::U8 => self.converted::<u8, u64>(u64::$combine),
                    Kind::U16 => self.converted::<u16, u64>(u64::$combine),
                    Kind::U32 => self.converted::<u32, u64>(u64::$combine),
                    _ => Ok(None),
                }
            };
        }
        match (self.op, self.memory.kind) {
            _ if self.is_mean || self.mask.is_some() => Ok(None),
            (Op::Sum, Kind::Bool) => self.bools(trues),
            (Op::Product, Kind::Bool) => self.bools(|row| i64::from(!row.contains(&0))),
            (Op::Sum, _) => folded!(wrapping_add),
            (Op::Product, _) => folded!(wrapping_mul),
            _ => Ok(None),
        }
    }

    /// Those of integers that lie side by side.
    fn converted<S: Element + Copy + Send + Sync, T: Item + From<S>>(
        &self,
        combine: impl Fn(T, T) -> T + Copy + Sync,
    ) -> PyResult<Option<Py<PyAny>>> {
        let Ok(array) = self.array.cast::<PyArrayDyn<S>>() else {
            return Ok(None);
        };
        let array_ref = array.try_readonly()?;
        match array_ref.as_slice() {
            Ok(items) => self.rows(items, |row| {
                fold_in_any_order(Level::best(), row, T::from, combine)
            }),
            Err(_) => Ok(None),
        }
    }

    /// Those of bools that lie side by side.
    fn bools(&self, fold: impl Fn(&[u8]) -> i64 + Sync) -> PyResult<Option<Py<PyAny>>> {
        let array_ref = self.array.cast::<PyArrayDyn<bool>>()?.try_readonly()?;
        match bytes_of_bools(&array_ref) {
            Some(items) => self.rows(items, |row| Some(fold(row))),
            None => Ok(None),
        }
    }

    /// Those of rows, in each of which is an item: no order changes them.
    fn rows<S: Sync, T: Item>(
        &self,
        items: &[S],
        fold: impl Fn(&[S]) -> Option<T> + Sync,
    ) -> PyResult<Option<Py<PyAny>>> {
        let Some([_, length @ (1..), 1]) = self.parts() else {
            return Ok(None);
        };
        self.made::<T>(|results| {
            compute(self.array.py(), size_of_val(items), || {
                for (row, result) in items.chunks_exact(length).zip(results) {
                    *result = fold(row).expect("a row has items");
                }
            });
            Ok(true)
        })
    }

    /// Reductions of halves, which are computed as floats and rounded once; None also for a result beyond their range.
    fn halves(&self) -> PyResult<Option<Py<PyAny>>> {
        let made = self.made::<f32>(|results| {
            let is_written = self.write(results)?;
            Ok(is_written && results.iter().all(|&result| result.abs() < HALVES_END))
        })?;
        let py = self.array.py();
        let rounded =
            |made: Py<PyAny>| made.call_method1(py, "astype", (PyArrayDescr::new(py, "e")?,));
        made.map(rounded).transpose()
    }

    fn divide<T: Item>(&self, results: &mut [T], items: usize) {
        if self.is_mean {
            for result in results {
                *result = result.over(items as f64);
            }
        }
    }

    /// What is before, in and after the reduced axes, which are neighbours, of an array that lies side by side.
    fn parts(&self) -> Option<[usize; 3]> {
        if !self.array.is_c_contiguous() {
            return None;
        }
        let lengths = self.array.shape();
        let (&first, &last) = (self.axes.first()?, self.axes.last()?);
        let size = |lengths: &[usize]| lengths.iter().fold(1, |all, one| all * one);
        let are_neighbours = last - first + 1 == self.axes.len();
        are_neighbours.then(|| {
            [
                size(&lengths[..first]),
                size(&lengths[first..=last]),
                size(&lengths[last + 1..]),
            ]
        })
    }
}

/// The variance, or the standard deviation, of NumPy's own array along axes; None as below.
#[pyfunction]
pub(crate) fn spread_plain(
    is_root: bool,
    x: &Bound<'_, PyAny>,
    axis: &Bound<'_, PyAny>,
    keepdims: &Bound<'_, PyAny>,
    ddof: f64,
) -> PyResult<Option<Py<PyAny>>> {
    let Some(mut reduction) = Reduction::sum(x, axis, keepdims) else {
        return Ok(None);
    };
    reduction.is_mean = true;
    macro_rules! of {
        ($T:ty) => {
            reduction.made(|results| reduction.spread::<$T>(ddof, is_root, results))
        };
    }
    match arithmetic("mean", reduction.memory.kind) {
        Kind::F64 => of!(f64),
        Kind::F32 => of!(f32),
        Kind::C128 => of!(Complex<f64>),
        Kind::C64 => of!(Complex<f32>),
        _ => Ok(None),
    }
}

/// A reduction, or the mean, of NumPy's own array along axes, of items that a mask of the same shape counts; None where it takes more than
/// that, or if there is something to be told.
#[pyfunction]
pub(crate) fn reduce_plain(
    op: &str,
    x: &Bound<'_, PyAny>,
    axis: &Bound<'_, PyAny>,
    keepdims: &Bound<'_, PyAny>,
    mask: Option<&Bound<'_, PyAny>>,
) -> PyResult<Option<Py<PyAny>>> {
    let Some(mut reduction) = Reduction::sum(x, axis, keepdims) else {
        return Ok(None);
    };
    if let Some(mask) = mask {
        let shape = reduction.array.shape();
        reduction.mask = plain(mask)
            .filter(|(mask, memory)| memory.kind == Kind::Bool && mask.shape() == shape)
            .map(|(mask, _)| mask);
        if reduction.mask.is_none() {
            return Ok(None);
        }
    }
    reduction.is_mean = op == "mean";
    if !reduction.is_mean {
        reduction.op = Op::of_name(op)?;
    }
    let kind = arithmetic(op, reduction.memory.kind);
    if kind == Kind::F16 && !reduction.is_mean {
        return reduction.halves();
    }
    if let Some(made) = reduction.longer()? {
        return Ok(Some(made));
    }
    with_kind!(kind, T => reduction.made::<T>(|results| reduction.write(results)))
}

/// The sums or products of all beginnings of NumPy's own array along an axis, or of all items; None as above.
#[pyfunction]
pub(crate) fn scan_plain(
    op: &str,
    x: &Bound<'_, PyAny>,
    axis: &Bound<'_, PyAny>,
) -> PyResult<Option<Py<PyAny>>> {
    let Some((array, memory)) = plain(x) else {
        return Ok(None);
    };
    let axes = axes_of(axis, array.ndim());
    let Some(axes) =
        axes.filter(|axes| axis.is_none() || axes.len() == 1 && !axis.is_instance_of::<PyTuple>())
    else {
        return Ok(None);
    };
    if array.is_empty() || array.ndim() == 0 {
        return Ok(None);
    }
    let (kind, op) = (arithmetic(op, memory.kind), Op::of_name(op)?);
    with_kind!(kind, T => scanned::<T>(op, array, memory, &axes, axis.is_none()))
}

fn scanned<T: Item>(
    op: Op,
    array: &Bound<'_, PyUntypedArray>,
    memory: Memory,
    axes: &[usize],
    is_flat: bool,
) -> PyResult<Option<Py<PyAny>>> {
    let Some(operator) = T::operator(op) else {
        return Ok(None);
    };
    let result = zeros::<T>(array.py(), array.shape())?;
    let into = result.as_untyped();
    let source = Source {
        shape: Shape::new(&[array, into], axes)?,
        x: memory,
        y: None,
        masks: Vec::new(),
        skips_nan: false,
        halves: false,
    };
    let to = Memory::of(into, 1)?;
    let _by = Workers::of(0)?;
    let is_ordinary = compute(array.py(), array.len() * size_of::<T>(), || {
        scan(&source, operator, to)
    });
    if !is_ordinary {
        return Ok(None);
    }
    let result = if is_flat {
        result.reshape([array.len()])?.into_any()
    } else {
        result.into_any()
    };
    Ok(Some(result.unbind()))
}

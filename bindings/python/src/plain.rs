//! Reductions and scans of NumPy's own arrays, with few keywords, in one call: what they cost beside the arithmetic is what short ones cost.

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyInt, PyTuple};

use num_complex::Complex;

use crate::convert::Kind;
use crate::element::{Item, Op};
use crate::engine::reduce;
use crate::fold::{compute, fold_parts, scalar};
use crate::leaves::{Reader, Source};
use crate::pool::Workers;
use crate::reductions::are_ordinary;
use crate::scans::scan;
use crate::strided::{Memory, Shape, Tile};

/// Does the same with the type of arithmetic of this kind; `None` for halves and bool, which are the results of another type.
macro_rules! with_kind {
    ($kind:expr, $T:ident => $body:expr) => {
        match $kind {
            Kind::F64 => {
                type $T = f64;
                $body
            }
            Kind::F32 => {
                type $T = f32;
                $body
            }
            Kind::C128 => {
                type $T = Complex<f64>;
                $body
            }
            Kind::C64 => {
                type $T = Complex<f32>;
                $body
            }
            Kind::I64 => {
                type $T = i64;
                $body
            }
            Kind::U64 => {
                type $T = u64;
                $body
            }
            Kind::I32 => {
                type $T = i32;
                $body
            }
            Kind::U32 => {
                type $T = u32;
                $body
            }
            Kind::I16 => {
                type $T = i16;
                $body
            }
            Kind::U16 => {
                type $T = u16;
                $body
            }
            Kind::I8 => {
                type $T = i8;
                $body
            }
            Kind::U8 => {
                type $T = u8;
                $body
            }
            Kind::F16 | Kind::Bool => Ok(None),
        }
    };
}

/// The axes to be reduced, ascending; `None` where the slower way finds what is wrong with them.
fn axes_of(axis: &Bound<'_, PyAny>, ndim: usize) -> Option<Vec<usize>> {
    let one = |axis: &Bound<'_, PyAny>| {
        if !axis.is_instance_of::<PyInt>() || axis.is_instance_of::<PyBool>() {
            return None;
        }
        let number: isize = axis.extract().ok()?;
        let ndim = ndim.cast_signed();
        let number = if number < 0 { number + ndim } else { number };
        (0..ndim)
            .contains(&number)
            .then_some(number.cast_unsigned())
    };
    if axis.is_none() {
        return Some((0..ndim).collect());
    }
    let Ok(several) = axis.cast::<PyTuple>() else {
        return Some(vec![one(axis)?]);
    };
    let mut axes: Vec<usize> = several
        .iter()
        .map(|axis| one(&axis))
        .collect::<Option<_>>()?;
    axes.sort_unstable();
    let are_distinct = axes
        .windows(2)
        .fold(true, |all, pair| all && pair[0] < pair[1]);
    are_distinct.then_some(axes)
}

/// A NumPy array of no other class, whose numbers are reduced.
fn plain<'a, 'py>(x: &'a Bound<'py, PyAny>) -> Option<(&'a Bound<'py, PyUntypedArray>, Memory)> {
    if !x.is_exact_instance_of::<PyUntypedArray>() {
        return None;
    }
    let array = x.cast::<PyUntypedArray>().ok()?;
    // Times have names of their own.
    let memory = Memory::of(array, 0).ok().filter(|_| !is_time(array))?;
    Some((array, memory))
}

fn is_time(array: &Bound<'_, PyUntypedArray>) -> bool {
    use numpy::PyArrayDescrMethods;
    matches!(array.dtype().kind(), b'm' | b'M')
}

/// What a sum, a mean or a product of items is computed in; minima and maxima have the type of the items.
fn arithmetic(name: &str, own: Kind) -> Kind {
    match (name, own) {
        ("mean", Kind::I64 | Kind::U64) => Kind::F64,
        ("mean", own) if own.is_short_integer() => Kind::F64,
        ("sum" | "prod", Kind::U8 | Kind::U16 | Kind::U32) => Kind::U64,
        ("sum" | "prod", own) if own.is_short_integer() => Kind::I64,
        (_, own) => own,
    }
}

struct Reduction<'a, 'py> {
    op: Op,
    is_mean: bool,
    array: &'a Bound<'py, PyUntypedArray>,
    memory: Memory,
    mask: Option<&'a Bound<'py, PyUntypedArray>>,
    axes: &'a [usize],
    keeps_axes: bool,
}

impl Reduction<'_, '_> {
    fn run<T: Item>(&self) -> PyResult<Option<Py<PyAny>>> {
        let py = self.array.py();
        let lengths = self.array.shape();
        let kept = (0..lengths.len()).filter_map(|axis| {
            if self.axes.contains(&axis) {
                self.keeps_axes.then_some(1)
            } else {
                Some(lengths[axis])
            }
        });
        let kept: Vec<usize> = kept.collect();
        let count = kept.iter().fold(1, |all, one| all * one);
        if kept.is_empty() {
            let mut result = [T::zeroed()];
            return if self.write(&mut result)? {
                scalar(py, result[0]).map(Some)
            } else {
                Ok(None)
            };
        }
        let array = PyArrayDyn::<T>::zeros(py, kept.as_slice(), false);
        let is_told = {
            let mut result = array.try_readwrite()?;
            let results = result.as_slice_mut()?;
            count > 0 && self.write(results)?
        };
        Ok(is_told.then(|| array.into_any().unbind()))
    }

    /// Whether all is said: the results are there, and finite.
    fn write<T: Item>(&self, results: &mut [T]) -> PyResult<bool> {
        // Means are divided in the same environment.
        let _environment = Workers::of(0)?;
        let lengths = self.array.shape();
        let items = self.axes.iter().fold(1, |all, &axis| all * lengths[axis]);
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
        let mut arrays = vec![self.array, self.array];
        arrays.extend(self.mask);
        let masks = self
            .mask
            .map(|mask| Ok::<_, PyErr>((Memory::of(mask, 2)?, false)));
        let source = Source {
            shape: Shape::new(&arrays, self.axes)?,
            x: self.memory,
            y: None,
            masks: masks.into_iter().collect::<PyResult<_>>()?,
            skips_nan: false,
            halves: false,
        };
        if source.has_holes() && (self.is_mean || T::KIND == Kind::C64 || T::KIND == Kind::C128) {
            return Ok(false);
        }
        let op = self.op;
        let mut counts = vec![0; if source.has_holes() { results.len() } else { 0 }];
        compute(self.array.py(), self.array.len() * size_of::<T>(), || {
            let mut reader = Reader::<T>::new(&source);
            let value =
                |_: &Tile, values: &[T], _: &[T], into: &mut [T]| into.copy_from_slice(values);
            let fill = |tile: &Tile, into: &mut [T]| {
                reader.leaves(tile, value, op, &mut counts, into);
            };
            reduce(&source.shape, operator, fill, results);
            operator.make_canonical(results);
        });
        self.divide(results, items);
        Ok(!counts.contains(&0) && are_ordinary(results))
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
    let Some((array, memory)) = plain(x) else {
        return Ok(None);
    };
    let (Ok(keeps_axes), Some(axes)) = (
        keepdims.cast::<PyBool>().map(|keeps| keeps.is_true()),
        axes_of(axis, array.ndim()),
    ) else {
        return Ok(None);
    };
    let mask = match mask.map(plain) {
        None => None,
        Some(Some((mask, memory)))
            if memory.kind == Kind::Bool && mask.shape() == array.shape() =>
        {
            Some(mask)
        }
        Some(_) => return Ok(None),
    };
    let is_mean = op == "mean";
    let reduction = Reduction {
        op: if is_mean { Op::Sum } else { Op::of_name(op)? },
        is_mean,
        array,
        memory,
        mask,
        axes: &axes,
        keeps_axes,
    };
    with_kind!(arithmetic(op, memory.kind), T => reduction.run::<T>())
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
    let result = PyArrayDyn::<T>::zeros(array.py(), array.shape(), false);
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

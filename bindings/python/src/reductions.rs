//! Reductions of arrays as they are in memory, converted and computed on the way, some of whose items may not count.

use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::convert::Kind;
use crate::element::{Item, Op, Task, unsupported, with_type};
use crate::engine::reduce;
use crate::fold::{are_ordinary, check_length, compute, no_type};
use crate::leaves::{Make, Reader, Source};
use crate::pool::Workers;
use crate::strided::{Memory, Shape, Tile};

/// Items, other factors, and masks, each with whether it excludes.
#[derive(Debug, FromPyObject)]
pub(crate) struct Arrays<'py> {
    x: Bound<'py, PyUntypedArray>,
    y: Option<Bound<'py, PyUntypedArray>>,
    masks: Vec<(Bound<'py, PyUntypedArray>, bool)>,
    skips_nan: bool,
    halves: bool,
    /// Those that are reduced, ascending.
    axes: Vec<usize>,
}

impl Arrays<'_> {
    pub(crate) fn source(&self) -> PyResult<Source> {
        let y = self.y.as_ref();
        let mut all = vec![&self.x, y.unwrap_or(&self.x)];
        all.extend(self.masks.iter().map(|(mask, _)| mask));
        let shape = Shape::new(&all, &self.axes)?;
        let masks = (2..).zip(&self.masks).map(|(slot, (mask, excludes))| {
            let memory = Memory::of(mask, slot)?;
            if memory.kind != Kind::Bool {
                return Err(PyValueError::new_err("a mask is not of type bool"));
            }
            Ok((memory, *excludes))
        });
        Ok(Source {
            shape,
            x: Memory::of(&self.x, 0)?,
            y: y.map(|y| Memory::of(y, 1)).transpose()?,
            masks: masks.collect::<PyResult<_>>()?,
            skips_nan: self.skips_nan,
            halves: self.halves,
        })
    }

    pub(crate) fn bytes(&self) -> usize {
        self.x.len().saturating_mul(8)
    }
}

/// Whether every result has a value, and whether all are finite.
type Outcome = (bool, bool);

struct Reduce<'a, 'py> {
    op: Op,
    leaf: &'a str,
    arrays: &'a Arrays<'py>,
    means: Option<&'a Bound<'py, PyAny>>,
    initial: Option<&'a Bound<'py, PyAny>>,
    result: &'a Bound<'py, PyAny>,
    counts: &'a Bound<'py, PyArrayDyn<i64>>,
}

impl Reduce<'_, '_> {
    /// By what makes leaves of items and factors.
    fn run<T: Item, L: Item>(
        &self,
        like: &Bound<'_, PyArrayDyn<T>>,
        make: &Make<'_, T, L>,
    ) -> PyResult<Outcome> {
        let source = self.arrays.source()?;
        let operator = if source.has_holes() {
            L::operator_with_holes(self.op)
        } else {
            L::operator(self.op)
        };
        let operator = operator.ok_or_else(|| unsupported(self.op, like.as_untyped()))?;
        let mut result = self.result.cast::<PyArrayDyn<L>>()?.try_readwrite()?;
        let results = result.as_slice_mut()?;
        check_length(results.len(), source.shape.results_count())?;
        let mut counts = self.counts.try_readwrite()?;
        let counts = counts.as_slice_mut()?;
        let initial = self
            .initial
            .map(|initial| first::<L>(initial))
            .transpose()?;
        let items = source.shape.items_count();
        if source.has_holes() {
            check_length(counts.len(), results.len())?;
        }
        let (op, _by) = (self.op, Workers::of(0)?);
        let outcome = compute(like.py(), self.arrays.bytes(), || {
            let mut reader = Reader::<T>::new(&source);
            if items > 0 {
                let mut fill = |tile: &Tile, into: &mut [L]| {
                    reader.leaves(tile, make, op, counts, into);
                };
                reduce(&source.shape, operator, &mut fill, results);
            }
            let mut is_complete = true;
            for (number, result) in results.iter_mut().enumerate() {
                let has_items = if source.has_holes() {
                    counts[number] > 0
                } else {
                    items > 0
                };
                let value = match (has_items, initial) {
                    (true, None) => Some(*result),
                    (true, Some(initial)) => Some(operator.combine(initial, *result)),
                    (false, Some(initial)) => Some(initial),
                    (false, None) => L::operator(op).and_then(|operator| operator.empty()),
                };
                is_complete &= value.is_some();
                *result = operator.canonical(value.unwrap_or(*result));
            }
            (is_complete, are_ordinary(results))
        });
        Ok(outcome)
    }
}

/// What makes the squared distances of items from the mean of their result.
pub(crate) fn distances<T: Item>(means: &[T]) -> impl Fn(&Tile, &[T], &[T], &mut [T::Real]) {
    |tile, values, _, into| {
        let width = tile.columns.len;
        if width == 1 {
            let mean = means[tile.place.result];
            for (into, &value) in into.iter_mut().zip(values) {
                *into = value.squared_distance(mean);
            }
            return;
        }
        let own: Vec<T> = tile.results().map(|result| means[result]).collect();
        for (into, values) in into.chunks_exact_mut(width).zip(values.chunks_exact(width)) {
            for ((into, value), &mean) in into.iter_mut().zip(values).zip(&own) {
                *into = value.squared_distance(mean);
            }
        }
    }
}

/// The only element of an array.
pub(crate) fn first<L: Item>(array: &Bound<'_, PyAny>) -> PyResult<L> {
    let array = array.cast::<PyArrayDyn<L>>()?.try_readonly()?;
    let first = array.as_slice()?.first().copied();
    first.ok_or_else(|| PyValueError::new_err("there is no value"))
}

impl Task for Reduce<'_, '_> {
    type Output = Outcome;

    fn visit<T: Item>(self, like: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Outcome> {
        match self.leaf {
            "value" => self.run(like, &|_, values: &[T], _, into: &mut [T]| {
                into.copy_from_slice(values)
            }),
            "magnitude" => self.run(like, &|_, values, _, into| {
                for (into, &value) in into.iter_mut().zip(values) {
                    *into = T::magnitude(value);
                }
            }),
            "distance" => {
                let means = self
                    .means
                    .ok_or_else(|| PyValueError::new_err("there are no means"))?;
                let means = means.cast::<PyArrayDyn<T>>()?.try_readonly()?;
                let means = means.as_slice()?;
                self.run(like, &distances(means))
            }
            "product" => self.run(like, &|_, values: &[T], factors: &[T], into: &mut [T]| {
                for ((into, &x), &y) in into.iter_mut().zip(values).zip(factors) {
                    *into = x.times(y);
                }
            }),
            _ => self.run(like, &|_, values: &[T], factors: &[T], into: &mut [T]| {
                for ((into, &x), &y) in into.iter_mut().zip(values).zip(factors) {
                    *into = x.conjugated().times(y);
                }
            }),
        }
    }
}

/// Reduces leaves of the items of arrays, converted to the type of `like`, in tree order, into a contiguous result. `leaf` is value,
/// magnitude, distance (from `means`, squared), product or conjugate_product. `counts` has the number of items of each result, if some may not
/// count. Says whether all results have a value, and whether all are finite.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "one function in Python calls it")]
pub(crate) fn reduce_arrays<'py>(
    op: &str,
    leaf: &str,
    like: &Bound<'py, PyAny>,
    arrays: Arrays<'py>,
    means: Option<&Bound<'py, PyAny>>,
    initial: Option<&Bound<'py, PyAny>>,
    result: &Bound<'py, PyAny>,
    counts: &Bound<'py, PyArrayDyn<i64>>,
) -> PyResult<Outcome> {
    let op = Op::of_name(op)?;
    let arrays = &arrays;
    let task = Reduce {
        op,
        leaf,
        arrays,
        means,
        initial,
        result,
        counts,
    };
    with_type(like, task)?.ok_or_else(|| no_type(op, like))
}

//! What a chunk of the items contributes, as a Python object.

use bytemuck::pod_read_unaligned;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use treefold::PartialError;

use crate::element::{Item, Op, Task, unsupported, with_type};
use crate::error::raised_by_partial;
use crate::fold::{check_length, compute, no_type};
use crate::pool::Workers;

/// Subtrees, with their rows as bytes: `treefold/_partial.py` knows their type.
type Nodes = Vec<(u64, u32, Vec<u8>)>;

/// What some of `total` items contribute to a reduction, whatever the type of their elements.
#[pyclass(frozen, module = "treefold._native")]
#[derive(Debug)]
pub(crate) struct Partial {
    op: Op,
    total: u64,
    width: usize,
    nodes: Nodes,
}

impl Partial {
    fn of<T: Item>(op: Op, partial: &treefold::Partial<T>) -> Self {
        let nodes = partial.nodes();
        let nodes = nodes.map(|(x, y, row)| (x, y, bytemuck::cast_slice(row).to_vec()));
        Self {
            op,
            total: partial.total(),
            width: partial.width(),
            nodes: nodes.collect(),
        }
    }

    /// `operator` is the name that `op` has on this type.
    fn typed<T: Item>(&self, operator: &str) -> Result<treefold::Partial<T>, PartialError> {
        let nodes = self.nodes.iter();
        let nodes = nodes.map(|(x, y, row)| {
            let elements = row.chunks_exact(size_of::<T>());
            // Bytes that are no whole elements are no row of the right length.
            let is_whole = elements.remainder().is_empty();
            let row = elements.map(pod_read_unaligned::<T>).filter(|_| is_whole);
            (*x, *y, row.collect())
        });
        treefold::Partial::from_nodes(nodes, self.width, self.total, operator)
    }

    /// The bytes that a computation with it goes through.
    fn bytes(&self) -> usize {
        self.nodes
            .iter()
            .map(|(_, _, row)| row.len())
            .fold(0, |all, one| all + one)
    }
}

struct New<'a> {
    op: Op,
    total: u64,
    extents: &'a [(u64, u64)],
}

impl Task for New<'_> {
    type Output = Partial;

    /// Of an array of two axes, items and the values of an item.
    fn visit<T: Item>(self, array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Partial> {
        let unsupported = || unsupported(self.op, array.as_untyped());
        let operator = T::operator(self.op).ok_or_else(unsupported)?;
        let &[_, width] = array.shape() else {
            return Err(PyValueError::new_err("the array does not have two axes"));
        };
        let array_ref = array.try_readonly()?;
        let rows = array_ref.as_slice()?;
        let ranges = self.extents.iter().map(|&(start, end)| start..end);
        let _environment = Workers::of(0)?;
        let partial = compute(array.py(), size_of_val(rows), || {
            treefold::Partial::of_rows(rows, width, ranges, self.total, &operator)
        });
        Ok(Partial::of(self.op, &partial.map_err(raised_by_partial)?))
    }
}

struct Merge<'a>(&'a Partial, &'a Partial);

impl Task for Merge<'_> {
    type Output = Partial;

    fn visit<T: Item>(self, array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Partial> {
        let Self(left, right) = self;
        let unsupported = || unsupported(left.op, array.as_untyped());
        let operator = T::operator(left.op).ok_or_else(unsupported)?;
        let _environment = Workers::of(0)?;
        let merged = compute(array.py(), left.bytes() + right.bytes(), || {
            let name = operator.name();
            let merged = left
                .typed::<T>(name)?
                .merge(&right.typed(name)?, &operator)?;
            Ok(Partial::of(left.op, &merged))
        });
        merged.map_err(raised_by_partial)
    }
}

struct Finish<'a>(&'a Partial);

impl Task for Finish<'_> {
    type Output = ();

    /// Into an array with an element for each value of an item.
    fn visit<T: Item>(self, array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<()> {
        let unsupported = || unsupported(self.0.op, array.as_untyped());
        let operator = T::operator(self.0.op).ok_or_else(unsupported)?;
        let _environment = Workers::of(0)?;
        let result = compute(array.py(), self.0.bytes(), || {
            self.0.typed::<T>(operator.name())?.result(&operator)
        });
        let result = result.map_err(raised_by_partial)?;
        let mut into = array.try_readwrite()?;
        let into = into.as_slice_mut()?;
        check_length(into.len(), result.len())?;
        into.copy_from_slice(&result);
        Ok(())
    }
}

#[pymethods]
impl Partial {
    /// Of the rows of an array of two axes, whose items have the numbers in `extents`.
    #[staticmethod]
    fn new(
        op: &str,
        total: u64,
        extents: Vec<(u64, u64)>,
        array: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let op = Op::of_name(op)?;
        let extents = &extents;
        let made = with_type(array, New { op, total, extents })?;
        made.ok_or_else(|| no_type(op, array))
    }

    /// Of the subtrees that `nodes` returned.
    #[staticmethod]
    fn from_nodes(op: &str, total: u64, width: usize, nodes: Nodes) -> PyResult<Self> {
        let op = Op::of_name(op)?;
        Ok(Self {
            op,
            total,
            width,
            nodes,
        })
    }

    /// Of the items of both, whose elements have the type of an array.
    fn merge(&self, other: &Self, array: &Bound<'_, PyAny>) -> PyResult<Self> {
        if self.op != other.op {
            let (own, other) = (self.op.name(), other.op.name());
            let message = format!("a partial of op={own} does not merge with one of op={other}");
            return Err(PyValueError::new_err(message));
        }
        let merged = with_type(array, Merge(self, other))?;
        merged.ok_or_else(|| no_type(self.op, array))
    }

    /// Leaves the reduction of all items in an array of one axis.
    fn result(&self, array: &Bound<'_, PyAny>) -> PyResult<()> {
        let done = with_type(array, Finish(self))?;
        done.ok_or_else(|| no_type(self.op, array))
    }

    /// First item, height and row of each subtree.
    fn nodes<'py>(&self, py: Python<'py>) -> Vec<(u64, u32, Bound<'py, PyBytes>)> {
        let nodes = self.nodes.iter();
        let nodes = nodes.map(|(x, y, row)| (*x, *y, PyBytes::new(py, row)));
        nodes.collect()
    }

    #[getter]
    fn op(&self) -> &'static str {
        self.op.name()
    }

    #[getter]
    fn total(&self) -> u64 {
        self.total
    }

    #[getter]
    fn nodes_count(&self) -> usize {
        self.nodes.len()
    }
}

//! The partial reduction of a chunk of items in tree order, as a Python object.

use bytemuck::pod_read_unaligned;
use num_complex::Complex;
use numpy::{PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use treefold::PartialError;

use crate::element::{Chosen, Item, Op, unsupported};
use crate::error::raised_by_partial;
use crate::exact_keyed::by_type;
use crate::fold::{check_length, compute, no_type};
use crate::pool::Workers;

/// Subtrees, each with its first item, its height, and its row as bytes.
type Nodes = Vec<(u64, u32, Vec<u8>)>;

/// The partial reduction of some of `total` items. `treefold/_partial.py` keeps the type of their
/// elements.
#[pyclass(frozen, module = "treefold._native")]
#[derive(Debug)]
pub(crate) struct Partial {
    op: Op,
    total: u64,
    width: usize,
    nodes: Nodes,
}

/// Calls a closure with an operator, given by name, and with an array downcast to its element type.
macro_rules! on_type {
    ($op:expr, $array:expr, |$operator:ident, $typed:ident| $call:expr) => {{
        let found = by_type!(
            $array,
            [f64, f32, Complex<f64>, Complex<f32>, i64, u64, i32, u32, i16, u16, i8, u8],
            |$typed| operator_on($op, $typed).and_then(|$operator| $call)
        );
        found.unwrap_or_else(|| Err(no_type($op, $array)))
    }};
}

fn operator_on<T: Item>(op: Op, array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Chosen<T>> {
    T::operator(op).ok_or_else(|| unsupported(op, array.as_untyped()))
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

    fn typed<T: Item>(&self, operator: Chosen<T>) -> Result<treefold::Partial<T>, PartialError> {
        let nodes = self.nodes.iter();
        let nodes = nodes.map(|(x, y, row)| {
            let elements = row.chunks_exact(size_of::<T>());
            // A row that has an incomplete element becomes empty, and is rejected because of its length.
            let is_whole = elements.remainder().is_empty();
            let row = elements.map(pod_read_unaligned::<T>).filter(|_| is_whole);
            (*x, *y, row.collect())
        });
        treefold::Partial::from_nodes(nodes, self.width, self.total, operator.name())
    }

    /// The size of all rows, in bytes.
    fn bytes(&self) -> usize {
        let rows = self.nodes.iter().map(|(_, _, row)| row.len());
        rows.fold(0, |all, one| all + one)
    }
}

#[pymethods]
impl Partial {
    /// Reduces the rows of a two-dimensional array, which are the items at the positions in `extents`.
    #[staticmethod]
    fn new(
        op: &str,
        total: u64,
        extents: Vec<(u64, u64)>,
        array: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let op = Op::of_name(op)?;
        on_type!(op, array, |operator, array| {
            let &[_, width] = array.shape() else {
                return Err(PyValueError::new_err("the array does not have two axes"));
            };
            let rows = array.try_readonly()?;
            let rows = rows.as_slice()?;
            let ranges = extents.iter().map(|&(start, end)| start..end);
            let _environment = Workers::of(0)?;
            let partial = compute(array.py(), size_of_val(rows), || {
                treefold::Partial::of_rows(rows, width, ranges, total, &operator)
            });
            Ok(Self::of(op, &partial.map_err(raised_by_partial)?))
        })
    }

    /// Reads the subtrees that `nodes` returned.
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

    /// Merges two partial reductions whose elements have the type of `array`.
    fn merge(&self, other: &Self, array: &Bound<'_, PyAny>) -> PyResult<Self> {
        if self.op != other.op {
            let (own, other) = (self.op.name(), other.op.name());
            let message = format!("a partial of op={own} cannot be merged with one of op={other}");
            return Err(PyValueError::new_err(message));
        }
        on_type!(self.op, array, |operator, like| {
            let _environment = Workers::of(0)?;
            let merged = compute(like.py(), self.bytes() + other.bytes(), || {
                let merged = self.typed(operator)?;
                let merged = merged.merge(&other.typed(operator)?, &operator)?;
                Ok(Self::of(self.op, &merged))
            });
            merged.map_err(|error| match error {
                PartialError::Overlap { item } => {
                    PyValueError::new_err(format!("both partials contain item {item}"))
                }
                error => raised_by_partial(error),
            })
        })
    }

    /// Writes the reduction of all items to a one-dimensional array.
    fn result(&self, array: &Bound<'_, PyAny>) -> PyResult<()> {
        on_type!(self.op, array, |operator, into| {
            let _environment = Workers::of(0)?;
            let result = compute(into.py(), self.bytes(), || {
                self.typed(operator)?.result(&operator)
            });
            let result = result.map_err(raised_by_partial)?;
            let mut into = into.try_readwrite()?;
            let into = into.as_slice_mut()?;
            check_length(into.len(), result.len())?;
            into.copy_from_slice(&result);
            Ok(())
        })
    }

    /// The first item, height and row of each subtree.
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

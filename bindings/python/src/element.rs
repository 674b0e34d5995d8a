//! Defines the types of elements, and the operators on them.

use bytemuck::Pod;
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rayon::ThreadPool;
use treefold::{FoldError, Operator, par};
use treefold::{fold as fold_items, fold_lanes, fold_rows, fold_rows_lanes};

use crate::convert::{Kind, Target};
use crate::pool::Workers;

/// An operator by its name in Python, or the exact sum, which is not an operator: it has a value only after all items are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Op {
    Sum,
    Product,
    Min,
    Max,
    ExactSum,
}

impl Op {
    pub(crate) fn of_name(name: &str) -> PyResult<Self> {
        match name {
            "sum" => Ok(Self::Sum),
            "prod" => Ok(Self::Product),
            "min" => Ok(Self::Min),
            "max" => Ok(Self::Max),
            "exact_sum" => Ok(Self::ExactSum),
            _ => {
                let message = format!("op: `{name}` is none of sum, prod, min, max and exact_sum");
                Err(PyValueError::new_err(message))
            }
        }
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Product => "prod",
            Self::Min => "min",
            Self::Max => "max",
            Self::ExactSum => "exact_sum",
        }
    }
}

/// An operator on a type, chosen at run time, so that all operators share the calling code.
pub(crate) type Chosen<T> = &'static (dyn Operator<T> + Sync);

/// Writes the exact sum of each column of some rows to the results, a single row. Uses a pool's threads or this thread.
pub(crate) type ExactSums<T> = fn(Option<&ThreadPool>, &[T], &mut [T]);

/// Reduces rows column by column.
#[derive(Clone, Copy)]
pub(crate) enum Reduction<T: 'static> {
    InOrder(Chosen<T>),
    Exact(ExactSums<T>),
}

impl<T: Item> Reduction<T> {
    /// Reduces rows, each as long as the results, in lanes, by the threads of a pool or by this thread. Exact sums have no lanes.
    pub(crate) fn rows(
        self,
        lanes: usize,
        pool: Option<&ThreadPool>,
        rows: &[T],
        results: &mut [T],
    ) -> Result<(), FoldError> {
        let width = results.len();
        match (self, pool, results) {
            (Self::Exact(sums), pool, results) => {
                sums(pool, rows, results);
                Ok(())
            }
            (Self::InOrder(operator), pool, results) if lanes != 1 => {
                rows_in_lanes(rows, lanes, pool, operator, results)
            }
            (Self::InOrder(operator), None, [result]) => {
                fold_items(rows, &operator).map(|value| *result = value)
            }
            (Self::InOrder(operator), Some(pool), [result]) => {
                par::install(pool, || par::fold(rows, &operator)).map(|value| *result = value)
            }
            (Self::InOrder(operator), None, results) => fold_rows(rows, width, &operator, results),
            (Self::InOrder(operator), Some(pool), results) => {
                par::install(pool, || par::fold_rows(rows, width, &operator, results))
            }
        }
    }
}

fn rows_in_lanes<T: Item>(
    rows: &[T],
    lanes: usize,
    pool: Option<&ThreadPool>,
    operator: Chosen<T>,
    results: &mut [T],
) -> Result<(), FoldError> {
    let width = results.len();
    match (pool, results) {
        (None, [result]) => fold_lanes(rows, lanes, &operator).map(|value| *result = value),
        (None, results) => fold_rows_lanes(rows, width, lanes, &operator, results),
        (Some(pool), results) => par::install(pool, || {
            par::fold_rows_lanes(rows, width, lanes, &operator, results)
        }),
    }
}

/// A type of elements.
pub(crate) trait Item: numpy::Element + Target + Pod + Send + Sync {
    /// The type of an element's one or two parts.
    type Real: Item;

    /// The function that computes exact sums; `None` if sums by the operator are exact.
    const EXACT_SUMS: Option<ExactSums<Self>>;

    /// The operator on this type, if it is defined.
    fn operator(op: Op) -> Option<Chosen<Self>>;

    /// The operator on leaves that may be [holes](Self::hole), if it is defined.
    fn operator_with_holes(op: Op) -> Option<Chosen<Self>> {
        Self::operator(op)
    }

    /// A value without effect in a reduction: the other operand keeps its bits.
    fn hole(op: Op) -> Self;

    /// The value itself; if it has the bits of a hole, an equal value with other bits.
    #[must_use]
    fn unlike_hole(self) -> Self {
        self
    }

    /// Whether the element or one of its parts is a NaN.
    fn has_nan(&self) -> bool {
        false
    }

    /// Whether the element and its parts are finite.
    fn is_ordinary(&self) -> bool {
        true
    }

    /// The real part.
    fn real(self) -> Self::Real;

    /// The double nearest to the real part.
    fn to_f64(self) -> f64;

    /// The magnitude; for a complex number, the greater magnitude of its parts, or a NaN.
    fn magnitude(self) -> Self::Real;

    /// The squared distance of two elements, each operation rounded.
    fn squared_distance(self, other: Self) -> Self::Real;

    #[must_use]
    fn conjugated(self) -> Self {
        self
    }

    /// The square root; an integer is returned unchanged.
    #[must_use]
    fn root(self) -> Self {
        self
    }

    /// Divides each part by a number, which is first rounded to the part's type; an integer is returned unchanged.
    #[must_use]
    fn over(self, number: f64) -> Self;

    /// The product of two elements, each operation rounded.
    #[must_use]
    fn times(self, other: Self) -> Self;

    /// How items of this type are reduced; `None` if the reduction is not defined.
    fn reduction(op: Op) -> Option<Reduction<Self>> {
        match op {
            Op::ExactSum => Self::EXACT_SUMS.map(Reduction::Exact),
            op => Self::operator(op).map(Reduction::InOrder),
        }
    }

    /// The sum of the products of two slices of equal length, in tree order, each product rounded in this type. `None` if this type has no
    /// kernel.
    fn dot(_: &Workers, _: &[Self], _: &[Self]) -> Option<Result<Self, FoldError>> {
        None
    }

    /// Writes the sums or products of contiguous rows of shorter integers, for which order does not matter. Returns `false` for other
    /// arrays.
    fn fold_short(_: &Bound<'_, PyUntypedArray>, _: Kind, _: Op, _: &mut [Self]) -> PyResult<bool> {
        Ok(false)
    }

    /// Whether two elements have the same bits.
    fn is_same(&self, other: &Self) -> bool {
        bytemuck::bytes_of(self) == bytemuck::bytes_of(other)
    }
}

/// The error for an array whose type lacks the operator.
pub(crate) fn unsupported(op: Op, array: &Bound<'_, PyUntypedArray>) -> PyErr {
    let (name, dtype) = (op.name(), array.dtype());
    PyTypeError::new_err(format!(
        "x has elements of type {dtype}, for which {name} is not defined"
    ))
}

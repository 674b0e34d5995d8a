//! The types of elements, and the operators on them.

use bytemuck::Pod;
use num_complex::Complex;
use numpy::{PyArrayDyn, PyUntypedArray, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rayon::ThreadPool;
use treefold::{Float, FoldError, Max, Min, Operator, Product, Sum, par};
use treefold::{fold as fold_items, fold_lanes, fold_rows, fold_rows_lanes};

use crate::convert::Target;
use crate::exact_item::sums as exact_sums;
use crate::pool::Workers;

/// An operator by its name in Python, or the exact sum, which is none: it has no value before all items are added.
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

/// An operator on a type, chosen when the program runs: all of them share the code that calls it.
pub(crate) type Chosen<T> = &'static (dyn Operator<T> + Sync);

/// The exact sums of the columns of rows that are as long as the results, by the threads of a pool or by this one.
pub(crate) type ExactSums<T> = fn(Option<&ThreadPool>, &[T], &mut [T]);

/// How rows are reduced, column by column.
#[derive(Clone, Copy)]
pub(crate) enum Reduction<T: 'static> {
    InOrder(Chosen<T>),
    Exact(ExactSums<T>),
}

impl<T: Item> Reduction<T> {
    /// Reduces rows that are as long as the results, in lanes, by the threads of a pool or by this one. Exact sums have no lanes.
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
            (Self::InOrder(operator), Some(pool), [result]) => pool
                .install(|| par::fold(rows, &operator))
                .map(|value| *result = value),
            (Self::InOrder(operator), None, results) => fold_rows(rows, width, &operator, results),
            (Self::InOrder(operator), Some(pool), results) => {
                pool.install(|| par::fold_rows(rows, width, &operator, results))
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
        (Some(pool), results) => {
            pool.install(|| par::fold_rows_lanes(rows, width, lanes, &operator, results))
        }
    }
}

/// A type of elements.
pub(crate) trait Item: numpy::Element + Target + Pod + Send + Sync {
    /// What it has one or two of.
    type Real: Item;

    /// Its exact sums, if they differ from those of the operator.
    const EXACT_SUMS: Option<ExactSums<Self>>;

    /// The operator on this type, if it is defined.
    fn operator(op: Op) -> Option<Chosen<Self>>;

    /// The operator where some leaves are [holes](Self::hole), if it is defined.
    fn operator_with_holes(op: Op) -> Option<Chosen<Self>> {
        Self::operator(op)
    }

    /// What has no effect in a reduction: the other operand keeps its bits.
    fn hole(op: Op) -> Self;

    /// The same value, where it has the bits of a hole that stands for no value.
    #[must_use]
    fn unlike_hole(self) -> Self {
        self
    }

    /// Whether it is not a number, or a part of it.
    fn has_nan(&self) -> bool {
        false
    }

    /// Whether it is neither infinite nor a NaN, nor a part of it.
    fn is_ordinary(&self) -> bool {
        true
    }

    /// Its magnitude; of a complex number, the greater one of its parts, or a NaN.
    fn magnitude(self) -> Self::Real;

    /// The squared distance of two, each operation rounded.
    fn squared_distance(self, other: Self) -> Self::Real;

    #[must_use]
    fn conjugated(self) -> Self {
        self
    }

    /// Divided by a number, part by part, which is rounded to the type of a part first; integers are not.
    #[must_use]
    fn over(self, number: f64) -> Self;

    /// The product of two, each operation rounded.
    #[must_use]
    fn times(self, other: Self) -> Self;

    /// How the items of this type are reduced, if that is defined.
    fn reduction(op: Op) -> Option<Reduction<Self>> {
        match op {
            Op::ExactSum => Self::EXACT_SUMS.map(Reduction::Exact),
            op => Self::operator(op).map(Reduction::InOrder),
        }
    }

    /// The sum of the products of two slices of a length, in tree order; each product is rounded in this type.
    fn dot(by: &Workers, x: &[Self], y: &[Self]) -> Result<Self, FoldError>;
}

/// Of floats, for which there are kernels.
fn dot_in_one_pass<T: Item + Float>(by: &Workers, x: &[T], y: &[T]) -> Result<T, FoldError>
where
    Sum: Operator<T>,
{
    match by.pool() {
        None => treefold::dot(x, y),
        Some(pool) => pool.install(|| par::dot(x, y)),
    }
}

/// Of a type without a kernel for it.
fn dot_by_products<T: Item>(by: &Workers, x: &[T], y: &[T]) -> Result<T, FoldError>
where
    Sum: Operator<T>,
    Product: Operator<T>,
{
    let products = x.iter().zip(y).map(|(&x, &y)| Product.combine(x, y));
    let products: Vec<T> = products.collect();
    match by.pool() {
        None => treefold::sum(&products),
        Some(pool) => pool.install(|| par::sum(&products)),
    }
}

/// What floats alone do in their own way.
macro_rules! of_floats {
    () => {
        fn hole(op: Op) -> Self {
            match op {
                Op::Sum | Op::ExactSum => -0.0,
                Op::Product => 1.0,
                Op::Min => Self::INFINITY,
                Op::Max => Self::NEG_INFINITY,
            }
        }

        fn has_nan(&self) -> bool {
            self.is_nan()
        }

        fn is_ordinary(&self) -> bool {
            self.is_finite()
        }

        #[allow(
            clippy::cast_possible_truncation,
            clippy::unnecessary_cast,
            reason = "the number is rounded"
        )]
        fn over(self, number: f64) -> Self {
            self / number as Self
        }

        fn magnitude(self) -> Self {
            self.abs()
        }

        fn squared_distance(self, other: Self) -> Self {
            (self - other) * (self - other)
        }
    };
}

/// What integers alone do in their own way.
macro_rules! of_integers {
    () => {
        fn hole(op: Op) -> Self {
            match op {
                Op::Sum | Op::ExactSum => 0,
                Op::Product => 1,
                Op::Min => Self::MAX,
                Op::Max => Self::MIN,
            }
        }

        fn over(self, _: f64) -> Self {
            self
        }

        fn magnitude(self) -> Self {
            self
        }

        fn squared_distance(self, other: Self) -> Self {
            let distance = self.wrapping_sub(other);
            distance.wrapping_mul(distance)
        }
    };
}

macro_rules! ordered {
    ($own:ident, $dot:path, $exact_sums:expr; $($element:ty),+) => {$(
        impl Item for $element {
            type Real = Self;

            const EXACT_SUMS: Option<ExactSums<Self>> = $exact_sums;

            fn operator(op: Op) -> Option<Chosen<Self>> {
                Some(match op {
                    Op::Sum => &Sum,
                    Op::Product => &Product,
                    Op::Min => &Min,
                    Op::Max => &Max,
                    Op::ExactSum => return None,
                })
            }

            fn dot(by: &Workers, x: &[Self], y: &[Self]) -> Result<Self, FoldError> {
                $dot(by, x, y)
            }

            fn times(self, other: Self) -> Self {
                Product.combine(self, other)
            }

            $own!();
        }
    )+};
}

ordered!(of_floats, dot_in_one_pass, Some(exact_sums); f32, f64);
ordered!(of_integers, dot_by_products, None; i8, i16, i32, i64, u8, u16, u32, u64);

macro_rules! unordered {
    ($($part:ty),+) => {$(
        impl Item for Complex<$part> {
            type Real = $part;

            const EXACT_SUMS: Option<ExactSums<Self>> = Some(exact_sums);

            fn operator(op: Op) -> Option<Chosen<Self>> {
                match op {
                    Op::Sum => Some(&Sum),
                    Op::Product => Some(&Product),
                    Op::Min | Op::Max | Op::ExactSum => None,
                }
            }

            fn operator_with_holes(op: Op) -> Option<Chosen<Self>> {
                match op {
                    Op::Product => Some(&ProductWithHoles),
                    op => Self::operator(op),
                }
            }

            fn hole(op: Op) -> Self {
                match op {
                    // Products by 1 turn -0.0 into 0.0, and infinities into NaN.
                    Op::Product => Self { re: <$part>::NAN, im: <$part>::from_bits(HOLE as _) },
                    _ => Self { re: -0.0, im: -0.0 },
                }
            }

            fn unlike_hole(self) -> Self {
                let is_hole = bytemuck::bytes_of(&self) == bytemuck::bytes_of(&Self::hole(Op::Product));
                if is_hole { Self { re: <$part>::NAN, im: <$part>::NAN } } else { self }
            }

            fn has_nan(&self) -> bool {
                self.re.is_nan() || self.im.is_nan()
            }

            fn is_ordinary(&self) -> bool {
                self.re.is_finite() && self.im.is_finite()
            }

            fn magnitude(self) -> $part {
                if self.has_nan() { <$part>::NAN } else { self.re.abs().max(self.im.abs()) }
            }

            fn squared_distance(self, other: Self) -> $part {
                let (re, im) = (self.re - other.re, self.im - other.im);
                re * re + im * im
            }

            fn over(self, number: f64) -> Self {
                Self {
                    re: self.re.over(number),
                    im: self.im.over(number),
                }
            }

            fn conjugated(self) -> Self {
                self.conj()
            }

            fn times(self, other: Self) -> Self {
                Product.combine(self, other)
            }

            fn dot(by: &Workers, x: &[Self], y: &[Self]) -> Result<Self, FoldError> {
                dot_by_products(by, x, y)
            }
        }

        impl Operator<Complex<$part>> for ProductWithHoles {
            fn name(&self) -> &str {
                "product"
            }

            fn combine(&self, left: Complex<$part>, right: Complex<$part>) -> Complex<$part> {
                let hole = Complex::<$part>::hole(Op::Product);
                let is_hole = |x: &Complex<$part>| bytemuck::bytes_of(x) == bytemuck::bytes_of(&hole);
                if is_hole(&left) {
                    right
                } else if is_hole(&right) {
                    left
                } else {
                    Product.combine(left, right)
                }
            }

            fn canonical(&self, value: Complex<$part>) -> Complex<$part> {
                Product.canonical(value)
            }
        }
    )+};
}

/// The bits of a NaN with a payload that no processor computes, in either type.
const HOLE: u64 = 0x7FF8_5EED_7FC0_5EED;

/// The product of complex numbers where some leaves stand for no value.
struct ProductWithHoles;

unordered!(f32, f64);

/// What is done with an array, whatever its type.
pub(crate) trait Task {
    type Output;

    fn visit<T: Item>(self, array: &Bound<'_, PyArrayDyn<T>>) -> PyResult<Self::Output>;
}

/// Does a task with an array, by the first of the types that is its own; `None` if there is none.
macro_rules! with_first_of {
    ($array:expr, $task:expr, [$($element:ty),+]) => {{
        $(if let Ok(array) = $array.cast::<PyArrayDyn<$element>>() {
            return $task.visit(array).map(Some);
        })+
        Ok(None)
    }};
}
pub(crate) use with_first_of;

/// Does it with an array of any of the types; `None` if its type is another one.
pub(crate) fn with_type<K: Task>(array: &Bound<'_, PyAny>, task: K) -> PyResult<Option<K::Output>> {
    with_first_of!(
        array,
        task,
        [
            f64,
            f32,
            Complex<f64>,
            Complex<f32>,
            i64,
            u64,
            i32,
            u32,
            i16,
            u16,
            i8,
            u8
        ]
    )
}

/// The error that there is no operator for an array's type.
pub(crate) fn unsupported(op: Op, array: &Bound<'_, PyUntypedArray>) -> PyErr {
    let (name, dtype) = (op.name(), array.dtype());
    PyTypeError::new_err(format!(
        "x has elements of type {dtype}, for which {name} is not defined"
    ))
}

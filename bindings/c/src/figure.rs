//! What exact plans and accumulators make of a program's items: a sum, a norm or a dot product.

use std::marker::PhantomData;

use crate::element::ElementType;
use crate::failure::{Code, Failure};
use bytemuck::Pod;
use num_complex::Complex;
use treefold::exact::{Accumulator, ComplexProductSum, ComplexSum, Float, ProductSum, Sum};

/// What exact plans and accumulators make of the items, by a code of `treefold.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "treefold.h describes them")]
pub enum Figure {
    Sum,
    Norm,
    Dot,
    ConjugateDot,
}

impl Figure {
    const ALL: [Self; 4] = [Self::Sum, Self::Norm, Self::Dot, Self::ConjugateDot];

    /// The figure of a code on a type; they count from 1.
    ///
    /// # Errors
    /// There is no such code, or the type has no such figure.
    pub fn of_code(code: i32, element_type: ElementType) -> Result<Self, Failure> {
        let index = usize::try_from(code)
            .ok()
            .and_then(|code| code.checked_sub(1));
        let known = index.and_then(|index| Self::ALL.get(index)).copied();
        let figure = known.ok_or_else(|| {
            Failure::argument("figure", format_args!("there is no exact figure {code}"))
        })?;
        let unsupported = |message| Err(Failure::new(Code::Unsupported, message));
        match (element_type, figure) {
            (ElementType::F32 | ElementType::F64, _)
            | (ElementType::C32 | ElementType::C64, Self::Sum | Self::Dot | Self::ConjugateDot) => {
                Ok(figure)
            }
            (ElementType::C32 | ElementType::C64, Self::Norm) => unsupported(
                "the exact norm of complex numbers is that of twice as many real ones: give them as those",
            ),
            _ => unsupported("integers have exact sums in tree order"),
        }
    }
}

/// How items become a figure by way of an accumulator.
pub trait Quantity: 'static {
    /// An element of the program's arrays.
    type Item: Pod;
    /// What is added up, in a process and over ranks.
    type Total: Accumulator;
    /// Whether it is made of two arrays.
    const TAKES_PAIRS: bool;
    /// What it is, for errors.
    const NAME: &'static str;

    /// Adds items; `y` is empty unless there are pairs.
    fn add(total: &mut Self::Total, x: &[Self::Item], y: &[Self::Item]);

    /// What the total stands for, rounded once.
    fn value(total: &Self::Total) -> Self::Item;

    /// The mean of the items or products, rounded once; `None` if the figure has none.
    fn mean(total: &Self::Total) -> Option<Self::Item>;

    /// Adds whole rows, column by column.
    fn add_rows(totals: &mut [Self::Total], x: &[Self::Item], y: &[Self::Item]) {
        let width = totals.len();
        let column_of = |items: &[Self::Item], column: usize| -> Vec<Self::Item> {
            items.iter().skip(column).step_by(width).copied().collect()
        };
        // Some rows at a time, which the caches keep from column to column.
        let piece = width * 1024_usize.div_ceil(width);
        for begin in (0..x.len()).step_by(piece) {
            let of_piece =
                |items: &[Self::Item]| begin.min(items.len())..items.len().min(begin + piece);
            let (x, y) = (&x[of_piece(x)], &y[of_piece(y)]);
            for (column, total) in totals.iter_mut().enumerate() {
                Self::add(total, &column_of(x, column), &column_of(y, column));
            }
        }
    }
}

/// The sum of real items.
#[derive(Debug)]
pub struct Sums<T>(PhantomData<T>);

impl<T: Float> Quantity for Sums<T> {
    type Item = T;
    type Total = Sum<T>;
    const TAKES_PAIRS: bool = false;
    const NAME: &'static str = "a sum";

    fn add(total: &mut Sum<T>, x: &[T], _: &[T]) {
        total.add(x);
    }

    fn value(total: &Sum<T>) -> T {
        total.value()
    }

    fn mean(total: &Sum<T>) -> Option<T> {
        Some(total.mean())
    }

    fn add_rows(totals: &mut [Sum<T>], x: &[T], _: &[T]) {
        Sum::add_rows(totals, x);
    }
}

/// The Euclidean norm of real items.
#[derive(Debug)]
pub struct Norms<T>(PhantomData<T>);

impl<T: Float> Quantity for Norms<T> {
    type Item = T;
    type Total = ProductSum<T>;
    const TAKES_PAIRS: bool = false;
    const NAME: &'static str = "a norm";

    fn add(total: &mut ProductSum<T>, x: &[T], _: &[T]) {
        total.add_squares(x);
    }

    fn value(total: &ProductSum<T>) -> T {
        total.root()
    }

    fn mean(_: &ProductSum<T>) -> Option<T> {
        None
    }
}

/// The dot product of real items.
#[derive(Debug)]
pub struct Dots<T>(PhantomData<T>);

impl<T: Float> Quantity for Dots<T> {
    type Item = T;
    type Total = ProductSum<T>;
    const TAKES_PAIRS: bool = true;
    const NAME: &'static str = "a dot product";

    fn add(total: &mut ProductSum<T>, x: &[T], y: &[T]) {
        total.add(x, y);
    }

    fn value(total: &ProductSum<T>) -> T {
        total.value()
    }

    fn mean(total: &ProductSum<T>) -> Option<T> {
        Some(total.mean())
    }
}

/// The sum of complex items.
#[derive(Debug)]
pub struct ComplexSums<T>(PhantomData<T>);

impl<T: Float> Quantity for ComplexSums<T> {
    type Item = Complex<T>;
    type Total = ComplexSum<T>;
    const TAKES_PAIRS: bool = false;
    const NAME: &'static str = "a sum";

    fn add(total: &mut ComplexSum<T>, x: &[Complex<T>], _: &[Complex<T>]) {
        total.add(bytemuck::cast_slice(x));
    }

    fn value(total: &ComplexSum<T>) -> Complex<T> {
        complex(total.value())
    }

    fn mean(total: &ComplexSum<T>) -> Option<Complex<T>> {
        Some(complex(total.mean()))
    }
}

/// The dot product of complex items, the first of each pair conjugated or not.
#[derive(Debug)]
pub struct ComplexDots<T, const IS_CONJUGATE: bool>(PhantomData<T>);

impl<T: Float, const IS_CONJUGATE: bool> Quantity for ComplexDots<T, IS_CONJUGATE> {
    type Item = Complex<T>;
    type Total = ComplexProductSum<T>;
    const TAKES_PAIRS: bool = true;
    const NAME: &'static str = if IS_CONJUGATE {
        "a dot product with conjugates"
    } else {
        "a dot product"
    };

    fn add(total: &mut ComplexProductSum<T>, x: &[Complex<T>], y: &[Complex<T>]) {
        let (x, y) = (bytemuck::cast_slice(x), bytemuck::cast_slice(y));
        if IS_CONJUGATE {
            total.add_conjugate(x, y)
        } else {
            total.add(x, y)
        }
    }

    fn value(total: &ComplexProductSum<T>) -> Complex<T> {
        complex(total.value())
    }

    fn mean(total: &ComplexProductSum<T>) -> Option<Complex<T>> {
        Some(complex(total.mean()))
    }
}

pub(crate) fn complex<T>([re, im]: [T; 2]) -> Complex<T> {
    Complex { re, im }
}

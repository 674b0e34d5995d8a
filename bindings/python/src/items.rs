//! Implements `Item` for all types of elements.

use num_complex::Complex;
use numpy::PyUntypedArray;
use pyo3::prelude::*;
use treefold::{FoldError, Max, Min, Operator, Product, Sum, par};

use crate::convert::Kind;
use crate::element::{Chosen, ExactSums, Item, Op};
use crate::exact_item::sums as exact_sums;
use crate::fold::{fold_bools, fold_short};
use crate::pool::Workers;

/// The methods of `Item` that are implemented in the same way for all floats.
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

        fn root(self) -> Self {
            self.sqrt()
        }

        fn magnitude(self) -> Self {
            self.abs()
        }

        fn squared_distance(self, other: Self) -> Self {
            (self - other) * (self - other)
        }

        fn dot(by: &Workers, x: &[Self], y: &[Self]) -> Option<Result<Self, FoldError>> {
            Some(match by.pool() {
                None => treefold::dot(x, y),
                Some(pool) => par::install(pool, || par::dot(x, y)),
            })
        }
    };
}

/// The methods of `Item` that are implemented in the same way for all integers.
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
    ($own:ident, $exact_sums:expr; $($element:ty: {$($more:tt)*}),+) => {$(
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

            fn times(self, other: Self) -> Self {
                Product.combine(self, other)
            }

            fn real(self) -> Self {
                self
            }

            #[allow(clippy::cast_precision_loss, clippy::cast_lossless, clippy::unnecessary_cast, reason = "the function rounds")]
            fn to_f64(self) -> f64 {
                self as f64
            }

            $own!();
            $($more)*
        }
    )+};
}

/// Implements `Item::fold_short` for some types of shorter integers.
macro_rules! of_short {
    ($($kind:ident: $fold:expr),+) => {
        fn fold_short(
            array: &Bound<'_, PyUntypedArray>,
            kind: Kind,
            op: Op,
            results: &mut [Self],
        ) -> PyResult<bool> {
            match kind {
                $(Kind::$kind => $fold(array, op, results),)+
                _ => Ok(false),
            }
        }
    };
}

ordered!(of_floats, Some(exact_sums); f32: {}, f64: {});
ordered!(of_integers, None;
    i8: {}, i16: {}, i32: {}, u8: {}, u16: {}, u32: {},
    i64: { of_short!(I8: fold_short::<i8, Self>, I16: fold_short::<i16, Self>, I32: fold_short::<i32, Self>, Bool: fold_bools); },
    u64: { of_short!(U8: fold_short::<u8, Self>, U16: fold_short::<u16, Self>, U32: fold_short::<u32, Self>); }
);

macro_rules! unordered {
    ($($part:ty, $hole:literal);+) => {$(
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
                    // The hole is not 1: multiplying by 1 can turn -0.0 into 0.0, and infinities into NaN.
                    Op::Product => Self { re: <$part>::NAN, im: <$part>::from_bits($hole) },
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

            fn real(self) -> $part {
                self.re
            }

            fn to_f64(self) -> f64 {
                self.re.to_f64()
            }

            fn conjugated(self) -> Self {
                self.conj()
            }

            fn times(self, other: Self) -> Self {
                Product.combine(self, other)
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

/// The product of complex numbers, some of which may be holes.
struct ProductWithHoles;

// The holes of products are NaNs with payloads that no processor computes.
unordered!(f32, 0x7FC0_5EED; f64, 0x7FF8_5EED_7FC0_5EED);

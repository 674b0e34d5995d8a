//! What combines two items: the [`Operator`] trait, [`Sum`], [`Product`], [`Min`] and [`Max`] for
//! all floats and integers and arrays of them, of complex numbers the first two (feature `num-complex`), and [`custom`] ones.
//!
//! Every elementary operation rounds once, in the element's own type. Float minimum and maximum are
//! IEEE 754-2019's `minimum` and `maximum`: NaN propagates, and -0 is below +0 (`f64::min` and the
//! hardware leave both open). Integer sums and products wrap.

use std::array;

use comm::{NativeOperation, NativeType};
use simd_kernels::{Level, Operation};

/// A binary operation on items, never assumed to be associative or commutative.
///
/// Two ranks that build a plan together must use the same operator; they compare
/// [`name`](Operator::name)s.
///
/// The other methods have defaults that are right for every operator. Override
/// [`empty`](Operator::empty) to allow reductions of nothing, and [`canonical`](Operator::canonical) if equal
/// results can have different bits.
pub trait Operator<T: Copy> {
    /// What ranks compare, and errors say.
    fn name(&self) -> &str;

    /// The combination of two neighbours, `left` having the lower items.
    fn combine(&self, left: T, right: T) -> T;

    /// The reduction of no items at all, if that is defined. Never used as padding.
    fn empty(&self) -> Option<T> {
        None
    }

    /// The one representation of a result among those that mean the same; applied to results only.
    fn canonical(&self, value: T) -> T {
        value
    }

    /// The reduction of the items in tree order; `None` of none. Overridden where a kernel does it faster.
    fn fold(&self, items: &[T]) -> Option<T> {
        simd_kernels::tree_fold(items, |left, right| self.combine(left, right))
    }

    /// The reduction of rows, each as long as `row`, element by element in tree order into `row`; of none, `row` stays
    /// as it is. Overridden where a kernel does it faster.
    fn fold_rows(&self, rows: &[T], scratch: &mut Vec<T>, row: &mut [T]) {
        let width = row.len();
        if width == 1 {
            if let Some(total) = self.fold(rows) {
                row[0] = total;
            }
            return;
        }
        for (column, total) in row.iter_mut().enumerate() {
            scratch.clear();
            scratch.extend(rows.iter().skip(column).step_by(width));
            if let Some(folded) = self.fold(scratch) {
                *total = folded;
            }
        }
    }

    /// Combines two rows element by element into a third of the same length.
    fn combine_rows(&self, left: &[T], right: &[T], into: &mut [T]) {
        for ((into, &left), &right) in into.iter_mut().zip(left).zip(right) {
            *into = self.combine(left, right);
        }
    }

    /// The reduction of the items in whatever order is fastest; `None` of none. For the unreproducible baseline.
    fn fold_unordered(&self, items: &[T]) -> Option<T> {
        self.fold_left_to_right(items)
    }

    /// The reduction of the items from left to right (thesis, eq. 1.5); `None` of none.
    fn fold_left_to_right(&self, items: &[T]) -> Option<T> {
        let (&first, rest) = items.split_first()?;
        Some(
            rest.iter()
                .fold(first, |left, &right| self.combine(left, right)),
        )
    }

    /// The transport's own names for the type and the operator, for the unreproducible baseline.
    fn native(&self) -> Option<(NativeType, NativeOperation)> {
        None
    }
}

/// The sum. Empty: 0 (a float's is +0.0).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum;

/// The product. Empty: 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Product;

/// The least item; of floats, IEEE 754-2019's minimum. No empty value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Min;

/// The greatest item; of floats, IEEE 754-2019's maximum. No empty value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Max;

/// An operator from a function, which must give the same bits for the same operands on all ranks.
///
/// ```
/// use reduce::{fold, operator::custom};
///
/// // Affine maps y = a x + b, composed: associative, not commutative.
/// let compose = custom("compose", |f: [i64; 2], g: [i64; 2]| [g[0] * f[0], g[0] * f[1] + g[1]]);
/// assert_eq!(fold(&[[2, 1], [3, 0], [1, 5]], &compose)?, [6, 8]);
/// # Ok::<(), reduce::FoldError>(())
/// ```
pub fn custom<T: Copy, F: Fn(T, T) -> T>(name: impl Into<String>, combine: F) -> Custom<T, F> {
    Custom {
        name: name.into(),
        combine,
        empty: None,
    }
}

/// An operator made by [`custom`].
#[derive(Clone, Debug)]
pub struct Custom<T, F> {
    name: String,
    combine: F,
    empty: Option<T>,
}

impl<T, F> Custom<T, F> {
    /// Declares the reduction of no items.
    #[must_use]
    pub fn with_empty(self, empty: T) -> Self {
        Self {
            empty: Some(empty),
            ..self
        }
    }
}

impl<T: Copy, F: Fn(T, T) -> T> Operator<T> for Custom<T, F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn combine(&self, left: T, right: T) -> T {
        (self.combine)(left, right)
    }

    fn empty(&self) -> Option<T> {
        self.empty
    }
}

/// The four operators of a float type.
macro_rules! float_operators {
    ($float:ty, $native:ident, $canonical_nan:literal) => {
        impl Operator<$float> for Sum {
            fn name(&self) -> &str {
                "sum"
            }
            fn combine(&self, left: $float, right: $float) -> $float {
                left + right
            }
            fn empty(&self) -> Option<$float> {
                Some(0.0)
            }
            fn canonical(&self, value: $float) -> $float {
                canonical_nan(value, value.is_nan(), <$float>::from_bits($canonical_nan))
            }
            fn fold(&self, items: &[$float]) -> Option<$float> {
                simd_kernels::fold(Level::best(), Operation::Sum, items)
            }
            fn fold_unordered(&self, items: &[$float]) -> Option<$float> {
                (!items.is_empty()).then(|| simd_kernels::unordered_sum(Level::best(), items))
            }
            fn native(&self) -> Option<(NativeType, NativeOperation)> {
                Some((NativeType::$native, NativeOperation::Sum))
            }
        }

        impl Operator<$float> for Product {
            fn name(&self) -> &str {
                "product"
            }
            fn combine(&self, left: $float, right: $float) -> $float {
                left * right
            }
            fn empty(&self) -> Option<$float> {
                Some(1.0)
            }
            fn canonical(&self, value: $float) -> $float {
                canonical_nan(value, value.is_nan(), <$float>::from_bits($canonical_nan))
            }
            fn fold(&self, items: &[$float]) -> Option<$float> {
                simd_kernels::fold(Level::best(), Operation::Product, items)
            }
            fn native(&self) -> Option<(NativeType, NativeOperation)> {
                Some((NativeType::$native, NativeOperation::Product))
            }
        }

        impl Operator<$float> for Min {
            fn name(&self) -> &str {
                "min"
            }
            fn combine(&self, left: $float, right: $float) -> $float {
                let replaces = right.is_nan() || right.total_cmp(&left).is_lt();
                if replaces && !left.is_nan() {
                    right
                } else {
                    left
                }
            }
            fn canonical(&self, value: $float) -> $float {
                canonical_nan(value, value.is_nan(), <$float>::from_bits($canonical_nan))
            }
            fn fold(&self, items: &[$float]) -> Option<$float> {
                simd_kernels::fold(Level::best(), Operation::Minimum, items)
            }
            fn native(&self) -> Option<(NativeType, NativeOperation)> {
                Some((NativeType::$native, NativeOperation::Min))
            }
        }

        impl Operator<$float> for Max {
            fn name(&self) -> &str {
                "max"
            }
            fn combine(&self, left: $float, right: $float) -> $float {
                let replaces = right.is_nan() || right.total_cmp(&left).is_gt();
                if replaces && !left.is_nan() {
                    right
                } else {
                    left
                }
            }
            fn canonical(&self, value: $float) -> $float {
                canonical_nan(value, value.is_nan(), <$float>::from_bits($canonical_nan))
            }
            fn fold(&self, items: &[$float]) -> Option<$float> {
                simd_kernels::fold(Level::best(), Operation::Maximum, items)
            }
            fn native(&self) -> Option<(NativeType, NativeOperation)> {
                Some((NativeType::$native, NativeOperation::Max))
            }
        }
    };
}

float_operators!(f32, F32, 0x7FC0_0000);
float_operators!(f64, F64, 0x7FF8_0000_0000_0000);

/// The one NaN that is returned: positive, quiet, without payload.
fn canonical_nan<T>(value: T, is_nan: bool, canonical: T) -> T {
    if is_nan { canonical } else { value }
}

/// One operator of one integer type: its name, its operation, its empty value and its native twin.
macro_rules! integer_operator {
    ($integer:ty, $operator:ident, $name:literal, $combine:expr, $empty:expr, $native:expr) => {
        impl Operator<$integer> for $operator {
            fn name(&self) -> &str {
                $name
            }
            fn combine(&self, left: $integer, right: $integer) -> $integer {
                $combine(left, right)
            }
            fn empty(&self) -> Option<$integer> {
                $empty
            }
            fn native(&self) -> Option<(NativeType, NativeOperation)> {
                $native.map(|native| (native, NativeOperation::$operator))
            }
        }
    };
}

macro_rules! integer_operators {
    ($($integer:ident: $native:expr),+) => {$(
        integer_operator!($integer, Sum, "sum", $integer::wrapping_add, Some(0), $native);
        integer_operator!($integer, Product, "product", $integer::wrapping_mul, Some(1), $native);
        integer_operator!($integer, Min, "min", Ord::min, None, $native);
        integer_operator!($integer, Max, "max", Ord::max, None, $native);
    )+};
}

integer_operators!(
    i8: Some(NativeType::I8), i16: Some(NativeType::I16), i32: Some(NativeType::I32),
    i64: Some(NativeType::I64), i128: None::<NativeType>, isize: None::<NativeType>,
    u8: Some(NativeType::U8), u16: Some(NativeType::U16), u32: Some(NativeType::U32),
    u64: Some(NativeType::U64), u128: None::<NativeType>, usize: None::<NativeType>
);

/// An operator of the elements makes one of arrays of them: element by element.
macro_rules! array_operator {
    ($operator:ident) => {
        impl<T: Copy, const K: usize> Operator<[T; K]> for $operator
        where
            $operator: Operator<T>,
        {
            fn name(&self) -> &str {
                Operator::<T>::name(self)
            }
            fn combine(&self, left: [T; K], right: [T; K]) -> [T; K] {
                array::from_fn(|index| self.combine(left[index], right[index]))
            }
            fn empty(&self) -> Option<[T; K]> {
                Operator::<T>::empty(self).map(|empty| [empty; K])
            }
            fn canonical(&self, value: [T; K]) -> [T; K] {
                value.map(|element| self.canonical(element))
            }
        }
    };
}

array_operator!(Sum);
array_operator!(Product);
array_operator!(Min);
array_operator!(Max);

#[cfg(feature = "num-complex")]
mod complex {
    use num_complex::Complex;

    use super::{Operator, Product, Sum};

    /// Sum and product of a complex type. They round after every operation, in the order in which it is written here.
    macro_rules! complex_operators {
        ($float:ty) => {
            impl Operator<Complex<$float>> for Sum {
                fn name(&self) -> &str {
                    "sum"
                }
                fn combine(
                    &self,
                    left: Complex<$float>,
                    right: Complex<$float>,
                ) -> Complex<$float> {
                    Complex::new(left.re + right.re, left.im + right.im)
                }
                fn empty(&self) -> Option<Complex<$float>> {
                    Some(Complex::new(0.0, 0.0))
                }
                fn canonical(&self, value: Complex<$float>) -> Complex<$float> {
                    Complex::new(self.canonical(value.re), self.canonical(value.im))
                }
            }

            impl Operator<Complex<$float>> for Product {
                fn name(&self) -> &str {
                    "product"
                }
                fn combine(
                    &self,
                    left: Complex<$float>,
                    right: Complex<$float>,
                ) -> Complex<$float> {
                    let re = left.re * right.re - left.im * right.im;
                    let im = left.re * right.im + left.im * right.re;
                    Complex::new(re, im)
                }
                fn empty(&self) -> Option<Complex<$float>> {
                    Some(Complex::new(1.0, 0.0))
                }
                fn canonical(&self, value: Complex<$float>) -> Complex<$float> {
                    Complex::new(
                        Operator::<$float>::canonical(self, value.re),
                        Operator::<$float>::canonical(self, value.im),
                    )
                }
            }
        };
    }

    complex_operators!(f32);
    complex_operators!(f64);
}

#[cfg(test)]
mod tests {
    use super::{Max, Min, Operator, Sum};

    /// IEEE 754-2019, 9.6: every pair of special values, from the standard's words.
    #[test]
    fn float_min_and_max_are_ieee_754_2019_s() {
        let ascending = [
            f64::NEG_INFINITY,
            -1.0,
            -f64::from_bits(1),
            -0.0,
            0.0,
            1.0,
            f64::INFINITY,
        ];
        for (i, &a) in ascending.iter().enumerate() {
            for (j, &b) in ascending.iter().enumerate() {
                assert_eq!(Min.combine(a, b).to_bits(), ascending[i.min(j)].to_bits());
                assert_eq!(Max.combine(a, b).to_bits(), ascending[i.max(j)].to_bits());
            }
            for operand in [f64::NAN, -f64::NAN] {
                assert!(Min.combine(a, operand).is_nan() && Min.combine(operand, a).is_nan());
                assert!(Max.combine(a, operand).is_nan() && Max.combine(operand, a).is_nan());
            }
        }
    }

    #[test]
    fn results_have_one_nan() {
        for bits in [0x7FF0_0000_0000_0001, 0xFFF8_0000_0000_0000, u64::MAX] {
            let canonical = Sum.canonical(f64::from_bits(bits));
            assert_eq!(canonical.to_bits(), 0x7FF8_0000_0000_0000);
        }
        assert_eq!(Sum.canonical(-0.0_f64).to_bits(), (-0.0_f64).to_bits());
        let canonical = Sum.canonical(f32::from_bits(0xFFFF_FFFF));
        assert_eq!(canonical.to_bits(), 0x7FC0_0000);
    }

    #[test]
    fn integers_wrap() {
        assert_eq!(Sum.combine(i32::MAX, 1), i32::MIN);
        assert_eq!(Sum.combine(u8::MAX, 2), 1);
    }
}

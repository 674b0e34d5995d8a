//! The operators of floats. They call the SIMD kernels.

use std::hint::black_box;

use simd_kernels::{Level, Operation};

use super::{Max, Min, Operator, PlainFold, Product, Sum, fold_bytes, grown};

/// The methods of a float operator that call kernels or replace NaNs by the canonical NaN, which is positive, quiet and without payload.
macro_rules! kernels {
    ($float:ty, $operation:expr, $canonical_nan:literal) => {
        fn is_plain(&self) -> bool {
            true
        }

        fn plain_fold(&self) -> Option<PlainFold> {
            Some(fold_bytes::<$float, Self>)
        }

        // This is a branch, because a conditional move would load the NaN from memory.
        #[inline]
        fn fold_canonical(&self, items: &[$float]) -> Option<$float> {
            let value = self.fold(items)?;
            Some(if value.is_nan() {
                canonical_nan(<$float>::from_bits($canonical_nan))
            } else {
                value
            })
        }

        #[inline]
        fn fold(&self, items: &[$float]) -> Option<$float> {
            simd_kernels::fold(Level::best(), $operation, items)
        }

        fn fold_runs(&self, items: &[$float], lengths: &[usize], results: &mut [$float]) {
            simd_kernels::fold_runs(Level::best(), $operation, items, lengths, results);
        }

        fn fold_rows(
            &self,
            items: &[$float],
            width: usize,
            scratch: &mut Vec<$float>,
            result: &mut [$float],
        ) -> Option<()> {
            let scratch = grown(scratch, items, width)?;
            simd_kernels::fold_rows(Level::best(), $operation, width, items, scratch, result)
        }

        fn combine_rows(&self, left: &[$float], right: &[$float], into: &mut [$float]) {
            simd_kernels::combine_rows(Level::best(), $operation, left, right, None, into);
        }

        fn combine_rows_canonical(&self, left: &[$float], right: &[$float], into: &mut [$float]) {
            let nan = Some(<$float>::from_bits($canonical_nan));
            simd_kernels::combine_rows(Level::best(), $operation, left, right, nan, into);
        }

        fn copy_canonical(&self, row: &[$float], into: &mut [$float]) {
            // One value needs no kernel.
            if let ([value], [into]) = (row, &mut *into) {
                *into = self.canonical(*value);
                return;
            }
            let nan = <$float>::from_bits($canonical_nan);
            simd_kernels::copy_row(Level::best(), row, nan, into);
        }

        #[inline]
        fn canonical(&self, value: $float) -> $float {
            if value.is_nan() {
                <$float>::from_bits($canonical_nan)
            } else {
                value
            }
        }
    };
}

/// Returns `nan`, whose value is hidden from the compiler, so that the compiler keeps the caller's branch.
#[cold]
#[inline(never)]
fn canonical_nan<T>(nan: T) -> T {
    black_box(nan)
}

/// Implements the four operators for a float type.
macro_rules! float_operators {
    ($float:ty, $canonical_nan:literal) => {
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
            fn fold_lanes(&self, items: &[$float], lanes: usize) -> Option<$float> {
                simd_kernels::sum_lanes(Level::best(), lanes, items)
            }
            fn fold_products(&self, x: &[$float], y: &[$float]) -> Option<$float> {
                // For one slice passed twice, the squared norm reads the slice only once.
                if std::ptr::eq(x, y) {
                    simd_kernels::squared_norm(Level::best(), x)
                } else {
                    simd_kernels::dot(Level::best(), x, y)
                }
            }
            fn write_products(&self, x: &[$float], y: &[$float], products: &mut [$float]) -> bool {
                simd_kernels::combine_rows(Level::best(), Operation::Product, x, y, None, products);
                true
            }
            kernels!($float, Operation::Sum, $canonical_nan);
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
            kernels!($float, Operation::Product, $canonical_nan);
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
            kernels!($float, Operation::Minimum, $canonical_nan);
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
            kernels!($float, Operation::Maximum, $canonical_nan);
        }
    };
}

float_operators!(f32, 0x7FC0_0000);
float_operators!(f64, 0x7FF8_0000_0000_0000);

#[cfg(test)]
mod tests {
    use super::{Max, Min, Operator, Sum};

    /// Compares minima and maxima of all pairs of special values with the definition in IEEE 754-2019, 9.6.
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
}

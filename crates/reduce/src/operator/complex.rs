//! Sums and products of complex numbers. A sum adds real and imaginary parts separately, so the kernels of floats compute it.

use bytemuck::{cast_slice, cast_slice_mut};
use num_complex::Complex;
use simd_kernels::{Level, Operation};

use super::{Operator, PlainFold, Product, Sum, fold_bytes, grown};

/// Implements sum and product of a complex type. Each elementary operation rounds, in the order written here.
macro_rules! complex_operators {
    ($float:ty) => {
        impl Operator<Complex<$float>> for Sum {
            fn name(&self) -> &str {
                "sum"
            }
            fn combine(&self, left: Complex<$float>, right: Complex<$float>) -> Complex<$float> {
                Complex::new(left.re + right.re, left.im + right.im)
            }
            fn empty(&self) -> Option<Complex<$float>> {
                Some(Complex::new(0.0, 0.0))
            }
            fn is_plain(&self) -> bool {
                true
            }
            fn plain_fold(&self) -> Option<PlainFold> {
                Some(fold_bytes::<Complex<$float>, Self>)
            }
            fn canonical(&self, value: Complex<$float>) -> Complex<$float> {
                Complex::new(self.canonical(value.re), self.canonical(value.im))
            }
            fn fold(&self, items: &[Complex<$float>]) -> Option<Complex<$float>> {
                let [re, im] = simd_kernels::sum_pairs(Level::best(), cast_slice(items))?;
                Some(Complex::new(re, im))
            }
            fn fold_rows(
                &self,
                items: &[Complex<$float>],
                width: usize,
                scratch: &mut Vec<Complex<$float>>,
                result: &mut [Complex<$float>],
            ) -> Option<()> {
                let scratch = cast_slice_mut(grown(scratch, items, width)?);
                let (level, items) = (Level::best(), cast_slice(items));
                let (width, result) = (2 * width, cast_slice_mut::<_, $float>(result));
                simd_kernels::fold_rows(level, Operation::Sum, width, items, scratch, result)
            }
            fn combine_rows(
                &self,
                left: &[Complex<$float>],
                right: &[Complex<$float>],
                into: &mut [Complex<$float>],
            ) {
                let (left, right) = (cast_slice::<_, $float>(left), cast_slice(right));
                self.combine_rows(left, right, cast_slice_mut(into));
            }
            fn combine_rows_canonical(
                &self,
                left: &[Complex<$float>],
                right: &[Complex<$float>],
                into: &mut [Complex<$float>],
            ) {
                let (left, right) = (cast_slice::<_, $float>(left), cast_slice(right));
                self.combine_rows_canonical(left, right, cast_slice_mut(into));
            }
        }

        impl Operator<Complex<$float>> for Product {
            fn name(&self) -> &str {
                "product"
            }
            fn combine(&self, left: Complex<$float>, right: Complex<$float>) -> Complex<$float> {
                let re = left.re * right.re - left.im * right.im;
                let im = left.re * right.im + left.im * right.re;
                Complex::new(re, im)
            }
            fn empty(&self) -> Option<Complex<$float>> {
                Some(Complex::new(1.0, 0.0))
            }
            fn is_plain(&self) -> bool {
                true
            }
            fn plain_fold(&self) -> Option<PlainFold> {
                Some(fold_bytes::<Complex<$float>, Self>)
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

#[cfg(test)]
mod tests {
    use num_complex::Complex;
    use simd_kernels::by_definition;

    use super::{Operator, Sum};

    /// Kernels fold complex numbers as rows of two values; the definition adds complex numbers.
    #[test]
    fn sums_are_those_of_the_definition() {
        let part = |i: usize| (0.1 * i as f64).tan();
        let items: Vec<_> = (0..6000)
            .map(|i| Complex::new(part(i), part(7 * i + 3)))
            .collect();
        for length in [1, 2, 63, 64, 255, 256, 1000, 4096, 6000] {
            let expected = by_definition(&items[..length], &|left, right| left + right);
            assert_eq!(Sum.fold(&items[..length]), expected, "{length} items");
        }
        for width in [1, 2, 3, 5, 20] {
            let rows = &items[..width * (items.len() / width)];
            let mut sums = vec![Complex::default(); width];
            Sum.fold_rows(rows, width, &mut Vec::new(), &mut sums);
            for (column, &sum) in sums.iter().enumerate() {
                let of_column: Vec<_> = rows.iter().skip(column).step_by(width).copied().collect();
                let expected = by_definition(&of_column, &|left, right| left + right);
                assert_eq!(Some(sum), expected, "column {column} of {width}");
            }
        }
    }

    #[test]
    fn combined_rows_are_combined_items() {
        let values = [1.5, -0.0, f64::INFINITY, -f64::NAN, 0.0];
        let items = values.map(|re| values.map(|im| Complex::new(re, im)));
        let left: Vec<_> = items.into_iter().flatten().collect();
        let right: Vec<_> = left.iter().rev().copied().collect();
        let mut rows = [(); 2].map(|()| vec![Complex::default(); left.len()]);
        Sum.combine_rows(&left, &right, &mut rows[0]);
        Sum.combine_rows_canonical(&left, &right, &mut rows[1]);
        for (index, (&left, &right)) in left.iter().zip(&right).enumerate() {
            let sum: Complex<f64> = Sum.combine(left, right);
            let bits = |value: Complex<f64>| [value.re, value.im].map(f64::to_bits);
            let canonical = bits(Sum.canonical(sum));
            assert_eq!(
                bits(Sum.canonical(rows[0][index])),
                canonical,
                "{left} {right}"
            );
            assert_eq!(bits(rows[1][index]), canonical, "{left} {right}");
        }
    }
}

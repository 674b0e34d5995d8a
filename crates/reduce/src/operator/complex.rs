//! Sums and products of complex numbers. A sum adds real and imaginary parts separately, as rows of two values.

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use num_complex::Complex;
use simd_kernels::{Float, Level, Operation, rows_scratch_len};

use super::{Operator, PlainFold, Product, Sum, fold_bytes, grown};

/// For fewer items, the set-up of the kernel for rows costs more than it saves.
const FEW_ITEMS: usize = 256;

const SHORT_ITEMS: usize = 4096;

fn sum_by_kernel<T: Float + Pod>(items: &[Complex<T>], scratch: &mut [T]) -> Option<Complex<T>> {
    let mut sum = [T::default(); 2];
    let (level, items) = (Level::best(), cast_slice(items));
    simd_kernels::fold_rows(level, Operation::Sum, 2, items, scratch, &mut sum)?;
    Some(Complex::new(sum[0], sum[1]))
}

/// Sum and product of a complex type. Each elementary operation rounds, in the order written here.
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
                // Less memory for a shorter sum, because initialising it takes time.
                const SHORT: usize = rows_scratch_len::<$float>(2, SHORT_ITEMS);
                const LONG: usize = rows_scratch_len::<$float>(2, usize::MAX);
                match items.len() {
                    ..FEW_ITEMS => simd_kernels::tree_fold(items, |left, right| left + right),
                    ..SHORT_ITEMS => sum_by_kernel(items, &mut [0.0; SHORT]),
                    _ => sum_by_kernel(items, &mut [0.0; LONG]),
                }
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

    use super::{FEW_ITEMS, Operator, SHORT_ITEMS, Sum};

    /// Kernels fold complex numbers as rows of two values; the definition adds complex numbers.
    #[test]
    fn sums_are_those_of_the_definition() {
        let part = |i: usize| (0.1 * i as f64).tan();
        let items: Vec<_> = (0..6000)
            .map(|i| Complex::new(part(i), part(7 * i + 3)))
            .collect();
        for length in [1, 2, 63, FEW_ITEMS - 1, FEW_ITEMS, 1000, SHORT_ITEMS, 6000] {
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
}

//! Sums and products of complex numbers.

use num_complex::Complex;

use super::{Operator, PlainFold, Product, Sum, fold_bytes};

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

//! What types of elements have exact statistics, and the states of these.

use num_complex::Complex;
use treefold::exact::{
    ComplexMoments, ComplexProductSum, ComplexSum, Moments, ProductSum, Sum, WeightedMean,
};

/// What becomes of items, and of factors or weights.
pub(crate) trait State<T> {
    fn add(&mut self, x: &[T], y: &[T]);

    /// The value, rounded once; `None` where weights sum to zero.
    fn value(&self) -> Option<T>;
}

/// A state by what it adds and what it says.
struct Adding<S, A, V> {
    state: S,
    add: A,
    value: V,
}

impl<T, S, A: Fn(&mut S, &[T], &[T]), V: Fn(&S) -> Option<T>> State<T> for Adding<S, A, V> {
    fn add(&mut self, x: &[T], y: &[T]) {
        (self.add)(&mut self.state, x, y);
    }

    fn value(&self) -> Option<T> {
        (self.value)(&self.state)
    }
}

fn adding<T: 'static, S: 'static>(
    state: S,
    add: impl Fn(&mut S, &[T], &[T]) + 'static,
    value: impl Fn(&S) -> Option<T> + 'static,
) -> Option<Box<dyn State<T>>> {
    Some(Box::new(Adding { state, add, value }))
}

/// A type of elements with exact statistics.
pub(crate) trait Statistics: Sized {
    /// The state of no items; `None` if there is no such statistic. Variances and deviations are the real part of a value.
    fn state(name: &str, ddof: f64) -> Option<Box<dyn State<Self>>>;
}

macro_rules! statistics {
    ($($float:ty),+) => {$(
        impl Statistics for $float {
            fn state(name: &str, ddof: f64) -> Option<Box<dyn State<Self>>> {
                let add_moments = |moments: &mut Moments<$float>, x: &[Self], _: &[Self]| moments.add(x);
                match name {
                    "sum" => adding(Sum::<$float>::new(), |sum, x, _| sum.add(x), |sum| Some(sum.value())),
                    "product" | "conjugate_product" => adding(
                        ProductSum::<$float>::new(),
                        |sum, x, y| sum.add(x, y),
                        |sum| Some(sum.value()),
                    ),
                    "norm" => adding(
                        ProductSum::<$float>::new(),
                        |sum, x, _| sum.add_squares(x),
                        |sum| Some(sum.root()),
                    ),
                    "mean" => adding(Moments::new(), add_moments, |moments| Some(moments.mean())),
                    "var" => adding(Moments::new(), add_moments, move |moments| Some(moments.variance(ddof))),
                    "std" => adding(Moments::new(), add_moments, move |moments| {
                        Some(moments.standard_deviation(ddof))
                    }),
                    "average" => adding(
                        WeightedMean::<$float>::new(),
                        |mean, x, weights| mean.add(x, weights),
                        |mean| (mean.weights().value() != 0.0).then(|| mean.value()),
                    ),
                    _ => None,
                }
            }
        }

        impl Statistics for Complex<$float> {
            fn state(name: &str, ddof: f64) -> Option<Box<dyn State<Self>>> {
                let of = |[re, im]: [$float; 2]| Some(Self { re, im });
                let real = |re| Some(Self { re, im: 0.0 });
                let add_moments = |moments: &mut ComplexMoments<$float>, x: &[Self], _: &[Self]| {
                    moments.add(bytemuck::cast_slice(x));
                };
                match name {
                    "sum" => adding(
                        ComplexSum::<$float>::new(),
                        |sum, x, _| sum.add(bytemuck::cast_slice(x)),
                        move |sum| of(sum.value()),
                    ),
                    "product" => adding(
                        ComplexProductSum::<$float>::new(),
                        |sum, x, y| sum.add(bytemuck::cast_slice(x), bytemuck::cast_slice(y)),
                        move |sum| of(sum.value()),
                    ),
                    "conjugate_product" => adding(
                        ComplexProductSum::<$float>::new(),
                        |sum, x, y| sum.add_conjugate(bytemuck::cast_slice(x), bytemuck::cast_slice(y)),
                        move |sum| of(sum.value()),
                    ),
                    "norm" => adding(
                        ProductSum::<$float>::new(),
                        |sum, x, _| {
                            let parts: &[$float] = bytemuck::cast_slice(x);
                            sum.add_squares(parts);
                        },
                        move |sum| real(sum.root()),
                    ),
                    "mean" => adding(ComplexMoments::new(), add_moments, move |moments| of(moments.mean())),
                    "var" => adding(ComplexMoments::new(), add_moments, move |moments| real(moments.variance(ddof))),
                    "std" => adding(ComplexMoments::new(), add_moments, move |moments| {
                        real(moments.standard_deviation(ddof))
                    }),
                    _ => None,
                }
            }
        }
    )+};
}

statistics!(f32, f64);

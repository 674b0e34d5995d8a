//! Defines the states of exact statistics, to which the items of a result are added.

use std::any::Any;
use std::ops::Range;

use num_complex::Complex;
use rayon::ThreadPool;
use treefold::exact::{
    ComplexMoments, ComplexProductSum, ComplexSum, Moments, ProductSum, Sum, WeightedMean,
};

use crate::element::Item;
use crate::exact_item::{FEWER, held};
use crate::pool::DIVIDED_ELEMENTS;

/// The reason why a statistic has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Undefined {
    ZeroWeights,
    /// The sum of integers is beyond the range of their type.
    Beyond(i128),
}

/// The state of items, and of factors or weights.
pub(crate) trait State<T>: Any + Send {
    fn add(&mut self, x: &[T], y: &[T]);

    /// Adds another state of the same statistic.
    fn merge(&mut self, other: &dyn State<T>);

    /// The value, rounded once.
    fn value(&self) -> Result<T, Undefined>;
}

/// A state with closures that add items and compute the value.
struct Adding<S, A, V> {
    held: S,
    add: A,
    value: V,
}

impl<T, S, A, V> State<T> for Adding<S, A, V>
where
    S: Merge + Send + 'static,
    A: Fn(&mut S, &[T], &[T]) + Send + 'static,
    V: Fn(&S) -> Result<T, Undefined> + Send + 'static,
{
    fn add(&mut self, x: &[T], y: &[T]) {
        (self.add)(&mut self.held, x, y);
    }

    fn merge(&mut self, other: &dyn State<T>) {
        let other: &dyn Any = other;
        let other = other.downcast_ref::<Self>().expect("states of one kind");
        self.held.merge_with(&other.held);
    }

    fn value(&self) -> Result<T, Undefined> {
        (self.value)(&self.held)
    }
}

pub(crate) trait Statistics: Item {
    /// An empty state; `None` if the type lacks the statistic. Norms, variances and deviations of complex items are the real part of
    /// the state's value.
    fn state(name: &str, ddof: f64) -> Option<Box<dyn State<Self>>>;
}

/// The value of a statistic of contiguous items, by a pool's threads or by this thread; `None` if the type lacks the
/// statistic.
pub(crate) fn value_of<T: Statistics>(
    name: &str,
    ddof: f64,
    pool: Option<&ThreadPool>,
    x: &[T],
    y: &[T],
) -> Option<Result<T, Undefined>> {
    T::state(name, ddof)?;
    let of = |part: Range<usize>| {
        let mut state = T::state(name, ddof).expect("the statistic was found above");
        let others = if y.is_empty() { y } else { &y[part.clone()] };
        state.add(&x[part], others);
        state
    };
    let merge = |mut left: Box<dyn State<T>>, right: Box<dyn State<T>>| {
        left.merge(&*right);
        left
    };
    Some(held(pool, x.len(), DIVIDED_ELEMENTS, &of, &merge).value())
}

fn adding<T: 'static, S: Merge + Send + 'static>(
    held: S,
    add: impl Fn(&mut S, &[T], &[T]) + Send + 'static,
    value: impl Fn(&S) -> Result<T, Undefined> + Send + 'static,
) -> Option<Box<dyn State<T>>> {
    Some(Box::new(Adding { held, add, value }))
}

trait Merge {
    fn merge_with(&mut self, other: &Self);
}

impl Merge for i128 {
    fn merge_with(&mut self, other: &Self) {
        *self += other;
    }
}

macro_rules! merge {
    ($($held:ident),+) => {$(
        impl<F: treefold::exact::Float> Merge for $held<F> {
            fn merge_with(&mut self, other: &Self) {
                self.merge(other).expect(FEWER);
            }
        }
    )+};
}

merge!(
    Sum,
    ComplexSum,
    ProductSum,
    ComplexProductSum,
    Moments,
    ComplexMoments,
    WeightedMean
);

macro_rules! integers {
    ($($integer:ty),+) => {$(
        impl Statistics for $integer {
            fn state(name: &str, _: f64) -> Option<Box<dyn State<Self>>> {
                if name != "sum" {
                    return None;
                }
                adding(
                    0,
                    |sum, x: &[Self], _| *sum = x.iter().fold(*sum, |sum, &item| sum + i128::from(item)),
                    |&sum| Self::try_from(sum).map_err(|_| Undefined::Beyond(sum)),
                )
            }
        }
    )+};
}

integers!(i64, u64);

macro_rules! floats {
    ($($float:ty),+) => {$(
        impl Statistics for $float {
            fn state(name: &str, ddof: f64) -> Option<Box<dyn State<Self>>> {
                let moments = Moments::<$float>::new;
                let products = ProductSum::<$float>::new;
                match name {
                    "sum" => adding(Sum::<$float>::new(), |sum, x, _| sum.add(x), |sum| Ok(sum.value())),
                    "product" | "conjugate_product" => {
                        adding(products(), |sum, x, y| sum.add(x, y), |sum| Ok(sum.value()))
                    }
                    "norm" => adding(products(), |sum, x, _| sum.add_squares(x), |sum| Ok(sum.root())),
                    "mean" => adding(moments(), |held, x, _| held.add(x), |held| Ok(held.mean())),
                    "var" => adding(moments(), |held, x, _| held.add(x), move |held| Ok(held.variance(ddof))),
                    "std" => adding(
                        moments(),
                        |held, x, _| held.add(x),
                        move |held| Ok(held.standard_deviation(ddof)),
                    ),
                    "average" => adding(
                        WeightedMean::<$float>::new(),
                        |mean, x, weights| mean.add(x, weights),
                        |mean| match mean.weights().value() {
                            0.0 => Err(Undefined::ZeroWeights),
                            _ => Ok(mean.value()),
                        },
                    ),
                    _ => None,
                }
            }
        }

        impl Statistics for Complex<$float> {
            fn state(name: &str, ddof: f64) -> Option<Box<dyn State<Self>>> {
                fn parts(x: &[Complex<$float>]) -> &[[$float; 2]] {
                    bytemuck::cast_slice(x)
                }
                let moments = ComplexMoments::<$float>::new;
                let products = ComplexProductSum::<$float>::new;
                let of = |[re, im]: [$float; 2]| Ok(Self { re, im });
                let real = |re| Ok(Self { re, im: 0.0 });
                match name {
                    "sum" => adding(
                        ComplexSum::<$float>::new(),
                        |sum, x, _| sum.add(parts(x)),
                        move |sum| of(sum.value()),
                    ),
                    "product" => adding(
                        products(),
                        |sum, x, y| sum.add(parts(x), parts(y)),
                        move |sum| of(sum.value()),
                    ),
                    "conjugate_product" => adding(
                        products(),
                        |sum, x, y| sum.add_conjugate(parts(x), parts(y)),
                        move |sum| of(sum.value()),
                    ),
                    "norm" => adding(
                        ProductSum::<$float>::new(),
                        |sum, x: &[Self], _| sum.add_squares(parts(x).as_flattened()),
                        move |sum| real(sum.root()),
                    ),
                    "mean" => adding(moments(), |held, x, _| held.add(parts(x)), move |held| of(held.mean())),
                    "var" => adding(
                        moments(),
                        |held, x, _| held.add(parts(x)),
                        move |held| real(held.variance(ddof)),
                    ),
                    "std" => adding(
                        moments(),
                        |held, x, _| held.add(parts(x)),
                        move |held| real(held.standard_deviation(ddof)),
                    ),
                    _ => None,
                }
            }
        }
    )+};
}

floats!(f32, f64);

//! Dispatches from run-time element types and operators to Rust's types.

use bytemuck::Pod;
use num_complex::Complex;
use treefold::{Max, Min, Operator, Product, Sum};

use crate::task::{Element, Op};

/// A generic action on an element type and an operator.
pub(super) trait Typed {
    type Outcome;

    fn run<T: Pod, O: Operator<T> + 'static>(self, operator: O) -> Self::Outcome;
}

/// Runs an action for an element type and an operator. Complex numbers have only sums and products.
pub(super) fn typed<W: Typed>(element: Element, op: Op, what: W) -> W::Outcome {
    match (element, op) {
        (Element::F32, op) => real::<f32, W>(op, what),
        (Element::F64, op) => real::<f64, W>(op, what),
        (Element::C32, Op::Prod) => what.run::<Complex<f32>, _>(Product),
        (Element::C32, _) => what.run::<Complex<f32>, _>(Sum),
        (Element::C64, Op::Prod) => what.run::<Complex<f64>, _>(Product),
        (Element::C64, _) => what.run::<Complex<f64>, _>(Sum),
    }
}

fn real<T: Pod, W: Typed>(op: Op, what: W) -> W::Outcome
where
    Sum: Operator<T>,
    Product: Operator<T>,
    Min: Operator<T>,
    Max: Operator<T>,
{
    match op {
        Op::Sum => what.run::<T, _>(Sum),
        Op::Prod => what.run::<T, _>(Product),
        Op::Min => what.run::<T, _>(Min),
        Op::Max => what.run::<T, _>(Max),
    }
}

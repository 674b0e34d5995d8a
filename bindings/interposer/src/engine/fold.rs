//! The reduction of rows that have come together on one rank.

use bytemuck::Pod;
use num_complex::Complex;
use treefold::{FoldError, Max, Min, Operator, Product, Sum, fold_rows};

use crate::task::{Element, Op};

/// Reduces rows of `width` elements, in rank order, element by element: the bits that a plan over these ranks gives. All slices are aligned,
/// and there is a row.
pub(crate) fn fold(
    element: Element,
    op: Op,
    rows: &[u8],
    width: usize,
    result: &mut [u8],
) -> Result<(), FoldError> {
    match (element, op) {
        (Element::F32, op) => fold_real::<f32>(op, rows, width, result),
        (Element::F64, op) => fold_real::<f64>(op, rows, width, result),
        (Element::C32, Op::Prod) => fold_by::<Complex<f32>, _>(&Product, rows, width, result),
        (Element::C32, _) => fold_by::<Complex<f32>, _>(&Sum, rows, width, result),
        (Element::C64, Op::Prod) => fold_by::<Complex<f64>, _>(&Product, rows, width, result),
        (Element::C64, _) => fold_by::<Complex<f64>, _>(&Sum, rows, width, result),
    }
}

fn fold_real<T: Pod>(op: Op, rows: &[u8], width: usize, result: &mut [u8]) -> Result<(), FoldError>
where
    Sum: Operator<T>,
    Product: Operator<T>,
    Min: Operator<T>,
    Max: Operator<T>,
{
    match op {
        Op::Sum => fold_by::<T, _>(&Sum, rows, width, result),
        Op::Prod => fold_by::<T, _>(&Product, rows, width, result),
        Op::Min => fold_by::<T, _>(&Min, rows, width, result),
        Op::Max => fold_by::<T, _>(&Max, rows, width, result),
    }
}

fn fold_by<T: Pod, O: Operator<T>>(
    operator: &O,
    rows: &[u8],
    width: usize,
    result: &mut [u8],
) -> Result<(), FoldError> {
    let rows: &[T] = bytemuck::cast_slice(rows);
    fold_rows(rows, width, operator, bytemuck::cast_slice_mut(result))
}

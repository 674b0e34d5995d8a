//! Quantities that exact sums compute from items, such as sums, norms and dot products, and how a plan of exact sums computes them.

use std::marker::PhantomData;
use std::slice;

use bytemuck::Pod;
use exact_sum::{Accumulator, ComplexProductSum, ComplexSum, Float, ProductSum, Sum};

use super::words::{sums, write};
use crate::engines::values::{Memory, typed, typed_mut};
use crate::error::RunError;
use crate::operation::Operation;
use crate::plan::{AnyPlan, Encoded, Encoding, Operands, check_pair, check_result, not_taken};

/// A quantity that an exact sum computes from items.
pub trait Quantity: 'static {
    /// An item; for complex numbers, both parts.
    type Item: Pod;
    /// The exact sum, in a process and over ranks.
    type Total: Accumulator;
    /// Whether the quantity is computed from two slices.
    const TAKES_PAIRS: bool;
    /// The quantity's name in errors.
    const NAME: &'static str;

    /// Adds items; `y` is empty unless the quantity takes pairs.
    fn add(total: &mut Self::Total, x: &[Self::Item], y: &[Self::Item]);

    /// The quantity that the total gives, rounded once.
    fn value(total: &Self::Total) -> Self::Item;

    /// The mean of the items or products, rounded once; `None` if the quantity has no mean.
    fn mean(total: &Self::Total) -> Option<Self::Item>;

    /// Adds whole rows, column by column.
    fn add_rows(totals: &mut [Self::Total], x: &[Self::Item], y: &[Self::Item]) {
        let width = totals.len();
        let column_of = |items: &[Self::Item], column: usize| -> Vec<Self::Item> {
            items.iter().skip(column).step_by(width).copied().collect()
        };
        // Adds some rows at a time, so that they stay in cache while one column after the other is added.
        let piece = width * 1024_usize.div_ceil(width);
        for begin in (0..x.len()).step_by(piece) {
            let of_piece =
                |items: &[Self::Item]| begin.min(items.len())..items.len().min(begin + piece);
            let (x, y) = (&x[of_piece(x)], &y[of_piece(y)]);
            for (column, total) in totals.iter_mut().enumerate() {
                Self::add(total, &column_of(x, column), &column_of(y, column));
            }
        }
    }
}

/// The sum of real items.
#[derive(Debug)]
pub struct Sums<T>(PhantomData<T>);

impl<T: Float> Quantity for Sums<T> {
    type Item = T;
    type Total = Sum<T>;
    const TAKES_PAIRS: bool = false;
    const NAME: &'static str = "a sum";

    fn add(total: &mut Sum<T>, x: &[T], _: &[T]) {
        total.add(x);
    }

    fn value(total: &Sum<T>) -> T {
        total.value()
    }

    fn mean(total: &Sum<T>) -> Option<T> {
        Some(total.mean())
    }

    fn add_rows(totals: &mut [Sum<T>], x: &[T], _: &[T]) {
        Sum::add_rows(totals, x);
    }
}

/// The Euclidean norm of real items.
#[derive(Debug)]
pub struct Norms<T>(PhantomData<T>);

impl<T: Float> Quantity for Norms<T> {
    type Item = T;
    type Total = ProductSum<T>;
    const TAKES_PAIRS: bool = false;
    const NAME: &'static str = "a norm";

    fn add(total: &mut ProductSum<T>, x: &[T], _: &[T]) {
        total.add_squares(x);
    }

    fn value(total: &ProductSum<T>) -> T {
        total.root()
    }

    fn mean(_: &ProductSum<T>) -> Option<T> {
        None
    }
}

/// The dot product of real items.
#[derive(Debug)]
pub struct Dots<T>(PhantomData<T>);

impl<T: Float> Quantity for Dots<T> {
    type Item = T;
    type Total = ProductSum<T>;
    const TAKES_PAIRS: bool = true;
    const NAME: &'static str = "a dot product";

    fn add(total: &mut ProductSum<T>, x: &[T], y: &[T]) {
        total.add(x, y);
    }

    fn value(total: &ProductSum<T>) -> T {
        total.value()
    }

    fn mean(total: &ProductSum<T>) -> Option<T> {
        Some(total.mean())
    }
}

/// The sum of complex items.
#[derive(Debug)]
pub struct ComplexSums<T>(PhantomData<T>);

impl<T: Float> Quantity for ComplexSums<T> {
    type Item = [T; 2];
    type Total = ComplexSum<T>;
    const TAKES_PAIRS: bool = false;
    const NAME: &'static str = "a sum";

    fn add(total: &mut ComplexSum<T>, x: &[[T; 2]], _: &[[T; 2]]) {
        total.add(x);
    }

    fn value(total: &ComplexSum<T>) -> [T; 2] {
        total.value()
    }

    fn mean(total: &ComplexSum<T>) -> Option<[T; 2]> {
        Some(total.mean())
    }
}

/// The dot product of complex items, with or without the conjugates of the first factors.
#[derive(Debug)]
pub struct ComplexDots<T, const IS_CONJUGATE: bool>(PhantomData<T>);

impl<T: Float, const IS_CONJUGATE: bool> Quantity for ComplexDots<T, IS_CONJUGATE> {
    type Item = [T; 2];
    type Total = ComplexProductSum<T>;
    const TAKES_PAIRS: bool = true;
    const NAME: &'static str = if IS_CONJUGATE {
        "a dot product with conjugates"
    } else {
        "a dot product"
    };

    fn add(total: &mut ComplexProductSum<T>, x: &[[T; 2]], y: &[[T; 2]]) {
        if IS_CONJUGATE {
            total.add_conjugate(x, y);
        } else {
            total.add(x, y);
        }
    }

    fn value(total: &ComplexProductSum<T>) -> [T; 2] {
        total.value()
    }

    fn mean(total: &ComplexProductSum<T>) -> Option<[T; 2]> {
        Some(total.mean())
    }
}

/// How a plan computes a quantity: a rank's items are added up, the engine merges the words of the ranks' sums, and the total is rounded.
pub(crate) struct Exactly<Q>(PhantomData<fn() -> Q>);

impl<Q> Exactly<Q> {
    pub(crate) const NEW: Self = Self(PhantomData);
}

impl<Q: Quantity> Exactly<Q> {
    /// Adds up this rank's items or pairs of items, column by column.
    fn add(
        plan: &AnyPlan,
        operands: Operands<'_>,
        totals: &mut [Q::Total],
    ) -> Result<(), RunError> {
        let (rank, width) = (plan.world().rank(), totals.len());
        let (x, y): (&[Q::Item], &[Q::Item]) = match operands {
            Operands::Items(items) if !Q::TAKES_PAIRS => (typed(items), &[]),
            Operands::Pair([x, y]) if Q::TAKES_PAIRS => (typed(x), typed(y)),
            Operands::Pairs(pairs) if Q::TAKES_PAIRS => {
                if pairs.len() != width {
                    return Err(RunError::WrongPairs {
                        rank,
                        planned: width,
                        given: pairs.len(),
                    });
                }
                for (total, pair) in totals.iter_mut().zip(pairs) {
                    let [x, y] = pair.map(typed);
                    check_pair(rank, x.len(), y.len())?;
                    Q::add(total, x, y);
                }
                return Ok(());
            }
            _ => return Err(not_taken(rank)),
        };
        if Q::TAKES_PAIRS {
            check_pair(rank, x.len(), y.len())?;
        }
        if !x.len().is_multiple_of(width) {
            return Err(RunError::NotRows {
                rank,
                values: x.len() as u64,
                width: width as u64,
            });
        }
        match totals {
            [total] => Q::add(total, x, y),
            totals => Q::add_rows(totals, x, y),
        }
        Ok(())
    }

    /// The number of elements of a result.
    fn result_length(plan: &AnyPlan, operation: Operation, operands: Operands<'_>) -> usize {
        match operation {
            Operation::ReduceScatter => plan.scattered_columns().len(),
            Operation::Scan | Operation::Exscan => typed::<Q::Item>(operands.items()).len(),
            _ => plan.width(),
        }
    }
}

impl<Q: Quantity> Encoding for Exactly<Q> {
    /// A scan of items needs only one sum from other ranks: the sum of all items before this rank's items. An exclusive scan gives this sum.
    fn messages(&self, operation: Operation) -> Operation {
        match operation {
            Operation::Scan => Operation::Exscan,
            operation => operation,
        }
    }

    fn encode(
        &self,
        plan: &AnyPlan,
        operation: Operation,
        operands: Operands<'_>,
        result_bytes: Option<usize>,
        into: &mut Memory,
    ) -> Result<Encoded, RunError> {
        let (rank, width) = (plan.world().rank(), plan.width());
        if let Operands::Nodes(made) = operands {
            let made = made.map_err(|reason| RunError::NotFolded {
                rank,
                reason: reason.to_owned(),
            })?;
            into.copy_from(made);
        } else {
            into.resize(width * size_of::<<Q::Total as Accumulator>::Words>());
            let words = typed_mut(into.bytes_mut());
            if let [words] = words {
                // One sum needs no allocation.
                let mut total = Q::Total::default();
                Self::add(plan, operands, slice::from_mut(&mut total))?;
                *words = total.words();
            } else {
                let mut totals = vec![Q::Total::default(); width];
                Self::add(plan, operands, &mut totals)?;
                for (words, total) in words.iter_mut().zip(&totals) {
                    *words = total.words();
                }
            }
        }
        if let Some(bytes) = result_bytes {
            let expected = Self::result_length(plan, operation, operands);
            check_result(rank, expected, bytes / size_of::<Q::Item>())?;
        }
        Ok(Encoded::Items)
    }

    fn decode(
        &self,
        rank: usize,
        operation: Operation,
        items: &[u8],
        values: &[u8],
        result: &mut [u8],
    ) -> Result<(), RunError> {
        let words: &[<Q::Total as Accumulator>::Words] = typed(values);
        let result: &mut [Q::Item] = typed_mut(result);
        if !matches!(operation, Operation::Scan | Operation::Exscan) {
            check_result(rank, words.len(), result.len())?;
            return write(rank, words, result, |total| Q::value(&total));
        }
        let items: &[Q::Item] = typed(items);
        check_result(rank, items.len(), result.len())?;
        let mut before = sums::<Q::Total>(rank, words)?;
        let width = before.len();
        for (row, result) in items.chunks(width).zip(result.chunks_mut(width)) {
            for ((total, item), value) in before.iter_mut().zip(row).zip(result) {
                if operation == Operation::Exscan {
                    *value = Q::value(total);
                }
                Q::add(total, slice::from_ref(item), &[]);
                if operation == Operation::Scan {
                    *value = Q::value(total);
                }
            }
        }
        Ok(())
    }
}

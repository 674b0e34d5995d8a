//! Operators, which combine two items: the [`Operator`] trait; [`Sum`], [`Product`], [`Min`] and [`Max`] of floats, of integers
//! and of arrays; sums and products of complex numbers (feature `num-complex`); and [`custom`] operators.
//!
//! Every elementary operation rounds once, in the element's own type. Float minimum and maximum are
//! IEEE 754-2019's `minimum` and `maximum`: NaN propagates, and -0 is below +0 (`f64::min` and the
//! hardware leave both open). Integer sums and products wrap.

mod arrays;
#[cfg(feature = "num-complex")]
mod complex;
mod floats;
mod reference;
mod words;

use std::any::Any;

use bytemuck::Pod;
use simd_kernels::Level;

#[doc(hidden)]
pub use self::words::WordsOperator;
pub use crate::fold::prefixes::Prefixes;

/// A result is combined and made canonical in pieces of this number of elements, so that a piece stays in the L1 cache.
const CANONICAL_ELEMENTS: usize = 512;

/// The greatest number of lanes.
pub const LANES_MAX: usize = 1 << 20;

/// A function that reduces items passed as bytes. It writes the result in canonical form, and returns `None` if there are no items, or if
/// the bytes cannot be cast to the items' type.
#[doc(hidden)]
pub type PlainFold = fn(&[u8], &mut [u8]) -> Option<()>;

/// The [`PlainFold`] of operator `O`.
fn fold_bytes<T: Pod, O: Operator<T> + Default>(items: &[u8], result: &mut [u8]) -> Option<()> {
    let items = bytemuck::try_cast_slice(items).ok()?;
    let result: &mut T = bytemuck::try_from_bytes_mut(result).ok()?;
    *result = O::default().fold_canonical(items)?;
    Some(())
}

/// A binary operation on items. It is never assumed to be associative or commutative.
///
/// Ranks that build a plan together must use the same operator; they compare
/// [`name`](Operator::name)s and [`empty`](Operator::empty) values. An operator must not communicate: while a plan
/// calls the operator, calls on plans of the same world return [`RunError::Nested`](crate::RunError::Nested).
///
/// All methods except `name` and `combine` have defaults that are right for every operator. Override [`empty`](Operator::empty) to allow
/// reductions of no items, and [`canonical`](Operator::canonical) if equal results of a type other than floats can have different bits.
pub trait Operator<T: Copy + 'static> {
    /// The name that ranks compare, and that errors show.
    fn name(&self) -> &str;

    /// The combination of two neighbours; `left` has the lower item numbers.
    fn combine(&self, left: T, right: T) -> T;

    /// The reduction of no items at all, if that is defined. Never used as padding.
    fn empty(&self) -> Option<T> {
        None
    }

    /// Whether this is one of this crate's operators, which call no plans and leave the floating-point environment unchanged.
    #[doc(hidden)]
    fn is_plain(&self) -> bool {
        false
    }

    /// A function of bytes that does the same as [`fold_canonical`](Operator::fold_canonical), without `self`; `None` if there is none.
    #[doc(hidden)]
    fn plain_fold(&self) -> Option<PlainFold> {
        None
    }

    /// The canonical representation of a value that may have several representations. It is applied to results only.
    ///
    /// By default, an `f32` or `f64` NaN becomes the canonical quiet NaN, and every other value stays as it is. For
    /// types that hold floats, override this method: the NaNs that processors compute differ in their signs.
    fn canonical(&self, value: T) -> T {
        canonical_if_float(value)
    }

    /// The [`canonical`](Operator::canonical) reduction of the items. This is one function, because two could cost two cache misses.
    #[doc(hidden)]
    #[inline]
    fn fold_canonical(&self, items: &[T]) -> Option<T> {
        self.fold(items).map(|value| self.canonical(value))
    }

    /// The reduction of the items in tree order; `None` for no items. Overridden where a kernel is faster.
    fn fold(&self, items: &[T]) -> Option<T> {
        simd_kernels::tree_fold(items, |left, right| self.combine(left, right))
    }

    /// The reduction of the items in `lanes` lanes, like [`fold_lanes`](crate::fold_lanes), but by a kernel; `None` if there is no kernel.
    fn fold_lanes(&self, _items: &[T], _lanes: usize) -> Option<T> {
        None
    }

    /// The sum of the products x0 * y0, x1 * y1, … in tree order, each rounded once; `None` for no items, or if the operator is not a sum
    /// of floats.
    fn fold_products(&self, _x: &[T], _y: &[T]) -> Option<T> {
        None
    }

    /// Writes the products of two equally long slices, and returns true. Returns false if the operator is not a sum of floats.
    fn write_products(&self, _x: &[T], _y: &[T], _products: &mut [T]) -> bool {
        false
    }

    /// Writes the reductions of adjacent runs of items: `results[k]` becomes the [`fold`](Operator::fold) of the next
    /// `lengths[k]` items; each length is at least 1. Overridden where a kernel is faster.
    fn fold_runs(&self, items: &[T], lengths: &[usize], results: &mut [T]) {
        let mut rest = items;
        for (&length, result) in lengths.iter().zip(results) {
            let (run, others) = rest.split_at(length);
            *result = self.fold(run).expect("a run has items");
            rest = others;
        }
    }

    /// Writes, for each item, the reduction of all items up to and including that item, in [`canonical`](Operator::canonical) form. `before`
    /// represents the items before `items`, and `result` is as long as `items`.
    fn scan(&self, items: &[T], before: &mut Prefixes<T>, result: &mut [T]) {
        before.scan(items, result, &|left, right| self.combine(left, right));
        self.make_canonical(result);
    }

    /// Writes the reduction of rows of `width` values, element by element in tree order, to `result`; returns `None` for no rows.
    /// Overridden where a kernel is faster.
    ///
    /// `items` are whole rows and `result` is as long as a row. `scratch` may be of any length and content; it grows to the length
    /// needed, so that repeated calls allocate once.
    fn fold_rows(
        &self,
        items: &[T],
        width: usize,
        scratch: &mut Vec<T>,
        result: &mut [T],
    ) -> Option<()> {
        let scratch = grown(scratch, items, width)?;
        simd_kernels::tree_fold_rows(width, items, scratch, result, |left, right| {
            self.combine(left, right)
        })
    }

    /// Combines two rows element by element into a third of the same length. Overridden where a kernel is faster.
    fn combine_rows(&self, left: &[T], right: &[T], into: &mut [T]) {
        for ((into, &left), &right) in into.iter_mut().zip(left).zip(right) {
            *into = self.combine(left, right);
        }
    }

    /// Like [`combine_rows`](Operator::combine_rows), but makes each value [`canonical`](Operator::canonical), because `into` is a result.
    /// Overridden where a kernel is faster.
    fn combine_rows_canonical(&self, left: &[T], right: &[T], into: &mut [T]) {
        let lefts = left.chunks(CANONICAL_ELEMENTS);
        let rights = right.chunks(CANONICAL_ELEMENTS);
        for ((left, right), into) in lefts.zip(rights).zip(into.chunks_mut(CANONICAL_ELEMENTS)) {
            self.combine_rows(left, right, into);
            self.make_canonical(into);
        }
    }

    /// Makes each value of a result [`canonical`](Operator::canonical).
    fn make_canonical(&self, row: &mut [T]) {
        for value in row {
            *value = self.canonical(*value);
        }
    }

    /// Copies a row to a result, and makes each value [`canonical`](Operator::canonical). Overridden where a kernel is faster.
    fn copy_canonical(&self, row: &[T], into: &mut [T]) {
        for (into, &value) in into.iter_mut().zip(row) {
            *into = self.canonical(value);
        }
    }
}

/// The sum. Its empty value is 0; for floats, +0.0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum;

/// The product. Its empty value is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Product;

/// The least item; for floats, IEEE 754-2019's minimum. It has no empty value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Min;

/// The greatest item; for floats, IEEE 754-2019's maximum. It has no empty value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Max;

/// Makes an operator from a function. The function must give the same bits for the same operands on all ranks.
///
/// An `f32` or `f64` NaN becomes the canonical quiet NaN in the result. For other types that hold floats, give the
/// canonical form by [`with_canonical`](Custom::with_canonical).
///
/// ```
/// use reduce::{fold, operator::custom};
///
/// // The composition of affine maps y = a x + b, which is associative, but not commutative.
/// let compose = custom("compose", |f: [i64; 2], g: [i64; 2]| [g[0] * f[0], g[0] * f[1] + g[1]]);
/// assert_eq!(fold(&[[2, 1], [3, 0], [1, 5]], &compose)?, [6, 8]);
/// # Ok::<(), reduce::FoldError>(())
/// ```
pub fn custom<T, F>(name: impl Into<String>, combine: F) -> Custom<T, F>
where
    T: Copy + 'static,
    F: Fn(T, T) -> T,
{
    Custom {
        name: name.into(),
        combine,
        empty: None,
        canonical: canonical_if_float,
    }
}

/// Returns a float in canonical form, and a value of any other type unchanged.
#[inline]
fn canonical_if_float<T: Copy + 'static>(value: T) -> T {
    fn canonical<T: Copy + 'static, F: Copy + 'static>(value: T) -> Option<T>
    where
        Sum: Operator<F>,
    {
        let value: &dyn Any = &value;
        let result: &dyn Any = &Sum.canonical(*value.downcast_ref::<F>()?);
        result.downcast_ref().copied()
    }
    canonical::<T, f64>(value)
        .or_else(|| canonical::<T, f32>(value))
        .unwrap_or(value)
}

/// An operator made by [`custom`].
#[derive(Clone, Debug)]
pub struct Custom<T, F> {
    name: String,
    combine: F,
    empty: Option<T>,
    canonical: fn(T) -> T,
}

impl<T, F> Custom<T, F> {
    /// Declares how a result becomes canonical, if its values may have several representations.
    #[must_use]
    pub fn with_canonical(self, canonical: fn(T) -> T) -> Self {
        Self { canonical, ..self }
    }

    /// Declares the reduction of no items.
    #[must_use]
    pub fn with_empty(self, empty: T) -> Self {
        Self {
            empty: Some(empty),
            ..self
        }
    }
}

impl<T: Copy + 'static, F: Fn(T, T) -> T> Operator<T> for Custom<T, F> {
    fn name(&self) -> &str {
        &self.name
    }

    fn combine(&self, left: T, right: T) -> T {
        (self.combine)(left, right)
    }

    fn empty(&self) -> Option<T> {
        self.empty
    }

    fn canonical(&self, value: T) -> T {
        (self.canonical)(value)
    }
}

/// Grows `scratch` to the length that [`Operator::fold_rows`] needs; `None` for no rows. New elements are copies of an item.
fn grown<'a, T: Copy>(scratch: &'a mut Vec<T>, items: &[T], width: usize) -> Option<&'a mut [T]> {
    let &filler = items.first()?;
    let needed = simd_kernels::rows_scratch_len::<T>(width, items.len() / width);
    if scratch.len() < needed {
        scratch.resize(needed, filler);
    }
    Some(scratch)
}

/// Implements an operator for an integer type. `$shared` is a type whose folds have the same bits, so both types use the same compiled code.
macro_rules! integer_operator {
    ($integer:ty as $shared:ty, $operator:ident, $name:literal, $combine:expr, $empty:expr, $combine_shared:expr) => {
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
            fn is_plain(&self) -> bool {
                true
            }
            fn plain_fold(&self) -> Option<PlainFold> {
                Some(fold_bytes::<$integer, Self>)
            }
            // The order does not change any bit of an integer result.
            fn fold(&self, items: &[$integer]) -> Option<$integer> {
                let items: &[$shared] = bytemuck::cast_slice(items);
                let same = |item| item;
                let folded =
                    simd_kernels::fold_in_any_order(Level::best(), items, same, $combine_shared);
                folded.map(|item| item as $integer)
            }
            fn scan(
                &self,
                items: &[$integer],
                before: &mut Prefixes<$integer>,
                result: &mut [$integer],
            ) {
                before.scan_in_any_order(items, result, $combine);
            }
            fn fold_rows(
                &self,
                items: &[$integer],
                _width: usize,
                _scratch: &mut Vec<$integer>,
                result: &mut [$integer],
            ) -> Option<()> {
                let items: &[$shared] = bytemuck::cast_slice(items);
                let result = bytemuck::cast_slice_mut(result);
                simd_kernels::fold_rows_in_any_order(items, result, $combine_shared)
            }
        }
    };
}

macro_rules! integer_operators {
    ($($integer:ident as $unsigned:ident),+) => {$(
        integer_operator!($integer as $unsigned, Sum, "sum", $integer::wrapping_add, Some(0), $unsigned::wrapping_add);
        integer_operator!($integer as $unsigned, Product, "product", $integer::wrapping_mul, Some(1), $unsigned::wrapping_mul);
        integer_operator!($integer as $integer, Min, "min", Ord::min, None, Ord::min);
        integer_operator!($integer as $integer, Max, "max", Ord::max, None, Ord::max);
    )+};
}

// Wrapping operations have the same bits for signed and unsigned integers.
integer_operators!(
    i8 as u8,
    i16 as u16,
    i32 as u32,
    i64 as u64,
    i128 as u128,
    isize as usize,
    u8 as u8,
    u16 as u16,
    u32 as u32,
    u64 as u64,
    u128 as u128,
    usize as usize
);

/// The reduction of the items in `lanes` lanes, where `lanes` is at least 1; `None` for no items.
pub(crate) fn fold_lanes<T: Copy + 'static, O: Operator<T> + ?Sized>(
    items: &[T],
    lanes: usize,
    operator: &O,
) -> Option<T> {
    if lanes == 1 || items.len() <= lanes {
        return operator.fold(items);
    }
    let by_rows = || operator.fold(&lane_row(items, lanes, operator));
    operator.fold_lanes(items, lanes).or_else(by_rows)
}

/// Reduces the items, as rows of `stride` values, column by column. The last row may be shorter. Less than a row is returned unchanged.
pub(crate) fn lane_row<T: Copy + 'static, O: Operator<T> + ?Sized>(
    items: &[T],
    stride: usize,
    operator: &O,
) -> Vec<T> {
    let rows_count = items.len() / stride;
    let (mut rows, last) = items.split_at(rows_count * stride);
    let mut scratch = Vec::new();
    // Folds the largest subtrees, from right to left.
    let mut subtree = || {
        let count = rows.len() / stride;
        let right_count = 1_usize.checked_shl(count.trailing_zeros())?;
        let (left, right) = rows.split_at((count - right_count) * stride);
        rows = left;
        let mut row = right[..stride].to_vec();
        let folded = operator.fold_rows(right, stride, &mut scratch, &mut row);
        folded.expect("a subtree has rows");
        Some(row)
    };
    let Some(row) = subtree() else {
        return last.to_vec();
    };
    let mut row = joined(row, last, operator);
    while let Some(left) = subtree() {
        row = joined(left, &row, operator);
    }
    row
}

/// Combines two rows of lanes. If the right row is shorter, the remaining lanes of the left row stay as they are.
pub(crate) fn joined<T: Copy + 'static, O: Operator<T> + ?Sized>(
    mut left: Vec<T>,
    right: &[T],
    operator: &O,
) -> Vec<T> {
    let with = left[..right.len()].to_vec();
    operator.combine_rows(&with, right, &mut left[..right.len()]);
    left
}

#[cfg(test)]
mod tests {
    use super::{Operator, Sum};

    #[test]
    fn integers_wrap() {
        assert_eq!(Sum.combine(i32::MAX, 1), i32::MIN);
        assert_eq!(Sum.combine(u8::MAX, 2), 1);
    }
}

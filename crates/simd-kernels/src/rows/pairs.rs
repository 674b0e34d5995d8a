//! Combines two rows into one, as plans do with the rows of two ranks.

use crate::sets::dispatch::{Float, compute};
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::operation::Operation;
use crate::sets::vector::{Combine, Proven, Vector};

/// Rows of at most this many elements are combined one element at a time.
const FEW: usize = 16;

/// NaNs are replaced after each chunk of this many elements, while the chunk is in the L1 cache.
const CHUNK: usize = 1024;

/// Combines two rows element by element: `into[c]` becomes the combination of `left[c]` and `right[c]`. If `nan` is given, it
/// replaces every NaN of the result. All levels give the same bits, except for NaNs that are not replaced.
///
/// # Panics
/// The rows differ in length.
///
/// ```
/// use simd_kernels::{Level, Operation, combine_rows};
///
/// let mut sums = [0.0; 2];
/// combine_rows(Level::best(), Operation::Sum, &[1.0, -f64::NAN], &[2.0, 1.0], Some(f64::NAN), &mut sums);
/// assert_eq!(sums[0], 3.0);
/// assert_eq!(sums[1].to_bits(), f64::NAN.to_bits());
/// ```
#[inline]
pub fn combine_rows<T: Float>(
    level: Level,
    operation: Operation,
    left: &[T],
    right: &[T],
    nan: Option<T>,
    into: &mut [T],
) {
    (T::kernels(operation).combine_rows)(level, left, right, nan, into);
}

pub(crate) fn combine_rows_kernel<T: Float, O: Combine<T>>(
    level: Level,
    left: &[T],
    right: &[T],
    nan: Option<T>,
    into: &mut [T],
) {
    assert!(
        left.len() == into.len() && right.len() == into.len(),
        "rows of {}, {} and {} elements",
        left.len(),
        right.len(),
        into.len()
    );
    let pairs = Pairs {
        left,
        right,
        nan,
        into,
    };
    T::compute::<O, _>(level, pairs);
}

/// Copies a row, and replaces every NaN by `nan`.
///
/// # Panics
/// The rows differ in length.
#[inline]
pub fn copy_row<T: Float>(level: Level, row: &[T], nan: T, into: &mut [T]) {
    T::copy_row_kernel(level, row, nan, into);
}

pub(crate) fn copy_row_kernel<T: Float>(level: Level, row: &[T], nan: T, into: &mut [T]) {
    assert!(
        row.len() == into.len(),
        "rows of {} and {} elements",
        row.len(),
        into.len()
    );
    compute(level, Copied { row, nan, into });
}

struct Copied<'c, T> {
    row: &'c [T],
    nan: T,
    into: &'c mut [T],
}

impl<T: Float> Copied<'_, T> {
    #[inline(always)]
    fn copy(&mut self) {
        for (into, &value) in self.into.iter_mut().zip(self.row) {
            *into = if value.is_not_a_number() {
                self.nan
            } else {
                value
            };
        }
    }
}

impl<T: Float> Kernel<T> for Copied<'_, T> {
    type Output = ();

    #[inline(always)]
    fn few<O: Combine<T>>(&mut self) -> Option<()> {
        (self.row.len() <= FEW).then(|| self.copy())
    }

    #[inline(always)]
    fn compute<V, O>(mut self, _: Proven<V>)
    where
        V: Vector<Element = T>,
        O: Combine<T>,
    {
        self.copy();
    }
}

struct Pairs<'p, T> {
    left: &'p [T],
    right: &'p [T],
    nan: Option<T>,
    into: &'p mut [T],
}

impl<T: Float> Kernel<T> for Pairs<'_, T> {
    type Output = ();

    #[inline(always)]
    fn few<O: Combine<T>>(&mut self) -> Option<()> {
        if self.into.len() > FEW {
            return None;
        }
        singles::<T, O>(self.left, self.right, self.into);
        replace(self.nan, self.into);
        Some(())
    }

    #[inline(always)]
    fn compute<V, O>(self, proven: Proven<V>)
    where
        V: Vector<Element = T>,
        O: Combine<T>,
    {
        let replaces = self.nan.is_some();
        let infinities = proven.load(&[T::INFINITY; 16]);
        let lefts = self.left.chunks(CHUNK);
        let rights = self.right.chunks(CHUNK);
        for ((left, right), into) in lefts.zip(rights).zip(self.into.chunks_mut(CHUNK)) {
            let whole = into.len() - into.len() % V::LANES;
            let (into_whole, into_rest) = into.split_at_mut(whole);
            let lefts = left.chunks_exact(V::LANES);
            let rights = right.chunks_exact(V::LANES);
            // Lanes with a NaN get their sign bit set: the bits of a NaN without its sign, as an integer, are above those of infinity.
            let mut above = proven.load(&[T::ZERO; 16]);
            for ((left, right), into) in
                lefts.zip(rights).zip(into_whole.chunks_exact_mut(V::LANES))
            {
                let combined = O::lanes(proven, proven.load(left), proven.load(right));
                proven.store_first(combined, into);
                if replaces {
                    let difference = proven.subtract_bits(infinities, proven.absolute(combined));
                    above = proven.or(above, difference);
                }
            }
            singles::<T, O>(&left[whole..], &right[whole..], into_rest);
            replace(self.nan, into_rest);
            let mut lanes = [T::ZERO; 16];
            proven.store(above, &mut lanes);
            if lanes.iter().any(|lane| lane.has_sign()) {
                replace(self.nan, into_whole);
            }
        }
    }
}

#[inline(always)]
fn singles<T: Float, O: Combine<T>>(left: &[T], right: &[T], into: &mut [T]) {
    for ((into, &left), &right) in into.iter_mut().zip(left).zip(right) {
        *into = O::single(left, right);
    }
}

#[inline(always)]
fn replace<T: Float>(nan: Option<T>, values: &mut [T]) {
    if let Some(nan) = nan {
        for value in values {
            *value = if value.is_not_a_number() { nan } else { *value };
        }
    }
}

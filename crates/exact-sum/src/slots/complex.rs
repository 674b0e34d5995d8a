//! Sums complex items. Their real and imaginary parts are summed separately.

use bytemuck::Zeroable as _;
use simd_kernels::{Level, Quiet, without_traps};

use crate::bytes::{self, BytesError, Kind};
use crate::number::blocks::BlockHistory;
use crate::number::convert::CONVERTED_ITEMS;
use crate::number::counters::{LimitError, RemoveError};
use crate::number::destination::Destination;
use crate::number::fixed::FixedFormat;
use crate::number::float::Float;
use crate::number::total::{Total, check_counts};
use crate::slots::accumulator::sealed::Sealed;
use crate::slots::accumulator::{Accumulator, accumulator, parts, parts_mut};
use crate::slots::product_sum::ProductSum;

/// The sum of complex items: two sums that stay exact until they are rounded.
///
/// ```
/// use exact_sum::ComplexSum;
///
/// let mut sum = ComplexSum::<f64>::new();
/// sum.add(&[[1e300, 1.0], [2.0, 1e-300], [-1e300, -1.0]]);
/// assert_eq!(sum.value(), [2.0, 1e-300]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ComplexSum<T: Float> {
    parts: [Total<T::Sums>; 2],
    history: BlockHistory,
}

impl<T: Float> Default for ComplexSum<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Float> ComplexSum<T> {
    /// The sum of no items, +0.0 + 0.0 i.
    #[must_use]
    pub fn new() -> Self {
        Self {
            parts: [Total::ZERO; 2],
            history: BlockHistory::START,
        }
    }

    /// Adds items, each a real and an imaginary part.
    #[inline]
    pub fn add(&mut self, items: &[[T; 2]]) {
        self.add_at(Level::best(), items);
    }

    /// Does what [`add`](Self::add) does, with the instruction set `level`.
    pub fn add_at(&mut self, level: Level, items: &[[T; 2]]) {
        let Some(quiet) = Quiet::now() else {
            if !without_traps(&mut || self.add_at(level, items)) {
                for (part, total) in self.parts.iter_mut().enumerate() {
                    total.add_by_integers(items.iter().map(|item| item[part].widened()));
                }
            }
            return;
        };
        for total in &mut self.parts {
            total.counters.count(items.len());
        }
        let Self { parts, history } = self;
        history.add_items(level, items.as_flattened(), quiet, parts);
        quiet.forget_since();
    }

    /// Removes items that were added.
    ///
    /// # Errors
    /// Those of [`Sum::remove`](crate::Sum::remove).
    pub fn remove(&mut self, items: &[[T; 2]]) -> Result<(), RemoveError> {
        let mut removed = Self {
            parts: [Total::ZERO; 2],
            history: self.history,
        };
        removed.add(items);
        self.unmerge(&removed)?;
        self.history = removed.history;
        Ok(())
    }

    pub(crate) fn totals(&self) -> [&Total<T::Sums>; 2] {
        self.parts.each_ref()
    }

    pub(crate) fn totals_mut(&mut self) -> [&mut Total<T::Sums>; 2] {
        self.parts.each_mut()
    }

    fn of_totals(parts: [Total<T::Sums>; 2]) -> Self {
        Self {
            parts,
            history: BlockHistory::START,
        }
    }

    /// The sums of the two parts, each rounded as by [`Sum::value`](crate::Sum::value).
    #[must_use]
    pub fn value(&self) -> [T; 2] {
        self.parts.each_ref().map(Total::value)
    }

    /// The two parts of the sum, each divided by the number of items and rounded once.
    #[must_use]
    pub fn mean(&self) -> [T; 2] {
        self.totals().map(|total| total.mean_of(self.items()))
    }
}

accumulator!(
    ComplexSum,
    Sums,
    [<T::Sums as FixedFormat>::Words; 2],
    [<T::Sums as FixedFormat>::Integers; 2],
    1,
    Kind::ComplexSum,
    "exact sum of complex numbers"
);

impl<D: Destination> Destination for [D; 2] {
    #[inline]
    fn add_parts(&mut self, [even, odd]: [i64; 2], unit: i32) {
        self[0].add_parts([even, 0], unit);
        self[1].add_parts([odd, 0], unit);
    }

    #[inline]
    fn add_item(&mut self, index: usize, item: f64) {
        self[index % 2].add_item(index, item);
    }

    #[inline]
    fn count_negative_zeros(&mut self, [even, odd]: [u64; 2]) {
        self[0].count_negative_zeros([even, 0]);
        self[1].count_negative_zeros([odd, 0]);
    }
}

/// A dot product of complex items: two sums of products that stay exact until they are rounded.
///
/// ```
/// use exact_sum::ComplexProductSum;
///
/// let (x, y) = ([[1.0, 2.0]], [[3.0, 4.0]]);
/// let mut dot = ComplexProductSum::<f64>::new();
/// dot.add(&x, &y);
/// assert_eq!(dot.value(), [-5.0, 10.0]);
///
/// let mut inner = ComplexProductSum::<f64>::new();
/// inner.add_conjugate(&x, &y);
/// assert_eq!(inner.value(), [11.0, -2.0]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ComplexProductSum<T: Float> {
    parts: [ProductSum<T>; 2],
}

impl<T: Float> Default for ComplexProductSum<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Float> ComplexProductSum<T> {
    /// The sum of no products, +0.0 + 0.0 i.
    #[must_use]
    pub fn new() -> Self {
        Self {
            parts: [ProductSum::new(); 2],
        }
    }

    /// Adds x0 * y0, x1 * y1, ….
    ///
    /// # Panics
    /// The slices differ in length.
    pub fn add(&mut self, x: &[[T; 2]], y: &[[T; 2]]) {
        self.add_signed(x, y, [true, false]);
    }

    /// Adds the products of the complex conjugates of x0, x1, … with y0, y1, ….
    ///
    /// # Panics
    /// The slices differ in length.
    pub fn add_conjugate(&mut self, x: &[[T; 2]], y: &[[T; 2]]) {
        self.add_signed(x, y, [false, true]);
    }

    /// Removes products that were added by [`add`](Self::add).
    ///
    /// # Panics
    /// The slices differ in length.
    ///
    /// # Errors
    /// Those of [`Sum::remove`](crate::Sum::remove).
    pub fn remove(&mut self, x: &[[T; 2]], y: &[[T; 2]]) -> Result<(), RemoveError> {
        let mut removed = Self::new();
        removed.add(x, y);
        self.unmerge(&removed)
    }

    /// Removes products that were added by [`add_conjugate`](Self::add_conjugate).
    ///
    /// # Panics
    /// The slices differ in length.
    ///
    /// # Errors
    /// Those of [`Sum::remove`](crate::Sum::remove).
    pub fn remove_conjugate(&mut self, x: &[[T; 2]], y: &[[T; 2]]) -> Result<(), RemoveError> {
        let mut removed = Self::new();
        removed.add_conjugate(x, y);
        self.unmerge(&removed)
    }

    fn totals(&self) -> [&Total<T::Products>; 2] {
        self.parts.each_ref().map(|part| &part.total)
    }

    fn totals_mut(&mut self) -> [&mut Total<T::Products>; 2] {
        self.parts.each_mut().map(|part| &mut part.total)
    }

    fn of_totals(totals: [Total<T::Products>; 2]) -> Self {
        Self {
            parts: totals.map(ProductSum::of_total),
        }
    }

    /// Adds products. `is_negated` says separately for the real and the imaginary parts of the products whether x is conjugated.
    fn add_signed(&mut self, x: &[[T; 2]], y: &[[T; 2]], is_negated: [bool; 2]) {
        const ITEMS: usize = CONVERTED_ITEMS / 2;
        assert_eq!(x.len(), y.len(), "the slices differ in length");
        let mut signed = [[T::ZERO; 2]; ITEMS];
        let mut swapped = [[T::ZERO; 2]; ITEMS];
        for (x, y) in x.chunks(ITEMS).zip(y.chunks(ITEMS)) {
            let [real, imaginary] = &mut self.parts;
            real.add(signs(&mut signed, x, is_negated[0]), y.as_flattened());
            let swapped = &mut swapped[..y.len()];
            for (swapped, &[re, im]) in swapped.iter_mut().zip(y) {
                *swapped = [im, re];
            }
            imaginary.add(signs(&mut signed, x, is_negated[1]), swapped.as_flattened());
        }
    }

    /// The two parts of the sum, each rounded once.
    #[must_use]
    pub fn value(&self) -> [T; 2] {
        self.parts.each_ref().map(ProductSum::value)
    }

    /// The two parts of the sum, each divided by the number of products, and rounded once.
    #[must_use]
    pub fn mean(&self) -> [T; 2] {
        self.totals().map(|total| total.mean_of(self.items()))
    }
}

accumulator!(
    ComplexProductSum,
    Products,
    [<T::Products as FixedFormat>::Words; 2],
    [<T::Products as FixedFormat>::Integers; 2],
    2,
    Kind::ComplexProductSum,
    "exact sum of products of complex numbers"
);

/// The parts of the items, with imaginary parts negated if `is_negated`.
fn signs<'b, T: Float>(buffer: &'b mut [[T; 2]], items: &[[T; 2]], is_negated: bool) -> &'b [T] {
    let buffer = &mut buffer[..items.len()];
    for (signed, &[re, im]) in buffer.iter_mut().zip(items) {
        *signed = [re, if is_negated { im.negate() } else { im }];
    }
    buffer.as_flattened()
}

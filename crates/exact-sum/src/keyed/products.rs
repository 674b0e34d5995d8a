//! Sums of products by key, and what follows from them.

use simd_kernels::{DECODED_ITEMS, EXACT_PRODUCT, Level, Quiet, exact_products, is_zero};

use super::KeyedSums;
use super::decoded::{Decoded, Rooms};
use super::key::{self, Key, KeyError};
use super::remove::{RemoveKeyedError, check_specials};
use super::totals::Totals;
use crate::number::counters::LimitError;
use crate::number::float::Float;
use crate::number::total::Total;
use crate::slots::weighted::weighted_mean;

/// The sum of the products x\[i\] * y\[i\] of each of the keys 0 to K - 1, exact until it is rounded: dot products by key.
///
/// ```
/// use exact_sum::KeyedProducts;
///
/// let mut revenues = KeyedProducts::<f64>::new(2);
/// revenues.add(&[0, 1, 0_u8], &[1e200, 0.5, 1e200], &[1e100, 4.0, -1e100])?;
/// assert_eq!(revenues.values(), [0.0, 2.0]);
/// # Ok::<(), exact_sum::KeyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyedProducts<T: Float> {
    /// Those of the rounded products, and of what these lack.
    pub(super) parts: [Totals<T::Products>; 2],
}

impl<T: Float> KeyedProducts<T> {
    /// Sums of no products, for so many keys.
    #[must_use]
    pub fn new(keys: usize) -> Self {
        Self {
            parts: [Totals::new(keys), Totals::new(keys)],
        }
    }

    /// The number of keys.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.parts[0].len()
    }

    /// Adds the products of two items each to the sums of their keys.
    ///
    /// # Panics
    /// The slices of items differ in length.
    ///
    /// # Errors
    /// There are not as many keys as products, a key has no sum, there would be more than 2^63 - 1 products, or there is no memory.
    /// No sum has changed then.
    pub fn add<K: Key>(&mut self, keys: &[K], x: &[T], y: &[T]) -> Result<(), KeyError> {
        assert_eq!(x.len(), y.len(), "the slices differ in length");
        key::check(keys, x.len(), self.keys())?;
        self.check_room(x, y)?;
        self.change(keys, x, y, false);
        Ok(())
    }

    /// Takes back products that were added with these keys.
    ///
    /// # Panics
    /// The slices of items differ in length.
    ///
    /// # Errors
    /// As [`KeyedSums::remove`].
    pub fn remove<K: Key>(&mut self, keys: &[K], x: &[T], y: &[T]) -> Result<(), RemoveKeyedError> {
        assert_eq!(x.len(), y.len(), "the slices differ in length");
        key::check(keys, x.len(), self.keys()).map_err(RemoveKeyedError::Key)?;
        let factors = keys.iter().zip(x.iter().zip(y));
        let specials = factors.filter_map(|(key, (x, y))| {
            let (x, y) = (x.widened(), y.widened());
            let is_special = !x.is_finite() || !y.is_finite();
            is_special.then(|| (key.place(), Total::<T::Products>::of_product(x, y).counters))
        });
        check_specials(specials.collect(), &|key| self.parts[0].counters(key))?;
        self.check_room(x, y)?;
        self.change(keys, x, y, true);
        Ok(())
    }

    /// Whether there is room for products.
    #[expect(
        clippy::disallowed_methods,
        reason = "what a rounded product lacks, exactly"
    )]
    pub(super) fn check_room(&self, x: &[T], y: &[T]) -> Result<(), LimitError> {
        let factors = x.iter().zip(y).map(|(x, y)| (x.widened(), y.widened()));
        let products = factors.clone().map(|(x, y)| x * y);
        let errors = factors.map(|(x, y)| x.mul_add(y, -(x * y)));
        self.parts[0].check_room(x.len() as u64, products)?;
        self.parts[1].check_room(x.len() as u64, errors)
    }

    /// Makes room for other sums, key by key.
    pub(super) fn make_room(&mut self, other: &Self) -> Result<(), LimitError> {
        let mut parts = self.parts.iter_mut().zip(&other.parts);
        parts.try_for_each(|(part, other)| part.make_room(other))
    }

    /// Adds products whose keys are right, or subtracts them.
    fn change<K: Key>(&mut self, keys: &[K], x: &[T], y: &[T], removes: bool) {
        let is_quiet = Quiet::now().is_some();
        let mut decoded = Decoded::none();
        let mut doubles = Rooms::for_items(x.len());
        let blocks = x.chunks(DECODED_ITEMS).zip(y.chunks(DECODED_ITEMS));
        for (keys, (x, y)) in keys.chunks(DECODED_ITEMS).zip(blocks) {
            let [x_doubles, y_doubles] = doubles.first(x.len());
            widen(x, x_doubles);
            widen(y, y_doubles);
            let factors = [&*x_doubles, &*y_doubles];
            self.change_block(keys, factors, removes, is_quiet, &mut decoded);
        }
    }

    /// Adds the products of at most [`DECODED_ITEMS`] pairs of items whose keys are right, or subtracts them.
    pub(super) fn change_block<K: Key>(
        &mut self,
        keys: &[K],
        [x, y]: [&[f64]; 2],
        removes: bool,
        is_quiet: bool,
        decoded: &mut Decoded,
    ) {
        if !is_quiet {
            self.parts[0].count(x.len() as u64);
            for (key, (&x, &y)) in keys.iter().zip(x.iter().zip(y)) {
                if !is_product_zero(x, y) {
                    self.parts[0].change_product(key.place(), [x, y], removes);
                }
            }
            return;
        }
        let mut doubles = Rooms::for_items(x.len());
        let [products, errors] = doubles.first(x.len());
        let level = Level::best();
        if !exact_products(level, x, y, products, errors) {
            for (index, (&x, &y)) in x.iter().zip(y).enumerate() {
                let product = &mut products[index];
                if product.abs() >= EXACT_PRODUCT && errors[index].is_finite() {
                    continue;
                }
                (*product, errors[index]) = (0.0, 0.0);
                if !is_product_zero(x, y) {
                    self.parts[0].change_product(keys[index].place(), [x, y], removes);
                }
            }
        }
        self.parts[0].add(level, keys, products, removes, decoded);
        self.parts[1].add(level, keys, errors, removes, decoded);
    }

    /// Adds other sums, key by key. If they have more keys, so will these.
    ///
    /// # Errors
    /// As [`KeyedSums::merge`].
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.make_room(other)?;
        self.merge_all(other);
        Ok(())
    }

    pub(super) fn reserve(&mut self, keys: usize) -> Result<(), LimitError> {
        let mut parts = self.parts.iter_mut();
        parts.try_for_each(|part| part.reserve(keys))
    }

    pub(super) fn merge_all(&mut self, other: &Self) {
        for (part, other) in self.parts.iter_mut().zip(&other.parts) {
            part.merge_all(other);
        }
    }

    /// The sum of a key, rounded to nearest, ties to even. An empty sum is +0.0, and so is that of negative zeros.
    ///
    /// # Panics
    /// The key has no sum.
    #[must_use]
    pub fn value(&self, key: usize) -> T {
        self.total(key).value()
    }

    /// The sums of all keys, each rounded once.
    #[must_use]
    pub fn values(&self) -> Vec<T> {
        (0..self.keys()).map(|key| self.value(key)).collect()
    }

    pub(super) fn total(&self, key: usize) -> Total<T::Products> {
        let mut total = self.parts[0].total(key);
        total.merge(&self.parts[1].total(key));
        // Sums by key begin at +0.0: one of negative zeros does not end at -0.0.
        total.counters.negative_zeros = 0;
        total
    }
}

/// Writes items as doubles.
pub(super) fn widen<T: Float>(items: &[T], doubles: &mut [f64]) {
    for (double, item) in doubles.iter_mut().zip(items) {
        *double = item.widened();
    }
}

/// Whether a product is zero: one of two finite factors is.
fn is_product_zero(x: f64, y: f64) -> bool {
    (is_zero(x) || is_zero(y)) && x.is_finite() && y.is_finite()
}

/// The weighted mean of each of the keys 0 to K - 1, exact until it is rounded once: see [`WeightedMean`](crate::WeightedMean).
///
/// ```
/// use exact_sum::KeyedWeightedMeans;
///
/// let mut means = KeyedWeightedMeans::<f64>::new(2);
/// means.add(&[0, 1, 0_u8], &[1.0, 7.0, 4.0], &[2.0, 0.5, 1.0])?;
/// assert_eq!(means.values(), [2.0, 7.0]);
/// # Ok::<(), exact_sum::KeyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct KeyedWeightedMeans<T: Float> {
    products: KeyedProducts<T>,
    weights: KeyedSums<T>,
}

impl<T: Float> KeyedWeightedMeans<T> {
    /// Those of no items, for so many keys.
    #[must_use]
    pub fn new(keys: usize) -> Self {
        Self {
            products: KeyedProducts::new(keys),
            weights: KeyedSums::new(keys),
        }
    }

    /// The number of keys.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.weights.keys()
    }

    /// Adds items with their weights to the means of their keys.
    ///
    /// # Panics
    /// There are not as many weights as items.
    ///
    /// # Errors
    /// There are not as many keys as items, a key has no mean, there would be more than 2^63 - 1 items, or there is no memory.
    /// No mean has changed then.
    pub fn add<K: Key>(&mut self, keys: &[K], items: &[T], weights: &[T]) -> Result<(), KeyError> {
        self.weights.check_room(weights)?;
        self.products.add(keys, items, weights)?;
        self.weights.add(keys, weights)
    }

    /// Takes back items that were added with these keys and weights.
    ///
    /// # Panics
    /// There are not as many weights as items.
    ///
    /// # Errors
    /// As [`KeyedSums::remove`].
    pub fn remove<K: Key>(
        &mut self,
        keys: &[K],
        items: &[T],
        weights: &[T],
    ) -> Result<(), RemoveKeyedError> {
        self.products.remove(keys, items, weights)?;
        self.weights.remove(keys, weights).inspect_err(|_| {
            self.products.change(keys, items, weights, false);
        })
    }

    /// Adds other ones, key by key. If they have more keys, so will these.
    ///
    /// # Errors
    /// As [`KeyedSums::merge`].
    pub fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.weights.totals.make_room(&other.weights.totals)?;
        self.products.merge(&other.products)?;
        self.weights.merge(&other.weights)
    }

    /// The bytes that are allocated.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.products.memory() + self.weights.memory()
    }

    /// The weighted mean of a key, rounded once; NaN if it has no items.
    ///
    /// # Panics
    /// The key has no mean.
    #[must_use]
    pub fn value(&self, key: usize) -> T {
        weighted_mean(&self.products.total(key), &self.weights.total(key))
    }

    /// The weighted means of all keys, each rounded once.
    #[must_use]
    pub fn values(&self) -> Vec<T> {
        (0..self.keys()).map(|key| self.value(key)).collect()
    }
}

impl<T: Float> PartialEq for KeyedWeightedMeans<T> {
    fn eq(&self, other: &Self) -> bool {
        self.products == other.products && self.weights == other.weights
    }
}

impl<T: Float> Eq for KeyedWeightedMeans<T> {}

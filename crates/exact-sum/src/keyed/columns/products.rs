//! Sums of products for all keys.

use simd_kernels::{EXACT_PRODUCT, Level, Quiet, exact_products, is_zero};

use super::decoded::{Decoded, Rooms};
use super::totals::Totals;
use crate::keyed::key::Key;
use crate::number::counters::LimitError;
use crate::number::float::Float;
use crate::number::total::Total;
use crate::slots::product_sum::ProductSum;

/// The sums of the rounded products, and of their rounding errors.
pub(crate) type Products<T> = (
    Totals<<T as Float>::Products>,
    Totals<<T as Float>::Products>,
);

/// Checks that the sums can take the products without overflow of a counter.
#[expect(
    clippy::disallowed_methods,
    reason = "computes the exact rounding error of a product"
)]
pub(crate) fn check_room<T: Float>(
    sums: &Products<T>,
    [x, y]: [&[T]; 2],
) -> Result<(), LimitError> {
    let factors = x.iter().zip(y).map(|(x, y)| (x.widened(), y.widened()));
    let products = factors.clone().map(|(x, y)| x * y);
    let errors = factors.map(|(x, y)| x.mul_add(y, -(x * y)));
    sums.0.check_room(x.len() as u64, products)?;
    sums.1.check_room(x.len() as u64, errors)
}

/// Adds or subtracts the products of at most [`DECODED_ITEMS`](simd_kernels::DECODED_ITEMS) pairs of items, whose keys have been checked.
pub(crate) fn change<K: Key, T: Float>(
    sums: &mut Products<T>,
    level: Level,
    keys: &[K],
    [x, y]: [&[f64]; 2],
    removes: bool,
    decoded: &mut Decoded,
) {
    if Quiet::now().is_none() {
        sums.0.count(x.len() as u64);
        for (key, (&x, &y)) in keys.iter().zip(x.iter().zip(y)) {
            if !is_product_zero(x, y) {
                sums.0.change_product(key.place(), [x, y], removes);
            }
        }
        return;
    }
    let mut doubles = Rooms::for_items(x.len());
    let [products, errors] = doubles.first(x.len());
    if !exact_products(level, x, y, products, errors) {
        for (index, (&x, &y)) in x.iter().zip(y).enumerate() {
            let product = &mut products[index];
            if product.abs() >= EXACT_PRODUCT && errors[index].is_finite() {
                continue;
            }
            (*product, errors[index]) = (0.0, 0.0);
            if !is_product_zero(x, y) {
                sums.0.change_product(keys[index].place(), [x, y], removes);
            }
        }
    }
    sums.0.add(level, keys, products, removes, decoded);
    sums.1.add(level, keys, errors, removes, decoded);
}

/// The sum of a key's products.
pub(crate) fn total<T: Float>(sums: &Products<T>, key: usize) -> Total<T::Products> {
    let mut total = sums.0.total(key);
    total.merge(&sums.1.total(key));
    // Sums by key start at +0.0, so a sum of negative zeros is +0.0.
    total.counters.negative_zeros = 0;
    total
}

/// The sum of a key's `items` products.
pub(crate) fn sum_of<T: Float>(sums: &Products<T>, key: usize, items: u64) -> ProductSum<T> {
    let mut sum = ProductSum::new();
    sum.total = total::<T>(sums, key);
    sum.total.counters.items = items.cast_signed();
    sum
}

pub(crate) fn widen<T: Float>(items: &[T], doubles: &mut [f64]) {
    for (double, item) in doubles.iter_mut().zip(items) {
        *double = item.widened();
    }
}

/// Whether a product is zero: both factors are finite, and one of them is zero.
fn is_product_zero(x: f64, y: f64) -> bool {
    (is_zero(x) || is_zero(y)) && x.is_finite() && y.is_finite()
}

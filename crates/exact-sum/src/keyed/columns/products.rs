//! Adds products to the sums of their keys. Rounded products and their rounding errors are summed separately.

use std::borrow::Cow;

use simd_kernels::{EXACT_PRODUCT, Level, Quiet, exact_products, is_zero};

use super::decoded::{Decoded, Rooms};
use super::totals::Totals;
use crate::keyed::key::Key;
use crate::number::counters::{Counters, LimitError};
use crate::number::fixed::DoubleProducts;
use crate::number::float::Float;
use crate::number::total::Total;

/// Checks that the sums have room for the products and their rounding errors.
#[expect(
    clippy::disallowed_methods,
    reason = "computes the exact rounding error of a product"
)]
pub(crate) fn check_room<T: Float>(
    [sums, of_errors]: [&Totals; 2],
    [x, y]: [&[T]; 2],
) -> Result<(), LimitError> {
    let factors = x.iter().zip(y).map(|(x, y)| (x.widened(), y.widened()));
    let products = factors.clone().map(|(x, y)| x * y);
    let errors = factors.map(|(x, y)| x.mul_add(y, -(x * y)));
    sums.check_room(x.len() as u64, products)?;
    of_errors.check_room(x.len() as u64, errors)
}

/// The keys and the counters of products that are not finite.
pub(crate) fn specials<K: Key, T: Float>(keys: &[K], [x, y]: [&[T]; 2]) -> Vec<(usize, Counters)> {
    let factors = keys.iter().zip(x.iter().zip(y));
    let specials = factors.filter_map(|(key, (x, y))| {
        let (x, y) = (x.widened(), y.widened());
        let is_special = !x.is_finite() || !y.is_finite();
        is_special.then(|| {
            (
                key.place(),
                Total::<DoubleProducts>::of_product(x, y).counters,
            )
        })
    });
    specials.collect()
}

/// Replaces each pair of items by zeros if one of them is not finite.
pub(crate) fn clear_specials(x: &mut Cow<'_, [f64]>, y: &mut Cow<'_, [f64]>) {
    if x.iter().chain(&**y).all(|item| item.is_finite()) {
        return;
    }
    for (x, y) in x.to_mut().iter_mut().zip(y.to_mut()) {
        if !x.is_finite() || !y.is_finite() {
            (*x, *y) = (0.0, 0.0);
        }
    }
}

/// Adds or subtracts the products of at most [`DECODED_ITEMS`](simd_kernels::DECODED_ITEMS) pairs of items, whose keys have been checked.
// If this function were inlined, even a caller that adds no products would have its buffers in the stack frame, and touch all their pages.
#[inline(never)]
pub(crate) fn change<K: Key>(
    [sums, of_errors]: [&mut Totals; 2],
    level: Level,
    keys: &[K],
    [x, y]: [&[f64]; 2],
    removes: bool,
    decoded: &mut Decoded,
) {
    if Quiet::now().is_none() {
        sums.count(x.len() as u64);
        for (key, (&x, &y)) in keys.iter().zip(x.iter().zip(y)) {
            if !is_product_zero(x, y) {
                sums.change_product(key.place(), [x, y], removes);
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
                sums.change_product(keys[index].place(), [x, y], removes);
            }
        }
    }
    sums.add(level, keys, products, removes, decoded);
    of_errors.add(level, keys, errors, removes, decoded);
}

/// Whether a product is zero: both factors are finite, and one of them is zero.
fn is_product_zero(x: f64, y: f64) -> bool {
    (is_zero(x) || is_zero(y)) && x.is_finite() && y.is_finite()
}

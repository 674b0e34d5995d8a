//! Adds products of two items to totals, or removes them, by integer arithmetic alone.

use simd_kernels::is_zero;

use crate::number::counters::Counters;
use crate::number::fixed::{FixedFormat, integer};
use crate::number::total::Total;

impl<F: FixedFormat> Total<F> {
    /// The total of one product.
    pub(crate) fn of_product(x: f64, y: f64) -> Self {
        let mut total = Self::ZERO;
        total.add_product_by_integers(x, y);
        total
    }

    /// Adds a product by integer arithmetic alone.
    #[cold]
    pub(crate) fn add_product_by_integers(&mut self, x: f64, y: f64) {
        let is_negative = x.is_sign_negative() != y.is_sign_negative();
        let has_zero = is_zero(x) || is_zero(y);
        let is_finite = x.is_finite() && y.is_finite();
        self.counters.count(1);
        self.counters.negative_zeros += i64::from(has_zero && is_negative && is_finite);
        self.step_product(x, y, 1);
    }

    /// Adds a product if `sign` is 1, or removes it if `sign` is -1. The number of items does not change: the caller counts the product.
    #[inline]
    pub(crate) fn step_product(&mut self, x: f64, y: f64, sign: i64) {
        if x.is_finite() && y.is_finite() {
            add_product(x, y, |value, unit| self.fixed.add(sign * value, unit));
            return;
        }
        let Counters {
            nans,
            infinities,
            negative_infinities,
            ..
        } = &mut self.counters;
        if x.is_nan() || y.is_nan() || is_zero(x) || is_zero(y) {
            *nans += sign;
        } else if x.is_sign_negative() != y.is_sign_negative() {
            *negative_infinities += sign;
        } else {
            *infinities += sign;
        }
    }

    /// Adds an item if `sign` is 1, or removes it if `sign` is -1. The number of items does not change: the caller counts the item.
    #[inline]
    pub(crate) fn step(&mut self, item: f64, sign: i64) {
        if sign > 0 {
            self.add_one(item);
        } else {
            self.remove_one(item);
        }
    }
}

/// Adds the product of two finite numbers as integers, in units of powers of two.
#[cold]
pub(crate) fn add_product(x: f64, y: f64, mut add: impl FnMut(i64, i32)) {
    const HALF_BITS: u32 = 53;
    let [(x, x_unit), (y, y_unit)] = [x, y].map(|factor| {
        let (value, unit) = integer(factor);
        // Removes trailing zeros. If an `f32` was converted to a double, they may be below the format's range.
        let zeros = value.trailing_zeros() % u64::BITS;
        (value >> zeros, unit + zeros.cast_signed())
    });
    let product = i128::from(x) * i128::from(y);
    if product == 0 {
        return;
    }
    let unit = x_unit + y_unit;
    let halves = [product & ((1 << HALF_BITS) - 1), product >> HALF_BITS];
    let [lower, upper] = halves.map(|half| i64::try_from(half).expect("a product has 106 bits"));
    add(lower, unit);
    add(upper, unit + HALF_BITS.cast_signed());
}

//! The types of items.

use crate::fixed::{DoubleProducts, Doubles, Magnitude, SingleProducts, Singles, Window};
use crate::round::Format;

/// The types of items: `f32` and `f64`.
pub trait Float: sealed::Sealed + Copy + Send + Sync + 'static {
    /// Room for a sum.
    #[doc(hidden)]
    type Sums: Window;

    /// Room for a sum of products.
    #[doc(hidden)]
    type Products: Window;
}

pub(crate) mod sealed {
    use super::Magnitude;

    /// What other crates cannot call, and cannot implement.
    #[expect(
        private_interfaces,
        reason = "other crates cannot name the trait, so they cannot call its functions"
    )]
    pub trait Sealed: Sized {
        const ZERO: Self;
        const NEGATIVE_ZERO: Self;
        const NAN: Self;
        const INFINITY: Self;

        /// Whether a product of two doubles that come from such items is exact.
        const IS_SINGLE: bool;

        fn to_double(self) -> f64;

        /// Calls a function with the items as doubles, in pieces of an even number of items but for the last one.
        fn in_doubles(items: &[Self], add: impl FnMut(&[f64]));

        /// Calls a function with the items of two slices of one length as doubles, in pieces.
        fn in_pairs_of_doubles(x: &[Self], y: &[Self], add: impl FnMut(&[f64], &[f64]));

        /// The number that is nearest to a magnitude.
        fn nearest(magnitude: Magnitude) -> Self;

        fn negate(self) -> Self;
    }
}

macro_rules! float {
    ($float:ident, $bits:ident, $format:ident, $sums:ident, $products:ident, $is_single:literal, $in_doubles:ident, $in_pairs:ident) => {
        #[expect(private_interfaces, reason = "as the trait's")]
        impl sealed::Sealed for $float {
            const ZERO: Self = 0.0;
            const NEGATIVE_ZERO: Self = -0.0;
            const NAN: Self = Self::NAN;
            const INFINITY: Self = Self::INFINITY;
            const IS_SINGLE: bool = $is_single;

            #[inline(always)]
            fn to_double(self) -> f64 {
                self.into()
            }

            #[inline]
            fn in_doubles(items: &[Self], add: impl FnMut(&[f64])) {
                $in_doubles(items, add);
            }

            #[inline]
            fn in_pairs_of_doubles(x: &[Self], y: &[Self], add: impl FnMut(&[f64], &[f64])) {
                $in_pairs(x, y, add);
            }

            fn nearest(magnitude: Magnitude) -> Self {
                let bits = <$bits>::try_from(Format::$format.round(magnitude));
                Self::from_bits(bits.expect("it is at most infinity"))
            }

            fn negate(self) -> Self {
                -self
            }
        }

        impl Float for $float {
            type Sums = $sums;
            type Products = $products;
        }
    };
}

float!(
    f64,
    u64,
    DOUBLE,
    Doubles,
    DoubleProducts,
    false,
    as_they_are,
    pairs_as_they_are
);
float!(
    f32,
    u32,
    SINGLE,
    Singles,
    SingleProducts,
    true,
    converted,
    pairs_converted
);

#[inline(always)]
fn as_they_are(items: &[f64], mut add: impl FnMut(&[f64])) {
    add(items);
}

#[inline(always)]
fn pairs_as_they_are(x: &[f64], y: &[f64], mut add: impl FnMut(&[f64], &[f64])) {
    add(x, y);
}

#[inline(always)]
fn pairs_converted(x: &[f32], y: &[f32], mut add: impl FnMut(&[f64], &[f64])) {
    for (x, y) in x.chunks(CONVERTED_ITEMS).zip(y.chunks(CONVERTED_ITEMS)) {
        converted(x, |x| converted(y, |y| add(x, y)));
    }
}

#[inline(always)]
fn converted(items: &[f32], add: impl FnMut(&[f64])) {
    convert(items, f64::from, add);
}

/// The most items that are converted to doubles, or changed, at once.
pub(crate) const CONVERTED_ITEMS: usize = 2048;

/// Calls a function with what a conversion makes of items, in pieces of an even number of items but for the last one.
#[inline]
pub(crate) fn convert<T: Copy>(
    items: &[T],
    conversion: impl Fn(T) -> f64,
    mut add: impl FnMut(&[f64]),
) {
    let mut doubles = [0.0; CONVERTED_ITEMS];
    for chunk in items.chunks(CONVERTED_ITEMS) {
        for (double, &item) in doubles.iter_mut().zip(chunk) {
            *double = conversion(item);
        }
        add(&doubles[..chunk.len()]);
    }
}

//! Defines the scale of a range of exponents, and the exponents of the accumulators.

use crate::exact::split::power_of_two;

/// The number of exponents in a range.
const EXPONENTS: i32 = 32;

/// The exponent of the accumulator of higher parts. It receives fewer than 2^8 items, each below 2 in magnitude, and has room for 2^11.
pub(super) const HIGHER: i32 = 12;

/// The exponent of the accumulator of lower parts. Its last place, 2^-84, is also the last place of the smallest items, which are slightly below
/// 2^-31 and have a higher part that rounds to 2^-31. It receives fewer than 2^8 rests of at most 2^-41 each, and has room for 2^-33.
pub(super) const LOWER: i32 = HIGHER - 44;

/// The exponent of the higher accumulator for rounding errors of products, which are at most 2^-53.
pub(super) const ERRORS_HIGHER: i32 = -42;

/// The exponent of the lower accumulator for rounding errors. The last place of a product of two 53-bit numbers is at most 105 places below the
/// exponent of the rounded product: 2^-137 for a product of 2^-32.
pub(super) const ERRORS_LOWER: i32 = ERRORS_HIGHER - 44;

const _: () = assert!(ERRORS_LOWER - 52 <= 1 - EXPONENTS - 1 - 105);
const _: () = assert!(LOWER - 52 <= 1 - EXPONENTS - 1 - 52);

/// The scale of [`split_sums_in_range`](crate::split_sums_in_range) and [`split_products_in_range`](crate::split_products_in_range): the largest exponent of a range of 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeScale(i32);

impl RangeScale {
    /// A scale for items with exponents from `lowest` to `highest`; `None` if the range is too wide. A quarter of the unused exponents is above
    /// `highest`, and the rest below `lowest`, because further items of a uniform or normal distribution may be much smaller, but hardly
    /// larger.
    #[must_use]
    pub fn for_items(lowest: i32, highest: i32) -> Option<Self> {
        Self::between(-1022, lowest, highest)
    }

    /// Does what [`for_items`](Self::for_items) does, for rounded products.
    ///
    /// The rounding error of a product of at least 2^-968 is a double: its last place is at most 105 places below the product's exponent.
    #[must_use]
    pub fn for_products(lowest: i32, highest: i32) -> Option<Self> {
        // A product that rounds up to the smallest number in range has an exponent that is lower by one.
        Self::between(1 - 968, lowest, highest)
    }

    /// The scale of a range that starts at `first` or above, and contains `lowest` to `highest`.
    fn between(first: i32, lowest: i32, highest: i32) -> Option<Self> {
        let most = lowest + EXPONENTS - 1;
        let least = highest.max(first + EXPONENTS - 1);
        // A larger scale would have a subnormal factor.
        let fits = least <= most && most <= 1022;
        fits.then(|| Self(least + (most - least) / 4))
    }

    /// The largest exponent of the range.
    #[must_use]
    pub fn highest(self) -> i32 {
        self.0
    }

    /// The exponents of the units of the higher and the lower parts.
    #[must_use]
    pub fn units(self) -> [i32; 2] {
        [HIGHER - 52 + self.0, LOWER - 52 + self.0]
    }

    /// The exponents of the units of the products' errors.
    #[must_use]
    pub fn error_units(self) -> [i32; 2] {
        [ERRORS_HIGHER - 52 + self.0, ERRORS_LOWER - 52 + self.0]
    }

    /// The factor that scales the largest exponent of the range to 0.
    pub(super) fn factor(self) -> f64 {
        power_of_two(-self.0)
    }
}

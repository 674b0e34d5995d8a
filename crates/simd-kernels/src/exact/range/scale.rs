//! The range of exponents, and where its parts go.

use crate::exact::split::power_of_two;

/// The exponents of a range.
const EXPONENTS: i32 = 32;

/// The exponent of the accumulator of higher parts: it takes fewer than 2^8 items below 2, and has room for 2^11.
pub(super) const HIGHER: i32 = 12;

/// That of the accumulator of lower parts. Its last place, 2^-84, is that of a number that is a little less than 2^-31, the part of which is
/// 2^-31. It takes fewer than 2^8 rests, of 2^-41 at most, and has room for 2^-33.
pub(super) const LOWER: i32 = HIGHER - 44;

/// The same of rounding errors of products, which are at most 2^-53.
pub(super) const ERRORS_HIGHER: i32 = -42;

/// The product of two numbers of 53 bits ends 105 binary places below its beginning, after it was rounded: from 2^-32 at 2^-137.
pub(super) const ERRORS_LOWER: i32 = ERRORS_HIGHER - 44;

const _: () = assert!(ERRORS_LOWER - 52 <= 1 - EXPONENTS - 1 - 105);
const _: () = assert!(LOWER - 52 <= 1 - EXPONENTS - 1 - 52);

/// The scale of [`split_sums_in_range`](crate::split_sums_in_range) and [`split_products_in_range`](crate::split_products_in_range): the largest exponent of a range of 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeScale(i32);

impl RangeScale {
    /// A scale for items of which these are the smallest and the largest exponent, with a quarter of the room above; `None` if they are too many.
    ///
    /// Of items that are spread evenly, or normally, the next ones may be much nearer to zero, but hardly larger.
    #[must_use]
    pub fn for_items(lowest: i32, highest: i32) -> Option<Self> {
        Self::between(-1022, lowest, highest)
    }

    /// The same for products, after rounding.
    ///
    /// The errors of those from 2^-968 on are numbers: they end 105 binary places below.
    #[must_use]
    pub fn for_products(lowest: i32, highest: i32) -> Option<Self> {
        // One that is rounded up to the smallest number in range has an exponent less.
        Self::between(1 - 968, lowest, highest)
    }

    /// Of ranges that begin at `first` or above.
    fn between(first: i32, lowest: i32, highest: i32) -> Option<Self> {
        let most = lowest + EXPONENTS - 1;
        let least = highest.max(first + EXPONENTS - 1);
        // The factor of larger ones would be subnormal.
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

    /// Those of the errors of products.
    #[must_use]
    pub fn error_units(self) -> [i32; 2] {
        [ERRORS_HIGHER - 52 + self.0, ERRORS_LOWER - 52 + self.0]
    }

    /// What makes the largest exponent of the range 0.
    pub(super) fn factor(self) -> f64 {
        power_of_two(-self.0)
    }
}

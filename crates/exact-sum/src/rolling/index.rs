//! Defines the types that an index can have, and compares distances between index entries exactly.

use std::cmp::Ordering;

use crate::number::fixed::{Doubles, Fixed, integer};
use crate::number::float::sealed::Conversions as _;

/// The types of an index: integers, `f32` and `f64`.
pub trait RollingIndex: Copy + sealed::IndexDistance {}

pub(super) mod sealed {
    use super::Ordering;

    /// Methods that other crates can neither call nor implement. `is_quiet` says whether the floating-point environment is the default.
    pub trait IndexDistance: Copy {
        fn is_positive(self) -> bool;

        /// Whether this number is at least `other`; false if one of them is NaN.
        fn is_at_least(self, other: Self, is_quiet: bool) -> bool;

        /// Compares the distance from `first` up to this number with `width`, or with half of it if `is_half`. Nothing is rounded.
        fn compare(self, first: Self, width: Self, is_half: bool, is_quiet: bool) -> Ordering;
    }
}

macro_rules! integers {
    ($($integer:ident)*) => {$(
        impl RollingIndex for $integer {}

        impl sealed::IndexDistance for $integer {
            fn is_positive(self) -> bool {
                self > 0
            }

            #[inline(always)]
            fn is_at_least(self, other: Self, _: bool) -> bool {
                self >= other
            }

            #[inline(always)]
            fn compare(self, first: Self, width: Self, is_half: bool, _: bool) -> Ordering {
                let (distance, width) = (self.abs_diff(first), width.abs_diff(0));
                if !is_half {
                    return distance.cmp(&width);
                }
                // Half of an odd width is between two integers.
                distance.cmp(&(width / 2)).then((width % 2).cmp(&0).reverse())
            }
        }
    )*};
}

integers!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);

macro_rules! floats {
    ($($float:ident)*) => {$(
        impl RollingIndex for $float {}

        impl sealed::IndexDistance for $float {
            fn is_positive(self) -> bool {
                ordered(self.widened()).is_some_and(|number| number > 0)
            }

            #[inline(always)]
            fn is_at_least(self, other: Self, is_quiet: bool) -> bool {
                if is_quiet {
                    return self >= other;
                }
                let [own, other] = [self, other].map(|number| ordered(number.widened()));
                own.is_some() && other.is_some() && own >= other
            }

            #[inline(always)]
            fn compare(self, first: Self, width: Self, is_half: bool, is_quiet: bool) -> Ordering {
                let distance = if is_quiet { self - first } else { Self::NAN };
                let bound = if is_half { width * 0.5 } else { width };
                // Half of a subnormal width may not be a number of this type.
                if distance.is_finite() && (!is_half || bound >= Self::MIN_POSITIVE) {
                    if distance < bound {
                        return Ordering::Less;
                    }
                    if distance > bound {
                        return Ordering::Greater;
                    }
                    // The rounding error of the difference (2Sum: Knuth, TAOCP 2, 4.2.2).
                    let away = self - distance;
                    let rest = (self - (distance + away)) + (away - first);
                    return rest.partial_cmp(&0.0).unwrap_or(Ordering::Equal);
                }
                compare_exactly([self, first, width].map(Self::widened), is_half)
            }
        }
    )*};
}

floats!(f32 f64);

/// Maps numbers to integers with the same order. Both zeros have the same integer. `None` for NaN.
fn ordered(number: f64) -> Option<i64> {
    let magnitude = number.abs().to_bits().cast_signed();
    let signed = if number.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    };
    (magnitude <= f64::INFINITY.to_bits().cast_signed()).then_some(signed)
}

/// Returns the same as [`compare`](sealed::IndexDistance::compare), by integer arithmetic alone.
#[cold]
fn compare_exactly([last, first, width]: [f64; 3], is_half: bool) -> Ordering {
    if ordered(last) == ordered(first)
        || width.is_infinite() && last.is_finite() && first.is_finite()
    {
        return Ordering::Less;
    }
    if !last.is_finite() || !first.is_finite() {
        return Ordering::Greater;
    }
    let times = if is_half { 2 } else { 1 };
    let mut distance = Fixed::<Doubles>::ZERO;
    for (number, times) in [(last, times), (first, -times), (width, -1)] {
        let (significand, unit) = integer(number);
        distance.add(times * significand, unit);
    }
    match distance.magnitude() {
        None => Ordering::Equal,
        Some((true, _)) => Ordering::Less,
        Some((false, _)) => Ordering::Greater,
    }
}

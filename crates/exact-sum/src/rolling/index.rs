//! The numbers of an index, and how far they are apart.

use crate::number::fixed::{Doubles, Fixed, integer};
use crate::number::float::sealed::Sealed as _;

/// The types of an index: integers, `f32` and `f64`.
pub trait RollingIndex: Copy + sealed::Sealed {}

pub(super) mod sealed {
    /// What other crates cannot call, and cannot implement. `is_quiet`: the floating-point environment is the default.
    pub trait Sealed: Copy {
        fn is_positive(self) -> bool;

        /// False also if one is NaN.
        fn is_at_least(self, other: Self, is_quiet: bool) -> bool;

        /// Whether the distance from `first`, which is not more than this number, is at least a width. It is not rounded.
        fn is_beyond(self, first: Self, width: Self, is_quiet: bool) -> bool;
    }
}

macro_rules! integers {
    ($($integer:ident)*) => {$(
        impl RollingIndex for $integer {}

        impl sealed::Sealed for $integer {
            fn is_positive(self) -> bool {
                self > 0
            }

            #[inline(always)]
            fn is_at_least(self, other: Self, _: bool) -> bool {
                self >= other
            }

            #[inline(always)]
            fn is_beyond(self, first: Self, width: Self, _: bool) -> bool {
                self.abs_diff(first) >= width.abs_diff(0)
            }
        }
    )*};
}

integers!(u8 i8 u16 i16 u32 i32 u64 i64 u128 i128 usize isize);

macro_rules! floats {
    ($($float:ident)*) => {$(
        impl RollingIndex for $float {}

        impl sealed::Sealed for $float {
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
            fn is_beyond(self, first: Self, width: Self, is_quiet: bool) -> bool {
                let distance = if is_quiet { self - first } else { Self::NAN };
                if distance.is_finite() {
                    if distance < width {
                        return false;
                    }
                    if distance > width {
                        return true;
                    }
                    // What the difference lacks (2Sum: Knuth, TAOCP 2, 4.2.2).
                    let away = self - distance;
                    return (self - (distance + away)) + (away - first) >= 0.0;
                }
                is_beyond_exactly([self, first, width].map(Self::widened))
            }
        }
    )*};
}

floats!(f32 f64);

/// An integer in the order of numbers, zeros being equal; `None` for NaN.
fn ordered(number: f64) -> Option<i64> {
    let magnitude = number.abs().to_bits().cast_signed();
    let signed = if number.is_sign_negative() {
        -magnitude
    } else {
        magnitude
    };
    (magnitude <= f64::INFINITY.to_bits().cast_signed()).then_some(signed)
}

/// [`is_beyond`](sealed::Sealed::is_beyond) by integer arithmetic alone.
#[cold]
fn is_beyond_exactly([last, first, width]: [f64; 3]) -> bool {
    if ordered(last) == ordered(first) {
        return false;
    }
    if !last.is_finite() || !first.is_finite() {
        return true;
    }
    if !width.is_finite() {
        return false;
    }
    let mut distance = Fixed::<Doubles>::ZERO;
    for (number, sign) in [(last, 1), (first, -1), (width, -1)] {
        let (significand, unit) = integer(number);
        distance.add(sign * significand, unit);
    }
    !distance.is_negative()
}

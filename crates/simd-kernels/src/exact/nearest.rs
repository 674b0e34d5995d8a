//! Rounds integers, each stored as a [`Pair`], and their quotients to the nearest doubles.

use crate::exact::decode::{DecodeUnit, LOWER, LOWER_PLACES, Pair};
use crate::exact::split::power_of_two;
use crate::sets::dispatch::compute;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// Rounds integers in a unit to the nearest doubles, ties to even. Returns false, and writes nothing, if the unit is so small that results may be
/// subnormal. Each half of a pair must be below 2^62 in magnitude.
///
/// # Panics
/// `doubles` is not as long as `pairs`.
///
/// ```
/// use simd_kernels::{DecodeUnit, Level, nearest_doubles};
///
/// let mut doubles = [0.0; 2];
/// let unit = DecodeUnit::of_exponent(0);
/// assert!(nearest_doubles(Level::best(), &[[1, 1], [-3, 0]], unit, &mut doubles));
/// assert_eq!(doubles, [2_f64.powi(53), -3.0]);
/// ```
pub fn nearest_doubles(
    level: Level,
    pairs: &[Pair],
    unit: DecodeUnit,
    doubles: &mut [f64],
) -> bool {
    convert::<false>(level, pairs, unit, doubles)
}

/// Like [`nearest_doubles`], but rounds to odd: an integer that is not a double becomes the neighbouring double whose last bit is one.
/// Rounding this double again, to a shorter type, then gives the same result as rounding the integer once.
pub fn doubles_to_round(
    level: Level,
    pairs: &[Pair],
    unit: DecodeUnit,
    doubles: &mut [f64],
) -> bool {
    convert::<true>(level, pairs, unit, doubles)
}

#[inline]
fn convert<const TO_ODD: bool>(
    level: Level,
    pairs: &[Pair],
    unit: DecodeUnit,
    doubles: &mut [f64],
) -> bool {
    assert_eq!(pairs.len(), doubles.len());
    let exponent = unit.exponent();
    let is_normal = (f64::MIN_EXP - 1..f64::MAX_EXP).contains(&exponent);
    if is_normal {
        let scale = power_of_two(exponent);
        let kernel = Nearest::<'_, TO_ODD> {
            pairs,
            scale,
            doubles,
        };
        compute(level, kernel);
    }
    is_normal
}

struct Nearest<'p, const TO_ODD: bool> {
    pairs: &'p [Pair],
    scale: f64,
    doubles: &'p mut [f64],
}

/// [`nearest_quotients`] supports divisors below this number.
const MANY: usize = 1 << 26;

/// Divides integers in a unit by numbers of items, and rounds the quotients to the nearest doubles. Writes NaN for a quotient whose first 100 places
/// do not decide how to round it. Returns false, and writes nothing, if the unit is so small that results may be subnormal, or if a number of items
/// is 2^26 or more. Each half of a pair must be below 2^62 in magnitude.
///
/// # Panics
/// The slices differ in length.
///
/// ```
/// use simd_kernels::{DecodeUnit, Level, nearest_quotients};
///
/// let mut quotients = [0.0; 2];
/// let unit = DecodeUnit::of_exponent(0);
/// assert!(nearest_quotients(Level::best(), &[[1, 0], [-9, 0]], &[3, 1], unit, &mut quotients));
/// assert_eq!(quotients, [1.0 / 3.0, -9.0]);
/// ```
pub fn nearest_quotients(
    level: Level,
    pairs: &[Pair],
    items: &[usize],
    unit: DecodeUnit,
    quotients: &mut [f64],
) -> bool {
    assert_eq!([pairs.len(), items.len()], [quotients.len(); 2]);
    let exponent = unit.exponent();
    let are_few = items.iter().fold(0, |all, items| all | items) < MANY;
    let can = are_few && (f64::MIN_EXP + 26..f64::MAX_EXP).contains(&exponent);
    if can {
        let scale = power_of_two(exponent);
        let kernel = Quotients {
            pairs,
            items,
            scale,
            quotients,
        };
        compute(level, kernel);
    }
    can
}

struct Quotients<'p> {
    pairs: &'p [Pair],
    items: &'p [usize],
    scale: f64,
    quotients: &'p mut [f64],
}

impl Kernel<f64> for Quotients<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "the values have few enough bits"
    )]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) {
        /// A bound on a quotient's error, relative to half a unit in its last place.
        const DOUBT: f64 = 1.0 / (1_u64 << 46) as f64;
        let items = self.items.iter().map(|items| f64::from(*items as u32));
        let pairs = self.pairs.iter().zip(items);
        for ((&pair, items), quotient) in pairs.zip(self.quotients) {
            let [upper, rest] = halves(pair);
            let [integer, lacks] = sum(upper, rest);
            let first = integer / items;
            // Products of a half of the quotient and a number of 26 bits are exact, and so are both differences.
            let upper = f64::from_bits(first.to_bits() & !((1 << 27) - 1));
            let remainder = (integer - upper * items) - (first - upper) * items;
            let second = (remainder + lacks) / items;
            let [rounded, lacks] = sum(first, second);
            let is_clear = rounded + lacks * (1.0 + DOUBT) - rounded == 0.0;
            *quotient = if is_clear {
                rounded * self.scale
            } else {
                f64::NAN
            };
        }
    }
}

/// The sum of two numbers, rounded to nearest, and its exact rounding error (Dekker's Fast2Sum). The first number must be at least as large in
/// magnitude as the second, or one of them must be 0.
#[inline(always)]
fn sum(first: f64, second: f64) -> [f64; 2] {
    let sum = first + second;
    [sum, second - (sum - first)]
}

/// Rounds to odd: returns the rounded number or its neighbour on the side of the rounding error, whichever has a last bit of one (Boldo and
/// Melquiond, IEEE Trans. Comput. 57, 2008, "Emulation of FMA and correctly rounded sums").
#[inline(always)]
fn to_odd([rounded, lacks]: [f64; 2]) -> f64 {
    let bits = rounded.to_bits();
    let is_less = (bits ^ lacks.to_bits()).cast_signed() < 0;
    let lower = bits.wrapping_sub(u64::from(is_less));
    f64::from_bits(if lacks == 0.0 { bits } else { lower | 1 })
}

/// Splits an integer into the sum of two doubles. The second one is rounded to odd.
#[inline(always)]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the values have few enough bits"
)]
fn halves([lower, higher]: Pair) -> [f64; 2] {
    const PLACES: f64 = (1_u64 << LOWER_PLACES) as f64;
    const UPPER_PLACES: f64 = PLACES * (1_u64 << 32) as f64;
    let higher = higher + (lower >> LOWER_PLACES);
    let lower = (lower.cast_unsigned() & LOWER) as f64;
    let middle = f64::from(higher as u32) * PLACES;
    let upper = f64::from((higher >> 32) as i32) * UPPER_PLACES;
    // The bits of `upper`, `middle` and `lower` do not overlap.
    let [upper, lacks] = sum(upper, middle);
    [upper, to_odd(sum(lacks, lower))]
}

// Plain loops, which the compiler vectorizes.
impl<const TO_ODD: bool> Kernel<f64> for Nearest<'_, TO_ODD> {
    type Output = ();

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) {
        for (&pair, double) in self.pairs.iter().zip(self.doubles) {
            let [upper, rest] = halves(pair);
            let rounded = sum(upper, rest);
            let rounded = if TO_ODD { to_odd(rounded) } else { rounded[0] };
            *double = rounded * self.scale;
        }
    }
}

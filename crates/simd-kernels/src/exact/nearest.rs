//! Pairs of integers as the numbers that are nearest to them.

use crate::exact::decode::{DecodeUnit, LOWER, LOWER_PLACES, Pair};
use crate::exact::split::power_of_two;
use crate::sets::dispatch::compute;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// Writes the doubles that are nearest to integers in a unit, ties to even, whose halves are below 2^62 in magnitude. It says whether it could: not
/// in a unit so small that results may be subnormal.
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

/// The same of doubles that may be rounded to shorter numbers, as if these had been rounded at once: where a double is not the integer, it is
/// that of the two next to it whose last bit is one.
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

/// So many items, and more, are too many for [`nearest_quotients`].
const MANY: usize = 1 << 26;

/// Writes the doubles that are nearest to integers in a unit divided by numbers of items, or NaN where that is not clear from 100 places of the
/// quotient. It says whether it could: not in a unit so small that results may be subnormal, nor for 2^26 items. The integers' halves are below
/// 2^62 in magnitude.
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
        reason = "they are short enough"
    )]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) {
        /// More than a quotient's relative error is to half a unit in its last place.
        const DOUBT: f64 = 1.0 / (1_u64 << 46) as f64;
        let items = self.items.iter().map(|items| f64::from(*items as u32));
        let pairs = self.pairs.iter().zip(items);
        for ((&pair, items), quotient) in pairs.zip(self.quotients) {
            let [upper, rest] = halves(pair);
            let [integer, lacks] = sum(upper, rest);
            let first = integer / items;
            // Products of the halves of a quotient and 26 places are exact, and so are both differences.
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

/// The sum of two numbers, rounded to nearest, and what it lacks, exactly: one is 0, or the first one is not less than the second one in
/// magnitude (Dekker's Fast2Sum).
#[inline(always)]
fn sum(first: f64, second: f64) -> [f64; 2] {
    let sum = first + second;
    [sum, second - (sum - first)]
}

/// A rounded number, or its neighbour on the side of what it lacks: the one whose last bit is one (Boldo and Melquiond, IEEE Trans. Comput. 57,
/// 2008, "Emulation of FMA and correctly rounded sums").
#[inline(always)]
fn to_odd([rounded, lacks]: [f64; 2]) -> f64 {
    let bits = rounded.to_bits();
    let is_less = (bits ^ lacks.to_bits()).cast_signed() < 0;
    let lower = bits.wrapping_sub(u64::from(is_less));
    f64::from_bits(if lacks == 0.0 { bits } else { lower | 1 })
}

/// An integer as the sum of two doubles, the second of which is rounded to odd.
#[inline(always)]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "they are short enough"
)]
fn halves([lower, higher]: Pair) -> [f64; 2] {
    const PLACES: f64 = (1_u64 << LOWER_PLACES) as f64;
    const UPPER_PLACES: f64 = PLACES * (1_u64 << 32) as f64;
    let higher = higher + (lower >> LOWER_PLACES);
    let lower = (lower.cast_unsigned() & LOWER) as f64;
    let middle = f64::from(higher as u32) * PLACES;
    let upper = f64::from((higher >> 32) as i32) * UPPER_PLACES;
    // Three numbers without common places.
    let [upper, lacks] = sum(upper, middle);
    [upper, to_odd(sum(lacks, lower))]
}

// The compiler vectorizes the loops: they need no register of ours.
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

//! Pairs of integers as the numbers that are nearest to them.

use crate::exact::split::power_of_two;
use crate::exact::windows::{DecodeUnit, LOWER, LOWER_PLACES, Pair};
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
#[inline]
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
#[inline]
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

// The compiler vectorizes the loop: it needs no register of ours.
impl<const TO_ODD: bool> Kernel<f64> for Nearest<'_, TO_ODD> {
    type Output = ();

    #[inline(always)]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "they are short enough"
    )]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) {
        let (places, upper_places) = (power_of_two(LOWER_PLACES), power_of_two(LOWER_PLACES + 32));
        for (&[lower, higher], double) in self.pairs.iter().zip(self.doubles) {
            let higher = higher + (lower >> LOWER_PLACES);
            let lower = (lower.cast_unsigned() & LOWER) as f64;
            let middle = f64::from(higher as u32) * places;
            let upper = f64::from((higher >> 32) as i32) * upper_places;
            // Three numbers without common places.
            let [sum_of_upper, lacks] = sum(upper, middle);
            let rest = to_odd(sum(lacks, lower));
            let rounded = sum(sum_of_upper, rest);
            let rounded = if TO_ODD { to_odd(rounded) } else { rounded[0] };
            *double = rounded * self.scale;
        }
    }
}

//! Items as integers of 128 bits.

use crate::sets::dispatch::compute;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// The items of one call of [`decode`] at most: their integers lie in the nearest cache.
pub const DECODED_ITEMS: usize = 512;

/// The unit of the integers of [`decode`]: 2^[`exponent`](Self::exponent).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DecodeUnit(u32);

impl DecodeUnit {
    /// An integer has room for items of so many exponents.
    pub const EXPONENTS: i32 = 64;

    /// The unit for which items of an exponent, as [`Exponents`](crate::Exponents) tells it, have 48 exponents below them, and 15 above; fewer
    /// where there are no more.
    #[must_use]
    pub fn for_exponent(exponent: i32) -> Self {
        Self::for_range(exponent, 48)
    }

    /// The unit for which items of an exponent have so many exponents below them; fewer where there are no more.
    #[must_use]
    pub fn for_range(exponent: i32, below: i32) -> Self {
        // The exponent of infinities does not fit.
        let most = 0x7FF - Self::EXPONENTS;
        let biased = (exponent + 1023 - below).clamp(1, most);
        Self(biased.cast_unsigned())
    }

    /// The binary logarithm of the unit.
    #[must_use]
    pub fn exponent(self) -> i32 {
        self.0.cast_signed() - 1075
    }

    /// Whether an item is an integer in this unit, and small enough: zero, or of one of the exponents.
    #[must_use]
    #[inline(always)]
    pub fn fits(self, item: f64) -> bool {
        let [distance, significand] = self.parts(item.to_bits());
        distance < Self::EXPONENTS as u64 || significand == 0
    }

    /// How far a finite item's exponent is above the lowest, wrapping, and its significand.
    #[inline(always)]
    fn parts(self, bits: u64) -> [u64; 2] {
        let biased = bits >> 52 & 0x7FF;
        let implicit = u64::from(biased != 0);
        let significand = bits & ((1 << 52) - 1) | implicit << 52;
        [
            (biased + 1 - implicit).wrapping_sub(self.0.into()),
            significand,
        ]
    }
}

/// Writes items as integers in a unit, a lower and a higher word of two's complement each, and says whether all fit. One that does not
/// is written as zero.
///
/// # Panics
/// There are more than [`DECODED_ITEMS`].
///
/// ```
/// use simd_kernels::{DECODED_ITEMS, DecodeUnit, Level, decode};
///
/// let unit = DecodeUnit::for_exponent(0);
/// let (mut lower, mut higher) = ([0; DECODED_ITEMS], [0; DECODED_ITEMS]);
/// assert!(!decode(Level::best(), &[-1.0, 1e300], unit, &mut lower, &mut higher));
/// let integer = i128::from(higher[0]) << 64 | i128::from(lower[0]);
/// assert_eq!(integer as f64 * 2_f64.powi(unit.exponent()), -1.0);
/// assert_eq!((lower[1], higher[1]), (0, 0));
/// ```
#[inline]
pub fn decode(
    level: Level,
    items: &[f64],
    unit: DecodeUnit,
    lower: &mut [u64; DECODED_ITEMS],
    higher: &mut [i64; DECODED_ITEMS],
) -> bool {
    assert!(items.len() <= DECODED_ITEMS);
    compute(
        level,
        Decode {
            items,
            unit,
            lower,
            higher,
        },
    )
}

struct Decode<'d> {
    items: &'d [f64],
    unit: DecodeUnit,
    lower: &'d mut [u64; DECODED_ITEMS],
    higher: &'d mut [i64; DECODED_ITEMS],
}

// The compiler vectorizes the loop: it needs no register of ours.
impl Kernel<f64> for Decode<'_> {
    type Output = bool;

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) -> bool {
        let words = self.lower.iter_mut().zip(self.higher);
        let mut misfits = 0;
        for (&item, (lower, higher)) in self.items.iter().zip(words) {
            let bits = item.to_bits();
            let [distance, significand] = self.unit.parts(bits);
            let is_near = distance < DecodeUnit::EXPONENTS as u64;
            let kept = if is_near { significand } else { 0 };
            misfits |= significand ^ kept;
            let distance = distance & 63;
            let sign = (bits.cast_signed() >> 63).cast_unsigned();
            let low = ((kept << distance) ^ sign).wrapping_sub(sign);
            let high = (kept >> 1 >> (63 - distance)) ^ sign;
            // The carry of the lower word.
            let carry = u64::from(low == 0) & sign;
            *lower = low;
            *higher = high.wrapping_add(carry & 1).cast_signed();
        }
        misfits == 0
    }
}

//! Skewness and kurtosis.

use super::moments::PackedMoments;
use super::number::Number;
use super::packed::{Packed, Unpacked};
use super::short::Short;
use super::{CompactBytes, CompactItem, CompactMoments, CompactRows, CompactState};
use crate::bytes::BytesError;
use crate::number::counters::{LimitError, RemoveError};
use crate::number::fixed::{DoubleCubes, DoubleFourths};
use crate::number::wide::Wide;
use crate::slots::Slot as _;
use crate::slots::powers::{Powers, higher_powers};
use crate::statistic::{Options, Statistic};

/// The number of items and the sums of their first four powers, in 160 bytes.
///
/// ```
/// use exact_sum::{CompactPowers, CompactRows, CompactState, Statistic};
///
/// let mut powers = CompactPowers::new();
/// [5000.0, 0.01, -0.02, 0.015, 0.005, -0.01].map(|item| powers.add(item));
/// powers.remove(5000.0)?;
/// let skewness = Statistic::Skewness;
/// assert_eq!(powers.statistic(skewness, skewness.defaults()), Some(-0.4060402882133138));
/// # Ok::<(), exact_sum::RemoveError>(())
/// ```
pub type CompactPowers = Packed<PowerSums>;

/// The numbers of [`CompactPowers`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PowerSums {
    moments: CompactMoments,
    cubes: Number<Wide<5>, DoubleCubes>,
    fourths: Number<Wide<6>, DoubleFourths>,
}

/// These numbers, packed.
#[derive(Clone, Copy, Debug)]
pub struct PackedPowers {
    moments: PackedMoments,
    cubes: Short<Wide<5>>,
    fourths: Short<Wide<6>>,
}

impl PackedPowers {
    #[inline(always)]
    fn plus(self, item: impl CompactItem) -> Option<Self> {
        let moments = self.moments.plus(item)?;
        let (integer, unit) = item.parts();
        let (cubes, fourths) = higher_powers(integer, unit);
        Some(Self {
            moments,
            cubes: self.cubes.plus_parts(cubes)?,
            fourths: self.fourths.plus_parts(fourths)?,
        })
    }
}

impl CompactPowers {
    /// Adds an item.
    #[inline]
    pub fn add(&mut self, item: impl CompactItem) {
        self.add_or(self.numbers.plus(item), |state| state.add(item));
    }
}

impl Unpacked for PowerSums {
    type Packed = PackedPowers;

    const EMPTY: PackedPowers = PackedPowers {
        moments: PackedMoments::EMPTY,
        cubes: Short::EMPTY,
        fourths: Short::EMPTY,
    };

    fn sums(own: PackedPowers, other: PackedPowers, is_less: bool) -> Option<PackedPowers> {
        Some(PackedPowers {
            moments: own.moments.sums(other.moments, is_less)?,
            cubes: own.cubes.plus(other.cubes, is_less)?,
            fourths: own.fourths.plus(other.fourths, is_less)?,
        })
    }

    fn packed(&self) -> Option<PackedPowers> {
        Some(PackedPowers {
            moments: self.moments.packed()?,
            cubes: self.cubes.short()?,
            fourths: self.fourths.short()?,
        })
    }

    fn of_packed(numbers: PackedPowers, items: u64) -> Self {
        Self {
            moments: CompactMoments::of_packed(numbers.moments, items),
            cubes: Number::of_short(numbers.cubes, 0),
            fourths: Number::of_short(numbers.fourths, 0),
        }
    }
}

impl PowerSums {
    fn add(&mut self, item: impl CompactItem) {
        self.moments.add(item);
        if item.special().is_none() {
            let (integer, unit) = item.parts();
            let (cubes, fourths) = higher_powers(integer, unit);
            self.cubes.add_parts(cubes);
            self.fourths.add_parts(fourths);
        }
    }

    fn powers(&self) -> Powers<f64> {
        let mut powers = Powers::new();
        powers.moments = self.moments.moments();
        powers.cubes = self.cubes.total().fixed;
        powers.fourths = self.fourths.total().fixed;
        powers
    }
}

impl CompactState for PowerSums {
    fn items(&self) -> u64 {
        self.moments.items()
    }

    fn merge(&mut self, other: &Self) -> Result<(), LimitError> {
        self.moments.merge(&other.moments)?;
        self.cubes.merge(&other.cubes)?;
        self.fourths.merge(&other.fourths)
    }

    fn unmerge(&mut self, other: &Self) -> Result<(), RemoveError> {
        // Cubes and fourth powers are not counted, so their removal cannot fail.
        self.moments.unmerge(&other.moments)?;
        self.cubes.unmerge(&other.cubes)?;
        self.fourths.unmerge(&other.fourths)
    }

    fn value_of(&self, statistic: Statistic, options: Options, scales: [i32; 2]) -> Option<f64> {
        match statistic {
            Statistic::Skewness | Statistic::Kurtosis => {
                // Neither depends on the unit of the items.
                self.powers().statistic(statistic, options)
            }
            _ => self.moments.value_of(statistic, options, scales),
        }
    }

    fn has_specials(&self) -> bool {
        self.moments.has_specials()
    }
}

impl<N: CompactItem> CompactRows<N> for CompactPowers {
    #[inline]
    fn add_row(&mut self, row: N) {
        self.add(row);
    }
}

impl CompactBytes for PowerSums {
    fn to_bytes(&self) -> Vec<u8> {
        self.powers().to_bytes()
    }

    fn of_bytes(bytes: &[u8]) -> Result<Self, BytesError> {
        let powers = Powers::of_bytes(bytes)?;
        Ok(Self {
            moments: CompactMoments::of_moments(&powers.moments),
            cubes: Number::of_fixed(powers.cubes),
            fourths: Number::of_fixed(powers.fourths),
        })
    }
}

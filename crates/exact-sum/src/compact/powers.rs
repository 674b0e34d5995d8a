//! Implements the state for skewness and kurtosis.

use super::CompactItem;
use super::moments::moment;
use super::products::product;
use super::short::{Short, Value};
use super::state::{Asked, Compact, Figures, Numbers, numbers};
use super::sum::quick;
use crate::number::counters::Counters;
use crate::number::fixed::{DoubleCubes, DoubleFourths, DoubleProducts, Doubles, Fixed};
use crate::number::total::Total;
use crate::slots::Slot as _;
use crate::slots::moments::Moments;
use crate::slots::powers::{Powers, higher_powers};
use crate::statistic::{Held, Statistic};

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
pub type CompactPowers = Compact<PowerNumbers>;

numbers!(
    PowerNumbers,
    LongPowers,
    1,
    sum 2 Doubles,
    squares 4 DoubleProducts,
    cubes 5 DoubleCubes,
    fourths 6 DoubleFourths
);

impl PowerNumbers {
    #[inline(always)]
    fn plus(self, item: impl CompactItem) -> Option<Self> {
        let (integer, unit) = item.parts();
        let (cubes, fourths) = higher_powers(integer, unit);
        Some(Self {
            sum: self.sum.plus_item(integer.into(), unit)?,
            squares: self.squares.plus_product(item, item)?,
            cubes: self.cubes.plus_parts(cubes)?,
            fourths: self.fourths.plus_parts(fourths)?,
        })
    }
}

impl CompactPowers {
    /// Adds an item.
    #[inline]
    pub fn add(&mut self, item: impl CompactItem) {
        self.add_or(self.numbers.plus(item), |state| state.add_apart(item));
    }

    #[cold]
    fn add_apart(&mut self, item: impl CompactItem) {
        let (integer, unit) = item.parts();
        let (cubes, fourths) = higher_powers(integer, unit);
        match item.special() {
            Some(special) => self.long().counters[0].count_special(special),
            None => self.add_values(&[
                (&[(integer.into(), unit)], item.is_integer()),
                product(item, item).value(),
                (&cubes, false),
                (&fourths, false),
            ]),
        }
    }
}

impl Figures for PowerNumbers {
    type Slot = Powers<f64>;

    const HELD: Held = Held::Powers;

    fn slot(long: &LongPowers) -> Powers<f64> {
        let sum = Total {
            fixed: long.sum,
            counters: long.counters[0],
        };
        Powers {
            moments: Moments::of_parts(sum, long.squares),
            cubes: long.cubes,
            fourths: long.fourths,
        }
    }

    fn of_slot(slot: &Powers<f64>) -> LongPowers {
        let Moments { sum, squares } = &slot.moments;
        LongPowers {
            counters: [sum.total.counters],
            sum: sum.total.fixed,
            squares: squares.total.fixed,
            cubes: slot.cubes,
            fourths: slot.fourths,
        }
    }

    fn quick(&self, statistic: Statistic, items: u64) -> Option<f64> {
        quick(self.sum, statistic, items)
    }

    fn value(slot: &Powers<f64>, (statistic, options, [scale, _]): Asked) -> Option<f64> {
        match statistic {
            // These two statistics do not depend on the unit of the items.
            Statistic::Skewness | Statistic::Kurtosis => slot.statistic(statistic, options),
            _ => moment(&slot.moments, statistic, options, scale),
        }
    }
}

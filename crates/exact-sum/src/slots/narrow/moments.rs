//! Sums items of similar magnitude, and their squares.

use crate::number::float::Float;
use crate::number::near::Part;
use crate::number::wide::Wide;
use crate::slots::moments::Moments;
use crate::slots::narrow::grid::Grid;
use crate::slots::narrow::{Count, Narrow};
use crate::statistic::{Options, Statistic};

/// The sum S1 of items, and the sum S2 of their squares.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NarrowMoments {
    pub(crate) sum: i128,
    pub(crate) squares: Wide<3>,
}

impl NarrowMoments {
    /// n S2 - S1^2, which is n^2 times the variance, in units squared.
    #[inline(always)]
    pub(crate) fn second(&self, items: u64) -> Wide<4> {
        self.squares
            .times_count::<4>(items)
            .less(Wide::square_of(self.sum))
    }

    /// The exponent of a power of two above the error of [`second`](Self::second), n + 2 |S1| + 1, if each sum is up to 1 too small.
    pub(crate) fn second_error(&self, items: u64) -> i32 {
        let [n, sum] = [items.into(), self.sum].map(|number| Wide::<2>::of(number).bits());
        n.max(sum + 1) + 2
    }

    /// The sums of `slot`, rounded down to integers in a unit that its `items` items fit, and the exponent of this unit.
    pub(crate) fn cut<T: Float>(slot: &Moments<T>, items: u64) -> Option<(Self, i32)> {
        let squares = &slot.squares.total;
        let bits = Grid::bits(u64::BITS - items.leading_zeros());
        if squares.special::<T>().is_some() || bits == 0 {
            return None;
        }
        // No item is greater than the root of the sum of the squares.
        let (_, magnitude) = squares.fixed.magnitude()?;
        let unit = (magnitude.bits_end() + 1).div_euclid(2) - bits.cast_signed();
        let [low, high] = slot.sum.total.fixed.cut::<2>(unit).map(i128::from);
        let cut = Self {
            sum: high << u64::BITS | low,
            squares: Wide(squares.fixed.cut(2 * unit)),
        };
        Some((cut, unit))
    }
}

impl<T: Float> Narrow<T, 1> for NarrowMoments {
    type Slot = Moments<T>;

    #[inline(always)]
    fn change(&mut self, [x]: [i128; 1], removes: bool) {
        self.sum += if removes { -x } else { x };
        self.squares = self.squares.changed(Wide::square_of(x), removes);
    }

    #[inline(always)]
    fn statistic(
        &self,
        statistic: Statistic,
        _: Options,
        count: Count,
        [unit]: [i32; 1],
        is_cut: bool,
    ) -> Option<T> {
        let divisor = count.divisor?;
        let error = is_cut.then(|| self.second_error(count.items) + 2 * unit);
        let second = Part::of(self.second(count.items).magnitude(2 * unit), error);
        match statistic {
            Statistic::Variance => second.over(divisor),
            Statistic::StandardDeviation => {
                second.rounded(|second| second.over(divisor.near).root())
            }
            _ => None,
        }
    }

    fn cut(slot: &Moments<T>, items: u64) -> Option<(Self, [i32; 1])> {
        Self::cut(slot, items).map(|(cut, unit)| (cut, [unit]))
    }

    fn with(&self, others: &Moments<T>, items: u64, [unit]: [i32; 1]) -> Moments<T> {
        let mut all = *others;
        all.sum.total.counters.items = items.cast_signed();
        all.sum.total.fixed.add_integer(self.sum, unit);
        all.squares.total.counters.items = items.cast_signed();
        all.squares.total.fixed.add_wide(self.squares.0, 2 * unit);
        all
    }

    fn step(slot: &mut Moments<T>, [x]: [f64; 1], sign: i64) {
        slot.sum.total.step(x, sign);
        slot.squares.total.step_product(x, x, sign);
    }
}

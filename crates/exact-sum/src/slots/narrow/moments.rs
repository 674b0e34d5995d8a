//! The first two powers of items near each other.

use crate::number::float::Float;
use crate::number::near::near_quotient;
use crate::number::wide::Wide;
use crate::slots::moments::Moments;
use crate::slots::narrow::{Narrow, freedom};
use crate::statistic::{Options, Statistic};

/// The sums of items and of their squares.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NarrowMoments {
    pub(crate) sum: i128,
    pub(crate) squares: Wide<3>,
}

impl NarrowMoments {
    /// n S2 - S1^2, which is n^2 times the variance, in units squared.
    #[inline(always)]
    pub(crate) fn second(&self, items: u64) -> Wide<4> {
        let sum = Wide::<2>::of(self.sum);
        let square = sum.times::<2, 4>(sum);
        let items = Wide::<2>::of(items.into());
        self.squares.times::<2, 4>(items).less(square)
    }
}

impl<T: Float> Narrow<T, 1> for NarrowMoments {
    type Slot = Moments<T>;

    #[inline(always)]
    fn add(&mut self, [x]: [i128; 1]) {
        self.sum += x;
        let x = Wide::<2>::of(x);
        self.squares = self.squares.plus(x.times(x));
    }

    #[inline(always)]
    fn remove(&mut self, [x]: [i128; 1]) {
        self.sum -= x;
        let x = Wide::<2>::of(x);
        self.squares = self.squares.less(x.times(x));
    }

    #[inline(always)]
    fn statistic(
        &self,
        statistic: Statistic,
        options: Options,
        items: u64,
        [unit]: [i32; 1],
    ) -> Option<T> {
        let divisor = Wide::<2>::of(i128::from(items) * freedom(items, options.ddof)?);
        let (above, below) = (self.second(items).magnitude(2 * unit), divisor.magnitude(0));
        match statistic {
            Statistic::Variance => near_quotient(above, below, |a, b| a.over(b)),
            Statistic::StandardDeviation => near_quotient(above, below, |a, b| a.over(b).root()),
            _ => None,
        }
    }

    fn with(&self, others: &Moments<T>, items: u64, [unit]: [i32; 1]) -> Moments<T> {
        let mut all = *others;
        all.sum.total.counters.items = items.cast_signed();
        all.sum.total.fixed.add_integer(self.sum, unit);
        all.squares.total.counters.items = items.cast_signed();
        all.squares.total.fixed.add_wide(&self.squares.0, 2 * unit);
        all
    }

    fn step(slot: &mut Moments<T>, [x]: [f64; 1], sign: i64) {
        slot.sum.total.step(x, sign);
        slot.squares.total.step_product(x, x, sign);
    }
}

//! Sums products of items of similar magnitude.

use crate::number::float::Float;
use crate::number::near::{Near, near_quotient};
use crate::number::wide::Wide;
use crate::slots::narrow::{Count, Narrow};
use crate::slots::product_sum::ProductSum;
use crate::slots::weighted::WeightedMean;
use crate::statistic::{Options, Statistic};

/// The sum of the products of C columns; a single column is squared.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NarrowProducts(pub(super) Wide<3>);

/// The sum of the products of items with their weights, and the sum of the weights.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NarrowWeighted {
    products: NarrowProducts,
    weights: i128,
}

impl<T: Float, const C: usize> Narrow<T, C> for NarrowProducts {
    type Slot = ProductSum<T>;

    #[inline(always)]
    fn change(&mut self, row: [i128; C], removes: bool) {
        let [x, y] = [row[0], row[C - 1]].map(Wide::<2>::of);
        self.0 = self.0.changed(x.times(y), removes);
    }

    #[inline(always)]
    fn statistic(
        &self,
        statistic: Statistic,
        _: Options,
        _: Count,
        units: [i32; C],
        _: bool,
    ) -> Option<T> {
        let magnitude = self.0.magnitude(units[0] + units[C - 1]);
        match statistic {
            Statistic::Dot => Some(magnitude.map_or(T::ZERO, T::signed)),
            Statistic::Norm => match magnitude {
                None => Some(T::ZERO),
                Some((_, magnitude)) => Near::of(magnitude).root().nearest(false, 0.0),
            },
            _ => None,
        }
    }

    fn with(&self, others: &ProductSum<T>, items: u64, units: [i32; C]) -> ProductSum<T> {
        let mut all = *others;
        all.total.counters.items = items.cast_signed();
        let unit = units[0] + units[C - 1];
        all.total.fixed.add_wide(self.0.0, unit);
        all
    }

    fn step(slot: &mut ProductSum<T>, row: [f64; C], sign: i64) {
        slot.total.step_product(row[0], row[C - 1], sign);
    }
}

impl<T: Float> Narrow<T, 2> for NarrowWeighted {
    type Slot = WeightedMean<T>;

    #[inline(always)]
    fn change(&mut self, row: [i128; 2], removes: bool) {
        Narrow::<T, 2>::change(&mut self.products, row, removes);
        self.weights += if removes { -row[1] } else { row[1] };
    }

    #[inline(always)]
    fn statistic(
        &self,
        _: Statistic,
        _: Options,
        _: Count,
        [x, y]: [i32; 2],
        _: bool,
    ) -> Option<T> {
        let above = self.products.0.magnitude(x + y)?;
        let below = Wide::<2>::of(self.weights).magnitude(y)?;
        near_quotient(Some(above).into(), Some(below).into(), |a, b| a.over(b))
    }

    fn with(&self, others: &WeightedMean<T>, items: u64, units: [i32; 2]) -> WeightedMean<T> {
        let mut all = *others;
        all.products = self.products.with(&others.products, items, units);
        all.weights.total.counters.items = items.cast_signed();
        all.weights.total.fixed.add_integer(self.weights, units[1]);
        all
    }

    fn step(slot: &mut WeightedMean<T>, row: [f64; 2], sign: i64) {
        NarrowProducts::step(&mut slot.products, row, sign);
        slot.weights.total.step(row[1], sign);
    }
}

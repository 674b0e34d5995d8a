//! The products of two columns of items near each other.

use crate::number::float::Float;
use crate::number::near::near_quotient;
use crate::number::wide::Wide;
use crate::slots::co_moments::CoMoments;
use crate::slots::narrow::moments::NarrowMoments;
use crate::slots::narrow::{Narrow, freedom};
use crate::statistic::{Options, Statistic};

/// The moments of both columns, and the sum of their products.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NarrowCoMoments {
    x: NarrowMoments,
    y: NarrowMoments,
    products: Wide<3>,
}

impl NarrowCoMoments {
    /// n Σxy - Σx Σy.
    #[inline(always)]
    fn mixed(&self, items: u64) -> Wide<4> {
        let [x, y] = [self.x.sum, self.y.sum].map(Wide::<2>::of);
        let items = Wide::<2>::of(items.into());
        self.products.times::<2, 4>(items).less(x.times::<2, 4>(y))
    }

    /// Σx² Σy - Σx Σxy.
    #[inline(always)]
    fn height(&self) -> Wide<5> {
        let [x, y] = [self.x.sum, self.y.sum].map(Wide::<2>::of);
        self.x
            .squares
            .times::<2, 5>(y)
            .less(self.products.times::<2, 5>(x))
    }
}

impl<T: Float> Narrow<T, 2> for NarrowCoMoments {
    type Slot = CoMoments<T>;

    #[inline(always)]
    fn add(&mut self, [x, y]: [i128; 2]) {
        Narrow::<T, 1>::add(&mut self.x, [x]);
        Narrow::<T, 1>::add(&mut self.y, [y]);
        let product = Wide::<2>::of(x).times::<2, 3>(Wide::of(y));
        self.products = self.products.plus(product);
    }

    #[inline(always)]
    fn remove(&mut self, [x, y]: [i128; 2]) {
        Narrow::<T, 1>::remove(&mut self.x, [x]);
        Narrow::<T, 1>::remove(&mut self.y, [y]);
        let product = Wide::<2>::of(x).times::<2, 3>(Wide::of(y));
        self.products = self.products.less(product);
    }

    #[inline(always)]
    fn statistic(
        &self,
        statistic: Statistic,
        options: Options,
        items: u64,
        [x, y]: [i32; 2],
    ) -> Option<T> {
        let mixed = || self.mixed(items).magnitude(x + y);
        match statistic {
            Statistic::Covariance => {
                let divisor = i128::from(items) * freedom(items, options.ddof)?;
                let divisor = Wide::<2>::of(divisor).magnitude(0);
                near_quotient(mixed(), divisor, |a, b| a.over(b))
            }
            Statistic::Correlation => {
                let [xx, yy] = [self.x.second(items), self.y.second(items)];
                let product = xx.times::<4, 8>(yy).magnitude(2 * (x + y));
                near_quotient(mixed(), product, |a, b| a.over(b.root()))
            }
            Statistic::Slope => {
                let below = self.x.second(items).magnitude(2 * x);
                near_quotient(mixed(), below, |a, b| a.over(b))
            }
            Statistic::Intercept => {
                let below = self.x.second(items).magnitude(2 * x);
                let above = self.height().magnitude(2 * x + y);
                near_quotient(above, below, |a, b| a.over(b))
            }
            _ => None,
        }
    }

    fn with(&self, others: &CoMoments<T>, items: u64, [x, y]: [i32; 2]) -> CoMoments<T> {
        let mut all = *others;
        all.x = self.x.with(&others.x, items, [x]);
        all.y = self.y.with(&others.y, items, [y]);
        all.products.total.counters.items = items.cast_signed();
        all.products.total.fixed.add_wide(&self.products.0, x + y);
        all
    }

    fn step(slot: &mut CoMoments<T>, [x, y]: [f64; 2], sign: i64) {
        NarrowMoments::step(&mut slot.x, [x], sign);
        NarrowMoments::step(&mut slot.y, [y], sign);
        slot.products.total.step_product(x, y, sign);
    }
}

//! Sums two columns of items of similar magnitude, their squares and their products.

use crate::number::float::Float;
use crate::number::near::{Part, near_quotient};
use crate::number::wide::Wide;
use crate::slots::co_moments::CoMoments;
use crate::slots::narrow::moments::NarrowMoments;
use crate::slots::narrow::products::NarrowProducts;
use crate::slots::narrow::{Count, Narrow};
use crate::statistic::{Options, Statistic};

/// The moments of both columns, and the sum of their products.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NarrowCoMoments {
    x: NarrowMoments,
    y: NarrowMoments,
    products: NarrowProducts,
}

impl NarrowCoMoments {
    /// n Σxy - Σx Σy.
    #[inline(always)]
    fn mixed(&self, items: u64) -> Wide<4> {
        let [x, y] = [self.x.sum, self.y.sum].map(Wide::<2>::of);
        self.products
            .0
            .times_count::<4>(items)
            .less(x.times::<2, 4>(y))
    }

    /// The exponent of a power of two above the error of [`mixed`](Self::mixed), n + |Σx| + |Σy| + 1, if each sum is up to 1 too small.
    fn mixed_error(&self, items: u64) -> i32 {
        let [n, x, y] = [items.into(), self.x.sum, self.y.sum].map(|sum| Wide::<2>::of(sum).bits());
        n.max(x).max(y) + 2
    }

    /// The exponent of a power of two above Σx² + |Σy| + |Σx| + |Σxy| + 2, the error of [`height`](Self::height) if sums are up to 1 too
    /// small.
    fn height_error(&self) -> i32 {
        let [x, y] = [self.x.sum, self.y.sum].map(|sum| Wide::<2>::of(sum).bits());
        let [xx, xy] = [self.x.squares, self.products.0].map(Wide::bits);
        x.max(y).max(xx).max(xy) + 3
    }

    /// n^4 times the product of both variances and, if `is_cut`, the exponent of a power of two above its error.
    #[inline(always)]
    fn variances(&self, items: u64, is_cut: bool) -> (Wide<8>, Option<i32>) {
        let [x, y] = [self.x.second(items), self.y.second(items)];
        let error = is_cut.then(|| {
            let [x_error, y_error] = [&self.x, &self.y].map(|of| of.second_error(items));
            let both = (x.bits() + y_error).max(y.bits() + x_error);
            both.max(x_error + y_error) + 2
        });
        (x.times(y), error)
    }

    /// Σx² Σy - Σx Σxy.
    #[inline(always)]
    fn height(&self) -> Wide<5> {
        let [x, y] = [self.x.sum, self.y.sum].map(Wide::<2>::of);
        self.x
            .squares
            .times::<2, 5>(y)
            .less(self.products.0.times::<2, 5>(x))
    }
}

impl<T: Float> Narrow<T, 2> for NarrowCoMoments {
    type Slot = CoMoments<T>;

    #[inline(always)]
    fn change(&mut self, [x, y]: [i128; 2], removes: bool) {
        Narrow::<T, 1>::change(&mut self.x, [x], removes);
        Narrow::<T, 1>::change(&mut self.y, [y], removes);
        Narrow::<T, 2>::change(&mut self.products, [x, y], removes);
    }

    #[inline(always)]
    fn statistic(
        &self,
        statistic: Statistic,
        _: Options,
        count: Count,
        [x, y]: [i32; 2],
        is_cut: bool,
    ) -> Option<T> {
        let items = count.items;
        let mixed = || {
            let error = is_cut.then(|| self.mixed_error(items) + x + y);
            Part::of(self.mixed(items).magnitude(x + y), error)
        };
        let second = || {
            let error = is_cut.then(|| self.x.second_error(items) + 2 * x);
            Part::of(self.x.second(items).magnitude(2 * x), error)
        };
        match statistic {
            Statistic::Covariance => mixed().over(count.divisor?),
            Statistic::Correlation => {
                let unit = 2 * (x + y);
                let (product, error) = self.variances(items, is_cut);
                let product = Part::of(product.magnitude(unit), error.map(|error| error + unit));
                near_quotient(mixed(), product, |a, b| a.over(b.root()))
            }
            Statistic::Slope => near_quotient(mixed(), second(), |a, b| a.over(b)),
            Statistic::Intercept => {
                let error = is_cut.then(|| self.height_error() + 2 * x + y);
                let above = Part::of(self.height().magnitude(2 * x + y), error);
                near_quotient(above, second(), |a, b| a.over(b))
            }
            _ => None,
        }
    }

    fn cut(slot: &CoMoments<T>, items: u64) -> Option<(Self, [i32; 2])> {
        let (x, x_unit) = NarrowMoments::cut(&slot.x, items)?;
        let (y, y_unit) = NarrowMoments::cut(&slot.y, items)?;
        let products = NarrowProducts(Wide(slot.products.total.fixed.cut(x_unit + y_unit)));
        Some((Self { x, y, products }, [x_unit, y_unit]))
    }

    fn with(&self, others: &CoMoments<T>, items: u64, [x, y]: [i32; 2]) -> CoMoments<T> {
        CoMoments {
            x: self.x.with(&others.x, items, [x]),
            y: self.y.with(&others.y, items, [y]),
            products: self.products.with(&others.products, items, [x, y]),
        }
    }

    fn step(slot: &mut CoMoments<T>, [x, y]: [f64; 2], sign: i64) {
        NarrowMoments::step(&mut slot.x, [x], sign);
        NarrowMoments::step(&mut slot.y, [y], sign);
        NarrowProducts::step(&mut slot.products, [x, y], sign);
    }
}

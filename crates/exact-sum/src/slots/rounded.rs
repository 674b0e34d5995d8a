//! Computes statistics of slots, rounded once: from [short integers](super::narrow) if these suffice, otherwise from integers of any size.

use crate::number::float::Float;
use crate::number::round::root;
use crate::slots::co_moments::CoMoments;
use crate::slots::moments::{ComplexMoments, Moments};
use crate::slots::narrow::co_moments::NarrowCoMoments;
use crate::slots::narrow::moments::NarrowMoments;
use crate::slots::narrow::near;
use crate::slots::narrow::powers::NarrowPowers;
use crate::slots::powers::Powers;
use crate::statistic::{Options, Statistic};

impl<T: Float> Moments<T> {
    /// The variance: the sum of the squared differences of items from their exact mean, divided by the number of items minus
    /// `ddof`, the "delta degrees of freedom" of NumPy. The variance is rounded once.
    ///
    /// | items | variance |
    /// |---|---|
    /// | a NaN or an infinity | NaN |
    /// | not more than `ddof` items, all equal | NaN, as 0 / 0 |
    /// | not more than `ddof` items, not all equal | infinity |
    #[must_use]
    pub fn variance(&self, ddof: f64) -> T {
        let exact = || self.spread(ddof).value(|magnitude| magnitude);
        self.near(Statistic::Variance, ddof).unwrap_or_else(exact)
    }

    /// The standard deviation: the square root of the exact [`variance`](Self::variance), rounded once.
    #[must_use]
    pub fn standard_deviation(&self, ddof: f64) -> T {
        let near = self.near(Statistic::StandardDeviation, ddof);
        near.unwrap_or_else(|| self.spread(ddof).value(root))
    }

    fn near(&self, statistic: Statistic, ddof: f64) -> Option<T> {
        let options = Options { ddof, bias: true };
        near::<NarrowMoments, T, 1>(self, statistic, options, self.items())
    }
}

impl<T: Float> ComplexMoments<T> {
    /// Like [`Moments::variance`], but with the squared magnitudes of the items' differences from their mean.
    #[must_use]
    pub fn variance(&self, ddof: f64) -> T {
        self.spread(ddof).value(|magnitude| magnitude)
    }

    /// The square root of the exact [`variance`](Self::variance), rounded once.
    #[must_use]
    pub fn standard_deviation(&self, ddof: f64) -> T {
        self.spread(ddof).value(root)
    }
}

impl<T: Float> CoMoments<T> {
    /// The covariance: the sum of (x - x̄) (y - ȳ), divided by the number of pairs minus `ddof`. NaN if an item is not finite, or if
    /// there are not more than `ddof` pairs.
    #[must_use]
    pub fn covariance(&self, ddof: f64) -> T {
        self.rounded(Statistic::Covariance, ddof)
    }

    /// The correlation, from -1 to 1: the covariance divided by the product of both standard deviations. NaN if an item is not finite, a
    /// column is constant, or there are fewer than two pairs.
    #[must_use]
    pub fn correlation(&self) -> T {
        self.rounded(Statistic::Correlation, 0.0)
    }

    /// The slope b of the regression line y = a + b x (least squares of y). NaN if an item is not finite or x is constant.
    #[must_use]
    pub fn slope(&self) -> T {
        self.rounded(Statistic::Slope, 0.0)
    }

    /// The height a of the regression line y = a + b x at x = 0. NaN if an item is not finite or x is constant.
    #[must_use]
    pub fn intercept(&self) -> T {
        self.rounded(Statistic::Intercept, 0.0)
    }

    /// A statistic of two columns.
    pub(super) fn rounded(&self, statistic: Statistic, ddof: f64) -> T {
        let options = Options { ddof, bias: true };
        let near = near::<NarrowCoMoments, T, 2>(self, statistic, options, self.items());
        let exact = || self.sums()?.statistic(statistic, options);
        near.or_else(exact).unwrap_or(T::NAN)
    }
}

impl<T: Float> Powers<T> {
    /// The skewness: with bias g1 = m3 / m2^(3/2), where m2 and m3 are central moments divided by n; without bias
    /// G1 = g1 √(n (n - 1)) / (n - 2). NaN if an item is not finite, if all are equal or if there are none; without bias, also for fewer than 3.
    #[must_use]
    pub fn skewness(&self, bias: bool) -> T {
        self.rounded(Statistic::Skewness, bias)
    }

    /// The excess kurtosis: with bias g2 = m4 / m2^2 - 3, without bias G2 = (n - 1) ((n + 1) g2 + 6) / ((n - 2) (n - 3)). NaN if an
    /// item is not finite, if all are equal or if there are none; without bias, also for fewer than 4.
    #[must_use]
    pub fn kurtosis(&self, bias: bool) -> T {
        self.rounded(Statistic::Kurtosis, bias)
    }

    fn rounded(&self, statistic: Statistic, bias: bool) -> T {
        let options = Options { ddof: 0.0, bias };
        let near = near::<NarrowPowers, T, 1>(self, statistic, options, self.items());
        let exact = || self.sums()?.statistic(statistic, options);
        near.or_else(exact).unwrap_or(T::NAN)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{CoMoments, Float, Moments, Powers, root};
    use crate::statistic::{Options, Statistic};

    /// Items of any magnitudes, or of similar ones, so that differences cancel.
    fn items() -> impl Strategy<Value = Vec<(f64, f64)>> {
        let near = (-1000_i32..1000).prop_map(|whole| 1e9 + f64::from(whole) / 8.0);
        let item = prop_oneof![
            near,
            -1.0..1.0,
            any::<f64>().prop_filter("finite", |x| x.abs() < 1e300)
        ];
        prop::collection::vec((item.clone(), item), 0..12)
    }

    /// Checks that short integers and integers of any size give the same bits, or the same NaN.
    fn check<T: Float>(pairs: &[(T, T)], ddof: f64, bias: bool) {
        let same = |rounded: T, exact: T| {
            let [rounded, exact]: [f64; 2] = [rounded.into(), exact.into()];
            assert_eq!(rounded.to_bits(), exact.to_bits(), "{rounded} {exact}");
        };
        let (x, y): (Vec<T>, Vec<T>) = pairs.iter().copied().unzip();
        let moments = Moments::of(&x);
        same(
            moments.variance(ddof),
            moments.spread(ddof).value(|magnitude| magnitude),
        );
        same(
            moments.standard_deviation(ddof),
            moments.spread(ddof).value(root),
        );
        let options = Options { ddof, bias };
        let both = CoMoments::of(&x, &y);
        let powers = Powers::of(&x);
        for statistic in Statistic::ALL {
            let exact = both
                .sums()
                .and_then(|sums| sums.statistic(statistic, options));
            let of_powers = powers
                .sums()
                .and_then(|sums| sums.statistic(statistic, options));
            match statistic {
                Statistic::Covariance
                | Statistic::Correlation
                | Statistic::Slope
                | Statistic::Intercept => {
                    same(both.rounded(statistic, ddof), exact.unwrap_or(T::NAN));
                }
                Statistic::Skewness | Statistic::Kurtosis => {
                    same(powers.rounded(statistic, bias), of_powers.unwrap_or(T::NAN));
                }
                _ => {}
            }
        }
    }

    proptest! {
        #[test]
        fn short_integers_round_as_long_ones(pairs in items(), ddof in 0..3, bias: bool) {
            let ddof = f64::from(ddof);
            check(&pairs, ddof, bias);
            #[expect(clippy::cast_possible_truncation, reason = "any floats will do")]
            let floats: Vec<(f32, f32)> = pairs.iter().map(|(x, y)| (*x as f32, *y as f32)).collect();
            if floats.iter().all(|(x, y)| x.is_finite() && y.is_finite()) {
                check(&floats, ddof, bias);
            }
        }
    }
}

//! Lists the statistics. Every language and database takes their names, inputs and defaults from this list.

use std::error::Error;
use std::fmt;
use std::str::FromStr;

/// A statistic of items, or of pairs of items. Each statistic is computed exactly and rounded once.
///
/// | statistic | inputs | least number of items | with fewer items |
/// |---|---|---|---|
/// | count, sum, dot, norm | x; for a dot product x and y | 0 | – |
/// | mean, var, std, min, max | x | 1 | NaN |
/// | average | x and weights | 1 | NaN |
/// | cov, slope, intercept | x and y | 1 | NaN |
/// | corr | x and y | 2 | NaN |
/// | skewness | x | 1; without bias 3 | NaN |
/// | kurtosis | x | 1; without bias 4 | NaN |
///
/// Databases give NULL for too few items, for a zero denominator, and (except for the count) for no rows.
///
/// ```
/// use exact_sum::{Options, Statistic};
///
/// let statistic: Statistic = "kurtosis".parse()?;
/// assert_eq!(statistic.inputs(), 1);
/// assert_eq!(statistic.least_items(Options { bias: false, ..statistic.defaults() }), 4);
/// # Ok::<(), exact_sum::UnknownStatistic>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum Statistic {
    /// The number of items.
    Count,
    /// The sum of the items.
    Sum,
    /// The mean of the items.
    Mean,
    /// The variance of the items: see [`Moments::variance`](crate::Moments::variance).
    Variance,
    /// The square root of the variance.
    StandardDeviation,
    /// The least item.
    Minimum,
    /// The greatest item.
    Maximum,
    /// The square root of the sum of the items' squares.
    Norm,
    /// The sum of the products of two columns.
    Dot,
    /// The sum of items times their weights, divided by the sum of the weights.
    WeightedMean,
    /// See [`CoMoments::covariance`](crate::CoMoments::covariance).
    Covariance,
    /// See [`CoMoments::correlation`](crate::CoMoments::correlation).
    Correlation,
    /// The slope of the regression line of y on x.
    Slope,
    /// The height of the regression line of y on x at x = 0.
    Intercept,
    /// See [`Powers::skewness`](crate::Powers::skewness).
    Skewness,
    /// See [`Powers::kurtosis`](crate::Powers::kurtosis).
    Kurtosis,
}

/// The options of statistics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Options {
    /// The number that is subtracted from the number of items in the divisor of a variance, a standard deviation or a covariance.
    pub ddof: f64,
    /// If true, skewness and kurtosis describe the items themselves (g1, g2). If false, they are estimates for a population (G1, G2).
    pub bias: bool,
}

/// The kind of state that a statistic needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Held {
    /// [`Sum`](crate::Sum).
    Sum,
    /// [`ProductSum`](crate::ProductSum).
    Products,
    /// [`Moments`](crate::Moments).
    Moments,
    /// [`CoMoments`](crate::CoMoments).
    CoMoments,
    /// [`Powers`](crate::Powers).
    Powers,
    /// [`WeightedMean`](crate::WeightedMean).
    Weighted,
    /// [`Extrema`](crate::Extrema).
    Extrema,
}

impl Statistic {
    /// All statistics.
    pub const ALL: [Self; 16] = [
        Self::Count,
        Self::Sum,
        Self::Mean,
        Self::Variance,
        Self::StandardDeviation,
        Self::Minimum,
        Self::Maximum,
        Self::Norm,
        Self::Dot,
        Self::WeightedMean,
        Self::Covariance,
        Self::Correlation,
        Self::Slope,
        Self::Intercept,
        Self::Skewness,
        Self::Kurtosis,
    ];

    /// The statistic's name, as in NumPy, SciPy or pandas.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Mean => "mean",
            Self::Variance => "var",
            Self::StandardDeviation => "std",
            Self::Minimum => "min",
            Self::Maximum => "max",
            Self::Norm => "norm",
            Self::Dot => "dot",
            Self::WeightedMean => "average",
            Self::Covariance => "cov",
            Self::Correlation => "corr",
            Self::Slope => "slope",
            Self::Intercept => "intercept",
            Self::Skewness => "skewness",
            Self::Kurtosis => "kurtosis",
        }
    }

    /// The kind of state that the statistic needs. For a mean and a count, this is [`Moments`](crate::Moments), although a
    /// [`Mean`](crate::Mean) is enough.
    #[must_use]
    pub fn held(self) -> Held {
        match self {
            Self::Sum => Held::Sum,
            Self::Count | Self::Mean | Self::Variance | Self::StandardDeviation => Held::Moments,
            Self::Minimum | Self::Maximum => Held::Extrema,
            Self::Norm | Self::Dot => Held::Products,
            Self::WeightedMean => Held::Weighted,
            Self::Covariance | Self::Correlation | Self::Slope | Self::Intercept => Held::CoMoments,
            Self::Skewness | Self::Kurtosis => Held::Powers,
        }
    }

    /// The number of columns that the statistic takes: 1, or 2.
    #[must_use]
    pub fn inputs(self) -> usize {
        match self {
            Self::Norm => 1,
            _ => self.held().inputs(),
        }
    }

    /// NumPy's defaults: `ddof` is 0, or 1 for a covariance, and `bias` is true.
    #[must_use]
    pub fn defaults(self) -> Options {
        let ddof = if self == Self::Covariance { 1.0 } else { 0.0 };
        Options { ddof, bias: true }
    }

    /// The smallest number of items for which the statistic is defined, if `ddof` and zero denominators are disregarded. For fewer
    /// items, the statistic is NaN. If the smallest number is 0, the statistic of no items is zero.
    #[must_use]
    pub fn least_items(self, options: Options) -> u64 {
        match self {
            Self::Count | Self::Sum | Self::Norm | Self::Dot => 0,
            Self::Correlation => 2,
            Self::Skewness if !options.bias => 3,
            Self::Kurtosis if !options.bias => 4,
            _ => 1,
        }
    }
}

impl Held {
    /// The name of this kind of state, for error messages.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sum => "a sum",
            Self::Products => "a sum of products",
            Self::Moments => "moments",
            Self::CoMoments => "co-moments",
            Self::Powers => "sums of four powers",
            Self::Weighted => "a weighted mean",
            Self::Extrema => "extrema",
        }
    }

    /// Checks that this kind of state has `statistic`.
    ///
    /// # Errors
    /// The state does not have the statistic.
    pub fn check(self, statistic: Statistic) -> Result<(), MissingStatistic> {
        let missing = MissingStatistic {
            held: self,
            statistic,
        };
        self.has(statistic).then_some(()).ok_or(missing)
    }

    /// Whether this kind of state has `statistic`.
    #[must_use]
    pub fn has(self, statistic: Statistic) -> bool {
        match (statistic, self) {
            (Statistic::Count, _)
            | (Statistic::Sum | Statistic::Mean, Self::Sum | Self::Moments | Self::Powers)
            | (Statistic::Variance | Statistic::StandardDeviation, Self::Moments | Self::Powers) => {
                true
            }
            (Statistic::Norm, _) => false,
            (_, held) => statistic.held() == held,
        }
    }

    /// The number of columns that are added to this kind of state: 1, or 2.
    #[must_use]
    pub fn inputs(self) -> usize {
        match self {
            Self::Sum | Self::Moments | Self::Powers | Self::Extrema => 1,
            Self::Products | Self::CoMoments | Self::Weighted => 2,
        }
    }
}

impl fmt::Display for Statistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A state does not have this statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingStatistic {
    held: Held,
    statistic: Statistic,
}

impl fmt::Display for MissingStatistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { held, statistic } = self;
        write!(f, "the state is {}, which has no {statistic}", held.name())
    }
}

impl Error for MissingStatistic {}

/// No statistic has this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownStatistic {
    name: String,
}

impl fmt::Display for UnknownStatistic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Statistic::ALL.map(Statistic::name).join(", ");
        write!(f, "`{}` is none of {names}", self.name)
    }
}

impl Error for UnknownStatistic {}

impl FromStr for Statistic {
    type Err = UnknownStatistic;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|statistic| statistic.name() == name);
        found.ok_or_else(|| UnknownStatistic {
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Options, Statistic};

    #[test]
    fn names_are_read_as_they_are_written() {
        for (code, statistic) in Statistic::ALL.into_iter().enumerate() {
            assert_eq!(statistic as usize, code);
            assert_eq!(statistic.name().parse(), Ok(statistic));
        }
        let error = "median".parse::<Statistic>().expect_err("there is none");
        assert!(
            error
                .to_string()
                .starts_with("`median` is none of count, sum,")
        );
    }

    #[test]
    fn fewer_items_are_needed_with_a_bias() {
        for statistic in Statistic::ALL {
            let least = |bias| {
                statistic.least_items(Options {
                    bias,
                    ..statistic.defaults()
                })
            };
            assert!(least(true) <= least(false), "{statistic}");
        }
    }
}

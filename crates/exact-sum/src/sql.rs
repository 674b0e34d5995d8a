//! Lists the SQL functions in databases, with their names and the statistics that they compute.

use crate::statistic::{Options, Statistic};

/// An SQL function, and the statistic that it computes.
#[derive(Debug)]
pub struct SqlFunction {
    /// `exact_`, followed by the name that an engine gives the statistic. The function that computes
    /// the statistic from a state has this name followed by `_of`.
    pub name: &'static str,
    /// The statistic.
    pub statistic: Statistic,
    /// The options of the statistic.
    pub options: Options,
}

/// Divides by one less than the number of items, and corrects bias.
const SAMPLE: Options = Options {
    ddof: 1.0,
    bias: false,
};

const POPULATION: Options = Options {
    ddof: 0.0,
    bias: true,
};

impl SqlFunction {
    const fn of(name: &'static str, statistic: Statistic, options: Options) -> Self {
        Self {
            name,
            statistic,
            options,
        }
    }

    /// Whether this is the same function as another one, perhaps by another name.
    #[must_use]
    pub fn is_like(&self, other: &Self) -> bool {
        self.statistic == other.statistic && self.options == other.options
    }

    /// The function's other names, if its own name comes first in the [list](FUNCTIONS); otherwise
    /// `None`.
    #[must_use]
    pub fn aliases(&self) -> Option<Vec<&'static str>> {
        let mut names = FUNCTIONS.iter().filter(|other| self.is_like(other));
        let is_first = names.next().is_none_or(|first| first.name == self.name);
        is_first.then(|| names.map(|other| other.name).collect())
    }
}

/// The aggregate functions of rows. All names of one function are adjacent, whichever engine uses
/// them.
pub static FUNCTIONS: [SqlFunction; 24] = [
    SqlFunction::of("exact_sum", Statistic::Sum, POPULATION),
    SqlFunction::of("exact_avg", Statistic::Mean, POPULATION),
    SqlFunction::of("exact_mean", Statistic::Mean, POPULATION),
    SqlFunction::of("exact_dot", Statistic::Dot, POPULATION),
    SqlFunction::of("exact_weighted_avg", Statistic::WeightedMean, POPULATION),
    SqlFunction::of("exact_wavg", Statistic::WeightedMean, POPULATION),
    SqlFunction::of("exact_var_pop", Statistic::Variance, POPULATION),
    SqlFunction::of("exact_var_population", Statistic::Variance, POPULATION),
    SqlFunction::of("exact_var_samp", Statistic::Variance, SAMPLE),
    SqlFunction::of("exact_var_sample", Statistic::Variance, SAMPLE),
    SqlFunction::of("exact_var", Statistic::Variance, SAMPLE),
    SqlFunction::of("exact_variance", Statistic::Variance, SAMPLE),
    SqlFunction::of("exact_stddev_pop", Statistic::StandardDeviation, POPULATION),
    SqlFunction::of("exact_stddev_samp", Statistic::StandardDeviation, SAMPLE),
    SqlFunction::of("exact_stddev", Statistic::StandardDeviation, SAMPLE),
    SqlFunction::of("exact_skewness", Statistic::Skewness, SAMPLE),
    SqlFunction::of("exact_kurtosis", Statistic::Kurtosis, SAMPLE),
    SqlFunction::of("exact_kurtosis_pop", Statistic::Kurtosis, POPULATION),
    SqlFunction::of("exact_covar_pop", Statistic::Covariance, POPULATION),
    SqlFunction::of("exact_covar_samp", Statistic::Covariance, SAMPLE),
    SqlFunction::of("exact_covar", Statistic::Covariance, SAMPLE),
    SqlFunction::of("exact_corr", Statistic::Correlation, POPULATION),
    SqlFunction::of("exact_regr_slope", Statistic::Slope, POPULATION),
    SqlFunction::of("exact_regr_intercept", Statistic::Intercept, POPULATION),
];

/// The aggregate functions that return states, each with a statistic that needs this kind of state.
pub static STATES: [SqlFunction; 5] = [
    SqlFunction::of("exact_sum_state", Statistic::Sum, POPULATION),
    SqlFunction::of("exact_dot_state", Statistic::Dot, POPULATION),
    SqlFunction::of("exact_moments_state", Statistic::Variance, POPULATION),
    SqlFunction::of("exact_comoments_state", Statistic::Covariance, POPULATION),
    SqlFunction::of("exact_powers_state", Statistic::Kurtosis, POPULATION),
];

/// The aggregate function that merges states.
pub static MERGE: SqlFunction = SqlFunction::of("exact_merge", Statistic::Count, POPULATION);

//! The SQL functions in databases: their names, and the statistics that they compute.

use crate::statistic::{Options, Statistic};

/// An SQL function, and the statistic that it computes.
#[derive(Debug)]
pub struct SqlFunction {
    /// `exact_`, followed by an engine's own name of the statistic. The function that computes the
    /// statistic from a state has this name followed by `_of`.
    pub name: &'static str,
    /// The statistic.
    pub statistic: Statistic,
    /// The options of the statistic.
    pub options: Options,
}

impl SqlFunction {
    /// A function for samples: it divides by one less than the number of items, and corrects bias.
    const fn of_sample(name: &'static str, statistic: Statistic) -> Self {
        let (ddof, bias) = (1.0, false);
        Self {
            name,
            statistic,
            options: Options { ddof, bias },
        }
    }

    const fn of_population(name: &'static str, statistic: Statistic) -> Self {
        let (ddof, bias) = (0.0, true);
        Self {
            name,
            statistic,
            options: Options { ddof, bias },
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

/// The aggregate functions of rows. Different names of a function, in whichever engines, are
/// adjacent.
pub static FUNCTIONS: [SqlFunction; 24] = [
    SqlFunction::of_population("exact_sum", Statistic::Sum),
    SqlFunction::of_population("exact_avg", Statistic::Mean),
    SqlFunction::of_population("exact_mean", Statistic::Mean),
    SqlFunction::of_population("exact_dot", Statistic::Dot),
    SqlFunction::of_population("exact_weighted_avg", Statistic::WeightedMean),
    SqlFunction::of_population("exact_wavg", Statistic::WeightedMean),
    SqlFunction::of_population("exact_var_pop", Statistic::Variance),
    SqlFunction::of_population("exact_var_population", Statistic::Variance),
    SqlFunction::of_sample("exact_var_samp", Statistic::Variance),
    SqlFunction::of_sample("exact_var_sample", Statistic::Variance),
    SqlFunction::of_sample("exact_var", Statistic::Variance),
    SqlFunction::of_sample("exact_variance", Statistic::Variance),
    SqlFunction::of_population("exact_stddev_pop", Statistic::StandardDeviation),
    SqlFunction::of_sample("exact_stddev_samp", Statistic::StandardDeviation),
    SqlFunction::of_sample("exact_stddev", Statistic::StandardDeviation),
    SqlFunction::of_sample("exact_skewness", Statistic::Skewness),
    SqlFunction::of_sample("exact_kurtosis", Statistic::Kurtosis),
    SqlFunction::of_population("exact_kurtosis_pop", Statistic::Kurtosis),
    SqlFunction::of_population("exact_covar_pop", Statistic::Covariance),
    SqlFunction::of_sample("exact_covar_samp", Statistic::Covariance),
    SqlFunction::of_sample("exact_covar", Statistic::Covariance),
    SqlFunction::of_population("exact_corr", Statistic::Correlation),
    SqlFunction::of_population("exact_regr_slope", Statistic::Slope),
    SqlFunction::of_population("exact_regr_intercept", Statistic::Intercept),
];

/// The aggregate functions that return states, each with a statistic that needs such a state.
pub static STATES: [SqlFunction; 5] = [
    SqlFunction::of_population("exact_sum_state", Statistic::Sum),
    SqlFunction::of_population("exact_dot_state", Statistic::Dot),
    SqlFunction::of_population("exact_moments_state", Statistic::Variance),
    SqlFunction::of_population("exact_comoments_state", Statistic::Covariance),
    SqlFunction::of_population("exact_powers_state", Statistic::Kurtosis),
];

/// The aggregate function that merges states.
pub static MERGE: SqlFunction = SqlFunction::of_population("exact_merge", Statistic::Count);

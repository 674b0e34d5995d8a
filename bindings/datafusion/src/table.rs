//! The functions that are computed from a state: their names, and what they are.

use exact_sum::{Options, Statistic};

/// A statistic as SQL has it.
#[derive(Debug)]
pub(crate) struct Function {
    pub(crate) name: &'static str,
    /// Other names, after DataFusion's.
    pub(crate) aliases: &'static [&'static str],
    pub(crate) statistic: Statistic,
    pub(crate) options: Options,
}

impl Function {
    /// Of a sample: divided by one less than the number of items, and without bias.
    const fn of_sample(
        name: &'static str,
        aliases: &'static [&'static str],
        statistic: Statistic,
    ) -> Self {
        let (ddof, bias) = (1.0, false);
        Self {
            name,
            aliases,
            statistic,
            options: Options { ddof, bias },
        }
    }

    const fn of_population(name: &'static str, statistic: Statistic) -> Self {
        let (ddof, bias) = (0.0, true);
        Self {
            name,
            aliases: &[],
            statistic,
            options: Options { ddof, bias },
        }
    }
}

/// Those that have no loops of their own.
pub(crate) static STATISTICS: [Function; 8] = [
    Function::of_sample("exact_skewness", &[], Statistic::Skewness),
    Function::of_sample("exact_kurtosis", &[], Statistic::Kurtosis),
    Function::of_population("exact_kurtosis_pop", Statistic::Kurtosis),
    Function::of_population("exact_covar_pop", Statistic::Covariance),
    Function::of_sample("exact_covar_samp", &["exact_covar"], Statistic::Covariance),
    Function::of_population("exact_corr", Statistic::Correlation),
    Function::of_population("exact_regr_slope", Statistic::Slope),
    Function::of_population("exact_regr_intercept", Statistic::Intercept),
];

/// Those that are read of states as well.
pub(crate) static OTHERS: [Function; 7] = [
    Function::of_population("exact_sum", Statistic::Sum),
    Function::of_population("exact_avg", Statistic::Mean),
    Function::of_population("exact_dot", Statistic::Dot),
    Function::of_population("exact_var_pop", Statistic::Variance),
    Function::of_sample("exact_var_samp", &[], Statistic::Variance),
    Function::of_population("exact_stddev_pop", Statistic::StandardDeviation),
    Function::of_sample("exact_stddev_samp", &[], Statistic::StandardDeviation),
];

/// The aggregates that give states, each with a statistic that needs one.
pub(crate) static STATES: [Function; 5] = [
    Function::of_population("exact_sum_state", Statistic::Sum),
    Function::of_population("exact_dot_state", Statistic::Dot),
    Function::of_population("exact_moments_state", Statistic::Variance),
    Function::of_population("exact_comoments_state", Statistic::Covariance),
    Function::of_population("exact_powers_state", Statistic::Kurtosis),
];

/// The aggregate of states.
pub(crate) static MERGE: Function = Function::of_population("exact_merge", Statistic::Count);

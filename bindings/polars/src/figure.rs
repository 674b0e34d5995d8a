//! Defines what a function computes: a statistic or a state.

use treefold::exact::{Held, Statistic};

/// What a function computes from the items of its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    Items(Statistic),
    /// The sum in tree order.
    Tree,
    State(Held),
    /// The merged state of a column of states.
    Merged,
    /// A statistic, computed from each state of a column.
    Of(Statistic),
}

impl Figure {
    /// The number of columns that the function needs.
    pub(crate) fn inputs(self) -> usize {
        match self {
            Self::Items(statistic) => statistic.inputs(),
            Self::State(held) => held.inputs(),
            Self::Tree | Self::Merged | Self::Of(_) => 1,
        }
    }

    /// The meaning of the number that follows the columns, if the function has such a parameter.
    pub(crate) fn parameter(self) -> Option<Parameter> {
        let (Self::Items(statistic) | Self::Of(statistic)) = self else {
            return None;
        };
        match statistic {
            Statistic::Variance | Statistic::StandardDeviation | Statistic::Covariance => {
                Some(Parameter::Ddof)
            }
            Statistic::Skewness | Statistic::Kurtosis => Some(Parameter::Bias),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    Ddof,
    /// Whether the estimate is biased: 0 or 1.
    Bias,
}

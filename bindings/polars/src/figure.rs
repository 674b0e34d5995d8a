//! What functions compute: figures.

use treefold::exact::{Held, Statistic};

/// What a function computes from the items of its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    Sum,
    Mean,
    Variance,
    Deviation,
    Dot,
    Tree,
    /// Another statistic.
    Other(Statistic),
    State(Held),
    /// The merged state of a column of states.
    Merged,
    /// A statistic of the rows of each state of a column.
    Of(Statistic),
}

impl Figure {
    /// The number of columns that the figure takes.
    pub(crate) fn inputs(self) -> usize {
        match self {
            Self::Sum | Self::Mean | Self::Variance | Self::Deviation | Self::Tree => 1,
            Self::Dot => 2,
            Self::Other(statistic) => statistic.inputs(),
            Self::State(held) => held.inputs(),
            Self::Merged | Self::Of(_) => 1,
        }
    }

    /// The meaning of the number after the columns, if the figure takes one.
    pub(crate) fn parameter(self) -> Option<Parameter> {
        match self {
            Self::Variance | Self::Deviation => Some(Parameter::Ddof),
            Self::Other(statistic) | Self::Of(statistic) => match statistic {
                Statistic::Variance | Statistic::StandardDeviation | Statistic::Covariance => {
                    Some(Parameter::Ddof)
                }
                Statistic::Skewness | Statistic::Kurtosis => Some(Parameter::Bias),
                _ => None,
            },
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

//! The figures that there are.

use treefold::exact::{Held, Statistic};

/// What is computed of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Figure {
    Sum,
    Mean,
    Variance,
    Deviation,
    Dot,
    /// The sum in tree order.
    Tree,
    /// Another statistic.
    Other(Statistic),
    /// A state.
    State(Held),
    /// A state of the rows of states.
    Merged,
    /// A statistic of the rows of each state of a column.
    Of(Statistic),
}

impl Figure {
    /// The number of columns of items that it is of.
    pub(crate) fn inputs(self) -> usize {
        match self {
            Self::Sum | Self::Mean | Self::Variance | Self::Deviation | Self::Tree => 1,
            Self::Dot => 2,
            Self::Other(statistic) => statistic.inputs(),
            Self::State(held) => held.inputs(),
            Self::Merged | Self::Of(_) => 1,
        }
    }

    /// What a number behind the columns is, if there is one.
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

/// What a figure depends on besides items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Parameter {
    Ddof,
    /// 0 or 1.
    Bias,
}

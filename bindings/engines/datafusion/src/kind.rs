//! Lists the aggregates, and the types of their arguments, values and states.

use arrow::datatypes::DataType;
use datafusion_common::{Result, plan_err};
use exact_sum::Statistic;
use exact_sum::sql::{FUNCTIONS, SqlFunction};

/// The maximum number of digits of a decimal.
pub(crate) const DIGITS: u8 = 38;

/// An aggregate that `ExactAggregate` implements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Sum,
    Mean,
    Dot,
    Variance(Divisor),
    Deviation(Divisor),
}

/// The divisor of the sum of squared deviations in a variance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Divisor {
    /// The number of items.
    Population,
    /// The number of items minus 1.
    Sample,
}

impl Divisor {
    /// NumPy's `ddof`: the number that is subtracted from the number of items.
    pub(crate) fn ddof(self) -> f64 {
        match self {
            Self::Population => 0.0,
            Self::Sample => 1.0,
        }
    }
}

/// The type of integer sums. Sums of up to 2^63 `i64` items have at most 38 digits.
pub(crate) const LONG: DataType = DataType::Decimal128(38, 0);

impl Kind {
    pub(crate) const ALL: [Self; 7] = [
        Self::Sum,
        Self::Mean,
        Self::Dot,
        Self::Variance(Divisor::Population),
        Self::Variance(Divisor::Sample),
        Self::Deviation(Divisor::Population),
        Self::Deviation(Divisor::Sample),
    ];

    /// The SQL function that the aggregate implements.
    pub(crate) fn function(self) -> &'static SqlFunction {
        let (statistic, divisor) = match self {
            Self::Sum => (Statistic::Sum, Divisor::Population),
            Self::Mean => (Statistic::Mean, Divisor::Population),
            Self::Dot => (Statistic::Dot, Divisor::Population),
            Self::Variance(divisor) => (Statistic::Variance, divisor),
            Self::Deviation(divisor) => (Statistic::StandardDeviation, divisor),
        };
        let bias = divisor == Divisor::Population;
        let is_it = |function: &&SqlFunction| {
            function.statistic == statistic && function.options.bias == bias
        };
        FUNCTIONS.iter().find(is_it).expect("kinds have functions")
    }

    pub(crate) fn name(self) -> &'static str {
        self.function().name
    }

    pub(crate) fn aliases(self) -> Vec<&'static str> {
        self.function().aliases().unwrap_or_default()
    }

    pub(crate) fn arguments(self) -> usize {
        match self {
            Self::Dot => 2,
            _ => 1,
        }
    }

    /// The least number of items for which the value is not NULL.
    pub(crate) fn least_items(self) -> u64 {
        match self {
            Self::Variance(Divisor::Sample) | Self::Deviation(Divisor::Sample) => 2,
            _ => 1,
        }
    }

    /// Returns the types that arguments are cast to: in sums and means `BIGINT`, `BIGINT UNSIGNED` or `DECIMAL` if possible, else `DOUBLE`.
    pub(crate) fn coerced(self, types: &[DataType]) -> Result<Vec<DataType>> {
        let name = self.name();
        if types.len() != self.arguments() {
            let arguments = match self.arguments() {
                1 => "1 argument",
                _ => "2 arguments",
            };
            return plan_err!("{name} takes {arguments}, not {}", types.len());
        }
        let adds_integers = matches!(self, Self::Sum | Self::Mean);
        let types = types.iter().enumerate();
        let coerced = types.map(|(number, of_argument)| match of_argument {
            DataType::UInt64 if adds_integers => Ok(DataType::UInt64),
            integer if adds_integers && integer.is_integer() => Ok(DataType::Int64),
            DataType::Decimal32(_, scale)
            | DataType::Decimal64(_, scale)
            | DataType::Decimal128(_, scale)
                if adds_integers && *scale >= 0 =>
            {
                Ok(DataType::Decimal128(DIGITS, *scale))
            }
            decimal if decimal.is_decimal() => plan_err!(
                "{name}: argument {} is {decimal}; cast it to DOUBLE",
                number + 1
            ),
            number if number.is_numeric() => Ok(DataType::Float64),
            DataType::Null => Ok(DataType::Float64),
            other => plan_err!("{name}: argument {} is {other}, not a number", number + 1),
        });
        coerced.collect()
    }

    /// Returns the type of the value. `argument` is the type that the arguments are cast to.
    pub(crate) fn returned(self, argument: &DataType) -> DataType {
        match (self, argument) {
            (Self::Sum, DataType::Int64 | DataType::UInt64) => LONG,
            (Self::Sum, DataType::Decimal128(..)) => argument.clone(),
            _ => DataType::Float64,
        }
    }

    /// Returns the names and types of the columns in which states are sent. The column with the numbers of items is not among them.
    pub(crate) fn state(self, argument: &DataType) -> Vec<(&'static str, DataType)> {
        match (self, argument) {
            (Self::Sum | Self::Mean, DataType::Int64 | DataType::UInt64) => vec![("sum", LONG)],
            (Self::Sum | Self::Mean | Self::Dot, _) => vec![("sum", DataType::Binary)],
            (Self::Variance(_) | Self::Deviation(_), _) => {
                vec![("sum", DataType::Binary), ("squares", DataType::Binary)]
            }
        }
    }
}

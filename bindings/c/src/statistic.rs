//! What is asked for of what was added.

use treefold::exact;

use crate::element::ElementType;
use crate::failure::{Code, Failure};

/// What is made of the items, rounded once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Statistic {
    Value,
    Mean,
    /// Less so many degrees of freedom.
    Variance(f64),
    StandardDeviation(f64),
    /// By key alone, as the next one.
    Minimum,
    Maximum,
    /// By key alone.
    Any(exact::Statistic, exact::Options),
}

impl Statistic {
    fn name(self) -> &'static str {
        match self {
            Self::Value => "value",
            Self::Mean => "mean",
            Self::Variance(_) => "variance",
            Self::StandardDeviation(_) => "standard deviation",
            Self::Minimum => "minimum",
            Self::Maximum => "maximum",
            Self::Any(statistic, _) => statistic.name(),
        }
    }

    /// That of a code of `treefold.h`.
    ///
    /// # Errors
    /// There is none.
    pub(crate) fn of_code(code: i32, options: exact::Options) -> Result<Self, Failure> {
        let place = usize::try_from(code).ok();
        let statistic = place.and_then(|place| exact::Statistic::ALL.get(place));
        let statistic = statistic.map(|statistic| Self::Any(*statistic, options));
        statistic.ok_or_else(|| {
            Failure::argument("statistic", format_args!("there is no statistic {code}"))
        })
    }

    /// The type of a statistic of elements: variances of complex numbers are real, sums of integers have 64 bits, and means of them are
    /// doubles.
    pub(crate) fn element_type(self, of: ElementType) -> ElementType {
        use ElementType::{C32, C64, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        match (of, self) {
            (F32 | F64, _) | (C32 | C64, Self::Value | Self::Mean) => of,
            (C32, _) => F32,
            (C64, _) => F64,
            (I8 | I16 | I32 | I64, Self::Value) => I64,
            (U8 | U16 | U32 | U64, Self::Value) => U64,
            (I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64, _) => F64,
        }
    }

    /// What is wrong with asking for it.
    #[cold]
    pub(crate) fn missing(self, of: &str, instead: &str) -> Failure {
        let message = format!("there is no {} of {of}: {instead} has one", self.name());
        Failure::new(Code::Unsupported, message)
    }
}

#[cfg(test)]
mod tests {
    use treefold::exact;

    #[test]
    fn codes_are_those_of_the_header() {
        let header = include_str!("../include/treefold.h");
        let names = [
            ("COUNT", "count"),
            ("SUM_OF_ITEMS", "sum"),
            ("MEAN", "mean"),
            ("VARIANCE", "var"),
            ("STANDARD_DEVIATION", "std"),
            ("MINIMUM", "min"),
            ("MAXIMUM", "max"),
            ("NORM", "norm"),
            ("DOT_PRODUCT", "dot"),
            ("WEIGHTED_MEAN", "average"),
            ("COVARIANCE", "cov"),
            ("CORRELATION", "corr"),
            ("SLOPE", "slope"),
            ("INTERCEPT", "intercept"),
            ("SKEWNESS", "skewness"),
            ("KURTOSIS", "kurtosis"),
        ];
        for (code, (of_c, name)) in names.into_iter().enumerate() {
            let line = format!("    TREEFOLD_{of_c} = {code}");
            let mut lines = header.lines().map(|line| line.trim_end_matches(','));
            assert!(lines.any(|found| found == line), "{line}");
            assert_eq!(exact::Statistic::ALL[code].name(), name);
        }
        assert_eq!(exact::Statistic::ALL.len(), names.len());
    }
}

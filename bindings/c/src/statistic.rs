//! The statistics of `treefold.h`, and their codes.

use treefold::exact::{Held, Options, Statistic};

use crate::element::ElementType;
use crate::failure::{Code, Failure};

/// A statistic of `treefold.h`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// A statistic of crate `treefold`.
    Of(Statistic),
    /// The dot product with the conjugates of the first array; for real numbers, the plain dot product.
    ConjugateDot,
}

impl Asked {
    /// The names in C, in the order of the codes: those of [`Statistic::ALL`], then that of [`Self::ConjugateDot`].
    const NAMES: [&str; Statistic::ALL.len() + 1] = [
        "TREEFOLD_EXACT_COUNT",
        "TREEFOLD_EXACT_SUM",
        "TREEFOLD_EXACT_MEAN",
        "TREEFOLD_EXACT_VARIANCE",
        "TREEFOLD_EXACT_STD",
        "TREEFOLD_EXACT_MIN",
        "TREEFOLD_EXACT_MAX",
        "TREEFOLD_EXACT_NORM",
        "TREEFOLD_EXACT_DOT",
        "TREEFOLD_EXACT_WEIGHTED_MEAN",
        "TREEFOLD_EXACT_COVARIANCE",
        "TREEFOLD_EXACT_CORRELATION",
        "TREEFOLD_EXACT_SLOPE",
        "TREEFOLD_EXACT_INTERCEPT",
        "TREEFOLD_EXACT_SKEWNESS",
        "TREEFOLD_EXACT_KURTOSIS",
        "TREEFOLD_EXACT_VDOT",
    ];

    /// The statistic with this code. The first code is 0.
    ///
    /// # Errors
    /// There is no such code.
    pub fn of_code(code: i32) -> Result<Self, Failure> {
        let last = Statistic::ALL.len();
        match usize::try_from(code) {
            Ok(code) if code < last => Ok(Self::Of(Statistic::ALL[code])),
            Ok(code) if code == last => Ok(Self::ConjugateDot),
            _ => {
                let reason = format_args!("it must be from 0 to {last}, not {code}");
                Err(Failure::argument("statistic", reason))
            }
        }
    }

    /// The statistic's name in C.
    pub fn name(self) -> &'static str {
        match self {
            Self::Of(statistic) => Self::NAMES[statistic as usize],
            Self::ConjugateDot => Self::NAMES[Statistic::ALL.len()],
        }
    }

    /// The same statistic for real numbers: a conjugate dot product becomes a dot product.
    pub fn of_reals(self) -> Statistic {
        match self {
            Self::Of(statistic) => statistic,
            Self::ConjugateDot => Statistic::Dot,
        }
    }

    /// The sums of real items from which the statistic is computed.
    pub fn held(self) -> Held {
        self.of_reals().held()
    }

    /// The type of the result, for elements of type `of`. Counts are unsigned, variances of complex numbers are real, sums of integers
    /// have 64 bits, and other statistics of integers are doubles.
    pub(crate) fn element_type(self, of: ElementType) -> ElementType {
        use ElementType::{C32, C64, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        match (of, self) {
            (_, Self::Of(Statistic::Count)) => U64,
            (C32, Self::Of(Statistic::Variance | Statistic::StandardDeviation)) => F32,
            (C64, Self::Of(Statistic::Variance | Statistic::StandardDeviation)) => F64,
            (F32 | F64 | C32 | C64, _) => of,
            (I8 | I16 | I32 | I64, Self::Of(Statistic::Sum)) => I64,
            (U8 | U16 | U32 | U64, Self::Of(Statistic::Sum)) => U64,
            (I8 | I16 | I32 | I64 | U8 | U16 | U32 | U64, _) => F64,
        }
    }

    /// The failure for a statistic that the object described by `of` does not have.
    #[cold]
    pub(crate) fn missing(self, of: &str) -> Failure {
        let message = format!("{} is not available from {of}", self.name());
        Failure::new(Code::Unsupported, message)
    }
}

/// A statistic, with the options that it depends on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Question {
    pub(crate) asked: Asked,
    pub(crate) options: Options,
}

impl Question {
    /// # Errors
    /// There is no such statistic, or the statistic does not take this `ddof`.
    pub(crate) fn of_codes(statistic: i32, ddof: f64) -> Result<Self, Failure> {
        let asked = Asked::of_code(statistic)?;
        let is_shape = matches!(asked.of_reals(), Statistic::Skewness | Statistic::Kurtosis);
        if is_shape && ![0.0, 1.0].contains(&ddof) {
            let reason = format_args!("{} takes 0 or 1, not {ddof}", asked.name());
            return Err(Failure::argument("ddof", reason));
        }
        let options = Options {
            ddof,
            bias: ddof == 0.0,
        };
        Ok(Self { asked, options })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use treefold::exact::Statistic;

    use super::Asked;

    #[test]
    fn codes_are_those_of_the_header() {
        let header = include_str!("../include/treefold.h");
        for (code, name) in Asked::NAMES.into_iter().enumerate() {
            let line = format!("    {name} = {code}");
            let mut lines = header.lines().map(|line| line.trim_end_matches(','));
            assert!(lines.any(|found| found == line), "{line}");
            let asked = Asked::of_code(i32::try_from(code).unwrap()).unwrap();
            assert_eq!(asked.name(), name);
            if let Asked::Of(statistic) = asked {
                assert_eq!(Statistic::ALL[code], statistic);
            }
        }
        assert!(Asked::of_code(17).is_err() && Asked::of_code(-1).is_err());
    }
}

//! The errors of reductions in one process.

use comm::text::{counted, printable};

use crate::environment::EnvironmentError;
use crate::operator::LANES_MAX;

/// Why [`fold`](crate::fold), or another reduction in one process, failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FoldError {
    /// There are no items, and the operator has no empty value.
    #[error("there are no items, and `{}` has no empty value", printable(.operator))]
    NoItems {
        /// The operator.
        operator: String,
    },
    /// Slices that belong together differ in length.
    #[error("slice {position} has {}, but slice 0 has {first}", counted(.found, "item"))]
    Lengths {
        /// The number of items of the first slice.
        first: u64,
        /// The first slice that differs, counted from 0.
        position: u64,
        /// The number of items of that slice.
        found: u64,
    },
    /// The values are not whole rows, or the width of a row is 0.
    #[error("{} cannot form rows of {width}", counted(.values, "value"))]
    NotRows {
        /// The number of values.
        values: u64,
        /// The number of values that a row should have.
        width: u64,
    },
    /// The number of lanes is not from 1 to 2^20.
    #[error("the number of lanes must be from 1 to {LANES_MAX}, but is {lanes}")]
    Lanes {
        /// The requested number.
        lanes: u64,
    },
    /// An iterator gave more or fewer items than its length.
    #[error(
        "an iterator, or a part of it, promised {}, but gave {}",
        counted(.promised, "item"), .found.map_or("more".to_owned(), |found| found.to_string())
    )]
    Iterator {
        /// The iterator's length.
        promised: u64,
        /// The number of items that the iterator gave; `None` if it gave more than its length.
        found: Option<u64>,
    },
    /// The result is not as long as a row.
    #[error("a row has {}, but the result has {found}", counted(.width, "value"))]
    ResultLength {
        /// The number of values of a row.
        width: u64,
        /// The number of values of the result.
        found: u64,
    },
    /// This thread's floating-point environment is not IEEE 754's default.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
}

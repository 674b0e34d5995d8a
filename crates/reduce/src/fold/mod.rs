//! Reductions in one process, without ranks.

mod fused;
mod iterator;
mod lanes;
#[cfg(feature = "par")]
pub mod par;
mod partial;
pub(crate) mod prefix;
pub(crate) mod prefixes;
mod rows;
mod scan;

pub(crate) use fused::check_lengths;
pub use fused::{dot, squared_norm, sum_and_absolute_sum};
pub use iterator::TreeIterator;
pub(crate) use lanes::check_lanes;
pub use lanes::{fold_lanes, fold_rows_lanes, sum_lanes};
pub use partial::{Partial, PartialError};
pub(crate) use rows::check_rows;
pub use rows::{fields, fold_rows, sum_rows};
pub use scan::{scan, scan_rows};

use crate::environment;
use crate::error::FoldError;
use crate::operator::{Operator, Sum};

/// The sum of the items, in tree order. It has the bits that [`Plan::allreduce`](crate::Plan::allreduce) gives for
/// every number of ranks. Returns 0 for no items.
///
/// ```
/// assert_eq!(reduce::sum(&[0.1, 0.2, 0.3, 0.4])?, (0.1 + 0.2) + (0.3 + 0.4));
/// # Ok::<(), reduce::FoldError>(())
/// ```
///
/// # Errors
/// This thread's floating-point environment is not IEEE 754's default.
pub fn sum<T: Copy + 'static>(items: &[T]) -> Result<T, FoldError>
where
    Sum: Operator<T>,
{
    fold(items, &Sum)
}

/// The reduction of the items by `operator`, in tree order. For no items, returns the operator's empty value.
///
/// # Errors
/// There are no items and the operator has no empty value, or this thread's floating-point
/// environment is not IEEE 754's default.
pub fn fold<T: Copy + 'static, O: Operator<T>>(items: &[T], operator: &O) -> Result<T, FoldError> {
    environment::check()?;
    returned(operator.fold_canonical(items), operator)
}

/// The result of a reduction, from a value that is not yet canonical.
fn finished<T: Copy + 'static, O: Operator<T>>(
    value: Option<T>,
    operator: &O,
) -> Result<T, FoldError> {
    returned(value.map(|value| operator.canonical(value)), operator)
}

/// The result of a reduction, from a canonical value, after a check of the environment.
#[inline]
fn returned<T: Copy + 'static, O: Operator<T>>(
    value: Option<T>,
    operator: &O,
) -> Result<T, FoldError> {
    // An operator may have changed the environment.
    if !operator.is_plain() {
        environment::check()?;
    }
    value.map_or_else(|| empty(operator), Ok)
}

/// The reduction of no items.
fn empty<T: Copy + 'static, O: Operator<T>>(operator: &O) -> Result<T, FoldError> {
    let value = operator.empty().ok_or_else(|| FoldError::NoItems {
        operator: operator.name().to_owned(),
    })?;
    Ok(operator.canonical(value))
}

//! Exact sums by the threads of a rayon pool. The values are the same as on one thread.

use exact_sum::Float;
pub use exact_sum::par::{by_key, norm, sum};
#[doc(hidden)]
pub use exact_sum::par::{by_parts, install};

use crate::error::FoldError;
use crate::fold::check_lengths;

/// The exact sum of x0 * y0, x1 * y1, …, rounded to nearest, by the threads of the current rayon pool: see [`dot`](super::dot).
///
/// # Errors
/// The slices differ in length.
pub fn dot<T: Float>(x: &[T], y: &[T]) -> Result<T, FoldError> {
    check_lengths(x, y)?;
    Ok(exact_sum::par::dot(x, y))
}

//! Checks that this thread's floating-point environment is IEEE 754's default.
//!
//! A library that was compiled with `-ffast-math`, or a solver that asked for speed, may have set flush-to-zero, denormals-are-zero or another
//! rounding mode on this thread. Sums would then silently differ from those of other ranks and other runs. [`check`] reads the processor's control
//! register, on architectures whose register it knows. On other architectures, or if the register does not have its default value, `check`
//! computes five sums and products that reveal such a setting.

use std::hint::black_box;

/// While this value lives, subnormal numbers are not flushed to zero on this thread.
pub use simd_kernels::Subnormals;

/// What is wrong with this thread's floating-point environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvironmentError {
    /// Results below the normal range become 0.
    #[error(
        "flush-to-zero is set in this thread; was something compiled or linked with -ffast-math?"
    )]
    FlushToZero,
    /// Operands below the normal range count as 0.
    #[error(
        "denormals-are-zero is set in this thread; was something compiled or linked with -ffast-math?"
    )]
    DenormalsAreZero,
    /// Sums are not rounded to the nearest number.
    #[error("this thread does not round to nearest")]
    Rounding,
    /// Sums and products are right, but the control register does not have its default value. For example, alternate handling (FPCR.AH) on
    /// aarch64 changes minima and maxima of zeros and NaNs.
    #[error("this thread's floating-point control register does not have its default value")]
    ControlRegister,
}

/// Checks that this thread rounds to nearest, keeps subnormal numbers, and computes minima and maxima as the order defines them.
///
/// # Errors
/// The thread's floating-point environment is not the default.
#[inline]
pub fn check() -> Result<(), EnvironmentError> {
    judge(simd_kernels::has_default_environment())
}

/// Checks the environment. `is_default` says whether the control register has its default value; `None` if the register cannot be read.
#[inline]
fn judge(is_default: Option<bool>) -> Result<(), EnvironmentError> {
    match is_default {
        Some(true) => Ok(()),
        Some(false) => check_by_computing().and(Err(EnvironmentError::ControlRegister)),
        None => check_by_computing(),
    }
}

/// Finds what is wrong by arithmetic, which works on every processor. Traps are disabled, because the sums are inexact and a product underflows.
#[cold]
fn check_by_computing() -> Result<(), EnvironmentError> {
    let mut found = Ok(());
    if !simd_kernels::without_traps(&mut || found = compute()) {
        found = compute();
    }
    found
}

/// Computes five sums and products. Operations on subnormal numbers may take a hundred cycles each.
#[inline(never)]
#[expect(clippy::float_cmp, reason = "the results are exact or wrong")]
fn compute() -> Result<(), EnvironmentError> {
    let quarter_ulp = black_box(f64::EPSILON / 4.0);
    let one = black_box(1.0);
    // Each of the other rounding modes (up, down, toward zero) gets at least one of the three sums wrong.
    let nearest = one + quarter_ulp == 1.0
        && -one - quarter_ulp == -1.0
        && one + 3.0 * quarter_ulp == 1.0 + f64::EPSILON;
    if !nearest {
        return Err(EnvironmentError::Rounding);
    }
    // 2^-1074 * 2^52 is 2^-1022, the least normal number: only the operand is subnormal.
    if black_box(f64::from_bits(1)) * black_box(4_503_599_627_370_496.0) == 0.0 {
        return Err(EnvironmentError::DenormalsAreZero);
    }
    // Only the result is subnormal.
    if black_box(f64::MIN_POSITIVE) * black_box(0.5) == 0.0 {
        return Err(EnvironmentError::FlushToZero);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{EnvironmentError, judge};

    /// No processor used for tests has a mode that only the register shows, so the test passes the register's state as an argument.
    #[test]
    fn a_register_that_differs_is_an_error_where_sums_are_right() {
        assert_eq!(judge(None), Ok(()));
        assert_eq!(judge(Some(true)), Ok(()));
        assert_eq!(judge(Some(false)), Err(EnvironmentError::ControlRegister));
    }
}

//! The check for IEEE 754's default floating-point environment.

use crate::processor;

/// Whether this thread rounds to nearest and keeps subnormal numbers, according to the control register: MXCSR on x86-64, FPCR on
/// aarch64. `None` on other processors.
///
/// On aarch64 it is also false for alternate handling (FPCR.AH), which makes minima and maxima those of x86 for NaNs and zeros.
///
/// This takes a few cycles. A test by arithmetic would need sums and products of subnormal numbers, which may cost a hundred
/// cycles each.
#[must_use]
#[inline]
pub fn has_default_environment() -> Option<bool> {
    processor::has_default_environment()
}

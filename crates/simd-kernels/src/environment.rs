//! The check for IEEE 754's default floating-point environment.

/// Whether this thread rounds to nearest and keeps subnormal numbers, according to the MXCSR register. `None` on processors
/// other than x86-64.
///
/// This takes a few cycles. A test by arithmetic would need sums and products of subnormal numbers, which may cost a hundred
/// cycles each.
#[must_use]
#[inline]
pub fn has_default_environment() -> Option<bool> {
    #[cfg(target_arch = "x86_64")]
    {
        // Flush-to-zero, the two bits of the rounding mode, denormals-are-zero (Intel SDM, vol. 1, 10.2.3).
        const DIFFERENT: u32 = 1 << 15 | 0b11 << 13 | 1 << 6;
        Some(crate::x86::mxcsr() & DIFFERENT == 0)
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

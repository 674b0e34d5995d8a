//! Whether this thread computes as IEEE 754 says by default.

/// Whether this thread rounds to nearest and keeps subnormal numbers, by the register that controls its vector arithmetic;
/// `None` where there is none to ask (other processors than x86-64).
///
/// A few cycles: two sums and products with subnormal numbers would tell as well, but each may cost a hundred.
#[must_use]
#[inline]
pub fn has_default_environment() -> Option<bool> {
    #[cfg(target_arch = "x86_64")]
    {
        // Flush to zero, the two bits of the rounding mode, denormals are zero (Intel SDM, vol. 1, 10.2.3).
        const DIFFERENT: u32 = 1 << 15 | 0b11 << 13 | 1 << 6;
        Some(crate::x86::mxcsr() & DIFFERENT == 0)
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

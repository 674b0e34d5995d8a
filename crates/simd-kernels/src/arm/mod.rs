//! 64-bit ARM: the instruction set NEON, and the control register of floating-point arithmetic.

mod neon;

pub(crate) use neon::Neon;

use crate::level::Set;

/// NEON, which processors for general use have.
#[inline]
pub(crate) fn widest() -> Option<Set> {
    Neon::detect().map(Set::Neon)
}

/// The sets that this processor has, from narrow to wide.
pub(crate) fn sets() -> [Option<Set>; 1] {
    [widest()]
}

/// Does nothing: prefetch distances were measured on x86-64 only, and an instruction of which nobody knows that it helps is left out.
#[inline(always)]
pub(crate) fn prefetch<T>(_address: *const T) {}

/// Unknown.
#[inline]
pub(crate) fn prefers_order() -> bool {
    false
}

/// Whether this thread rounds to nearest, keeps subnormal numbers, and has IEEE 754's minimum and maximum.
#[inline]
pub(crate) fn has_default_environment() -> Option<bool> {
    Some(is_default(fpcr()))
}

/// Whether a value of FPCR leaves every bit of a result as IEEE 754's defaults have it (Arm ARM, C5.2.8).
///
/// The default-NaN mode may be set: it changes only the payloads of NaNs. So may the modes of 16-bit numbers.
#[inline]
fn is_default(fpcr: u64) -> bool {
    const FLUSH_TO_ZERO: u64 = 1 << 24;
    const ROUNDING_MODE: u64 = 0b11 << 22;
    /// FMIN and FMAX return their second operand for NaNs and for two zeros, as on x86.
    const ALTERNATE_HANDLING: u64 = 1 << 1;
    const FLUSH_INPUTS_TO_ZERO: u64 = 1 << 0;
    const DIFFERENT: u64 =
        FLUSH_TO_ZERO | ROUNDING_MODE | ALTERNATE_HANDLING | FLUSH_INPUTS_TO_ZERO;
    fpcr & DIFFERENT == 0
}

/// The control register of scalar and NEON arithmetic.
#[expect(unsafe_code, reason = "only an instruction can read the register")]
#[inline]
fn fpcr() -> u64 {
    let register: u64;
    // SAFETY: MRS copies FPCR, which programs may read, to a general register, and has no other effect. Not `pure`: the value of the
    // register may change between calls.
    unsafe {
        core::arch::asm!(
            "mrs {}, fpcr",
            out(reg) register,
            options(nomem, nostack, preserves_flags)
        );
    }
    register
}

#[cfg(test)]
mod tests {
    use super::is_default;

    /// qemu and most processors have no alternate handling, so the bits are tested as numbers.
    #[test]
    fn each_bit_that_changes_results_is_seen() {
        assert!(is_default(0));
        for harmless in [19, 25, 26] {
            assert!(is_default(1 << harmless), "bit {harmless}");
        }
        for different in [0, 1, 22, 23, 24] {
            assert!(!is_default(1 << different), "bit {different}");
            assert!(!is_default(1 << different | 1 << 25), "bit {different}");
        }
    }
}

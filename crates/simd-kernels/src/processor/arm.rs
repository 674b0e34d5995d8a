//! Reads and changes the floating-point environment of 64-bit ARM.

/// Does nothing: prefetch distances were measured on x86-64 only, and nothing shows that prefetching would help here.
#[inline(always)]
pub(crate) fn prefetch<T>(_address: *const T) {}

/// Returns false, since reading in order was compared with prefetching on x86-64 only.
#[inline]
pub(crate) fn prefers_order() -> bool {
    false
}

/// Whether this thread rounds to nearest, keeps subnormal numbers, and has IEEE 754's minimum and maximum.
#[inline]
pub(crate) fn has_default_environment() -> Option<bool> {
    Some(is_default(control()))
}

/// FPCR's bits that enable traps for invalid operations, divisions by zero, overflows, underflows, inexact results and subnormal operands.
/// Most processors lack these bits.
const TRAPS: u64 = 0b1001_1111 << 8;

/// The value of FPCR.
pub(crate) type Control = u64;

/// An empty struct, because the exception flags are in another register, FPSR, which is not restored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Exceptions;

/// `Some` if this thread has the default environment and nothing traps.
#[inline]
pub(crate) fn exceptions_if_quiet() -> Option<Exceptions> {
    let control = control();
    (is_default(control) && control & TRAPS == 0).then_some(Exceptions)
}

/// Does nothing: the cost of restoring flags was measured on x86-64 only.
#[inline]
pub(crate) fn forget_since(_before: Exceptions) {}

/// The control register with all traps disabled; `None` if none is enabled.
pub(crate) fn masked(control: Control) -> Option<Control> {
    (control & TRAPS != 0).then_some(control & !TRAPS)
}

/// The control register without FZ and FIZ, which flush results and operands to zero; `None` if neither is set.
#[inline]
pub(crate) fn without_flushes(control: Control) -> Option<Control> {
    const FLUSHES: Control = 1 << 24 | 1 << 0;
    (control & FLUSHES != 0).then_some(control & !FLUSHES)
}

/// Whether results have the same bits with a value of FPCR as with IEEE 754's defaults (Arm ARM, C5.2.8).
///
/// The default-NaN mode may be set: it changes only the payloads of NaNs. The modes of 16-bit numbers may be set, too.
#[inline]
fn is_default(fpcr: u64) -> bool {
    const FLUSH_TO_ZERO: u64 = 1 << 24;
    const ROUNDING_MODE: u64 = 0b11 << 22;
    /// With this bit set, FMIN and FMAX return their second operand for NaNs and for two zeros, as on x86.
    const ALTERNATE_HANDLING: u64 = 1 << 1;
    const FLUSH_INPUTS_TO_ZERO: u64 = 1 << 0;
    const DIFFERENT: u64 =
        FLUSH_TO_ZERO | ROUNDING_MODE | ALTERNATE_HANDLING | FLUSH_INPUTS_TO_ZERO;
    fpcr & DIFFERENT == 0
}

/// The control register of scalar and NEON arithmetic.
#[expect(unsafe_code, reason = "only an instruction can read the register")]
#[inline]
pub(crate) fn control() -> Control {
    let register: u64;
    // SAFETY: MRS copies FPCR, which programs may read, to a general register, and has no other effect. The assembly is not `pure`: the
    // register's value may change between calls.
    unsafe {
        core::arch::asm!(
            "mrs {}, fpcr",
            out(reg) register,
            options(nomem, nostack, preserves_flags)
        );
    }
    register
}

/// Sets FPCR to a value that was read from it, except for traps and flushes that may have been cleared.
#[expect(unsafe_code, reason = "only an instruction can set the register")]
#[cold]
#[inline(never)]
pub(crate) fn set_control(control: Control) {
    // SAFETY: MSR copies a general register to FPCR, which programs may write. The compiler assumes the default environment. The new
    // value does not change rounding. It disables traps or flushing to zero, or restores the program's own setting.
    unsafe {
        core::arch::asm!("msr fpcr, {}", in(reg) control, options(nostack, preserves_flags));
    }
}

/// FPSR's inexact flag, which stays set until a program clears it (Arm ARM, C5.2.9).
const INEXACT: u64 = 1 << 4;

/// Returns whether the inexact flag is set, and clears the flag.
#[inline]
pub(crate) fn take_inexact() -> Option<bool> {
    let status = status_after(&());
    let was_inexact = status & INEXACT != 0;
    if was_inexact {
        set_status(status & !INEXACT);
    }
    Some(was_inexact)
}

pub(crate) fn set_inexact() {
    set_status(status_after(&()) | INEXACT);
}

/// Whether the inexact flag is set after `result` has been computed.
#[inline(always)]
pub(crate) fn is_inexact_after<R>(result: &R) -> bool {
    status_after(result) & INEXACT != 0
}

/// FPSR, read after `result` has been computed.
#[expect(unsafe_code, reason = "only an instruction can read the register")]
#[inline(always)]
fn status_after<R>(result: &R) -> u64 {
    let register: u64;
    // SAFETY: MRS copies FPSR, which programs may read, to a general register. The compiler must assume that the instruction reads `result`, so
    // `result` is computed first.
    unsafe {
        core::arch::asm!(
            "mrs {}, fpsr /* {} */",
            out(reg) register,
            in(reg) core::ptr::from_ref(result),
            options(nostack, preserves_flags)
        );
    }
    register
}

/// Sets FPSR to a value that was read from it, except for changed exception flags.
#[expect(unsafe_code, reason = "only an instruction can set the register")]
#[cold]
#[inline(never)]
fn set_status(status: u64) {
    // SAFETY: MSR copies a general register to FPSR, which programs may write. FPSR holds exception flags, and changes no result.
    unsafe {
        core::arch::asm!("msr fpsr, {}", in(reg) status, options(nostack, preserves_flags));
    }
}

#[cfg(test)]
mod tests {
    use super::{TRAPS, is_default, masked};

    #[test]
    fn each_trap_is_seen() {
        for bit in [8, 9, 10, 11, 12, 15] {
            assert_eq!(masked(1 << bit | 1 << 24), Some(1 << 24), "bit {bit}");
        }
        assert_eq!(masked(!TRAPS), None);
    }

    /// qemu and most processors lack alternate handling, so the test passes values of FPCR rather than setting it.
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

//! Reads and changes the floating-point environment of x86-64, and prefetches data.

use core::sync::atomic::{AtomicU8, Ordering};

/// The bits of MXCSR that must be clear: flush-to-zero, the two bits of the rounding mode, and denormals-are-zero (Intel SDM, vol. 1, 10.2.3).
const DIFFERENT: u32 = 1 << 15 | 0b11 << 13 | 1 << 6;

/// One mask bit for each exception, which traps unless the bit is set.
const MASKS: u32 = 0b11_1111 << 7;

/// Whether this thread rounds to nearest and keeps subnormal numbers.
#[inline]
pub(crate) fn has_default_environment() -> Option<bool> {
    Some(control() & DIFFERENT == 0)
}

/// The value of MXCSR.
pub(crate) type Control = u32;

/// The value of MXCSR, whose six lowest bits are the exception flags.
pub(crate) type Exceptions = u32;

/// MXCSR, if this thread has the default environment and nothing traps.
#[inline]
pub(crate) fn exceptions_if_quiet() -> Option<Exceptions> {
    let control = control();
    (control & (DIFFERENT | MASKS) == MASKS).then_some(control)
}

/// Restores MXCSR to `before` if an invalid operation, a division by zero, an overflow or an underflow has happened since.
#[inline]
pub(crate) fn forget_since(before: Exceptions) {
    const FORGOTTEN: u32 = 0b1_1101;
    if control() & !before & FORGOTTEN != 0 {
        set_control(before);
    }
}

/// The control register with all exceptions masked; `None` if all are masked already.
pub(crate) fn masked(control: Control) -> Option<Control> {
    (control & MASKS != MASKS).then_some(control | MASKS)
}

/// The control register without flush-to-zero and denormals-are-zero; `None` if neither is set.
#[inline]
pub(crate) fn without_flushes(control: Control) -> Option<Control> {
    const FLUSHES: Control = 1 << 15 | 1 << 6;
    (control & FLUSHES != 0).then_some(control & !FLUSHES)
}

/// Prefetches the cache line at `address`, which need not be readable.
#[expect(unsafe_code, reason = "the intrinsic takes a pointer")]
#[inline(always)]
pub(crate) fn prefetch<T>(address: *const T) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: PREFETCHT0 is a hint. It has no visible effect and does not fault at any address (Intel
    // SDM, vol. 2, PREFETCHh). SSE is part of x86-64.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

/// Whether reading memory in the order of addresses, with the processor's own prefetchers, is faster than software prefetching.
///
/// True for AMD's family 19h (Zen 3 and 4), although only Zen 4 was measured. The distances of the software prefetches were measured on Zen
/// 5.
#[inline]
pub(crate) fn prefers_order() -> bool {
    static KNOWN: AtomicU8 = AtomicU8::new(UNKNOWN);
    const UNKNOWN: u8 = 2;
    match KNOWN.load(Ordering::Relaxed) {
        UNKNOWN => {
            let does = amd_family() == Some(0x19);
            KNOWN.store(does.into(), Ordering::Relaxed);
            does
        }
        known => known == 1,
    }
}

/// The family of an AMD processor; `None` for other processors.
#[expect(unsafe_code, reason = "CPUID is unsafe before Rust 1.94")]
#[allow(unused_unsafe, reason = "CPUID is safe from Rust 1.94 on")]
#[cold]
fn amd_family() -> Option<u32> {
    use core::arch::x86_64::__cpuid;
    // SAFETY: every x86-64 processor has CPUID, with leaves 0 and 1 (AMD64 Architecture Programmer's Manual, vol. 3, appendix E).
    let (vendor, model) = unsafe { (__cpuid(0), __cpuid(1)) };
    let is_amd = [vendor.ebx, vendor.edx, vendor.ecx]
        == [*b"Auth", *b"enti", *b"cAMD"].map(u32::from_le_bytes);
    let (base, extended) = (model.eax >> 8 & 0xF, model.eax >> 20 & 0xFF);
    is_amd.then_some(if base == 0xF { base + extended } else { base })
}

/// The inexact flag, which stays set until a program clears it.
const INEXACT: u32 = 1 << 5;

/// Returns whether the inexact flag is set, and clears the flag.
#[inline]
pub(crate) fn take_inexact() -> Option<bool> {
    let control = control();
    let was_inexact = control & INEXACT != 0;
    if was_inexact {
        set_control(control & !INEXACT);
    }
    Some(was_inexact)
}

pub(crate) fn set_inexact() {
    set_control(control() | INEXACT);
}

/// Whether the inexact flag is set after `result` has been computed.
#[expect(unsafe_code, reason = "only an instruction can read the register")]
#[inline(always)]
pub(crate) fn is_inexact_after<R>(result: &R) -> bool {
    let mut register = 0_u32;
    // SAFETY: as in `control`. The compiler must assume that the instruction reads `result`, so `result` is computed first.
    unsafe {
        core::arch::asm!(
            "stmxcsr [{}] /* {} */",
            in(reg) &raw mut register,
            in(reg) core::ptr::from_ref(result),
            options(nostack, preserves_flags)
        );
    }
    register & INEXACT != 0
}

/// The control and status register of SSE and AVX arithmetic.
#[expect(unsafe_code, reason = "only an instruction can read the register")]
#[inline]
pub(crate) fn control() -> Control {
    let mut register = 0_u32;
    // SAFETY: STMXCSR writes 4 bytes to the given address, which is the address of a live u32, and has no other effect. SSE is part of x86-64. The
    // assembly is not `pure`: the value of the register may change between calls.
    unsafe {
        core::arch::asm!(
            "stmxcsr [{}]",
            in(reg) &raw mut register,
            options(nostack, preserves_flags)
        );
    }
    register
}

/// Sets the register to a value that was read from it, except for changed masks, exception flags and flushes.
#[expect(unsafe_code, reason = "only an instruction can set the register")]
#[cold]
#[inline(never)]
pub(crate) fn set_control(control: Control) {
    // SAFETY: LDMXCSR reads 4 bytes from the given address, which is the address of a live u32. All values come from STMXCSR, with only masks, flags
    // and flushes changed, so no reserved bit is set. The compiler assumes the default environment. The new value does not change rounding. It masks
    // exceptions, changes flags or clears flushes, or restores the program's own setting.
    unsafe {
        core::arch::asm!(
            "ldmxcsr [{}]",
            in(reg) &raw const control,
            options(nostack, preserves_flags)
        );
    }
}

//! Sets the control register of floating-point arithmetic: MXCSR on x86-64, FPCR on aarch64.

#![expect(unsafe_code, reason = "the control register is set by an instruction")]
#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test file is a separate crate, and uses only some functions"
)]

use std::arch::asm;

use reduce::environment::EnvironmentError;

#[cfg(target_arch = "x86_64")]
pub use x86_64::*;

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use super::EnvironmentError;

    pub type Bits = u32;
    /// Round to nearest, with all exceptions masked. Every thread begins in this state.
    pub const DEFAULT: Bits = 0x1F80;
    pub const FLUSH_TO_ZERO: Bits = 1 << 15;
    pub const ROUND_UP: Bits = 2 << 13;
    /// The error for `FLUSH_TO_ZERO`.
    pub const FLUSHING: EnvironmentError = EnvironmentError::FlushToZero;
    /// Each departure from the default, and its error.
    pub const DEPARTURES: [(Bits, EnvironmentError); 5] = [
        (FLUSH_TO_ZERO, FLUSHING),
        (1 << 6, EnvironmentError::DenormalsAreZero),
        (1 << 13, EnvironmentError::Rounding),
        (ROUND_UP, EnvironmentError::Rounding),
        (3 << 13, EnvironmentError::Rounding),
    ];
}

#[cfg(target_arch = "aarch64")]
pub use aarch64::*;

#[cfg(target_arch = "aarch64")]
mod aarch64 {
    use super::EnvironmentError;

    pub type Bits = u64;
    /// Round to nearest, with no exception trapped. Every thread begins in this state.
    pub const DEFAULT: Bits = 0;
    /// Flushes operands and results.
    pub const FLUSH_TO_ZERO: Bits = 1 << 24;
    pub const ROUND_UP: Bits = 1 << 22;
    /// The error for `FLUSH_TO_ZERO`, because operands are examined first.
    pub const FLUSHING: EnvironmentError = EnvironmentError::DenormalsAreZero;
    /// Each departure from the default, and its error.
    pub const DEPARTURES: [(Bits, EnvironmentError); 4] = [
        (FLUSH_TO_ZERO, FLUSHING),
        (ROUND_UP, EnvironmentError::Rounding),
        (2 << 22, EnvironmentError::Rounding),
        (3 << 22, EnvironmentError::Rounding),
    ];
}

/// Sets this thread's register. The caller must reset the register to [`DEFAULT`], unless the thread ends first.
pub fn set(control: Bits) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: `ldmxcsr` reads the four bytes that the pointer names, and no reserved bit is set.
    unsafe {
        asm!("ldmxcsr [{}]", in(reg) &raw const control);
    }
    #[cfg(target_arch = "aarch64")]
    // SAFETY: MSR copies a general register to FPCR, which programs may write, and no reserved bit is set.
    unsafe {
        asm!("msr fpcr, {}", in(reg) control);
    }
}

/// This thread's register, with the flags of exceptions that have happened since the register was set.
#[cfg(target_arch = "x86_64")]
pub fn get() -> Bits {
    let mut control: Bits = 0;
    // SAFETY: `stmxcsr` writes the four bytes that the pointer names.
    unsafe {
        asm!("stmxcsr [{}]", in(reg) &raw mut control);
    }
    control
}

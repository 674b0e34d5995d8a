//! Sets a thread's floating-point environment and restores it.

/// Whether this program can set the environment on this processor.
pub(super) const CAN_BE_SET: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

/// A floating-point environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Environment {
    /// IEEE 754's default.
    Default,
    /// Subnormal operands and results are zeros.
    FlushToZero,
    /// Results are rounded up.
    RoundUp,
}

/// Runs `body` in an environment, then restores the old one.
// Neither this function nor `body` is inlined, so no arithmetic moves out of the environment or into it.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[inline(never)]
pub(super) fn within(environment: Environment, body: &mut dyn FnMut()) {
    let before = SetBack(register::get());
    register::set(match environment {
        Environment::Default => register::DEFAULT,
        Environment::FlushToZero => register::DEFAULT | register::FLUSH_TO_ZERO,
        Environment::RoundUp => register::DEFAULT | register::ROUND_UP,
    });
    body();
    drop(before);
}

/// Runs `body` in the default environment, since this program cannot set another one on this processor.
#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
pub(super) fn within(_environment: Environment, body: &mut dyn FnMut()) {
    body();
}

/// The old value of the control register. Dropping this value restores it.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
struct SetBack(register::Control);

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
impl Drop for SetBack {
    fn drop(&mut self) {
        register::set(self.0);
    }
}

/// The control register of floating-point arithmetic, MXCSR, with all exceptions masked.
#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "instructions read and set the register")]
mod register {
    use std::arch::asm;

    pub(super) type Control = u32;
    pub(super) const DEFAULT: Control = 0x1F80;
    /// Flush-to-zero and denormals-are-zero.
    pub(super) const FLUSH_TO_ZERO: Control = 1 << 15 | 1 << 6;
    pub(super) const ROUND_UP: Control = 2 << 13;

    pub(super) fn get() -> Control {
        let mut control = 0_u32;
        // SAFETY: `stmxcsr` writes the four bytes that the pointer names.
        unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut control) }
        control
    }

    pub(super) fn set(control: Control) {
        // SAFETY: `ldmxcsr` reads the four bytes that the pointer names, and no reserved bit is set: the value is one that was read, or the
        // default with flush-to-zero, denormals-are-zero or a rounding mode (Intel SDM, vol. 1, 10.2.3). The register is this thread's own,
        // and `within` sets it back.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const control) }
    }
}

/// The control register of floating-point arithmetic, FPCR, with no exception trapped.
#[cfg(target_arch = "aarch64")]
#[expect(unsafe_code, reason = "instructions read and set the register")]
mod register {
    use std::arch::asm;

    pub(super) type Control = u64;
    pub(super) const DEFAULT: Control = 0;
    pub(super) const FLUSH_TO_ZERO: Control = 1 << 24;
    pub(super) const ROUND_UP: Control = 1 << 22;

    pub(super) fn get() -> Control {
        let control;
        // SAFETY: MRS copies FPCR to a general register.
        unsafe { asm!("mrs {}, fpcr", out(reg) control) }
        control
    }

    pub(super) fn set(control: Control) {
        // SAFETY: MSR copies a general register to FPCR, and no reserved bit is set: the value is one that was read, or the default with
        // flush-to-zero or a rounding mode (Arm ARM, C5.2.8). The register is this thread's own, and `within` sets it back.
        unsafe { asm!("msr fpcr, {}", in(reg) control) }
    }
}

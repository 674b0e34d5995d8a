//! A rank whose floating-point environment is not the default one.

#[cfg(target_arch = "x86_64")]
use std::arch::asm;

/// Whether this program can set the environment on this processor.
pub(super) const CAN_BE_SET: bool = cfg!(target_arch = "x86_64");

/// A floating-point environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Environment {
    /// IEEE 754's.
    Default,
    /// Subnormal operands and results are zeros.
    FlushToZero,
    /// Results are rounded up.
    RoundUp,
}

/// Runs `body` in an environment, and sets back what was before.
// Neither this function nor `body` is inlined, so no arithmetic moves out of the environment or into it.
#[cfg(target_arch = "x86_64")]
#[inline(never)]
pub(super) fn within(environment: Environment, body: &mut dyn FnMut()) {
    /// All exceptions masked.
    const DEFAULT: u32 = 0x1F80;
    const FLUSH_TO_ZERO: u32 = 1 << 15;
    const DENORMALS_ARE_ZERO: u32 = 1 << 6;
    const ROUND_UP: u32 = 2 << 13;
    let before = SetBack(control());
    set_control(match environment {
        Environment::Default => DEFAULT,
        Environment::FlushToZero => DEFAULT | FLUSH_TO_ZERO | DENORMALS_ARE_ZERO,
        Environment::RoundUp => DEFAULT | ROUND_UP,
    });
    body();
    drop(before);
}

/// Runs `body`: there is no environment but the default one.
#[cfg(not(target_arch = "x86_64"))]
pub(super) fn within(_environment: Environment, body: &mut dyn FnMut()) {
    body();
}

/// What the control register held, and holds again when this is dropped.
#[cfg(target_arch = "x86_64")]
struct SetBack(u32);

#[cfg(target_arch = "x86_64")]
impl Drop for SetBack {
    fn drop(&mut self) {
        set_control(self.0);
    }
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the control register is read by an instruction")]
fn control() -> u32 {
    let mut control = 0_u32;
    // SAFETY: `stmxcsr` writes the four bytes that the pointer names.
    unsafe { asm!("stmxcsr [{}]", in(reg) &raw mut control) }
    control
}

#[cfg(target_arch = "x86_64")]
#[expect(unsafe_code, reason = "the control register is set by an instruction")]
fn set_control(control: u32) {
    // SAFETY: `ldmxcsr` reads the four bytes that the pointer names, and no reserved bit is set: the value is one that was read, or the
    // default with flush-to-zero, denormals-are-zero or a rounding mode (Intel SDM, vol. 1, 10.2.3). The register is this thread's own,
    // and `within` sets it back.
    unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const control) }
}

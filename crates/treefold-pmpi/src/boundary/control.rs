//! The floating-point environment of the program's thread.
//!
//! Programs flush subnormal numbers to zero to be faster, and treefold's bits are those of IEEE 754's default environment. So a reduction
//! sets it and restores the program's. The bits that say what has happened stay as a reduction leaves them if nothing had to be set.

/// While this exists, the environment is the default one.
#[derive(Debug)]
pub(super) struct DefaultEnvironment {
    /// The program's, if it differs.
    saved: Option<Control>,
}

impl DefaultEnvironment {
    #[inline]
    pub(super) fn enter() -> Self {
        let control = read();
        let is_default = control & !FLAGS == DEFAULT;
        if !is_default {
            write(DEFAULT);
        }
        Self {
            saved: (!is_default).then_some(control),
        }
    }

    /// Whether the program's differs.
    pub(super) fn differs(&self) -> bool {
        self.saved.is_some()
    }
}

impl Drop for DefaultEnvironment {
    #[inline]
    fn drop(&mut self) {
        if let Some(control) = self.saved {
            write(control);
        }
    }
}

#[cfg(target_arch = "x86_64")]
mod processor {
    use std::arch::asm;

    pub(super) type Control = u32;

    /// All exceptions masked, round to nearest, subnormal numbers as they are.
    pub(super) const DEFAULT: Control = 0x1F80;

    /// Exceptions that have happened.
    pub(super) const FLAGS: Control = 0x3F;

    #[inline]
    pub(super) fn read() -> Control {
        let mut control: Control = 0;
        // SAFETY: every x86-64 processor has MXCSR; the instruction writes its four bytes to a live u32.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags))
        };
        control
    }

    #[inline]
    pub(super) fn write(control: Control) {
        // SAFETY: the value is the default one or what the register held, so no reserved bit is set. Rust's arithmetic runs between the
        // two writes of a `DefaultEnvironment` only with the default value, which is what the compiler assumes.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack, readonly)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod processor {
    use std::arch::asm;

    pub(super) type Control = u64;

    /// No trap, round to nearest, subnormal numbers as they are.
    pub(super) const DEFAULT: Control = 0;

    /// What has happened is in another register.
    pub(super) const FLAGS: Control = 0;

    #[inline]
    pub(super) fn read() -> Control {
        let control: Control;
        // SAFETY: every aarch64 processor has FPCR, which programs may read.
        unsafe { asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags)) };
        control
    }

    #[inline]
    pub(super) fn write(control: Control) {
        // SAFETY: the value is the default one or what the register held. Rust's arithmetic runs between the two writes of a
        // `DefaultEnvironment` only with the default value, which is what the compiler assumes.
        unsafe { asm!("msr fpcr, {}", in(reg) control, options(nostack)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod processor {
    pub(super) type Control = ();
    pub(super) const DEFAULT: Control = ();
    compile_error!("treefold-pmpi does not know this processor's floating-point control register");
}

use processor::{Control, DEFAULT, FLAGS, read, write};

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{DefaultEnvironment, read, write};

    #[test]
    fn the_programs_environment_comes_back() {
        const FLUSH_TO_ZERO: u32 = 0x8000;
        let before = read();
        write(before | FLUSH_TO_ZERO);
        let inside = DefaultEnvironment::enter();
        let within = read();
        let differs = inside.differs();
        drop(inside);
        let after = read();
        write(before);
        assert!(differs && within & FLUSH_TO_ZERO == 0);
        assert_eq!(after & FLUSH_TO_ZERO, FLUSH_TO_ZERO);
    }
}

//! The floating-point environment of the program's thread.
//!
//! Some programs flush subnormal numbers to zero for speed, but treefold computes in the default environment of IEEE 754. So a reduction
//! sets the default, then restores the program's environment. If the two are equal, the exception flags stay as the reduction leaves them.
//!
//! Programs may also enable traps for infinite results or NaNs. Traps change no result, so the report does not count an environment that
//! differs only in its traps. Within a reduction, nothing traps.

/// While this value exists, the floating-point environment is the default one.
#[derive(Debug)]
pub(crate) struct DefaultEnvironment {
    /// The program's environment, if it is not the default one.
    saved: Option<Control>,
}

impl DefaultEnvironment {
    #[inline]
    pub(crate) fn enter() -> Self {
        let control = read();
        let is_default = control & !FLAGS == DEFAULT;
        if !is_default {
            write(DEFAULT);
        }
        Self {
            saved: (!is_default).then_some(control),
        }
    }

    /// Whether the program's environment changes results.
    pub(crate) fn differs(&self) -> bool {
        let default = DEFAULT & RESULTS;
        self.saved.is_some_and(|saved| saved & RESULTS != default)
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

    pub(crate) type Control = u32;

    /// The default environment: all exceptions are masked, results are rounded to nearest, and subnormal numbers are kept.
    pub(crate) const DEFAULT: Control = 0x1F80;

    /// The flags of exceptions that have occurred.
    pub(crate) const FLAGS: Control = 0x3F;

    /// The bits that affect results: flush to zero, rounding mode, and denormals are zero. The other bits mask exceptions.
    pub(crate) const RESULTS: Control = 1 << 15 | 0b11 << 13 | 1 << 6;

    #[inline]
    pub(crate) fn read() -> Control {
        let mut control: Control = 0;
        // SAFETY: every x86-64 processor has MXCSR; the instruction writes its four bytes to a live u32.
        unsafe {
            asm!("stmxcsr [{}]", in(reg) &raw mut control, options(nostack, preserves_flags))
        };
        control
    }

    #[inline]
    pub(crate) fn write(control: Control) {
        // SAFETY: the value is the default one or what the register held, so no reserved bit is set. Rust's arithmetic runs between the
        // two writes of a `DefaultEnvironment` only with the default value, which is what the compiler assumes.
        unsafe { asm!("ldmxcsr [{}]", in(reg) &raw const control, options(nostack, readonly)) };
    }
}

#[cfg(target_arch = "aarch64")]
mod processor {
    use std::arch::asm;

    pub(crate) type Control = u64;

    /// The default environment: no exception traps, results are rounded to nearest, and subnormal numbers are kept.
    pub(crate) const DEFAULT: Control = 0;

    /// No bits, since the flags of exceptions that have occurred are in another register.
    pub(crate) const FLAGS: Control = 0;

    /// The bits that affect results: all except bits 8 to 12 and 15, which enable traps.
    pub(crate) const RESULTS: Control = !(0b1001_1111 << 8);

    #[inline]
    pub(crate) fn read() -> Control {
        let control: Control;
        // SAFETY: every aarch64 processor has FPCR, which programs may read.
        unsafe { asm!("mrs {}, fpcr", out(reg) control, options(nomem, nostack, preserves_flags)) };
        control
    }

    #[inline]
    pub(crate) fn write(control: Control) {
        // SAFETY: the value is the default one or what the register held. Rust's arithmetic runs between the two writes of a
        // `DefaultEnvironment` only with the default value, which is what the compiler assumes.
        unsafe { asm!("msr fpcr, {}", in(reg) control, options(nostack)) };
    }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
mod processor {
    pub(crate) type Control = ();
    pub(crate) const DEFAULT: Control = ();
    pub(crate) const RESULTS: Control = ();
    compile_error!("treefold-pmpi does not know this processor's floating-point control register");
}

use processor::{Control, DEFAULT, FLAGS, RESULTS, read, write};

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::{DEFAULT, DefaultEnvironment, FLAGS, read, write};

    /// Enters the default environment from an environment with this control word. Returns the control word within and after the default
    /// environment, and whether the first environment changes results.
    fn entered_from(control: u32) -> (u32, u32, bool) {
        let before = read();
        write(control);
        let inside = DefaultEnvironment::enter();
        let within = read();
        let differs = inside.differs();
        drop(inside);
        let after = read();
        write(before);
        (within, after, differs)
    }

    #[test]
    fn the_programs_environment_comes_back() {
        const FLUSH_TO_ZERO: u32 = 0x8000;
        let (within, after, differs) = entered_from(read() | FLUSH_TO_ZERO);
        assert!(differs && within & FLUSH_TO_ZERO == 0);
        assert_eq!(after & FLUSH_TO_ZERO, FLUSH_TO_ZERO);
    }

    /// Tests each exception that can trap, and all of them together.
    #[test]
    fn traps_are_masked_and_come_back_and_change_no_result() {
        for exceptions in (7..13).map(|bit| 1_u32 << bit).chain([0x1F80]) {
            let (within, after, differs) = entered_from(read() & !FLAGS & !exceptions);
            assert_eq!(within & !FLAGS, DEFAULT, "{exceptions:#x}");
            assert_eq!(after & 0x1F80, 0x1F80 & !exceptions, "{exceptions:#x}");
            assert!(!differs, "{exceptions:#x}");
        }
    }
}

//! The check for IEEE 754's default floating-point environment, and how to keep exceptions from the program.
//!
//! Exact sums try things that may fail: a product overflows, or a guessed scale does not fit. What comes of that is thrown away, but the
//! processor notes an exception, and traps where the program asked for it.

use core::hint::black_box;

use crate::processor::{self, Control, Exceptions};

/// Whether this thread rounds to nearest and keeps subnormal numbers, according to the control register: MXCSR on x86-64, FPCR on
/// aarch64. `None` on other processors.
///
/// On aarch64 it is also false for alternate handling (FPCR.AH), which makes minima and maxima those of x86 for NaNs and zeros.
///
/// This takes a few cycles. A test by arithmetic would need sums and products of subnormal numbers, which may cost a hundred
/// cycles each.
#[must_use]
#[inline]
pub fn has_default_environment() -> Option<bool> {
    processor::has_default_environment()
}

/// A moment at which this thread had the default environment and nothing trapped, with the exceptions that had happened by then.
#[derive(Clone, Copy, Debug)]
pub struct Quiet(Exceptions);

impl Quiet {
    /// This moment; `None` if the environment is another one or not known, or if an exception would trap.
    ///
    /// This takes as long as [`has_default_environment`].
    #[must_use]
    #[inline]
    pub fn now() -> Option<Self> {
        processor::exceptions_if_quiet().map(Self)
    }

    /// Forgets what has happened since, if an invalid operation, a division by zero, an overflow or an underflow has.
    ///
    /// On x86-64. Elsewhere the exceptions stay.
    #[inline]
    pub fn forget_since(self) {
        processor::forget_since(self.0);
    }
}

/// A look at whether additions are rounded.
#[derive(Debug)]
pub struct Watch {
    /// Whether some were before.
    was_inexact: bool,
}

impl Quiet {
    /// Begins to look; `None` if the processor does not tell. Emulated ones may not: valgrind's notes no exceptions.
    #[must_use]
    pub fn watch(self) -> Option<Watch> {
        let mut watch = processor::take_inexact().map(|was_inexact| Watch { was_inexact })?;
        let (_, is_exact) = watch.look(&[1.0, f64::EPSILON / 4.0], |items| items[0] + items[1]);
        (!is_exact).then_some(watch)
    }
}

impl Watch {
    /// What a function makes of items, and whether it rounded nothing.
    #[inline(always)]
    pub(crate) fn look<T, R>(&mut self, items: &[T], body: impl FnOnce(&[T]) -> R) -> (R, bool) {
        let result = body(processor::hidden(items));
        let is_exact = !processor::is_inexact_after(&result);
        if !is_exact {
            processor::take_inexact();
        }
        (result, is_exact)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.was_inexact {
            processor::set_inexact();
        }
    }
}

/// Runs `body` with all exceptions masked, if one of them would trap on this thread. True if it did; if nothing would trap, or if that is not
/// known, `body` does not run.
///
/// Rounding and the treatment of subnormal numbers are the thread's. Its control register is then as before, with the exceptions on x86-64 that had
/// happened before, also if `body` panics.
#[cold]
#[inline(never)]
pub fn without_traps(body: &mut dyn FnMut()) -> bool {
    let control = processor::control();
    let Some(masked) = processor::masked(control) else {
        return false;
    };
    let restored = Restored(control);
    processor::set_control(masked);
    // The compiler takes arithmetic for something that may be moved. It does not know what it calls here, so none leaves the call.
    black_box(body)();
    drop(restored);
    true
}

/// While it lives, its thread keeps subnormal results and operands. What flushed them, if anything did, does so again when it is dropped, on the same
/// thread; exceptions that happened meanwhile are then forgotten.
///
/// This takes as long as [`has_default_environment`], where nothing is flushed. Arithmetic that must not leave its life belongs in a function that
/// the compiler does not know, as in [`without_traps`].
#[derive(Debug)]
pub struct Subnormals {
    _restored: Option<Restored>,
}

impl Subnormals {
    /// From here on.
    #[must_use]
    #[inline]
    pub fn kept() -> Self {
        let control = processor::control();
        let kept = processor::without_flushes(control).map(|without| {
            processor::set_control(without);
            Restored(control)
        });
        Self { _restored: kept }
    }
}

/// Sets the control register, when dropped, to what it was.
#[derive(Debug)]
struct Restored(Control);

impl Drop for Restored {
    fn drop(&mut self) {
        processor::set_control(self.0);
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    // Also where the crate does without.
    extern crate std;

    use core::hint::black_box;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::{Quiet, Subnormals, without_traps};
    use crate::processor::{control, set_control};

    const DEFAULT: u32 = 0x1F80;
    const EXCEPTIONS: u32 = 0x3F;
    const FLUSH_TO_ZERO: u32 = 1 << 15;
    const INEXACT: u32 = 1 << 5;

    /// Its product overflows.
    fn overflow() -> f64 {
        black_box(black_box(f64::MAX) * black_box(f64::MAX))
    }

    /// Runs `body` with a control register, and returns the register after it.
    fn after(register: u32, body: impl FnOnce()) -> u32 {
        let before = control();
        set_control(register);
        body();
        let after = control();
        set_control(before);
        after
    }

    /// Each exception that can trap, and all of them.
    #[test]
    fn nothing_traps_and_the_register_comes_back() {
        for traps in (7..13).map(|bit| 1_u32 << bit).chain([DEFAULT]) {
            for others in [0, FLUSH_TO_ZERO, INEXACT] {
                let register = (DEFAULT & !traps) | (others & !(traps >> 7));
                let mut within = 0;
                let after = after(register, || {
                    assert!(Quiet::now().is_none());
                    assert!(without_traps(&mut || {
                        overflow();
                        within = control();
                    }));
                });
                assert_eq!(after, register, "{traps:#x}");
                let expected = DEFAULT | (others & FLUSH_TO_ZERO);
                assert_eq!(within & !EXCEPTIONS, expected, "{traps:#x}");
            }
        }
    }

    #[test]
    fn subnormal_numbers_are_kept_for_a_while() {
        for flushes in [0, FLUSH_TO_ZERO, 1 << 6, FLUSH_TO_ZERO | 1 << 6] {
            let (mut within, mut half) = (0, 0.0);
            let register = DEFAULT | flushes;
            let after = after(register, || {
                let kept = Subnormals::kept();
                within = control();
                half = black_box(black_box(f64::MIN_POSITIVE) * black_box(0.5));
                drop(kept);
            });
            assert_eq!(after & !EXCEPTIONS, register);
            assert_eq!(within & !EXCEPTIONS, DEFAULT);
            assert_eq!(half.to_bits(), 1 << 51);
        }
    }

    #[test]
    fn the_register_comes_back_when_the_body_panics() {
        let register = DEFAULT & !(1 << 10);
        let after = after(register, || {
            let body = || without_traps(&mut || panic!("as it should"));
            catch_unwind(AssertUnwindSafe(body)).unwrap_err();
        });
        assert_eq!(after & !EXCEPTIONS, register);
    }

    #[test]
    fn without_traps_the_body_does_not_run() {
        assert!(!without_traps(&mut || panic!("nothing traps")));
    }

    #[test]
    fn exceptions_are_forgotten_and_those_before_are_not() {
        for before in [0, INEXACT, 1] {
            let after = after(DEFAULT | before, || {
                let quiet = Quiet::now().expect("it is the default");
                overflow();
                assert_ne!(control() & 1 << 3, 0);
                quiet.forget_since();
            });
            assert_eq!(after, DEFAULT | before);
        }
    }

    #[test]
    fn roundings_are_seen_and_those_before_are_noted_again() {
        for before in [0, INEXACT] {
            let after = after(DEFAULT | before, || {
                let quiet = Quiet::now().expect("it is the default");
                let mut watch = quiet.watch().expect("the processor tells");
                let mut is_exact = |items: &[f64]| watch.look(items, |x| x[0] + x[1]).1;
                assert!(is_exact(&[1.0, 2.0]));
                assert!(!is_exact(&[1.0, 1e-30]));
                assert!(is_exact(&[0.5, 0.25]));
                assert!(!is_exact(&[f64::MAX, f64::MAX]));
            });
            assert_eq!(after & INEXACT, before);
        }
    }
}

//! Checks for IEEE 754's default floating-point environment, and hides exceptions from the program.
//!
//! Exact sums try computations that may fail: a product overflows, or a guessed scale does not fit. The result is discarded, but the
//! processor sets an exception flag, and traps if the program has enabled traps.

use core::hint::black_box;

use crate::processor::{self, Control, Exceptions};

/// Whether this thread rounds to nearest and keeps subnormal numbers, according to the control register: MXCSR on x86-64, FPCR on
/// aarch64. `None` on other processors.
///
/// On aarch64, the result is also false with alternate handling (FPCR.AH), because minima and maxima of NaNs and zeros are then computed as on x86.
///
/// This takes a few cycles. Testing by arithmetic would need sums and products of subnormal numbers, which may cost a hundred
/// cycles each.
#[must_use]
#[inline]
pub fn has_default_environment() -> Option<bool> {
    processor::has_default_environment()
}

/// The exception flags at a moment when this thread had the default environment and no traps enabled.
#[derive(Clone, Copy, Debug)]
pub struct Quiet(Exceptions);

impl Quiet {
    /// The flags now; `None` if the environment is unknown or not the default, or if an exception would trap.
    ///
    /// This takes as long as [`has_default_environment`].
    #[must_use]
    #[inline]
    pub fn now() -> Option<Self> {
        processor::exceptions_if_quiet().map(Self)
    }

    /// Restores the flags if an invalid operation, a division by zero, an overflow or an underflow has happened since [`now`](Self::now).
    ///
    /// This happens only on x86-64; elsewhere, the new flags stay set.
    #[inline]
    pub fn forget_since(self) {
        processor::forget_since(self.0);
    }
}

/// Detects whether additions are rounded, by the processor's inexact flag.
#[derive(Debug)]
pub struct Watch {
    /// Whether the flag was set before, and must be set again at the end.
    was_inexact: bool,
}

impl Quiet {
    /// Starts to watch. Returns `None` if the processor has no such flag, or if an emulator such as valgrind never sets it.
    #[must_use]
    pub fn watch(self) -> Option<Watch> {
        let mut watch = processor::take_inexact().map(|was_inexact| Watch { was_inexact })?;
        let (_, is_exact) = watch.look(&[1.0, f64::EPSILON / 4.0], |items| items[0] + items[1]);
        (!is_exact).then_some(watch)
    }
}

impl Watch {
    /// Returns the result of a function of items, and whether the function rounded nothing.
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

/// If an exception would trap on this thread, runs `body` with all exceptions masked and returns true. If none would trap, or if that is
/// unknown, returns false without running `body`.
///
/// Rounding and the treatment of subnormal numbers do not change. Afterwards, even if `body` panics, the control register is as before; on x86-64
/// this includes the exception flags.
#[cold]
#[inline(never)]
pub fn without_traps(body: &mut dyn FnMut()) -> bool {
    let control = processor::control();
    let Some(masked) = processor::masked(control) else {
        return false;
    };
    let restored = Restored(control);
    processor::set_control(masked);
    // The compiler may move arithmetic across changes of the control register, but not out of a call that it cannot see through.
    black_box(body)();
    drop(restored);
    true
}

/// While this value lives, its thread does not flush subnormal results and operands to zero. If the thread's own setting was different, dropping the
/// value on the same thread restores it, and on x86-64 also the exception flags.
///
/// If the thread flushes nothing anyway, creating the value takes as long as [`has_default_environment`]. Arithmetic that must stay within the value's lifetime belongs in a
/// function that the compiler cannot see through, as in [`without_traps`].
#[derive(Debug)]
pub struct Subnormals {
    _restored: Option<Restored>,
}

impl Subnormals {
    /// Keeps subnormal numbers as long as the returned value lives.
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

/// Restores the control register when dropped.
#[derive(Debug)]
struct Restored(Control);

impl Drop for Restored {
    fn drop(&mut self) {
        processor::set_control(self.0);
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    // Tests need std even if the crate is built without it.
    extern crate std;

    use core::hint::black_box;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::{Quiet, Subnormals, without_traps};
    use crate::processor::{control, set_control};

    const DEFAULT: u32 = 0x1F80;
    const EXCEPTIONS: u32 = 0x3F;
    const FLUSH_TO_ZERO: u32 = 1 << 15;
    const INEXACT: u32 = 1 << 5;

    /// Computes a product that overflows.
    fn overflow() -> f64 {
        black_box(black_box(f64::MAX) * black_box(f64::MAX))
    }

    /// Runs `body` with the control register set to `register`, and returns the register's value after it.
    fn after(register: u32, body: impl FnOnce()) -> u32 {
        let before = control();
        set_control(register);
        body();
        let after = control();
        set_control(before);
        after
    }

    /// Tries each exception that can trap, and all of them at once.
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
                let mut watch = quiet.watch().expect("there is an inexact flag");
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

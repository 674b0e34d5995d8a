//! Contains the code that depends on the processor, apart from arithmetic: the floating-point environment, caches and prefetching. The
//! functions have the same names on all architectures.

#[cfg(target_arch = "aarch64")]
mod arm;
pub(crate) mod caches;
pub(crate) mod environment;
pub(crate) mod prefetch;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
pub(crate) use crate::processor::arm::{
    Control, Exceptions, control, exceptions_if_quiet, forget_since, has_default_environment,
    is_inexact_after, masked, prefers_order, prefetch, set_control, set_inexact, take_inexact,
    without_flushes,
};
#[cfg(target_arch = "x86_64")]
pub(crate) use crate::processor::x86::{
    Control, Exceptions, control, exceptions_if_quiet, forget_since, has_default_environment,
    is_inexact_after, masked, prefers_order, prefetch, set_control, set_inexact, take_inexact,
    without_flushes,
};
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
pub(crate) use other::{
    Control, Exceptions, control, exceptions_if_quiet, forget_since, has_default_environment,
    is_inexact_after, masked, prefers_order, prefetch, set_control, set_inexact, take_inexact,
    without_flushes,
};

/// The same items, hidden from the compiler, so that it cannot read them before this call.
#[expect(unsafe_code, reason = "empty inline assembly")]
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn hidden<T>(items: &[T]) -> &[T] {
    let mut address = items.as_ptr();
    // SAFETY: the assembly has no instructions.
    unsafe {
        core::arch::asm!("/* {} */", inout(reg) address, options(nostack, preserves_flags));
    }
    // SAFETY: the address and the length are those of `items`.
    unsafe { core::slice::from_raw_parts(address, items.len()) }
}

/// Returns the same items, since without an inexact flag it does not matter when they are read.
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
pub(crate) fn hidden<T>(items: &[T]) -> &[T] {
    items
}

/// Stands in for the floating-point environment and the prefetching of other architectures, in plain Rust.
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
mod other {
    /// Does nothing.
    #[inline(always)]
    pub(crate) fn prefetch<T>(_address: *const T) {}

    /// Returns false, since the processor is unknown.
    #[inline]
    pub(crate) fn prefers_order() -> bool {
        false
    }

    /// Returns `None`, since the environment is unknown.
    #[inline]
    pub(crate) fn has_default_environment() -> Option<bool> {
        None
    }

    /// A control register that is not known.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Control;

    /// Exception flags that are not known.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Exceptions;

    /// Returns `None`, since the exception flags are unknown.
    #[inline]
    pub(crate) fn exceptions_if_quiet() -> Option<Exceptions> {
        None
    }

    #[inline]
    pub(crate) fn forget_since(_before: Exceptions) {}

    /// Returns `None`, since the inexact flag is unknown.
    pub(crate) fn take_inexact() -> Option<bool> {
        None
    }

    pub(crate) fn set_inexact() {}

    /// Returns true, since the inexact flag is unknown.
    pub(crate) fn is_inexact_after<R>(_result: &R) -> bool {
        true
    }

    /// Returns a placeholder, since the control register is unknown.
    pub(crate) fn control() -> Control {
        Control
    }

    pub(crate) fn set_control(_control: Control) {}

    /// Returns `None`, since the control register is unknown.
    pub(crate) fn without_flushes(_control: Control) -> Option<Control> {
        None
    }

    /// Returns `None`, since the control register is unknown.
    pub(crate) fn masked(_control: Control) -> Option<Control> {
        None
    }
}

//! Code that depends on the processor, apart from arithmetic: the floating-point environment, caches and prefetching. The functions have the
//! same names on all architectures.

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

/// The same items: without an inexact flag, it does not matter when they are read.
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
pub(crate) fn hidden<T>(items: &[T]) -> &[T] {
    items
}

/// Other architectures, in plain Rust.
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
mod other {
    /// Does nothing.
    #[inline(always)]
    pub(crate) fn prefetch<T>(_address: *const T) {}

    /// Unknown, so false.
    #[inline]
    pub(crate) fn prefers_order() -> bool {
        false
    }

    /// Unknown.
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

    /// Unknown.
    #[inline]
    pub(crate) fn exceptions_if_quiet() -> Option<Exceptions> {
        None
    }

    /// Does nothing.
    #[inline]
    pub(crate) fn forget_since(_before: Exceptions) {}

    /// Unknown.
    pub(crate) fn take_inexact() -> Option<bool> {
        None
    }

    /// Does nothing.
    pub(crate) fn set_inexact() {}

    /// Unknown, so true.
    pub(crate) fn is_inexact_after<R>(_result: &R) -> bool {
        true
    }

    /// Unknown.
    pub(crate) fn control() -> Control {
        Control
    }

    /// Does nothing.
    pub(crate) fn set_control(_control: Control) {}

    /// Unknown.
    pub(crate) fn without_flushes(_control: Control) -> Option<Control> {
        None
    }

    /// Unknown.
    pub(crate) fn masked(_control: Control) -> Option<Control> {
        None
    }
}

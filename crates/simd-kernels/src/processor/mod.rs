//! The processor beside its arithmetic: the floating-point environment, caches and prefetches, by the same names for all architectures.

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

/// The same items, of which the compiler knows nothing: it cannot read them before this call.
#[expect(unsafe_code, reason = "an empty instruction")]
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
#[inline(always)]
pub(crate) fn hidden<T>(items: &[T]) -> &[T] {
    let mut address = items.as_ptr();
    // SAFETY: there is no instruction.
    unsafe {
        core::arch::asm!("/* {} */", inout(reg) address, options(nostack, preserves_flags));
    }
    // SAFETY: the address is as it was, that of as many items.
    unsafe { core::slice::from_raw_parts(address, items.len()) }
}

/// The same items: nothing looks at when they are read.
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
pub(crate) fn hidden<T>(items: &[T]) -> &[T] {
    items
}

/// Plain Rust alone.
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
mod other {
    /// Does nothing.
    #[inline(always)]
    pub(crate) fn prefetch<T>(_address: *const T) {}

    /// Unknown.
    #[inline]
    pub(crate) fn prefers_order() -> bool {
        false
    }

    /// Unknown.
    #[inline]
    pub(crate) fn has_default_environment() -> Option<bool> {
        None
    }

    /// What is not known.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Control;

    /// What is not known.
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

    /// It may be.
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

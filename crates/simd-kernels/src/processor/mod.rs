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
    masked, prefers_order, prefetch, set_control,
};
#[cfg(target_arch = "x86_64")]
pub(crate) use crate::processor::x86::{
    Control, Exceptions, control, exceptions_if_quiet, forget_since, has_default_environment,
    masked, prefers_order, prefetch, set_control,
};
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
pub(crate) use other::{
    Control, Exceptions, control, exceptions_if_quiet, forget_since, has_default_environment,
    masked, prefers_order, prefetch, set_control,
};

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
    pub(crate) fn control() -> Control {
        Control
    }

    /// Does nothing.
    pub(crate) fn set_control(_control: Control) {}

    /// Unknown.
    pub(crate) fn masked(_control: Control) -> Option<Control> {
        None
    }
}

//! What depends on the processor's architecture, by the same names for all architectures.

#[cfg(target_arch = "aarch64")]
pub(crate) use crate::arm::{has_default_environment, prefers_order, prefetch, sets, widest};
#[cfg(target_arch = "x86_64")]
pub(crate) use crate::x86::{has_default_environment, prefers_order, prefetch, sets, widest};
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
pub(crate) use other::{has_default_environment, prefers_order, prefetch, sets, widest};

/// Plain Rust alone.
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
mod other {
    use crate::level::Set;

    /// There is no vector set.
    #[inline]
    pub(crate) fn widest() -> Option<Set> {
        None
    }

    /// There is no vector set.
    pub(crate) fn sets() -> [Option<Set>; 0] {
        []
    }

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
}

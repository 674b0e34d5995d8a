//! Detects the instruction sets with vector registers that this processor has.

#[cfg(target_arch = "aarch64")]
use crate::sets::arm::Neon;
#[cfg(target_arch = "x86_64")]
use crate::sets::x86::{Avx2, Avx512, Sse2};

/// The instruction sets with kernels, each with a value that proves its presence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Set {
    Scalar,
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    #[cfg(target_arch = "x86_64")]
    Sse2(Sse2),
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

/// The widest set that this processor has.
#[cfg(all(target_arch = "x86_64", feature = "std"))]
#[inline]
pub(crate) fn widest() -> Option<Set> {
    // Detecting the set each time would slow down short folds.
    static WIDEST: std::sync::OnceLock<Option<Set>> = std::sync::OnceLock::new();
    *WIDEST.get_or_init(detect_widest)
}

/// The widest set that every processor of the compilation target has. Without std, the processor is not queried.
#[cfg(all(target_arch = "x86_64", not(feature = "std")))]
#[inline]
pub(crate) fn widest() -> Option<Set> {
    detect_widest()
}

#[cfg(target_arch = "x86_64")]
fn detect_widest() -> Option<Set> {
    all().into_iter().flatten().last()
}

/// The sets that this processor has, from narrow to wide.
#[cfg(target_arch = "x86_64")]
pub(crate) fn all() -> [Option<Set>; 3] {
    [
        Sse2::detect().map(Set::Sse2),
        Avx2::detect().map(Set::Avx2),
        Avx512::detect().map(Set::Avx512),
    ]
}

/// NEON, which all general-purpose aarch64 processors have.
#[cfg(target_arch = "aarch64")]
#[inline]
pub(crate) fn widest() -> Option<Set> {
    Neon::detect().map(Set::Neon)
}

/// The sets that this processor has, from narrow to wide.
#[cfg(target_arch = "aarch64")]
pub(crate) fn all() -> [Option<Set>; 1] {
    [widest()]
}

/// Returns `None`, since other architectures have no vector set.
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
#[inline]
pub(crate) fn widest() -> Option<Set> {
    None
}

/// Returns no sets, since other architectures have no vector set.
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
pub(crate) fn all() -> [Option<Set>; 0] {
    []
}

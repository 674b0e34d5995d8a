//! The instruction sets with vector registers that this processor has.

#[cfg(target_arch = "aarch64")]
use crate::sets::arm::Neon;
#[cfg(target_arch = "x86_64")]
use crate::sets::x86::{Avx2, Avx512, Sse2};

/// The instruction sets with kernels, each with its proof.
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
///
/// The widest is tried first, because each test is noticeable in short folds.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn widest() -> Option<Set> {
    let avx512 = || Avx512::detect().map(Set::Avx512);
    let avx2 = || Avx2::detect().map(Set::Avx2);
    let sse2 = || Sse2::detect().map(Set::Sse2);
    avx512().or_else(avx2).or_else(sse2)
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

/// NEON, which processors for general use have.
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

/// There is no vector set.
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
#[inline]
pub(crate) fn widest() -> Option<Set> {
    None
}

/// There is no vector set.
#[cfg(not(any(target_arch = "aarch64", target_arch = "x86_64")))]
pub(crate) fn all() -> [Option<Set>; 0] {
    []
}

//! Represents the instruction sets of this processor by values that prove their presence.

use core::fmt;

#[cfg(target_arch = "x86_64")]
use crate::processor::caches::MEMORY_BYTES;
use crate::sets::set::{self, Set};

/// An instruction set that this processor has.
///
/// Only detection constructs a vector level, so such a value proves that this processor has the level's instructions. Levels are ordered
/// from narrow to wide. All levels give the same bits. A build without optimisation (`opt-level = 0`) has only [`SCALAR`](Self::SCALAR).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Level(Set);

impl Level {
    /// Plain Rust, available on every processor.
    pub const SCALAR: Level = Level(Set::Scalar);

    /// The names of all levels, whether or not they are available on this processor.
    const NAMES: [&str; 5] = ["scalar", "neon", "sse2", "avx2", "avx512"];

    /// The widest level that is available.
    #[must_use]
    #[inline]
    pub fn best() -> Self {
        set::widest().map_or(Self::SCALAR, Self)
    }

    /// All levels that are available on this processor and in this build, from narrow to wide.
    pub fn available() -> impl Iterator<Item = Self> {
        let vector = set::all().into_iter().flatten();
        core::iter::once(Set::Scalar).chain(vector).map(Self)
    }

    /// The level of this name: `scalar`, `neon`, `sse2`, `avx2` or `avx512`.
    ///
    /// # Errors
    /// The name is unknown, or the level is not available.
    pub fn named(name: &str) -> Result<Self, LevelError> {
        let known = Self::NAMES.into_iter().find(|&known| known == name);
        let name = known.ok_or(LevelError::Unknown)?;
        Self::available()
            .find(|level| level.name() == name)
            .ok_or(LevelError::NotSupported { name })
    }

    /// The level's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Scalar => Self::NAMES[0],
            #[cfg(target_arch = "aarch64")]
            Set::Neon(_) => Self::NAMES[1],
            #[cfg(target_arch = "x86_64")]
            Set::Sse2(_) => Self::NAMES[2],
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(_) => Self::NAMES[3],
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(_) => Self::NAMES[4],
        }
    }

    /// The fastest level for rows of `bytes` bytes: AVX-512 for two of its registers or more, AVX2 for half a register or more, otherwise SSE2.
    pub(crate) fn for_row_bytes(self, bytes: usize) -> Self {
        #[cfg(not(target_arch = "x86_64"))]
        let _ = bytes;
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(avx512) if bytes < 128 => {
                Self(Set::Avx2(avx512.into())).for_row_bytes(bytes)
            }
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(avx2) if bytes < 16 => Self(Set::Sse2(avx2.into())),
            _ => self,
        }
    }

    /// The most bytes of a narrow row at [its level](Self::for_row_bytes): two registers with AVX2, one register with other sets.
    pub(crate) fn narrow_row_bytes(self) -> usize {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx2(_) => 64,
            _ => 16,
        }
    }

    /// The fastest level for leaves of `bytes` bytes in total. For leaves in memory, AVX2 is faster than AVX-512.
    pub(crate) fn for_leaf_bytes(self, bytes: usize) -> Self {
        #[cfg(not(target_arch = "x86_64"))]
        let _ = bytes;
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Set::Avx512(avx512) if bytes >= MEMORY_BYTES => Self(Set::Avx2(avx512.into())),
            _ => self,
        }
    }

    pub(crate) fn set(self) -> Set {
        self.0
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why [`Level::named`] failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LevelError {
    /// There is no level of this name.
    #[error("unknown SIMD level; known: scalar, neon, sse2, avx2, avx512")]
    Unknown,
    /// This processor does not have the level, or this build has no optimisation.
    #[error("{name} is not available on this processor, or in a build without optimisation")]
    NotSupported {
        /// The level's name.
        name: &'static str,
    },
}

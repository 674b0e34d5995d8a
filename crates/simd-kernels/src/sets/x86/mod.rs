//! Defines the instruction sets of x86-64. Each set has a module, with a type that proves the set's presence.

mod avx2;
mod avx512;
mod lanes;
mod sse2;

pub(crate) use avx2::Avx2;
pub(crate) use avx512::Avx512;
pub(crate) use sse2::Sse2;

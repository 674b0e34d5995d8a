//! The instruction sets of x86-64. Each has a module, with a type that proves its presence.

mod avx2;
mod avx512;
mod lanes;
mod sse2;

pub(crate) use avx2::Avx2;
pub(crate) use avx512::Avx512;
pub(crate) use sse2::Sse2;

//! x86-64: one thin module per instruction set, each with a proof that the processor has it.

mod avx2;
mod sse2;

pub(crate) use avx2::Avx2;
pub(crate) use sse2::Sse2;

/// Asks for the cache line at `address`, which need not be one that may be read.
#[expect(unsafe_code, reason = "the intrinsic takes a pointer")]
#[inline]
pub(crate) fn prefetch<T>(address: *const T) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: PREFETCHT0 is a hint: it reads nothing that the program sees and faults at no
    // address (Intel SDM, vol. 2, PREFETCHh). SSE is part of x86-64.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

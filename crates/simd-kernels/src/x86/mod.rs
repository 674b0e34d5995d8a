//! x86-64: one thin module per instruction set, each with a proof that the processor has it.

mod avx2;
mod avx512;
mod sse2;

pub(crate) use avx2::Avx2;
pub(crate) use avx512::Avx512;
pub(crate) use sse2::Sse2;

/// Asks for the cache line at `address`, which need not be one that may be read.
#[expect(unsafe_code, reason = "the intrinsic takes a pointer")]
#[inline(always)]
pub(crate) fn prefetch<T>(address: *const T) {
    use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: PREFETCHT0 is a hint: it reads nothing that the program sees and faults at no
    // address (Intel SDM, vol. 2, PREFETCHh). SSE is part of x86-64.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
}

/// The control and status register of SSE and AVX arithmetic.
#[expect(unsafe_code, reason = "the register is read by an instruction")]
#[inline]
pub(crate) fn mxcsr() -> u32 {
    let mut register = 0_u32;
    // SAFETY: STMXCSR writes 4 bytes at the address it is given, which is that of a live u32, and changes nothing else. SSE is part of
    // x86-64. Not `pure`: the register may be another one at the next call.
    unsafe {
        core::arch::asm!(
            "stmxcsr [{}]",
            in(reg) &raw mut register,
            options(nostack, preserves_flags)
        );
    }
    register
}

/// The proof that the processor has an instruction set, and the doors to what is compiled for it.
macro_rules! vector_level {
    ($proof:ident, $feature:tt, $doubles:ty, $floats:ty) => {
        #[doc = concat!("The proof that this processor has ", $feature, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $proof(());

        impl $proof {
            #[cfg(feature = "std")]
            pub(crate) fn detect() -> Option<Self> {
                std::arch::is_x86_feature_detected!($feature).then_some(Self(()))
            }

            #[cfg(not(feature = "std"))]
            pub(crate) fn detect() -> Option<Self> {
                cfg!(target_feature = $feature).then_some(Self(()))
            }
        }

        $crate::x86::vector_level!(@doors $proof, $feature, f64, $doubles, run_f64);
        $crate::x86::vector_level!(@doors $proof, $feature, f32, $floats, run_f32);
    };
    (@doors $proof:ident, $feature:tt, $float:ty, $vector:ty, $run:ident) => {
        impl $proof {
            #[inline]
            pub(crate) fn $run<O, K>(self, kernel: K) -> K::Output
            where
                O: $crate::vector::Combine<$float>,
                K: $crate::kernel::Kernel<$float>,
            {
                #[target_feature(enable = $feature)]
                fn compiled<O: $crate::vector::Combine<$float>, K: $crate::kernel::Kernel<$float>>(kernel: K) -> K::Output {
                    // SAFETY: this function runs only where the instruction set is there.
                    let proven = unsafe { $crate::vector::Proven::<$vector>::new() };
                    kernel.run::<_, O>(proven)
                }
                // SAFETY: `self` is made only where the instruction set is detected.
                unsafe { compiled::<O, K>(kernel) }
            }
        }
    };
}
use vector_level;

/// The methods of a [`Vector`](crate::vector::Vector) that work lane by lane, from the names of their instructions.
macro_rules! lane_by_lane {
    (
        $feature:tt, $float:ty, $load:ident, $store:ident, $add:ident, $multiply:ident,
        $min:ident, $max:ident, $and:ident, $or:ident, $and_not:ident, $set1:ident, $unordered:expr
    ) => {
        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn load(from: *const $float) -> Self {
            // SAFETY: a register of elements may be read, says the caller.
            unsafe { $load(from) }
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn store(self, to: *mut $float) {
            // SAFETY: a register of elements may be written, says the caller.
            unsafe { $store(to, self) }
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn add(self, other: Self) -> Self {
            $add(self, other)
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn multiply(self, other: Self) -> Self {
            $multiply(self, other)
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn minimum(self, other: Self) -> Self {
            // Either order of operands loses something, a NaN or a -0; both together do not.
            $or($min(self, other), $min(other, self))
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn maximum(self, other: Self) -> Self {
            // As above for +0; a NaN does not survive AND, so it is put back: all ones are one.
            let and = $and($max(self, other), $max(other, self));
            $or(and, $unordered(self, other))
        }

        #[target_feature(enable = $feature)]
        #[inline]
        unsafe fn absolute(self) -> Self {
            // -0.0 is the sign alone.
            $and_not($set1(-0.0), self)
        }
    };
}
use lane_by_lane;

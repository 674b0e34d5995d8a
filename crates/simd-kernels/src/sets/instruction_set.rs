//! Defines macros for the code that the modules of all instruction sets share. The arguments are the names of registers and functions.

/// Defines the type that proves the presence of an instruction set, and the entry points to the code compiled for it.
macro_rules! vector_level {
    ($proof:ident, $feature:tt, [$($part:tt),+], $detected:ident, $doubles:ty, $floats:ty) => {
        #[doc = concat!("A proof that this processor has ", $feature, ".")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub(crate) struct $proof(());

        impl $proof {
            pub(crate) fn detect() -> Option<Self> {
                #[cfg(feature = "std")]
                let has_all = $(std::arch::$detected!($part))&&+;
                #[cfg(not(feature = "std"))]
                let has_all = $(cfg!(target_feature = $part))&&+;
                (has_all && !cfg!(unoptimised)).then_some(Self(()))
            }
        }

        $crate::sets::instruction_set::vector_level!(@entry $proof, $feature, f64, $doubles, compute_f64);
        $crate::sets::instruction_set::vector_level!(@entry $proof, $feature, f32, $floats, compute_f32);
    };
    (@entry $proof:ident, $feature:tt, $float:ty, $vector:ty, $compute:ident) => {
        impl $proof {
            #[cfg(not(unoptimised))]
            #[inline]
            pub(crate) fn $compute<O, K>(self, kernel: K) -> K::Output
            where
                O: $crate::sets::vector::Combine<$float>,
                K: $crate::sets::kernel::Kernel<$float>,
            {
                #[target_feature(enable = $feature)]
                fn compiled<O: $crate::sets::vector::Combine<$float>, K: $crate::sets::kernel::Kernel<$float>>(kernel: K) -> K::Output {
                    // SAFETY: this function is called only if the processor has the instruction set.
                    let proven = unsafe { $crate::sets::vector::Proven::<$vector>::new() };
                    kernel.compute::<_, O>(proven)
                }
                // SAFETY: `self` is constructed only if the instruction set is detected.
                unsafe { compiled::<O, K>(kernel) }
            }

            #[cfg(unoptimised)]
            pub(crate) fn $compute<O, K: $crate::sets::kernel::Kernel<$float>>(self, _: K) -> K::Output {
                unreachable!("a build without optimisation detects no instruction set")
            }
        }
    };
}
pub(crate) use vector_level;

/// Defines Algorithm 4 for many subtrees of 8 leaves, given the function for one.
macro_rules! subtree_sums8 {
    ($proof:ident, $feature:tt, $float:ty, $sums:ident, $sum:ident) => {
        impl $proof {
            #[inline]
            pub(crate) fn $sums(self, subtrees: &[[$float; 8]], sums: &mut [$float]) {
                #[target_feature(enable = $feature)]
                #[inline]
                fn compiled(subtrees: &[[$float; 8]], sums: &mut [$float]) {
                    for (sum, subtree) in sums.iter_mut().zip(subtrees) {
                        *sum = $sum(subtree);
                    }
                }
                // SAFETY: `self` is constructed only if the instruction set is detected.
                unsafe { compiled(subtrees, sums) }
            }
        }
    };
}
pub(crate) use subtree_sums8;

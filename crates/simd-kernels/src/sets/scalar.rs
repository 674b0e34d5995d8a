//! Plain Rust, which runs on every processor and defines the results of all other instruction sets.

#![expect(
    unsafe_code,
    reason = "the trait `Vector` loads and stores through pointers"
)]

use core::array;
use core::ops::{Add, Sub};

use crate::sets::bits::Bits;
use crate::sets::vector::{Combine, Maximum, Minimum, Proven, Vector};

/// ((x0 + x1) + (x2 + x3)) + ((x4 + x5) + (x6 + x7)).
#[inline]
pub(crate) fn subtree_sum8<T: Copy + Add<Output = T>>(x: &[T; 8]) -> T {
    ((x[0] + x[1]) + (x[2] + x[3])) + ((x[4] + x[5]) + (x[6] + x[7]))
}

/// Writes the sum of each subtree.
pub(crate) fn subtree_sums8<T: Copy + Add<Output = T>>(subtrees: &[[T; 8]], sums: &mut [T]) {
    for (sum, subtree) in sums.iter_mut().zip(subtrees) {
        *sum = subtree_sum8(subtree);
    }
}

/// A register of four elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FourLanes<T>([T; 4]);

impl<T: Copy> FourLanes<T> {
    #[inline(always)]
    fn each(self, other: Self, combine: impl Fn(T, T) -> T) -> Self {
        Self(array::from_fn(|lane| combine(self.0[lane], other.0[lane])))
    }
}

impl<T> Proven<FourLanes<T>>
where
    FourLanes<T>: Vector,
{
    /// Plain Rust needs no proof.
    #[inline(always)]
    pub(crate) fn plain() -> Self {
        // SAFETY: plain Rust runs on every processor.
        unsafe { Self::new() }
    }
}

// SAFETY: plain Rust runs on every processor.
unsafe impl<T> Vector for FourLanes<T>
where
    T: Bits + Default + Add<Output = T> + Sub<Output = T> + core::ops::Mul<Output = T>,
    Minimum: Combine<T>,
    Maximum: Combine<T>,
{
    type Element = T;
    const LANES: usize = 4;
    const IS_PLAIN_RUST: bool = true;
    const PREFETCHES: bool = false;

    #[inline(always)]
    unsafe fn load(from: *const T) -> Self {
        // SAFETY: the caller guarantees that four elements may be read, aligned as in a slice.
        Self(unsafe { from.cast::<[T; 4]>().read() })
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut T) {
        // SAFETY: the caller guarantees that four elements may be written.
        unsafe { to.cast::<[T; 4]>().write(self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        self.each(other, |a, b| a + b)
    }

    #[inline(always)]
    unsafe fn multiply(self, other: Self) -> Self {
        self.each(other, |a, b| a * b)
    }

    // On architectures with a vector set, plain Rust is only a reference, so small code matters more than fast code.
    #[cfg_attr(
        not(any(target_arch = "aarch64", target_arch = "x86_64")),
        inline(always)
    )]
    #[cfg_attr(any(target_arch = "aarch64", target_arch = "x86_64"), inline(never))]
    unsafe fn minimum(self, other: Self) -> Self {
        self.each(other, Minimum::single)
    }

    #[cfg_attr(
        not(any(target_arch = "aarch64", target_arch = "x86_64")),
        inline(always)
    )]
    #[cfg_attr(any(target_arch = "aarch64", target_arch = "x86_64"), inline(never))]
    unsafe fn maximum(self, other: Self) -> Self {
        self.each(other, Maximum::single)
    }

    #[inline(always)]
    unsafe fn absolute(self) -> Self {
        Self(self.0.map(|x| Bits::magnitude(x)))
    }

    #[inline(always)]
    unsafe fn subtract(self, other: Self) -> Self {
        self.each(other, |a, b| a - b)
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        self.each(other, T::or)
    }

    #[inline(always)]
    unsafe fn or_different(self, a: Self, b: Self) -> Self {
        self.each(a.each(b, T::xor), T::or)
    }

    #[inline(always)]
    unsafe fn subtract_bits(self, other: Self) -> Self {
        self.each(other, T::less)
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        self.each(other, T::and)
    }

    #[inline(always)]
    unsafe fn are_zero(self) -> Self {
        self.each(self, |a, _| a.is_zero())
    }

    /// The lanes of both results come from (a, b, a, b).
    #[inline(always)]
    unsafe fn neighbours1(Self(a): Self, Self(b): Self) -> (Self, Self) {
        (
            Self([a[0], b[0], a[2], b[2]]),
            Self([a[1], b[1], a[3], b[3]]),
        )
    }

    /// The lanes of both results come from (a, a, b, b).
    #[inline(always)]
    unsafe fn neighbours2(Self(a): Self, Self(b): Self) -> (Self, Self) {
        (
            Self([a[0], a[1], b[0], b[1]]),
            Self([a[2], a[3], b[2], b[3]]),
        )
    }
}

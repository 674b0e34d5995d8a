//! Defines the leaves of the streaming kernel: a slice, or values that are computed from slices.
//!
//! A computed leaf is rounded once, in a register, to the bits it would have if it were computed separately. It is not written to
//! memory.

use core::ops::Mul;

use crate::processor::prefetch::prefetch_lines;
use crate::sets::bits::Bits;
use crate::sets::vector::{Proven, Vector};

/// A sequence of leaves. It is a shared view, like a slice, so it is `Copy`.
pub(crate) trait Source: Copy {
    /// The type of a leaf.
    type Leaf: Copy;

    /// The number of leaves.
    fn len(self) -> usize;

    /// The first `leaves` leaves, and the rest.
    fn split_at(self, leaves: usize) -> (Self, Self);

    /// The first `V::LANES` leaves.
    fn load<V: Vector<Element = Self::Leaf>>(self, proven: Proven<V>) -> V;

    /// All leaves, at most eight. Computed leaves are stored in `buffer`.
    fn leaves<'a>(self, buffer: &'a mut [Self::Leaf; 8]) -> &'a [Self::Leaf]
    where
        Self: 'a;

    /// Any value, to initialise memory with.
    fn filler(self) -> Self::Leaf;

    /// The number of bytes that are read for the leaves.
    fn bytes(self) -> usize;

    /// Prefetches the cache lines `ahead_bytes` after these leaves.
    fn prefetch(self, ahead_bytes: usize);

    /// Does what [`split_at`](Self::split_at) does, but returns `None` if there are fewer leaves.
    #[inline(always)]
    fn split_at_checked(self, leaves: usize) -> Option<(Self, Self)> {
        (leaves <= self.len()).then(|| self.split_at(leaves))
    }
}

impl<T: Copy> Source for &[T] {
    type Leaf = T;

    #[inline(always)]
    fn len(self) -> usize {
        <[T]>::len(self)
    }

    #[inline(always)]
    fn split_at(self, leaves: usize) -> (Self, Self) {
        <[T]>::split_at(self, leaves)
    }

    #[inline(always)]
    fn load<V: Vector<Element = T>>(self, proven: Proven<V>) -> V {
        proven.load(self)
    }

    #[inline(always)]
    fn leaves<'a>(self, _buffer: &'a mut [T; 8]) -> &'a [T]
    where
        Self: 'a,
    {
        self
    }

    #[inline(always)]
    fn filler(self) -> T {
        self[0]
    }

    #[inline(always)]
    fn bytes(self) -> usize {
        size_of_val(self)
    }

    #[inline(always)]
    fn prefetch(self, ahead_bytes: usize) {
        prefetch_lines(self, ahead_bytes);
    }
}

/// A function of one element, for lanes and for single elements. It rounds at most once.
pub(crate) trait Map<T>: Copy {
    fn lanes<V: Vector<Element = T>>(self, proven: Proven<V>, x: V) -> V;
    fn single(self, x: T) -> T;
}

/// x * x.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Square;

impl<T: Copy + Mul<Output = T>> Map<T> for Square {
    #[inline(always)]
    fn lanes<V: Vector<Element = T>>(self, proven: Proven<V>, x: V) -> V {
        proven.multiply(x, x)
    }

    #[inline(always)]
    fn single(self, x: T) -> T {
        x * x
    }
}

/// |x|: clears the sign, also of a zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Absolute;

impl<T: Bits> Map<T> for Absolute {
    #[inline(always)]
    fn lanes<V: Vector<Element = T>>(self, proven: Proven<V>, x: V) -> V {
        proven.absolute(x)
    }

    #[inline(always)]
    fn single(self, x: T) -> T {
        x.magnitude()
    }
}

/// The leaves f(x0), f(x1), ….
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mapped<'a, T, F> {
    pub(crate) elements: &'a [T],
    pub(crate) function: F,
}

impl<T: Copy, F: Map<T>> Source for Mapped<'_, T, F> {
    type Leaf = T;

    #[inline(always)]
    fn len(self) -> usize {
        self.elements.len()
    }

    #[inline(always)]
    fn split_at(self, leaves: usize) -> (Self, Self) {
        let (left, right) = self.elements.split_at(leaves);
        let part = |elements| Self { elements, ..self };
        (part(left), part(right))
    }

    #[inline(always)]
    fn load<V: Vector<Element = T>>(self, proven: Proven<V>) -> V {
        self.function.lanes(proven, proven.load(self.elements))
    }

    #[inline(always)]
    fn leaves<'a>(self, buffer: &'a mut [T; 8]) -> &'a [T]
    where
        Self: 'a,
    {
        let places = &mut buffer[..self.elements.len()];
        for (place, &x) in places.iter_mut().zip(self.elements) {
            *place = self.function.single(x);
        }
        places
    }

    #[inline(always)]
    fn filler(self) -> T {
        self.elements[0]
    }

    #[inline(always)]
    fn bytes(self) -> usize {
        self.elements.bytes()
    }

    #[inline(always)]
    fn prefetch(self, ahead_bytes: usize) {
        self.elements.prefetch(ahead_bytes);
    }
}

/// The leaves x0 * y0, x1 * y1, ….
#[derive(Clone, Copy, Debug)]
pub(crate) struct Products<'a, T> {
    x: &'a [T],
    y: &'a [T],
}

impl<'a, T> Products<'a, T> {
    /// # Panics
    /// The slices differ in length.
    #[inline]
    pub(crate) fn new(x: &'a [T], y: &'a [T]) -> Self {
        assert_eq!(
            x.len(),
            y.len(),
            "the factors of a dot product differ in number"
        );
        Self { x, y }
    }
}

impl<T: Copy + Mul<Output = T>> Source for Products<'_, T> {
    type Leaf = T;

    #[inline(always)]
    fn len(self) -> usize {
        self.x.len()
    }

    #[inline(always)]
    fn split_at(self, leaves: usize) -> (Self, Self) {
        let ((x, x_rest), (y, y_rest)) = (self.x.split_at(leaves), self.y.split_at(leaves));
        (
            Self { x, y },
            Self {
                x: x_rest,
                y: y_rest,
            },
        )
    }

    #[inline(always)]
    fn load<V: Vector<Element = T>>(self, proven: Proven<V>) -> V {
        proven.multiply(proven.load(self.x), proven.load(self.y))
    }

    #[inline(always)]
    fn leaves<'a>(self, buffer: &'a mut [T; 8]) -> &'a [T]
    where
        Self: 'a,
    {
        let places = &mut buffer[..self.x.len()];
        for ((place, &x), &y) in places.iter_mut().zip(self.x).zip(self.y) {
            *place = x * y;
        }
        places
    }

    #[inline(always)]
    fn filler(self) -> T {
        self.x[0]
    }

    #[inline(always)]
    fn bytes(self) -> usize {
        2 * self.x.bytes()
    }

    #[inline(always)]
    fn prefetch(self, ahead_bytes: usize) {
        self.x.prefetch(ahead_bytes);
        self.y.prefetch(ahead_bytes);
    }
}

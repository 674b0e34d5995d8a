//! Defines the interface between kernels and instruction sets: a register of lanes, and the moves between lanes.
//!
//! Each instruction set defines how lanes move. Kernels combine lanes in the same way on all sets. All operations are safe to call through
//! a value of [`Proven`].

#![expect(
    unsafe_code,
    reason = "vector instructions may run only on processors that have them"
)]

use core::marker::PhantomData;

/// A register of `LANES` elements.
///
/// # Safety
/// The methods of an implementation must be sound to call on a processor with its instruction set, if the pointers passed are valid
/// for `LANES` elements.
///
/// `neighbours1` to `neighbours4` turn two registers of nodes into left and right siblings, level by level. Level 1 pairs
/// lanes 0 and 1, 2 and 3, … of each register. Each set chooses its layout of the pairs, but after log2(LANES) levels over LANES
/// registers, lane i must be the root of register i. Left and right may be exchanged within a pair, because all operations here
/// are commutative.
///
/// `add_pairs`, `minimum_pairs` and `maximum_pairs` compute a whole level in one instruction, on sets that have such an instruction: they combine
/// lanes 0 and 1, 2 and 3, … of `a`, and then the same lanes of `b`. The instruction is the same at every level.
pub(crate) unsafe trait Vector: Copy {
    /// The type of a lane.
    type Element: Copy + Default;

    /// The number of lanes: 2, 4, 8 or 16.
    const LANES: usize;

    const IS_PLAIN_RUST: bool = false;

    /// Whether kernels prefetch leaves.
    const PREFETCHES: bool = true;

    /// Whether the highest level combines the halves of `a`, and then those of `b`.
    const COMBINES_HALVES: bool = false;

    /// Reads `LANES` elements, aligned or not.
    unsafe fn load(from: *const Self::Element) -> Self;
    /// Writes `LANES` elements, aligned or not.
    unsafe fn store(self, to: *mut Self::Element);

    unsafe fn add(self, other: Self) -> Self;
    unsafe fn multiply(self, other: Self) -> Self;
    /// IEEE 754-2019 `minimum`.
    unsafe fn minimum(self, other: Self) -> Self;
    /// IEEE 754-2019 `maximum`.
    unsafe fn maximum(self, other: Self) -> Self;
    /// The lanes with their signs cleared.
    unsafe fn absolute(self) -> Self;
    unsafe fn subtract(self, other: Self) -> Self;
    /// self - other. Some sets compute self * one - other, which the processor runs on units that additions leave idle. `one` is 1.0.
    #[inline(always)]
    unsafe fn subtract_by_product(self, other: Self, _one: Self) -> Self {
        // SAFETY: `subtract` has the same requirements as this function.
        unsafe { self.subtract(other) }
    }
    /// The bits that are set in at least one operand.
    unsafe fn or(self, other: Self) -> Self;
    /// The bits that are set in `self` or in which `a` and `b` differ.
    unsafe fn or_different(self, a: Self, b: Self) -> Self;
    /// The difference of the bits of each lane as integers, wrapping.
    unsafe fn subtract_bits(self, other: Self) -> Self;
    /// The bits that are set in both operands.
    unsafe fn and(self, other: Self) -> Self;
    /// All bits set in lanes that are zero, no bits set in other lanes.
    unsafe fn are_zero(self) -> Self;
    /// In each lane, the smaller of the upper 32 bits of `a` and `b`, compared as signed integers, and arbitrary lower 32 bits. `None` on
    /// sets without such an instruction.
    #[inline(always)]
    unsafe fn least_bits(_a: Self, _b: Self) -> Option<Self> {
        None
    }
    /// a * b - c, rounded once; `None` on sets without that instruction.
    #[inline(always)]
    unsafe fn multiply_subtract(_a: Self, _b: Self, _c: Self) -> Option<Self> {
        None
    }

    /// a * b + c, rounded once; `None` on sets without that instruction.
    #[inline(always)]
    unsafe fn multiply_add(_a: Self, _b: Self, _c: Self) -> Option<Self> {
        None
    }

    unsafe fn neighbours1(a: Self, b: Self) -> (Self, Self);
    /// Called only for registers of at least 4 lanes.
    unsafe fn neighbours2(a: Self, _b: Self) -> (Self, Self) {
        (a, a)
    }
    /// Called only for registers of at least 8 lanes.
    unsafe fn neighbours3(a: Self, _b: Self) -> (Self, Self) {
        (a, a)
    }
    /// Called only for registers of 16 lanes.
    unsafe fn neighbours4(a: Self, _b: Self) -> (Self, Self) {
        (a, a)
    }

    #[inline(always)]
    unsafe fn add_pairs(_a: Self, _b: Self) -> Option<Self> {
        None
    }
    #[inline(always)]
    unsafe fn minimum_pairs(_a: Self, _b: Self) -> Option<Self> {
        None
    }
    #[inline(always)]
    unsafe fn maximum_pairs(_a: Self, _b: Self) -> Option<Self> {
        None
    }
}

/// A proof that the processor has the instruction set of `V`.
#[derive(Debug)]
pub(crate) struct Proven<V>(PhantomData<V>);

impl<V> Clone for Proven<V> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<V> Copy for Proven<V> {}

impl<V: Vector> Proven<V> {
    /// # Safety
    /// The processor must have the instruction set of `V`.
    #[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
    #[inline(always)]
    pub(crate) unsafe fn new() -> Self {
        Self(PhantomData)
    }

    /// The first `V::LANES` elements.
    #[inline(always)]
    pub(crate) fn load(self, elements: &[V::Element]) -> V {
        assert!(elements.len() >= V::LANES);
        // SAFETY: the slice has at least `LANES` elements; `self` proves the instruction set.
        unsafe { V::load(elements.as_ptr()) }
    }

    /// Up to `V::LANES` elements, padded with default values (zeros for floats).
    #[inline(always)]
    pub(crate) fn load_padded(self, elements: &[V::Element]) -> V {
        let mut padded = [V::Element::default(); 16];
        padded[..elements.len()].copy_from_slice(elements);
        self.load(&padded)
    }

    /// One register from each of the first `ROWS` rows of `row_elements` elements, beginning at `column`.
    ///
    /// A register may extend past the end of its row into the next row. An assertion checks that no register extends past the end of the
    /// elements.
    #[inline(always)]
    pub(crate) fn load_rows<const ROWS: usize>(
        self,
        elements: &[V::Element],
        row_elements: usize,
        column: usize,
    ) -> [V; ROWS] {
        let end = (ROWS - 1)
            .checked_mul(row_elements)
            .and_then(|row| row.checked_add(column)?.checked_add(V::LANES));
        assert!(end.is_some_and(|end| end <= elements.len()));
        let mut from = elements[column..].as_ptr();
        // SAFETY: `end` is within the slice, and so are the `LANES` elements of row 0; `self` proves the instruction set.
        let mut registers = [unsafe { V::load(from) }; ROWS];
        for register in &mut registers[1..] {
            // SAFETY: the pointer is the start of one of the `ROWS` rows, so the `LANES` elements that begin there are before `end`, within
            // the slice.
            from = unsafe { from.add(row_elements) };
            // SAFETY: as above.
            *register = unsafe { V::load(from) };
        }
        registers
    }

    /// Stores the lanes in order in the first `V::LANES` places of a slice.
    #[inline(always)]
    pub(crate) fn store_first(self, vector: V, places: &mut [V::Element]) {
        assert!(places.len() >= V::LANES);
        // SAFETY: the slice has at least `LANES` places; `self` proves the instruction set.
        unsafe { vector.store(places.as_mut_ptr()) }
    }

    /// Stores the lanes in order in the first `V::LANES` places of an array.
    #[inline(always)]
    pub(crate) fn store(self, vector: V, places: &mut [V::Element; 16]) {
        const { assert!(V::LANES <= 16) }
        // SAFETY: the array has at least `LANES` places; `self` proves the instruction set.
        unsafe { vector.store(places.as_mut_ptr()) }
    }

    /// Left and right siblings at a level from 1 to 4.
    #[inline(always)]
    pub(crate) fn neighbours<const LEVEL: u32>(self, a: V, b: V) -> (V, V) {
        match LEVEL {
            // SAFETY: `self` proves the instruction set.
            1 => unsafe { V::neighbours1(a, b) },
            // SAFETY: as above.
            2 => unsafe { V::neighbours2(a, b) },
            // SAFETY: as above.
            3 => unsafe { V::neighbours3(a, b) },
            // SAFETY: as above.
            _ => unsafe { V::neighbours4(a, b) },
        }
    }

    /// The lanes with their signs cleared.
    #[inline(always)]
    pub(crate) fn absolute(self, a: V) -> V {
        // SAFETY: `self` proves the instruction set.
        unsafe { a.absolute() }
    }

    /// a - b
    #[inline(always)]
    pub(crate) fn subtract(self, a: V, b: V) -> V {
        // SAFETY: `self` proves the instruction set.
        unsafe { a.subtract(b) }
    }

    /// a - b, which some sets compute as a * one - b ([`Vector::subtract_by_product`]). `one` is 1.0 in all lanes.
    #[inline(always)]
    pub(crate) fn subtract_by_product(self, a: V, b: V, one: V) -> V {
        // SAFETY: `self` proves the instruction set.
        unsafe { a.subtract_by_product(b, one) }
    }

    /// The bits that are set in `a`, in `b` or in both.
    #[inline(always)]
    pub(crate) fn or(self, a: V, b: V) -> V {
        // SAFETY: `self` proves the instruction set.
        unsafe { a.or(b) }
    }

    /// The bits that are set in `bits` or in which `a` and `b` differ.
    #[inline(always)]
    pub(crate) fn or_different(self, bits: V, a: V, b: V) -> V {
        // SAFETY: `self` proves the instruction set.
        unsafe { bits.or_different(a, b) }
    }

    /// The bits of `a` minus the bits of `b`, as an integer in each lane, wrapping.
    #[inline(always)]
    pub(crate) fn subtract_bits(self, a: V, b: V) -> V {
        // SAFETY: `self` proves the instruction set.
        unsafe { a.subtract_bits(b) }
    }

    /// The bits that are set in both `a` and `b`.
    #[inline(always)]
    pub(crate) fn and(self, a: V, b: V) -> V {
        // SAFETY: `self` proves the instruction set.
        unsafe { a.and(b) }
    }

    /// All bits set in lanes in which `a` is zero, no bits set in other lanes.
    #[inline(always)]
    pub(crate) fn are_zero(self, a: V) -> V {
        // SAFETY: `self` proves the instruction set.
        unsafe { a.are_zero() }
    }

    /// The result of [`Vector::least_bits`]; `None` on sets without such an instruction.
    #[inline(always)]
    pub(crate) fn least_bits(self, a: V, b: V) -> Option<V> {
        // SAFETY: `self` proves the instruction set.
        unsafe { V::least_bits(a, b) }
    }

    /// a * b + c, rounded once; `None` on sets without that instruction.
    #[inline(always)]
    pub(crate) fn multiply_add(self, a: V, b: V, c: V) -> Option<V> {
        // SAFETY: `self` proves the instruction set.
        unsafe { V::multiply_add(a, b, c) }
    }

    /// a * b - c, rounded once; `None` on sets without that instruction.
    #[inline(always)]
    pub(crate) fn multiply_subtract(self, a: V, b: V, c: V) -> Option<V> {
        // SAFETY: `self` proves the instruction set.
        unsafe { V::multiply_subtract(a, b, c) }
    }

    #[inline(always)]
    pub(crate) fn add(self, a: V, b: V) -> V {
        // SAFETY: `self` proves the instruction set.
        unsafe { a.add(b) }
    }

    #[inline(always)]
    pub(crate) fn multiply(self, a: V, b: V) -> V {
        // SAFETY: `self` proves the instruction set.
        unsafe { a.multiply(b) }
    }

    #[inline(always)]
    fn minimum(self, a: V, b: V) -> V {
        // SAFETY: `self` proves the instruction set.
        unsafe { a.minimum(b) }
    }

    #[inline(always)]
    fn maximum(self, a: V, b: V) -> V {
        // SAFETY: `self` proves the instruction set.
        unsafe { a.maximum(b) }
    }

    #[inline(always)]
    fn add_pairs(self, a: V, b: V) -> Option<V> {
        // SAFETY: `self` proves the instruction set.
        unsafe { V::add_pairs(a, b) }
    }

    #[inline(always)]
    fn minimum_pairs(self, a: V, b: V) -> Option<V> {
        // SAFETY: `self` proves the instruction set.
        unsafe { V::minimum_pairs(a, b) }
    }

    #[inline(always)]
    fn maximum_pairs(self, a: V, b: V) -> Option<V> {
        // SAFETY: `self` proves the instruction set.
        unsafe { V::maximum_pairs(a, b) }
    }
}

/// A commutative operation, for lanes and for single elements. The operation rounds once.
pub(crate) trait Combine<T>: Copy {
    /// Whether the operation selects one of its operands: a minimum or a maximum.
    const COMPARES: bool;

    fn lanes<V: Vector<Element = T>>(proven: Proven<V>, a: V, b: V) -> V;
    fn single(a: T, b: T) -> T;

    /// One level of the tree over two registers, in one instruction; `None` if the set has no such instruction for this operation.
    #[inline(always)]
    fn pairs<V: Vector<Element = T>>(_proven: Proven<V>, _a: V, _b: V) -> Option<V> {
        None
    }
}

// The operations with vector instructions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Add;
#[derive(Clone, Copy, Debug)]
pub(crate) struct Multiply;
#[derive(Clone, Copy, Debug)]
pub(crate) struct Minimum;
#[derive(Clone, Copy, Debug)]
pub(crate) struct Maximum;

/// Implements [`Combine`] for one operation and one float type.
macro_rules! operation {
    ($operation:ident, $float:ty, $compares:literal, [$lanes:ident $(, $pairs:ident)?], $single:expr) => {
        impl Combine<$float> for $operation {
            const COMPARES: bool = $compares;

            #[inline(always)]
            fn lanes<V: Vector<Element = $float>>(proven: Proven<V>, a: V, b: V) -> V {
                proven.$lanes(a, b)
            }

            #[inline(always)]
            fn single(a: $float, b: $float) -> $float {
                $single(a, b)
            }

            $(
                #[inline(always)]
                fn pairs<V: Vector<Element = $float>>(proven: Proven<V>, a: V, b: V) -> Option<V> {
                    proven.$pairs(a, b)
                }
            )?
        }
    };
}

macro_rules! operations {
    ($($float:ty),+) => {$(
        operation!(Add, $float, false, [add, add_pairs], |a, b| a + b);
        operation!(Multiply, $float, false, [multiply], |a, b| a * b);
        operation!(Minimum, $float, true, [minimum, minimum_pairs], |a: $float, b: $float| {
            if a.is_nan() || a.total_cmp(&b).is_le() && !b.is_nan() {
                a
            } else {
                b
            }
        });
        operation!(Maximum, $float, true, [maximum, maximum_pairs], |a: $float, b: $float| {
            if a.is_nan() || a.total_cmp(&b).is_ge() && !b.is_nan() {
                a
            } else {
                b
            }
        });
    )+};
}

operations!(f32, f64);

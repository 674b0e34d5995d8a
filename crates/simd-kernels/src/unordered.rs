//! Computes sums in other orders, as references for benchmarks.

use crate::processor::prefetch;
use crate::sets::dispatch::{Float, compute};
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// The prefetch distance in bytes: about a thousand doubles.
const PREFETCH_BYTES: usize = 8192;

/// How an unordered sum is unrolled. The fastest variant depends on the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    accumulators: AccumulatorCount,
    prefetch: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum AccumulatorCount {
    Four,
    Eight,
    Sixteen,
}

impl Variant {
    /// All variants: 4, 8 and 16 vector accumulators, without and with software prefetch.
    pub const ALL: [Variant; 6] = [
        Variant::new(AccumulatorCount::Four, false),
        Variant::new(AccumulatorCount::Eight, false),
        Variant::new(AccumulatorCount::Sixteen, false),
        Variant::new(AccumulatorCount::Four, true),
        Variant::new(AccumulatorCount::Eight, true),
        Variant::new(AccumulatorCount::Sixteen, true),
    ];

    const fn new(accumulators: AccumulatorCount, prefetch: bool) -> Self {
        Self {
            accumulators,
            prefetch,
        }
    }

    /// The number of vector accumulators.
    #[must_use]
    pub fn accumulators(self) -> usize {
        match self.accumulators {
            AccumulatorCount::Four => 4,
            AccumulatorCount::Eight => 8,
            AccumulatorCount::Sixteen => 16,
        }
    }

    /// Whether the variant prefetches.
    #[must_use]
    pub fn prefetches(self) -> bool {
        self.prefetch
    }
}

/// The sum of the leaves in an unspecified order, at the full speed of SIMD; +0.0 for no leaves.
///
/// The bits of this sum differ between levels and variants. Each rank of the unordered baseline computes such a sum.
pub fn unordered_sum<T: Float>(level: Level, leaves: &[T]) -> T {
    unordered_sum_with(level, Variant::new(AccumulatorCount::Eight, false), leaves)
}

/// Does what [`unordered_sum`] does, with the given unrolling.
pub fn unordered_sum_with<T: Float>(level: Level, variant: Variant, leaves: &[T]) -> T {
    compute(level, Unordered { variant, leaves })
}

/// The sum of x0 * y0, x1 * y1, … in an unspecified order, at the full speed of SIMD; +0.0 for no elements. Benchmarks compare dot products
/// with this one.
///
/// # Panics
/// The slices differ in length.
pub fn unordered_dot<T: Float>(level: Level, x: &[T], y: &[T]) -> T {
    assert_eq!(x.len(), y.len(), "the slices differ in length");
    compute(level, UnorderedDot { x, y })
}

/// ((x0 + x1) + x2) + …, the order of a plain loop (thesis, eq. 1.5); `None` for no leaves.
pub fn left_to_right<T: Float>(leaves: &[T]) -> Option<T> {
    leaves.iter().copied().reduce(|sum, leaf| sum + leaf)
}

/// The sum as a kernel for any kind of register.
struct Unordered<'l, T> {
    variant: Variant,
    leaves: &'l [T],
}

impl<T: Float> Kernel<T> for Unordered<'_, T> {
    type Output = T;

    #[inline(always)]
    fn compute<V: Vector<Element = T>, O: Combine<T>>(self, proven: Proven<V>) -> T {
        let leaves = self.leaves;
        match (self.variant.accumulators, self.variant.prefetch) {
            (AccumulatorCount::Four, false) => accumulate::<V, O, 4, false>(proven, leaves),
            (AccumulatorCount::Eight, false) => accumulate::<V, O, 8, false>(proven, leaves),
            (AccumulatorCount::Sixteen, false) => accumulate::<V, O, 16, false>(proven, leaves),
            (AccumulatorCount::Four, true) => accumulate::<V, O, 4, true>(proven, leaves),
            (AccumulatorCount::Eight, true) => accumulate::<V, O, 8, true>(proven, leaves),
            (AccumulatorCount::Sixteen, true) => accumulate::<V, O, 16, true>(proven, leaves),
        }
    }
}

/// The dot product as a kernel for any kind of register.
struct UnorderedDot<'l, T> {
    x: &'l [T],
    y: &'l [T],
}

impl<T: Float> Kernel<T> for UnorderedDot<'_, T> {
    type Output = T;

    #[inline(always)]
    fn compute<V: Vector<Element = T>, O: Combine<T>>(self, proven: Proven<V>) -> T {
        const REGISTERS: usize = 8;
        let zero = proven.load(&[T::ZERO; 16]);
        let mut sums = [zero; REGISTERS];
        let mut x_groups = self.x.chunks_exact(REGISTERS * V::LANES);
        let mut y_groups = self.y.chunks_exact(REGISTERS * V::LANES);
        for (x, y) in (&mut x_groups).zip(&mut y_groups) {
            for (register, sum) in sums.iter_mut().enumerate() {
                let x = proven.load(&x[register * V::LANES..]);
                let y = proven.load(&y[register * V::LANES..]);
                *sum = O::lanes(proven, *sum, proven.multiply(x, y));
            }
        }
        let mut last = T::ZERO;
        for (&x, &y) in x_groups.remainder().iter().zip(y_groups.remainder()) {
            last = last + x * y;
        }
        last + sum_of_lanes::<V, O, REGISTERS>(proven, sums)
    }
}

/// The sum with `REGISTERS` registers of partial sums.
#[inline(always)]
fn accumulate<V, O, const REGISTERS: usize, const PREFETCH: bool>(
    proven: Proven<V>,
    leaves: &[V::Element],
) -> V::Element
where
    V: Vector,
    V::Element: Float,
    O: Combine<V::Element>,
{
    let zero = proven.load(&[V::Element::ZERO; 16]);
    let mut sums = [zero; REGISTERS];
    let mut groups = leaves.chunks_exact(REGISTERS * V::LANES);
    for group in &mut groups {
        for (sum, row) in sums.iter_mut().zip(group.chunks_exact(V::LANES)) {
            if PREFETCH {
                prefetch_ahead(row);
            }
            *sum = O::lanes(proven, *sum, proven.load(row));
        }
    }
    let mut rows = groups.remainder().chunks_exact(V::LANES);
    for (sum, row) in sums.iter_mut().zip(&mut rows) {
        *sum = O::lanes(proven, *sum, proven.load(row));
    }
    let last = rows.remainder().iter();
    let sum = sum_of_lanes::<V, O, REGISTERS>(proven, sums);
    sum + last.fold(V::Element::ZERO, |sum, &leaf| sum + leaf)
}

/// The sum of all lanes of some registers.
#[inline(always)]
fn sum_of_lanes<V, O, const REGISTERS: usize>(
    proven: Proven<V>,
    mut sums: [V; REGISTERS],
) -> V::Element
where
    V: Vector,
    V::Element: Float,
    O: Combine<V::Element>,
{
    // Registers are added pairwise, because a chain of single additions would dominate the time of short sums.
    let mut count = REGISTERS;
    while count > 1 {
        count /= 2;
        for index in 0..count {
            sums[index] = O::lanes(proven, sums[index], sums[index + count]);
        }
    }
    let mut lanes = [V::Element::ZERO; 16];
    proven.store(sums[0], &mut lanes);
    let mut count = V::LANES;
    while count > 1 {
        count /= 2;
        for index in 0..count {
            lanes[index] = lanes[index] + lanes[index + count];
        }
    }
    lanes[0]
}

/// Prefetches the cache line that is [`PREFETCH_BYTES`] after the beginning of `row`.
#[inline(always)]
fn prefetch_ahead<T>(row: &[T]) {
    prefetch(row.as_ptr().wrapping_byte_add(PREFETCH_BYTES));
}

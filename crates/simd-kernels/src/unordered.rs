//! Sums in other orders: what treefold is measured against.

use core::array;

use crate::dispatch::Float;
use crate::level::Level;

/// How far ahead a prefetching sum asks for memory, in bytes: about a thousand doubles.
const PREFETCH_BYTES: usize = 8192;

/// A way to unroll an unordered sum. Which is fastest depends on the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    accumulators: Accumulators,
    prefetch: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Accumulators {
    Four,
    Eight,
    Sixteen,
}

impl Variant {
    /// All of them: 4, 8 and 16 vector accumulators, plain and with software prefetch.
    pub const ALL: [Variant; 6] = [
        Variant::new(Accumulators::Four, false),
        Variant::new(Accumulators::Eight, false),
        Variant::new(Accumulators::Sixteen, false),
        Variant::new(Accumulators::Four, true),
        Variant::new(Accumulators::Eight, true),
        Variant::new(Accumulators::Sixteen, true),
    ];

    const fn new(accumulators: Accumulators, prefetch: bool) -> Self {
        Self {
            accumulators,
            prefetch,
        }
    }

    /// The number of vector accumulators.
    #[must_use]
    pub fn accumulators(self) -> usize {
        match self.accumulators {
            Accumulators::Four => 4,
            Accumulators::Eight => 8,
            Accumulators::Sixteen => 16,
        }
    }

    /// Whether it asks for memory ahead of use.
    #[must_use]
    pub fn prefetches(self) -> bool {
        self.prefetch
    }
}

/// The sum of the leaves, as fast as SIMD sums them and in no particular order; +0.0 of none.
///
/// Its bits differ between levels, variants and alignments of the work: the ceiling of speed, and the
/// local part of the unreproducible baseline.
pub fn unordered_sum<T: Float>(level: Level, leaves: &[T]) -> T {
    unordered_sum_with(level, Variant::new(Accumulators::Eight, false), leaves)
}

/// [`unordered_sum`], unrolled as `variant` says.
pub fn unordered_sum_with<T: Float>(level: Level, variant: Variant, leaves: &[T]) -> T {
    T::unordered_sum(level, variant, leaves)
}

/// ((x0 + x1) + x2) + …, the order of a plain loop (thesis, eq. 1.5); `None` of none.
pub fn left_to_right<T: Float>(leaves: &[T]) -> Option<T> {
    leaves.iter().copied().reduce(|sum, leaf| sum + leaf)
}

/// The sum with so many lanes a vector; inlined into functions that have such vectors.
#[inline(always)]
pub(crate) fn sum_in_lanes<T: Float, const LANES: usize>(variant: Variant, leaves: &[T]) -> T {
    match (variant.accumulators, variant.prefetch) {
        (Accumulators::Four, false) => accumulate::<T, LANES, 4, false>(leaves),
        (Accumulators::Eight, false) => accumulate::<T, LANES, 8, false>(leaves),
        (Accumulators::Sixteen, false) => accumulate::<T, LANES, 16, false>(leaves),
        (Accumulators::Four, true) => accumulate::<T, LANES, 4, true>(leaves),
        (Accumulators::Eight, true) => accumulate::<T, LANES, 8, true>(leaves),
        (Accumulators::Sixteen, true) => accumulate::<T, LANES, 16, true>(leaves),
    }
}

/// Arrays of lanes, which the compiler keeps in vector registers.
#[inline(always)]
fn accumulate<T: Float, const LANES: usize, const VECTORS: usize, const PREFETCH: bool>(
    leaves: &[T],
) -> T {
    let mut sums = [[T::ZERO; LANES]; VECTORS];
    let (vectors, last_leaves) = leaves.as_chunks::<LANES>();
    let (groups, last_vectors) = vectors.as_chunks::<VECTORS>();
    for group in groups {
        for (sum, vector) in sums.iter_mut().zip(group) {
            if PREFETCH {
                prefetch_ahead(vector);
            }
            *sum = array::from_fn(|lane| sum[lane] + vector[lane]);
        }
    }
    let mut total = T::ZERO;
    for lane in sums
        .as_flattened()
        .iter()
        .chain(last_vectors.as_flattened())
    {
        total = total + *lane;
    }
    last_leaves.iter().fold(total, |sum, &leaf| sum + leaf)
}

/// Asks for the memory some distance behind `vector`.
#[inline(always)]
fn prefetch_ahead<T>(vector: &T) {
    #[cfg(target_arch = "x86_64")]
    crate::x86::prefetch(core::ptr::from_ref(vector).wrapping_byte_add(PREFETCH_BYTES));
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (vector, PREFETCH_BYTES);
}

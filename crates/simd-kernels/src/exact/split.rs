//! Computes exact sums. Items are split into multiples of a power of two, which are added like integers.
//!
//! An accumulator between 2^k and 2^(k+1) has a last place of 2^(k-52). Adding an item to it rounds the item to a multiple of that place, without any
//! other error, and the rest of the item is exact (Dekker, Numer. Math. 18, 1971, "Fast2Sum"). The rest is added to a second accumulator, 42 binary
//! places below. As long as the exponents of both accumulators do not change, both sums are exact multiples of their last places. If the second
//! accumulator leaves no rest either, the two sums add up to the sum of the items.

use core::hint::black_box;

use crate::processor::caches::OWN_CACHE_BYTES;
use crate::processor::prefetch::prefetch_lines;
use crate::sets::dispatch::compute;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// The most items in a call of [`split_sums`].
pub const SPLIT_ITEMS: usize = 4096;

/// The difference between the exponents of the two accumulators. The higher one leaves rests of at most 2^(k-53). Fewer than 2^10 of these
/// are added to a lane of the lower one, which has room for 2^(k-42-1).
const LOWER: i32 = 42;

/// The number of registers of each accumulator.
const REGISTERS: usize = 3;

/// The fewest lanes of a register.
const LANES: usize = 2;

const _: () = assert!(SPLIT_ITEMS / (REGISTERS * LANES) + 1 < 1 << 10);

/// The scale of [`split_sums`]: the exponent k of the higher accumulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitScale(i32);

impl SplitScale {
    /// The scale that fits all finite items below 2^(exponent + 1) in magnitude; `None` if they are too large for any scale.
    #[must_use]
    pub fn for_exponent(exponent: i32) -> Option<Self> {
        // Fewer than 2^10 items are added to a lane, which has room for 2^(k-1).
        let higher = (exponent + 12).max(Self::LOWEST);
        (higher < 1023).then_some(Self(higher))
    }

    /// The scale for splitting the rests that this scale leaves; `None` if it leaves none.
    #[must_use]
    pub fn below(self) -> Option<Self> {
        // The exponent of the largest rests: half of the lower accumulator's last place.
        let rests = self.lower_unit() - 1;
        (self.0 > Self::LOWEST).then(|| Self((rests + 12).max(Self::LOWEST)))
    }

    /// At this scale, the lower accumulator's last place is the smallest subnormal number, so no rests are left.
    const LOWEST: i32 = -1022 + LOWER;

    /// The exponent of the unit of a [`Split`]'s higher part.
    #[must_use]
    pub fn higher_unit(self) -> i32 {
        self.0 - 52
    }

    /// The exponent of the unit of a [`Split`]'s lower part.
    #[must_use]
    pub fn lower_unit(self) -> i32 {
        self.higher_unit() - LOWER
    }

    /// The initial values of the accumulators.
    fn zeros(self) -> (f64, f64) {
        (one_and_a_half(self.0), one_and_a_half(self.0 - LOWER))
    }
}

/// 1.5 * 2^exponent, for the exponent of a normal number.
fn one_and_a_half(exponent: i32) -> f64 {
    1.5 * power_of_two(exponent)
}

/// 2^exponent, for the exponent of a normal number.
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    let biased = u64::try_from(exponent + 1023).expect("the power is normal");
    f64::from_bits(biased << 52)
}

/// The sums of items that were split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Split {
    /// The sums of the higher parts, in units of [`SplitScale::higher_unit`]: of items 0, 2, 4, … and of items 1, 3, 5, ….
    pub higher: [i64; 2],
    /// The sums of the lower parts, in units of [`SplitScale::lower_unit`].
    pub lower: [i64; 2],
    /// Whether no item left a rest.
    pub is_whole: bool,
    /// Whether an item may be -0.0. Meaningless unless `is_whole` is set.
    pub may_have_negative_zeros: bool,
}

/// The exact sums of at most [`SPLIT_ITEMS`] items at a scale; `None` if they do not fit. Infinities and NaNs never fit.
///
/// # Panics
/// There are more than [`SPLIT_ITEMS`] items.
///
/// ```
/// use simd_kernels::{Level, SplitScale, split_sums};
///
/// let scale = SplitScale::for_exponent(0).expect("it is not too large");
/// let split = split_sums(Level::best(), &[1.5, 0.25, -1.0], scale).expect("the items fit");
/// assert!(split.is_whole);
/// assert_eq!(split.higher.map(|sum| sum as f64 * 2_f64.powi(scale.higher_unit())), [0.5, 0.25]);
/// ```
#[must_use]
pub fn split_sums(level: Level, items: &[f64], scale: SplitScale) -> Option<Split> {
    compute(level, Sums { items, scale })
}

/// Does what [`split_sums`] does, and also replaces each item by its rest.
///
/// If it returns `None`, the items have arbitrary values.
pub fn split_sums_and_rests(level: Level, items: &mut [f64], scale: SplitScale) -> Option<Split> {
    compute(level, SumsAndRests { items, scale })
}

/// The most rows in a call of [`split_columns`].
pub const SPLIT_ROWS: usize = 1000;

const _: () = assert!(SPLIT_ROWS < 1 << 10);

/// The distance, in rows, at which columns are prefetched.
const AHEAD_ROWS: usize = 16;

/// The sum of a column's split items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ColumnSplit {
    /// The sum of the higher parts, in units of [`SplitScale::higher_unit`].
    pub higher: i64,
    /// The sum of the lower parts, in units of [`SplitScale::lower_unit`].
    pub lower: i64,
    /// Whether an item is -0.0.
    pub has_negative_zeros: bool,
}

/// Computes the exact sums of columns, beginning with column `first`, each at its own scale. The rows have `width` items each.
///
/// A column's sum is `None` if its items do not fit, or if an item leaves a rest. The sums of the last columns are not computed, and are
/// also `None`, if these columns do not fill a register.
///
/// # Panics
/// There are more than [`SPLIT_ROWS`] rows, or they do not have these columns; `splits` is not as long as `scales`.
pub fn split_columns(
    level: Level,
    rows: &[f64],
    width: usize,
    first: usize,
    scales: &[SplitScale],
    splits: &mut [Option<ColumnSplit>],
) {
    assert!(rows.len() / width <= SPLIT_ROWS && first + scales.len() <= width);
    assert_eq!(scales.len(), splits.len());
    compute(
        level,
        SplitColumns {
            rows,
            width,
            first,
            scales,
            splits,
        },
    );
}

struct SplitColumns<'c> {
    rows: &'c [f64],
    width: usize,
    first: usize,
    scales: &'c [SplitScale],
    splits: &'c mut [Option<ColumnSplit>],
}

impl Kernel<f64> for SplitColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, proven: Proven<V>) {
        let columns = self.scales.len();
        let mut rest = self;
        for _ in 0..columns / (REGISTERS * V::LANES) {
            rest = rest.add::<REGISTERS, V>(proven);
        }
        for _ in 0..rest.scales.len() / V::LANES {
            rest = rest.add::<1, V>(proven);
        }
        rest.splits.fill(None);
    }
}

impl SplitColumns<'_> {
    /// Splits the first `N` registers of columns, one column per lane, and returns the remaining columns.
    #[inline(always)]
    fn add<const N: usize, V: Vector<Element = f64>>(self, proven: Proven<V>) -> Self {
        let (scales, other_scales) = self.scales.split_at(N * V::LANES);
        let (splits, other_splits) = self.splits.split_at_mut(N * V::LANES);
        let nothing = proven.load(&[0.0; 16]);
        let [mut higher, mut lower] = [[nothing; N]; 2];
        for register in 0..N {
            let [mut higher_zeros, mut lower_zeros] = [[0.0; 16]; 2];
            for (lane, scale) in scales[register * V::LANES..][..V::LANES].iter().enumerate() {
                (higher_zeros[lane], lower_zeros[lane]) = scale.zeros();
            }
            higher[register] = proven.load(&higher_zeros);
            lower[register] = proven.load(&lower_zeros);
        }
        let zeros = higher;
        let [mut different, mut rests] = [[nothing; N]; 2];
        let one = one(proven);
        // Rows of this size are not in the core's own caches, and too far apart for the processor's prefetcher to follow.
        let prefetches = size_of_val(self.rows) >= OWN_CACHE_BYTES;
        let ahead_bytes = AHEAD_ROWS * self.width * size_of::<f64>();
        for row in self.rows.chunks_exact(self.width) {
            let row = &row[self.first..];
            if prefetches {
                prefetch_lines(&row[..N * V::LANES], ahead_bytes);
            }
            for register in 0..N {
                let items = proven.load(&row[register * V::LANES..]);
                let accumulators = (&mut higher[register], &mut lower[register]);
                let left = add(proven, one, accumulators, items);
                different[register] =
                    proven.or_different(different[register], higher[register], zeros[register]);
                rests[register] = proven.or(rests[register], left);
            }
        }
        for register in 0..N {
            let mut stored = [[0.0_f64; 16]; 4];
            proven.store(higher[register], &mut stored[0]);
            proven.store(lower[register], &mut stored[1]);
            proven.store(different[register], &mut stored[2]);
            proven.store(rests[register], &mut stored[3]);
            let columns = register * V::LANES..(register + 1) * V::LANES;
            let own = splits[columns.clone()].iter_mut().zip(&scales[columns]);
            for (lane, (split, scale)) in own.enumerate() {
                let [higher, lower, different, rest] = stored.map(|lanes| lanes[lane].to_bits());
                let (higher_zero, lower_zero) = scale.zeros();
                let since = |bits: u64, zero: f64| bits.wrapping_sub(zero.to_bits()).cast_signed();
                // The sign or exponent of an accumulator changes when it leaves its range. Only an item of -0.0 leaves a rest of -0.0.
                let is_whole = different >> 52 == 0 && rest << 1 == 0;
                *split = is_whole.then(|| ColumnSplit {
                    higher: since(higher, higher_zero),
                    lower: since(lower, lower_zero),
                    has_negative_zeros: rest != 0,
                });
            }
        }
        Self {
            first: self.first + N * V::LANES,
            scales: other_scales,
            splits: other_splits,
            ..self
        }
    }
}

struct Sums<'i> {
    items: &'i [f64],
    scale: SplitScale,
}

struct SumsAndRests<'i> {
    items: &'i mut [f64],
    scale: SplitScale,
}

impl Kernel<f64> for Sums<'_> {
    type Output = Option<Split>;

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(
        self,
        proven: Proven<V>,
    ) -> Option<Split> {
        let mut accumulators = Accumulators::new(proven, self.scale, self.items.len());
        let mut groups = self.items.chunks_exact(REGISTERS * V::LANES);
        for group in &mut groups {
            for register in 0..REGISTERS {
                let items = proven.load(&group[register * V::LANES..]);
                accumulators.add(proven, register, items);
            }
        }
        let mut rows = groups.remainder().chunks_exact(V::LANES);
        for (register, row) in (&mut rows).enumerate() {
            accumulators.add(proven, register, proven.load(row));
        }
        let mut last = [0.0; 16];
        last[..rows.remainder().len()].copy_from_slice(rows.remainder());
        accumulators.add(proven, 0, proven.load(&last));
        accumulators.finish(proven, self.scale)
    }
}

impl Kernel<f64> for SumsAndRests<'_> {
    type Output = Option<Split>;

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(
        self,
        proven: Proven<V>,
    ) -> Option<Split> {
        let mut accumulators = Accumulators::new(proven, self.scale, self.items.len());
        let mut groups = self.items.chunks_exact_mut(REGISTERS * V::LANES);
        for group in &mut groups {
            for register in 0..REGISTERS {
                let row = &mut group[register * V::LANES..];
                let rests = accumulators.add(proven, register, proven.load(row));
                proven.store_first(rests, row);
            }
        }
        let mut rows = groups.into_remainder().chunks_exact_mut(V::LANES);
        for (register, row) in (&mut rows).enumerate() {
            let rests = accumulators.add(proven, register, proven.load(row));
            proven.store_first(rests, row);
        }
        let remainder = rows.into_remainder();
        let mut last = [0.0; 16];
        last[..remainder.len()].copy_from_slice(remainder);
        let rests = accumulators.add(proven, 0, proven.load(&last));
        proven.store_first(rests, &mut last);
        remainder.copy_from_slice(&last[..remainder.len()]);
        accumulators.finish(proven, self.scale)
    }
}

/// The accumulators of [`split_sums`].
struct Accumulators<V> {
    zero: V,
    one: V,
    higher: [V; REGISTERS],
    lower: [V; REGISTERS],
    /// The bits in which a higher accumulator has differed from its initial value.
    different: V,
    /// The OR of all rests' bits.
    rests: V,
}

/// 1.0, hidden by `black_box` so that the compiler cannot simplify a * 1.0 - b to a - b in `subtract_by_product`.
#[inline(always)]
fn one<V: Vector<Element = f64>>(proven: Proven<V>) -> V {
    let one = black_box(1.0);
    proven.load(&[one; 16])
}

impl<V: Vector<Element = f64>> Accumulators<V> {
    #[inline(always)]
    fn new(proven: Proven<V>, scale: SplitScale, items: usize) -> Self {
        assert!(items <= SPLIT_ITEMS);
        let (higher, lower) = scale.zeros();
        let nothing = proven.load(&[0.0; 16]);
        let zero = proven.load(&[higher; 16]);
        Self {
            zero,
            one: one(proven),
            higher: [zero; REGISTERS],
            lower: [proven.load(&[lower; 16]); REGISTERS],
            different: nothing,
            rests: nothing,
        }
    }

    /// Adds a register of items, and returns their rests.
    #[inline(always)]
    fn add(&mut self, proven: Proven<V>, register: usize, items: V) -> V {
        let accumulators = (&mut self.higher[register], &mut self.lower[register]);
        let rests = add(proven, self.one, accumulators, items);
        self.different = proven.or_different(self.different, self.higher[register], self.zero);
        self.rests = proven.or(self.rests, rests);
        rests
    }

    #[inline(always)]
    fn finish(self, proven: Proven<V>, scale: SplitScale) -> Option<Split> {
        const MAGNITUDE: u64 = !(1 << 63);
        let (higher, lower) = scale.zeros();
        // The sign or exponent of an accumulator changes when it leaves its range.
        let fits = bits(proven, self.different) >> 52 == 0;
        // `fits.then` is not used, since its closure would be compiled without the level's instructions.
        if !fits {
            return None;
        }
        let rests = bits(proven, self.rests);
        Some(Split {
            higher: units(proven, self.higher, higher),
            lower: units(proven, self.lower, lower),
            // If all rests are zero, only an item of -0.0 leaves a rest of -0.0.
            is_whole: rests & MAGNITUDE == 0,
            may_have_negative_zeros: rests != 0,
        })
    }
}

/// Adds items to a higher and a lower accumulator, and returns their rests.
#[inline(always)]
fn add<V>(proven: Proven<V>, one: V, (higher, lower): (&mut V, &mut V), items: V) -> V
where
    V: Vector<Element = f64>,
{
    let sum = proven.add(*higher, items);
    let part = proven.subtract_by_product(sum, *higher, one);
    let rests = proven.subtract(items, part);
    *higher = sum;
    let sum = proven.add(*lower, rests);
    let part = proven.subtract_by_product(sum, *lower, one);
    *lower = sum;
    proven.subtract_by_product(rests, part, one)
}

/// The bits that are set in any lane.
#[inline(always)]
pub(crate) fn bits<V: Vector<Element = f64>>(proven: Proven<V>, register: V) -> u64 {
    let mut lanes = [0.0; 16];
    proven.store(register, &mut lanes);
    let lanes = lanes[..V::LANES].iter();
    lanes.fold(0, |bits, lane| bits | lane.to_bits())
}

/// The sums of the accumulators' even and odd lanes, in units of their last place.
#[inline(always)]
pub(crate) fn units<V, const N: usize>(
    proven: Proven<V>,
    accumulators: [V; N],
    zero: f64,
) -> [i64; 2]
where
    V: Vector<Element = f64>,
{
    let zero = proven.load(&[zero; 16]);
    let mut sum = proven.load(&[0.0; 16]);
    for accumulator in accumulators {
        // The sign and the exponent are the same, so the difference of the bits is the difference of the values in units of the last place.
        sum = proven.subtract_bits(sum, proven.subtract_bits(zero, accumulator));
    }
    let mut lanes = [0.0_f64; 16];
    proven.store(sum, &mut lanes);
    let mut sums = [0_i64; 2];
    for pair in lanes[..V::LANES].chunks_exact(2) {
        for (sum, lane) in sums.iter_mut().zip(pair) {
            // The sum cannot overflow, because the accumulators fit; the wrapping addition saves a check.
            *sum = sum.wrapping_add(lane.to_bits().cast_signed());
        }
    }
    sums
}

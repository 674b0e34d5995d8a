//! Computes exact sums of items, or of products, whose exponents are within a range of 32, in half the time of
//! [`split`](crate::exact::split).
//!
//! Items are scaled by a power of two, so that their exponents become -31 to 0, and split as in that module. If all exponents are in this range, no
//! accumulator overflows and no rest is left, so neither is checked for each item. Instead, the AND of all parts for the higher accumulator shows
//! whether their exponents were in range: in a double's bits, the exponents -31 to 0 are 992 to 1023, and five bits are set in all of these. Some
//! much larger exponents have these five bits, too. Such items change the accumulator's own exponent permanently, which is checked at the end.

pub(crate) mod scale;

use crate::exact::products::product_and_error;
use crate::exact::split::{Split, bits, power_of_two, units};
use crate::processor::prefetch::{Ahead, prefetch_lines};
use crate::sets::dispatch::compute;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};
use scale::{ERRORS_HIGHER, ERRORS_LOWER, HIGHER, LOWER, RangeScale};

/// These bits are all set in the exponents from -31 to 0, but not in those from -1022 to -32 and from 1 to 992.
const RANGE_BITS: u64 = 0b011_1110_0000 << 52;

/// The most items that are added to a lane. The number is even, since two groups are added at a time.
const LANE_ITEMS: usize = (1 << 8) - 2;

/// More items than this are added with more registers, which take longer to set up and to combine.
const MANY_ITEMS: usize = 1 << 12;

/// The number of registers of each accumulator for many items, in instruction sets with 32 registers.
const MANY_REGISTERS: usize = 6;

/// The number of items that [`split_sums_in_range`] adds before it checks its accumulators, with registers of eight doubles.
pub const RANGE_BLOCK_ITEMS: usize = LANE_ITEMS * MANY_REGISTERS * 8;

/// The most items, or products, of a call: the sums of their parts fit into 64-bit integers.
const MOST_ITEMS: usize = 1 << 16;

/// The exact sums of items whose exponents are in the scale's range. Zeros are allowed if `zeros` is set; among the last few items, they
/// are always allowed. Returns `None` if there are other items, and possibly if an item is close to an end of the range.
///
/// The split is always whole. Its units are [`RangeScale::units`].
///
/// # Panics
/// There are more than 65,536 items.
///
/// ```
/// use simd_kernels::{Ahead, Level, RangeScale, split_sums_in_range};
///
/// let scale = RangeScale::for_items(-2, 0).expect("these are few exponents");
/// let items = [1.5, 0.25, -1.0];
/// let split = |items| split_sums_in_range(Level::best(), items, false, scale, Ahead::Nothing);
/// let in_range = split(&items).expect("they are in range");
/// assert_eq!(in_range.higher.map(|sum| sum as f64 * 2_f64.powi(scale.units()[0])), [0.5, 0.25]);
/// assert_eq!(split(&[1e100]), None);
/// ```
#[must_use]
pub fn split_sums_in_range(
    level: Level,
    items: &[f64],
    zeros: bool,
    scale: RangeScale,
    ahead: Ahead,
) -> Option<Split> {
    assert!(items.len() <= MOST_ITEMS);
    let sums = match (zeros, items.len() > MANY_ITEMS) {
        (false, false) => sums::<false, false>,
        (false, true) => sums::<false, true>,
        (true, false) => sums::<true, false>,
        (true, true) => sums::<true, true>,
    };
    sums(level, items, scale, ahead.bytes())
}

fn sums<const ZEROS: bool, const MANY: bool>(
    level: Level,
    items: &[f64],
    scale: RangeScale,
    ahead_bytes: usize,
) -> Option<Split> {
    let kernel = SumsInRange::<ZEROS, MANY> {
        items,
        scale,
        ahead_bytes,
    };
    compute(level, kernel)
}

/// The exact sums of the products x0 * y0, x1 * y1, …, if the rounded products have exponents in the scale's range. Factors may be zero if `zeros` is
/// set. Returns the split of the rounded products, in [`RangeScale::units`], and of their errors, in [`RangeScale::error_units`].
///
/// Returns `None` in the same cases as [`split_sums_in_range`], and if a factor is so large that the instruction set cannot compute an error. The
/// scale must come from [`RangeScale::for_products`].
///
/// # Panics
/// The slices differ in length, or have more than 65,536 items.
///
/// ```
/// use simd_kernels::{Ahead, Level, RangeScale, split_products_in_range};
///
/// let scale = RangeScale::for_products(0, 0).expect("it is one exponent");
/// let x = 1.0 + f64::EPSILON;
/// let [products, errors] =
///     split_products_in_range(Level::best(), &[x], &[x], false, scale, Ahead::Nothing)
///         .expect("it is in range");
/// let value = |parts: [i64; 2], unit: i32| parts[0] as f64 * 2_f64.powi(unit);
/// assert_eq!(value(products.higher, scale.units()[0]), 1.0);
/// assert_eq!(value(products.lower, scale.units()[1]), 2.0 * f64::EPSILON);
/// assert_eq!(value(errors.higher, scale.error_units()[0]), 0.0);
/// assert_eq!(value(errors.lower, scale.error_units()[1]), f64::EPSILON * f64::EPSILON);
/// ```
#[must_use]
pub fn split_products_in_range(
    level: Level,
    x: &[f64],
    y: &[f64],
    zeros: bool,
    scale: RangeScale,
    ahead: Ahead,
) -> Option<[Split; 2]> {
    assert_eq!(x.len(), y.len(), "the slices differ in length");
    assert!(x.len() <= MOST_ITEMS);
    let products = if zeros {
        products::<true>
    } else {
        products::<false>
    };
    products(level, [x, y], scale, ahead.bytes())
}

fn products<const ZEROS: bool>(
    level: Level,
    [x, y]: [&[f64]; 2],
    scale: RangeScale,
    ahead_bytes: usize,
) -> Option<[Split; 2]> {
    let kernel = ProductsInRange::<ZEROS> {
        x,
        y,
        scale,
        ahead_bytes,
    };
    compute(level, kernel)
}

struct SumsInRange<'i, const ZEROS: bool, const MANY: bool> {
    items: &'i [f64],
    scale: RangeScale,
    ahead_bytes: usize,
}

struct ProductsInRange<'i, const ZEROS: bool> {
    x: &'i [f64],
    y: &'i [f64],
    scale: RangeScale,
    ahead_bytes: usize,
}

/// Whether an instruction set has 32 registers rather than 16. With 16, additional accumulators would be spilled to memory, which costs more
/// than they gain.
const fn has_many_registers<V: Vector>() -> bool {
    V::LANES == 8 || cfg!(target_arch = "aarch64")
}

impl<const ZEROS: bool, const MANY: bool> Kernel<f64> for SumsInRange<'_, ZEROS, MANY> {
    type Output = Option<Split>;

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(
        self,
        proven: Proven<V>,
    ) -> Option<Split> {
        match (has_many_registers::<V>(), V::LANES) {
            (true, _) if MANY => self.split::<V, MANY_REGISTERS, 2>(proven),
            (false, 2) => self.split::<V, 3, 1>(proven),
            _ => self.split::<V, 4, 1>(proven),
        }
    }
}

impl<const ZEROS: bool, const MANY: bool> SumsInRange<'_, ZEROS, MANY> {
    /// Splits with `N` registers of each accumulator, `GROUPS` groups at a time. With two groups, the registers of one group's sums are reused for
    /// the other group's parts, so no register is copied.
    #[inline(always)]
    fn split<V, const N: usize, const GROUPS: usize>(self, proven: Proven<V>) -> Option<Split>
    where
        V: Vector<Element = f64>,
    {
        let factor = proven.load(&[self.scale.factor(); 16]);
        let mut split = NOTHING;
        split.may_have_negative_zeros = ZEROS;
        for items in self.items.chunks(LANE_ITEMS * N * V::LANES) {
            let mut range = Range::new(proven);
            let mut halves = Halves::<V, N>::new(proven, [HIGHER, LOWER]);
            let mut several = items.chunks_exact(GROUPS * N * V::LANES);
            for groups in &mut several {
                prefetch_group::<V>(groups, self.ahead_bytes);
                for group in 0..GROUPS {
                    let group = &groups[group * N * V::LANES..][..N * V::LANES];
                    halves.add_group::<ZEROS>(proven, factor, group, &mut range);
                }
            }
            let mut groups = several.remainder().chunks_exact(N * V::LANES);
            for group in &mut groups {
                halves.add_group::<ZEROS>(proven, factor, group, &mut range);
            }
            // Fewer rows remain than there are registers, so each register gets at most one. The loop is over registers rather than rows, so that
            // the compiler unrolls it and keeps the registers out of memory.
            let mut rows = groups.remainder().chunks(V::LANES);
            for register in 0..N {
                let Some(row) = rows.next() else { break };
                let items = proven.load_padded(row);
                split.may_have_negative_zeros |= has_zeros(row);
                let parts = halves.add(proven, factor, register, items);
                let seen = parts_seen::<true, V>(proven, parts, [items; 2]);
                range.look_at(proven, register, seen);
            }
            if !(range.has_all(proven) && halves.are_in_place(proven)) {
                return None;
            }
            halves.add_to(proven, &mut split);
        }
        Some(split)
    }
}

impl<const ZEROS: bool> Kernel<f64> for ProductsInRange<'_, ZEROS> {
    type Output = Option<[Split; 2]>;

    #[inline(always)]
    fn compute<V, O>(self, proven: Proven<V>) -> Option<[Split; 2]>
    where
        V: Vector<Element = f64>,
        O: Combine<f64>,
    {
        if ZEROS || V::LANES > 2 || has_many_registers::<V>() {
            self.split::<V, 2>(proven)
        } else {
            self.split::<V, 1>(proven)
        }
    }
}

impl<const ZEROS: bool> ProductsInRange<'_, ZEROS> {
    /// Splits with `N` registers of each accumulator.
    #[inline(always)]
    fn split<V, const N: usize>(self, proven: Proven<V>) -> Option<[Split; 2]>
    where
        V: Vector<Element = f64>,
    {
        let factor = proven.load(&[self.scale.factor(); 16]);
        let mut splits = [NOTHING; 2];
        splits[0].may_have_negative_zeros = ZEROS;
        let most = LANE_ITEMS * N * V::LANES;
        for (x, y) in self.x.chunks(most).zip(self.y.chunks(most)) {
            let mut range = Range::new(proven);
            let mut products = Halves::<V, N>::new(proven, [HIGHER, LOWER]);
            let mut errors = Halves::<V, N>::new(proven, [ERRORS_HIGHER, ERRORS_LOWER]);
            let mut x_groups = x.chunks_exact(N * V::LANES);
            let mut y_groups = y.chunks_exact(N * V::LANES);
            for (x, y) in (&mut x_groups).zip(&mut y_groups) {
                prefetch_group::<V>(x, self.ahead_bytes);
                prefetch_group::<V>(y, self.ahead_bytes);
                for register in 0..N {
                    let x = proven.load(&x[register * V::LANES..]);
                    let y = proven.load(&y[register * V::LANES..]);
                    let (product, error) = product_and_error(proven, x, y);
                    let parts = products.add(proven, factor, register, product);
                    let seen = parts_seen::<ZEROS, V>(proven, parts, [x, y]);
                    range.look_at(proven, register, seen);
                    errors.add(proven, factor, register, error);
                }
            }
            let rows = x_groups.remainder().chunks(V::LANES);
            let rows = rows.zip(y_groups.remainder().chunks(V::LANES));
            for (register, (x, y)) in rows.enumerate() {
                splits[0].may_have_negative_zeros |= has_zeros(x) || has_zeros(y);
                let (x, y) = (proven.load_padded(x), proven.load_padded(y));
                let (product, error) = product_and_error(proven, x, y);
                let parts = products.add(proven, factor, register, product);
                let seen = parts_seen::<true, V>(proven, parts, [x, y]);
                range.look_at(proven, register, seen);
                errors.add(proven, factor, register, error);
            }
            let are_in_place = products.are_in_place(proven) && errors.are_in_place(proven);
            if !(range.has_all(proven) && are_in_place) {
                return None;
            }
            products.add_to(proven, &mut splits[0]);
            errors.add_to(proven, &mut splits[1]);
        }
        Some(splits)
    }
}

/// Prefetches the lines at a distance after a group. With few registers, this function does so even at a distance of 0, where prefetching
/// is useless, because a branch in the loop would make the compiler keep accumulators in memory.
#[inline(always)]
fn prefetch_group<V: Vector>(group: &[f64], ahead_bytes: usize) {
    if ahead_bytes != 0 || !has_many_registers::<V>() {
        prefetch_lines(group, ahead_bytes);
    }
}

/// The split of no items.
const NOTHING: Split = Split {
    higher: [0; 2],
    lower: [0; 2],
    is_whole: true,
    may_have_negative_zeros: false,
};

/// Whether one of a few items is zero.
#[inline(always)]
fn has_zeros(items: &[f64]) -> bool {
    let mut has = false;
    for item in items {
        has |= *item == 0.0;
    }
    has
}

/// N higher and N lower accumulators.
struct Halves<V, const N: usize> {
    /// The exponents of the higher and of the lower accumulators.
    exponents: [i32; 2],
    higher: [V; N],
    lower: [V; N],
}

impl<V: Vector<Element = f64>, const N: usize> Halves<V, N> {
    #[inline(always)]
    fn new(proven: Proven<V>, exponents: [i32; 2]) -> Self {
        let [higher, lower] = exponents.map(|exponent| 1.5 * power_of_two(exponent));
        Self {
            exponents,
            higher: [proven.load(&[higher; 16]); N],
            lower: [proven.load(&[lower; 16]); N],
        }
    }

    /// Adds a register of items to each accumulator.
    #[inline(always)]
    fn add_group<const ZEROS: bool>(
        &mut self,
        proven: Proven<V>,
        factor: V,
        group: &[f64],
        range: &mut Range<V>,
    ) {
        for register in 0..N {
            let items = proven.load(&group[register * V::LANES..]);
            let parts = self.add(proven, factor, register, items);
            let seen = parts_seen::<ZEROS, V>(proven, parts, [items; 2]);
            range.look_at(proven, register, seen);
        }
    }

    /// Adds items times a factor, and returns their higher parts.
    #[inline(always)]
    fn add(&mut self, proven: Proven<V>, factor: V, register: usize, items: V) -> V {
        let (higher, lower) = (&mut self.higher[register], &mut self.lower[register]);
        // A product in range is exact. If the product is not in range, the check of the part fails.
        let product = proven.multiply(items, factor);
        let sum = match proven.multiply_add(items, factor, *higher) {
            Some(sum) => sum,
            None => proven.add(*higher, product),
        };
        let parts = proven.subtract(sum, *higher);
        *higher = sum;
        let rests = match proven.multiply_subtract(items, factor, parts) {
            Some(rests) => rests,
            None => proven.subtract(product, parts),
        };
        *lower = proven.add(*lower, rests);
        parts
    }

    /// Whether all accumulators still have their exponents. Infinities, NaNs and numbers far too large change them.
    #[inline(always)]
    fn are_in_place(&self, proven: Proven<V>) -> bool {
        let zeros = Self::new(proven, self.exponents);
        let mut different = proven.load(&[0.0; 16]);
        for register in 0..N {
            let (higher, lower) = (self.higher[register], self.lower[register]);
            different = proven.or_different(different, higher, zeros.higher[register]);
            different = proven.or_different(different, lower, zeros.lower[register]);
        }
        bits(proven, different) >> 52 == 0
    }

    /// Adds the accumulators' sums to a split.
    #[inline(always)]
    fn add_to(&self, proven: Proven<V>, split: &mut Split) {
        let [higher_zero, lower_zero] = self.exponents.map(|exponent| 1.5 * power_of_two(exponent));
        let higher = units(proven, self.higher, higher_zero);
        let lower = units(proven, self.lower, lower_zero);
        for half in 0..2 {
            split.higher[half] += higher[half];
            split.lower[half] += lower[half];
        }
    }
}

/// The parts to check. With `ZEROS`, lanes in which one of two factors is zero have all bits set, which passes the check.
#[inline(always)]
fn parts_seen<const ZEROS: bool, V>(proven: Proven<V>, parts: V, [x, y]: [V; 2]) -> V
where
    V: Vector<Element = f64>,
{
    if ZEROS {
        proven.or(parts, proven.or(proven.are_zero(x), proven.are_zero(y)))
    } else {
        parts
    }
}

/// Checks that exponents are in range: holds the bits that are set in all parts.
struct Range<V>([V; 3]);

impl<V: Vector<Element = f64>> Range<V> {
    #[inline(always)]
    fn new(proven: Proven<V>) -> Self {
        Self([proven.load(&[f64::from_bits(u64::MAX); 16]); 3])
    }

    /// Examines the parts of a group's register. On some processors, a bitwise operation waits three cycles for a floating-point result, so
    /// successive parts go to different registers, if there are enough.
    #[inline(always)]
    fn look_at(&mut self, proven: Proven<V>, register: usize, parts: V) {
        let seen = match V::LANES {
            _ if has_many_registers::<V>() => register / 2,
            4 => register % 3,
            _ => 0,
        };
        self.0[seen] = proven.and(self.0[seen], parts);
    }

    /// Whether all exponents were in range.
    #[inline(always)]
    fn has_all(&self, proven: Proven<V>) -> bool {
        let [first, second, third] = self.0;
        let mut lanes = [0.0_f64; 16];
        proven.store(proven.and(proven.and(first, second), third), &mut lanes);
        let mut all = RANGE_BITS;
        for lane in &lanes[..V::LANES] {
            all &= lane.to_bits();
        }
        all == RANGE_BITS
    }
}

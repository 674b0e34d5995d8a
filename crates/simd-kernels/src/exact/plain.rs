//! Computes sums by plain additions. Such a sum is exact if the processor's inexact flag stays clear. The flag often stays clear for floats
//! (which are added as doubles), for integers, and for other items with short significands and few exponents.

use crate::processor::environment::Watch;
use crate::processor::prefetch::{Ahead, prefetch_lines};
use crate::sets::compiled::Compiled;
use crate::sets::dispatch::compute;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// The number of vector accumulators. An addition takes four cycles, and a processor starts two additions per cycle.
const REGISTERS: usize = 8;

/// The number of registers that detect zeros. There are several because each update of a register waits for the register's previous update.
const LOOKS: usize = 4;

/// The sums of items 0, 2, 4, … and of items 1, 3, 5, …; `None` if an addition was rounded or a sum is not finite. If `zeros` is set, also returns
/// whether an item may be -0.0. The sum is +0.0 even if all items are -0.0.
///
/// ```
/// use simd_kernels::{Ahead, Level, Quiet, plain_sums};
///
/// let quiet = Quiet::now().expect("it is the default environment");
/// let mut watch = quiet.watch().expect("the processor has an inexact flag");
/// let mut sums = |items| plain_sums::<f64>(Level::best(), items, false, Ahead::Nothing, &mut watch);
/// assert_eq!(sums(&[1.5, 0.25, 1e9]), Some(([1e9 + 1.5, 0.25], false)));
/// assert_eq!(sums(&[0.1, 0.25, 1e9]), None);
/// ```
#[must_use]
#[inline]
pub fn plain_sums<T: Compiled>(
    level: Level,
    items: &[T],
    zeros: bool,
    ahead: Ahead,
    watch: &mut Watch,
) -> Option<([f64; 2], bool)> {
    T::plain_sums_kernel(level, items, zeros, ahead, watch)
}

pub(crate) fn plain_sums_kernel<T: Copy + Into<f64>>(
    level: Level,
    items: &[T],
    zeros: bool,
    ahead: Ahead,
    watch: &mut Watch,
) -> Option<([f64; 2], bool)> {
    let ahead_bytes = ahead.bytes();
    let sums = match (zeros, ahead_bytes != 0) {
        (false, false) => sums::<T, false, false>,
        (false, true) => sums::<T, false, true>,
        (true, false) => sums::<T, true, false>,
        (true, true) => sums::<T, true, true>,
    };
    let ((sums, may_have_zeros), is_exact) =
        watch.look(items, |items| sums(level, items, ahead_bytes));
    let [even, odd] = sums;
    (is_exact && even.is_finite() && odd.is_finite()).then_some((sums, may_have_zeros))
}

fn sums<T: Copy + Into<f64>, const ZEROS: bool, const PREFETCH: bool>(
    level: Level,
    items: &[T],
    ahead_bytes: usize,
) -> ([f64; 2], bool) {
    let kernel = Plain::<T, ZEROS, PREFETCH> { items, ahead_bytes };
    compute(level, kernel)
}

struct Plain<'i, T, const ZEROS: bool, const PREFETCH: bool> {
    items: &'i [T],
    ahead_bytes: usize,
}

impl<T, const ZEROS: bool, const PREFETCH: bool> Kernel<f64> for Plain<'_, T, ZEROS, PREFETCH>
where
    T: Copy + Into<f64>,
{
    type Output = ([f64; 2], bool);

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, proven: Proven<V>) -> Self::Output {
        let mut sums = [proven.load(&[0.0; 16]); REGISTERS];
        let mut zeros = [Zeros::new(proven); LOOKS];
        let mut groups = self.items.chunks_exact(REGISTERS * V::LANES);
        for group in &mut groups {
            if PREFETCH {
                prefetch_lines(group, self.ahead_bytes);
            }
            for register in 0..REGISTERS {
                let row = load(proven, &group[register * V::LANES..][..V::LANES]);
                sums[register] = proven.add(sums[register], row);
                if ZEROS {
                    zeros[register % LOOKS].look_at(proven, row);
                }
            }
        }
        for (register, row) in groups.remainder().chunks(V::LANES).enumerate() {
            let is_last = row.len() < V::LANES;
            let row = load(proven, row);
            sums[register] = proven.add(sums[register], row);
            if ZEROS && !is_last {
                zeros[register % LOOKS].look_at(proven, row);
            }
        }
        let mut count = REGISTERS;
        while count > 1 {
            count /= 2;
            for register in 0..count {
                sums[register] = proven.add(sums[register], sums[register + count]);
            }
        }
        let mut lanes = [0.0; 16];
        proven.store(sums[0], &mut lanes);
        let mut of_parity = [0.0; 2];
        for (lane, sum) in lanes[..V::LANES].iter().enumerate() {
            of_parity[lane % 2] += sum;
        }
        // Last items that do not fill a register are not examined, so they may be zeros.
        let mut may_have_zeros = ZEROS && !self.items.len().is_multiple_of(V::LANES);
        for zeros in zeros {
            may_have_zeros |= zeros.are_there(proven);
        }
        (of_parity, may_have_zeros)
    }
}

/// Detects -0.0, whose upper 32 bits are the least signed integer, by the minimum of the items' upper bits. Negative subnormal numbers above -2^-1042
/// share these bits, and are reported, too. Instruction sets that lack this minimum detect zeros of either sign: all bits of a lane are set if one of
/// its items was zero.
#[derive(Clone, Copy)]
struct Zeros<V> {
    least: V,
    were_zero: V,
}

impl<V: Vector<Element = f64>> Zeros<V> {
    #[inline(always)]
    fn new(proven: Proven<V>) -> Self {
        let zero = proven.load(&[0.0; 16]);
        Self {
            least: zero,
            were_zero: zero,
        }
    }

    #[inline(always)]
    fn look_at(&mut self, proven: Proven<V>, items: V) {
        match proven.least_bits(self.least, items) {
            Some(least) => self.least = least,
            None => self.were_zero = proven.or(self.were_zero, proven.are_zero(items)),
        }
    }

    #[inline(always)]
    fn are_there(self, proven: Proven<V>) -> bool {
        let [mut least, mut were_zero] = [[0.0_f64; 16]; 2];
        proven.store(self.least, &mut least);
        proven.store(self.were_zero, &mut were_zero);
        let mut are_there = false;
        for lane in 0..V::LANES {
            are_there |= least[lane].to_bits() >> 32 == 1 << 31 || were_zero[lane].to_bits() != 0;
        }
        are_there
    }
}

/// Loads items as doubles into a register, padded with zeros.
#[inline(always)]
fn load<V: Vector<Element = f64>, T: Copy + Into<f64>>(proven: Proven<V>, items: &[T]) -> V {
    let mut doubles = [0.0; 16];
    for (double, item) in doubles.iter_mut().zip(items) {
        *double = (*item).into();
    }
    proven.load(&doubles)
}

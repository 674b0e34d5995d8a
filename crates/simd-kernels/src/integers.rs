//! Folds integers. The results do not depend on the order.

use crate::sets::dispatch::compute;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// For fewer items, choosing a level costs more than it saves.
const FEW_ITEMS: usize = 32;

/// Folds the converted items by an associative and commutative operator, in an unspecified order; `None` for no items.
///
/// The compiler vectorises the loop with the level's instructions.
///
/// ```
/// use simd_kernels::{Level, fold_in_any_order};
///
/// let items = [i32::MAX; 100];
/// let total = fold_in_any_order(Level::best(), &items, i64::from, i64::wrapping_add);
/// assert_eq!(total, Some(100 * i64::from(i32::MAX)));
/// ```
#[inline]
pub fn fold_in_any_order<S: Copy, T>(
    level: Level,
    items: &[S],
    convert: impl Fn(S) -> T,
    combine: impl Fn(T, T) -> T,
) -> Option<T> {
    if items.len() < FEW_ITEMS {
        return items.iter().copied().map(convert).reduce(combine);
    }
    vectorized(level, || items.iter().copied().map(convert).reduce(combine))
}

/// Calls `work`, compiled with the level's instructions, so that the compiler vectorises its loops with them.
///
/// ```
/// use simd_kernels::{Level, vectorized};
///
/// let mut items = [0; 100];
/// vectorized(Level::best(), || items.iter_mut().zip(0..).for_each(|(item, k)| *item = 3 * k));
/// assert_eq!(items[99], 297);
/// ```
#[inline]
pub fn vectorized<R>(level: Level, work: impl FnOnce() -> R) -> R {
    compute::<f64, _>(level, Vectorized(work))
}

struct Vectorized<W>(W);

impl<R, W: FnOnce() -> R> Kernel<f64> for Vectorized<W> {
    type Output = R;

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) -> R {
        (self.0)()
    }
}

/// The number of lanes in which narrow rows are folded, several rows at once.
const LANES: usize = 64;

/// Folds rows, each as long as `result`, element by element, by an associative and commutative operator, in an unspecified order.
/// For no rows, returns `None` and does not change `result`.
///
/// # Panics
/// `result` is empty, or `items` are not whole rows.
///
/// ```
/// let mut sums = [0; 2];
/// simd_kernels::fold_rows_in_any_order(&[1, 10, 2, 20, 3, 30], &mut sums, u32::wrapping_add);
/// assert_eq!(sums, [6, 60]);
/// ```
pub fn fold_rows_in_any_order<T: Copy>(
    items: &[T],
    result: &mut [T],
    combine: impl Fn(T, T) -> T,
) -> Option<()> {
    let width = result.len();
    assert!(
        width > 0 && items.len().is_multiple_of(width),
        "{} items are not whole rows of {width}",
        items.len()
    );
    let add = |lanes: &mut [T], items: &[T]| {
        for (lane, &item) in lanes.iter_mut().zip(items) {
            *lane = combine(*lane, item);
        }
    };
    // A loop over a single narrow row would spend more time on overhead than on combining.
    let wide = LANES / width * width;
    let mut lanes = [*items.first()?; LANES];
    let (first, mut rest) = items.split_at(width);
    result.copy_from_slice(first);
    if width < LANES
        && let Some((first, others)) = rest.split_at_checked(wide)
    {
        let lanes = &mut lanes[..wide];
        lanes.copy_from_slice(first);
        let groups = others.chunks_exact(wide);
        rest = groups.remainder();
        groups.for_each(|group| add(lanes, group));
        lanes.chunks_exact(width).for_each(|row| add(result, row));
    }
    rest.chunks_exact(width).for_each(|row| add(result, row));
    Some(())
}

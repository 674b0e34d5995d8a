//! Folds whose value does not depend on the order: those of integers.

use crate::sets::dispatch::compute;
use crate::sets::kernel::Kernel;
use crate::sets::level::Level;
use crate::sets::vector::{Combine, Proven, Vector};

/// For fewer items, choosing a level costs more than it saves.
const FEW_ITEMS: usize = 32;

/// The fold of what `convert` makes of each item, by an operator that is associative and commutative, in an unspecified order; `None` for
/// no items.
///
/// The compiler vectorises it with the instructions of the level.
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
    let kernel = AnyOrder {
        items,
        convert,
        combine,
    };
    compute::<f64, _>(level, kernel)
}

struct AnyOrder<'i, S, C, F> {
    items: &'i [S],
    convert: C,
    combine: F,
}

impl<S: Copy, T, C: Fn(S) -> T, F: Fn(T, T) -> T> Kernel<f64> for AnyOrder<'_, S, C, F> {
    type Output = Option<T>;

    #[inline(always)]
    fn compute<V: Vector<Element = f64>, O: Combine<f64>>(self, _: Proven<V>) -> Option<T> {
        self.items
            .iter()
            .copied()
            .map(self.convert)
            .reduce(self.combine)
    }
}

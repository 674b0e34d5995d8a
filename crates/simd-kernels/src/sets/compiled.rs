//! Defines the interface to the compiled kernels of each float type. Other crates call the kernels, but only this crate compiles them.

use crate::processor::environment::Watch;
use crate::processor::prefetch::Ahead;
use crate::sets::level::Level;
use crate::sets::operation::Operation;

/// The kernels of an operation for a float type. Programs that do not use the operation do not link them.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::type_complexity, reason = "the types are function signatures")]
pub struct Kernels<T: 'static> {
    pub fold: fn(Level, &[T]) -> Option<T>,
    pub fold_runs: fn(Level, &[T], &[usize], &mut [T]),
    pub fold_rows: fn(Level, usize, &[T], &mut [T], &mut [T]) -> Option<()>,
    pub combine_rows: fn(Level, &[T], &[T], Option<T>, &mut [T]),
}

/// The kernels of a float type, which the public functions call. They are not generic, because a crate that calls a generic kernel
/// would compile it again for every instruction set.
#[expect(missing_docs, reason = "the public functions have docs")]
pub trait Compiled: Sized + 'static {
    const SUMS: Kernels<Self>;
    const PRODUCTS: Kernels<Self>;
    const MINIMA: Kernels<Self>;
    const MAXIMA: Kernels<Self>;

    /// The kernels of an operation.
    #[inline(always)]
    fn kernels(operation: Operation) -> Kernels<Self> {
        match operation {
            Operation::Sum => Self::SUMS,
            Operation::Product => Self::PRODUCTS,
            Operation::Minimum => Self::MINIMA,
            Operation::Maximum => Self::MAXIMA,
        }
    }

    fn dot_kernel(level: Level, x: &[Self], y: &[Self]) -> Option<Self>;

    fn squared_norm_kernel(level: Level, x: &[Self]) -> Option<Self>;

    fn sum_and_absolute_sum_kernel(level: Level, leaves: &[Self]) -> Option<(Self, Self)>;

    fn copy_row_kernel(level: Level, row: &[Self], nan: Self, into: &mut [Self]);

    fn sum_lanes_kernel(level: Level, lanes: usize, items: &[Self]) -> Option<Self>;

    fn sum_pairs_kernel(level: Level, pairs: &[[Self; 2]]) -> Option<[Self; 2]>;

    fn count_negative_zeros_kernel(level: Level, items: &[Self]) -> [u64; 2];

    fn plain_sums_kernel(
        level: Level,
        items: &[Self],
        zeros: bool,
        ahead: Ahead,
        watch: &mut Watch,
    ) -> Option<([f64; 2], bool)>;
}

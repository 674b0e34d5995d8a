//! The kernels of floats by their names: other crates call them, and this crate alone compiles them.

use crate::processor::environment::Watch;
use crate::processor::prefetch::Ahead;
use crate::sets::level::Level;
use crate::sets::operation::Operation;

/// The kernels of a float type, which functions call: a generic function would be compiled by each crate that calls it, for
/// every instruction set.
#[expect(missing_docs, reason = "the functions have them")]
pub trait Compiled: Sized {
    fn fold_kernel(level: Level, operation: Operation, leaves: &[Self]) -> Option<Self>;

    fn fold_runs_kernel(
        level: Level,
        operation: Operation,
        leaves: &[Self],
        lengths: &[usize],
        results: &mut [Self],
    );

    fn dot_kernel(level: Level, x: &[Self], y: &[Self]) -> Option<Self>;

    fn squared_norm_kernel(level: Level, x: &[Self]) -> Option<Self>;

    fn sum_and_absolute_sum_kernel(level: Level, leaves: &[Self]) -> Option<(Self, Self)>;

    fn fold_rows_kernel(
        level: Level,
        operation: Operation,
        width: usize,
        items: &[Self],
        scratch: &mut [Self],
        result: &mut [Self],
    ) -> Option<()>;

    fn combine_rows_kernel(
        level: Level,
        operation: Operation,
        left: &[Self],
        right: &[Self],
        nan: Option<Self>,
        into: &mut [Self],
    );

    fn copy_row_kernel(level: Level, row: &[Self], nan: Self, into: &mut [Self]);

    fn sum_lanes_kernel(level: Level, lanes: usize, items: &[Self]) -> Option<Self>;

    fn count_negative_zeros_kernel(level: Level, items: &[Self]) -> [u64; 2];

    fn plain_sums_kernel(
        level: Level,
        items: &[Self],
        zeros: bool,
        ahead: Ahead,
        watch: &mut Watch,
    ) -> Option<([f64; 2], bool)>;
}

//! Compiles the kernels for each float type.

use crate::exact::{plain, zeros};
use crate::fold::{fused, runs, slice};
use crate::processor::environment::Watch;
use crate::processor::prefetch::Ahead;
use crate::rows::{fold_rows, lanes, pairs};
use crate::sets::compiled::Compiled;
use crate::sets::level::Level;
use crate::sets::operation::Operation;

macro_rules! compiled {
    ($($float:ident),+) => {$(
        impl Compiled for $float {
            fn fold_kernel(level: Level, operation: Operation, leaves: &[Self]) -> Option<Self> {
                slice::fold_kernel(level, operation, leaves)
            }

            fn fold_runs_kernel(
                level: Level,
                operation: Operation,
                leaves: &[Self],
                lengths: &[usize],
                results: &mut [Self],
            ) {
                runs::fold_runs_kernel(level, operation, leaves, lengths, results);
            }

            fn dot_kernel(level: Level, x: &[Self], y: &[Self]) -> Option<Self> {
                fused::dot_kernel(level, x, y)
            }

            fn squared_norm_kernel(level: Level, x: &[Self]) -> Option<Self> {
                fused::squared_norm_kernel(level, x)
            }

            fn sum_and_absolute_sum_kernel(level: Level, leaves: &[Self]) -> Option<(Self, Self)> {
                fused::sum_and_absolute_sum_kernel(level, leaves)
            }

            fn fold_rows_kernel(
                level: Level,
                operation: Operation,
                width: usize,
                items: &[Self],
                scratch: &mut [Self],
                result: &mut [Self],
            ) -> Option<()> {
                fold_rows::fold_rows_kernel(level, operation, width, items, scratch, result)
            }

            fn combine_rows_kernel(
                level: Level,
                operation: Operation,
                left: &[Self],
                right: &[Self],
                nan: Option<Self>,
                into: &mut [Self],
            ) {
                pairs::combine_rows_kernel(level, operation, left, right, nan, into);
            }

            fn copy_row_kernel(level: Level, row: &[Self], nan: Self, into: &mut [Self]) {
                pairs::copy_row_kernel(level, row, nan, into);
            }

            fn sum_lanes_kernel(level: Level, lanes: usize, items: &[Self]) -> Option<Self> {
                lanes::sum_lanes_kernel(level, lanes, items)
            }

            fn count_negative_zeros_kernel(level: Level, items: &[Self]) -> [u64; 2] {
                zeros::count_negative_zeros_kernel(level, items)
            }

            fn plain_sums_kernel(
                level: Level,
                items: &[Self],
                zeros: bool,
                ahead: Ahead,
                watch: &mut Watch,
            ) -> Option<([f64; 2], bool)> {
                plain::plain_sums_kernel(level, items, zeros, ahead, watch)
            }
        }
    )+};
}

compiled!(f32, f64);

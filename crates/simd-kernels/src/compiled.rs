//! Instantiates the generic kernels for each float type.

use crate::exact::{plain, zeros};
use crate::fold::{fused, runs, slice};
use crate::processor::environment::Watch;
use crate::processor::prefetch::Ahead;
use crate::rows::{fold_rows, lanes, pairs};
use crate::sets::compiled::{Compiled, Kernels};
use crate::sets::level::Level;
use crate::sets::vector::{Add, Maximum, Minimum, Multiply};

/// Builds the [`Kernels`] of an operation; `$fold` is its fold of one slice.
macro_rules! kernels {
    ($float:ident, $operation:ident, $fold:expr) => {{
        fn fold(level: Level, leaves: &[$float]) -> Option<$float> {
            $fold(level, leaves)
        }

        fn fold_runs(level: Level, leaves: &[$float], lengths: &[usize], results: &mut [$float]) {
            runs::fold_runs_kernel::<_, $operation>(level, leaves, lengths, results);
        }

        fn fold_rows(
            level: Level,
            width: usize,
            items: &[$float],
            scratch: &mut [$float],
            result: &mut [$float],
        ) -> Option<()> {
            fold_rows::fold_rows_kernel::<_, $operation>(level, width, items, scratch, result)
        }

        fn combine_rows(
            level: Level,
            left: &[$float],
            right: &[$float],
            nan: Option<$float>,
            into: &mut [$float],
        ) {
            pairs::combine_rows_kernel::<_, $operation>(level, left, right, nan, into);
        }

        Kernels {
            fold,
            fold_runs,
            fold_rows,
            combine_rows,
        }
    }};
}

macro_rules! compiled {
    ($($float:ident),+) => {$(
        impl Compiled for $float {
            // Only sums have separate code for one slice. Other operations fold it as a single run, which takes a few nanoseconds more.
            const SUMS: Kernels<Self> = kernels!($float, Add, slice::sum_kernel);
            const PRODUCTS: Kernels<Self> =
                kernels!($float, Multiply, runs::fold_run_kernel::<_, Multiply>);
            const MINIMA: Kernels<Self> =
                kernels!($float, Minimum, runs::fold_run_kernel::<_, Minimum>);
            const MAXIMA: Kernels<Self> =
                kernels!($float, Maximum, runs::fold_run_kernel::<_, Maximum>);

            fn dot_kernel(level: Level, x: &[Self], y: &[Self]) -> Option<Self> {
                fused::dot_kernel(level, x, y)
            }

            fn squared_norm_kernel(level: Level, x: &[Self]) -> Option<Self> {
                fused::squared_norm_kernel(level, x)
            }

            fn sum_and_absolute_sum_kernel(level: Level, leaves: &[Self]) -> Option<(Self, Self)> {
                fused::sum_and_absolute_sum_kernel(level, leaves)
            }

            fn copy_row_kernel(level: Level, row: &[Self], nan: Self, into: &mut [Self]) {
                pairs::copy_row_kernel(level, row, nan, into);
            }

            fn sum_lanes_kernel(level: Level, lanes: usize, items: &[Self]) -> Option<Self> {
                lanes::sum_lanes_kernel(level, lanes, items)
            }

            fn sum_pairs_kernel(level: Level, pairs: &[[Self; 2]]) -> Option<[Self; 2]> {
                fold_rows::sum_pairs_kernel(level, pairs)
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

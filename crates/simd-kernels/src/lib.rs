//! Tree-ordered folds of slices of any length, on one thread.
//!
//! The order is treefold's binary tree: combine neighbours in pairs, let an odd last one move up unchanged, and repeat. The
//! kernels compute it in AVX-512, AVX2, SSE2, NEON and scalar code, with the same bits.
//!
//! ```
//! use simd_kernels::{Level, sum};
//!
//! let x: Vec<f64> = (1..=1000).map(|i| 1.0 / f64::from(i)).collect();
//! let bits: Vec<u64> = Level::available()
//!     .map(|level| sum(level, &x).expect("there are items").to_bits())
//!     .collect();
//! assert!(bits.iter().all(|&b| b == 0x401D_F11F_45F4_E619));
//! ```
//!
//! | function | computes |
//! |---|---|
//! | [`sum`], [`fold`] | sums; products, minima and maxima. One pass over the input, no allocation |
//! | [`fold_runs`] | several folds in one call, for the subtrees of a rank's range |
//! | [`dot`], [`squared_norm`], [`sum_and_absolute_sum`] | sums whose leaves are computed in the same pass |
//! | [`fold_rows`], [`combine_rows`] | rows of values, element by element |
//! | [`tree_fold`], [`tree_fold_rows`] | the same with any operator |
//! | [`reduce_level_by_level`], [`subtree_sum8`] | the thesis' kernel, Algorithm 4 |
//! | [`split_sums_in_range`], [`split_products_in_range`], [`split_sums`], [`split_columns`], [`exact_products`] | sums of blocks of items and of columns, and products, without rounding errors: see the crate `exact-sum` |
//! | [`has_default_environment`], [`Quiet`], [`without_traps`] | nothing: they look after the floating-point environment |
//! | [`by_definition`] | the specification, used as the oracle in tests |
//! | [`unordered_sum`], [`left_to_right`] | sums in other orders, used as references in benchmarks |
//!
//! The kernels return NaNs with the payload and sign that the hardware produces. The caller makes them canonical.

#![cfg_attr(not(feature = "std"), no_std)]

#[cfg(target_arch = "aarch64")]
mod arm;
mod counter;
mod definition;
mod dispatch;
mod environment;
mod exponents;
mod few;
mod fold;
mod fused;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod instruction_set;
mod kernel;
mod level;
mod level_by_level;
mod merge;
mod pairs;
mod panel;
mod prefetch;
mod processor;
mod products;
mod range;
mod rows;
mod runs;
mod scalar;
mod source;
mod split;
mod stream;
mod tree_rows;
mod unordered;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use definition::by_definition;
pub use dispatch::{Float, Operation, subtree_sum8};
pub use environment::{Quiet, has_default_environment, without_traps};
pub use exponents::Exponents;
pub use fold::{fold, sum, tree_fold};
pub use fused::{dot, squared_norm, sum_and_absolute_sum};
pub use level::{Level, LevelError};
pub use level_by_level::{reduce_level_by_level, scratch_len};
pub use pairs::{combine_rows, copy_row};
pub use products::{EXACT_PRODUCT, exact_products};
pub use range::{RangeScale, split_products_in_range, split_sums_in_range};
pub use rows::{fold_rows, rows_scratch_len};
pub use runs::fold_runs;
pub use split::{
    ColumnSplit, SPLIT_ITEMS, SPLIT_ROWS, Split, SplitScale, split_columns, split_sums,
    split_sums_and_rests,
};
pub use tree_rows::tree_fold_rows;
pub use unordered::{Variant, left_to_right, unordered_dot, unordered_sum, unordered_sum_with};

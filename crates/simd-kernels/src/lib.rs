//! Tree-ordered folds of slices of any length, on one thread.
//!
//! The order is treefold's binary tree: combine neighbours in pairs, pass a last value without a neighbour up unchanged, and repeat.
//! The kernels use AVX-512, AVX2, SSE2, NEON or scalar code; all give the same bits.
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
//! | [`sum`], [`fold`] | sums; products, minima and maxima; all in one pass over the input, without allocation |
//! | [`fold_runs`] | several folds in one call, for the subtrees of a rank's range |
//! | [`sum_lanes`] | sums in lanes, each in tree order |
//! | [`dot`], [`squared_norm`], [`sum_and_absolute_sum`] | sums of products, squares and magnitudes, computed in the same pass |
//! | [`fold_rows`], [`combine_rows`], [`sum_pairs`] | folds and combinations of rows, element by element |
//! | [`tree_fold`], [`tree_fold_rows`] | folds of values and of rows with any operator |
//! | [`fold_in_any_order`], [`fold_rows_in_any_order`] | folds of integers, which are the same in any order |
//! | [`reduce_level_by_level`], [`subtree_sum8`] | the thesis' kernel, Algorithm 4 |
//! | [`plain_sums`], [`split_sums_in_range`], [`split_products_in_range`], [`split_sums`], [`split_columns`], [`exact_products`] | exact sums of blocks of items and of columns, and exact products: see the crate `exact-sum` |
//! | [`has_default_environment`], [`Quiet`], [`Subnormals`], [`without_traps`] | nothing; they check or change the floating-point environment |
//! | [`by_definition`] | the specification, used as the oracle in tests |
//! | `unordered_sum`, `left_to_right` | sums in other orders, for comparisons of speed; only with feature `baselines` |
//!
//! The modules, from the bottom up: `processor`, `sets`, `fold`, `rows`, `exact`, `integers` and `unordered`. The module `compiled` instantiates
//! the generic kernels for `f32` and `f64` in this crate, so that programs that call them do not compile them again.
//!
//! The kernels return NaNs with the payload and sign that the hardware produces. The caller must canonicalise them.

#![cfg_attr(not(feature = "std"), no_std)]

mod compiled;
mod exact;
mod fold;
mod integers;
mod processor;
mod rows;
mod sets;
#[cfg(feature = "baselines")]
mod unordered;

pub use exact::decode::{
    DECODED_ITEMS, DecodeDigits, DecodeUnit, LOWER_PLACES, NO_DIGIT, Pair, decode, decode_digits,
    decode_floats,
};
pub use exact::exponents::Exponents;
pub use exact::nearest::{doubles_to_round, nearest_doubles, nearest_quotients};
pub use exact::plain::plain_sums;
pub use exact::products::{EXACT_PRODUCT, exact_products};
pub use exact::range::scale::RangeScale;
pub use exact::range::{RANGE_BLOCK_ITEMS, split_products_in_range, split_sums_in_range};
pub use exact::split::{
    ColumnSplit, SPLIT_ITEMS, SPLIT_ROWS, Split, SplitScale, split_columns, split_sums,
    split_sums_and_rests,
};
pub use exact::zeros::{count_negative_zeros, is_zero};
pub use fold::definition::by_definition;
pub use fold::fused::{dot, squared_norm, sum_and_absolute_sum};
pub use fold::level_by_level::{reduce_level_by_level, scratch_len};
pub use fold::runs::fold_runs;
pub use fold::slice::{fold, sum, tree_fold};
pub use integers::{fold_in_any_order, fold_rows_in_any_order, vectorized};
pub use processor::environment::{
    Quiet, Subnormals, Watch, has_default_environment, without_traps,
};
pub use processor::prefetch::{Ahead, prefetch_after, prefetch_item};
pub use rows::fold_rows::{fold_rows, sum_pairs};
pub use rows::lanes::sum_lanes;
pub use rows::pairs::{combine_rows, copy_row};
pub use rows::scratch::rows_scratch_len;
pub use rows::tree_rows::tree_fold_rows;
pub use sets::compiled::Compiled;
pub use sets::dispatch::{Float, subtree_sum8};
pub use sets::level::{Level, LevelError};
pub use sets::operation::Operation;
#[cfg(feature = "baselines")]
pub use unordered::{Variant, left_to_right, unordered_dot, unordered_sum, unordered_sum_with};

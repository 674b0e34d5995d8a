//! Tree-ordered folds of a slice: one process, one thread, any length.
//!
//! The order is the binary tree of the whole project: pair neighbours, an odd last one moves up unchanged, repeat. The kernels
//! here compute it in AVX-512, AVX2, SSE2 and scalar code with the same bits.
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
//! - [`by_definition`] is the specification, to test against.
//! - [`sum`] is what to use, and [`fold`] for products, minima and maxima: one pass over the input, nothing allocated.
//! - [`fold_runs`] folds several runs of leaves in one call: the subtrees of a rank's range.
//! - [`dot`], [`squared_norm`] and [`sum_and_absolute_sum`] compute their leaves on the way, in the same one pass.
//! - [`fold_rows`] takes rows of values, element by element; [`combine_rows`] makes one of two.
//! - [`reduce_level_by_level`] is the thesis' way, over [`subtree_sum8`] (Algorithm 4).
//! - [`tree_fold`] and [`tree_fold_rows`] take any operator.
//! - [`unordered_sum`] and [`left_to_right`] are what all this is measured against.
//!
//! NaNs are left as the arithmetic gives them; whoever returns them to users makes them canonical.

#![cfg_attr(not(feature = "std"), no_std)]

mod counter;
mod definition;
mod dispatch;
mod environment;
mod fold;
mod fused;
mod kernel;
mod level;
mod level_by_level;
mod merge;
mod pairs;
mod panel;
mod prefetch;
mod rows;
mod runs;
mod scalar;
mod source;
mod stream;
mod tree_rows;
mod unordered;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use definition::by_definition;
pub use dispatch::{Float, Operation, subtree_sum8};
pub use environment::has_default_environment;
pub use fold::{fold, sum, tree_fold};
pub use fused::{dot, squared_norm, sum_and_absolute_sum};
pub use level::{Level, LevelError};
pub use level_by_level::{reduce_level_by_level, scratch_len};
pub use pairs::{combine_rows, copy_row};
pub use rows::{fold_rows, rows_scratch_len};
pub use runs::fold_runs;
pub use tree_rows::tree_fold_rows;
pub use unordered::{Variant, left_to_right, unordered_sum, unordered_sum_with};

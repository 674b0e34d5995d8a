//! Exact sums, dot products and norms, which need no order: they are computed exactly, and rounded once.
//!
//! The exact sum of items depends neither on their order nor on which rank has which items, so items are not numbered. In each run, each
//! rank passes any number of items, in any order. A rank adds its items without rounding errors, in a fixed-point number of a few hundred
//! bytes; ranks add these numbers as integers; finally, the sum is rounded once. The result depends on the items alone.
//!
//! ```
//! use reduce::{Plan, exact, threads};
//!
//! let sums = threads::run(3, |world| {
//!     let plan = Plan::builder(world).build_exact::<exact::Sum<f64>>().unwrap();
//!     // 1e300 on rank 0, its opposite on rank 2, and four items of 0.3.
//!     let local: &[f64] = match world.rank() {
//!         0 => &[1e300, 0.3],
//!         1 => &[0.3, 0.3, 0.3],
//!         _ => &[-1e300],
//!     };
//!     plan.sum(local).unwrap()
//! })?;
//! assert_eq!(sums, [1.2; 3]);
//! # Ok::<(), threads::RunError>(())
//! ```
//!
//! If items are numbered anyway, or for any other operator, use a [`Plan`](crate::Plan) in tree order, which is cheaper.

mod build;
mod keyed;
mod native;
#[cfg(feature = "par")]
pub mod par;
mod plan;
#[doc(hidden)]
pub mod quantity;
mod slices;
mod words;

pub use exact_sum::{
    Accumulator, BytesError, CoMoments, CompactAny, CompactBytes, CompactCoMoments, CompactItem,
    CompactMoments, CompactNumber, CompactPowers, CompactProducts, CompactRows, CompactState,
    CompactSum, CompactWeightedMean, ComplexMoments, ComplexProductSum, ComplexSum, Extrema, Float,
    Hashed, Held, IntegerMoments, IntegerSum, Integers, Items, Key, KeyError, Keyed, KeyedSlot,
    LimitError, Mean, MissingStatistic, Moments, Options, Placement, Powers, ProductSum,
    RemoveError, RemoveKeyedError, Rolling, RollingError, RollingIndex, Slot, SparseKey, Statistic,
    Sum, UnknownStatistic, WeightedMean, by_key, mean, norm, sql, standard_deviation, sum,
    variance,
};
pub use keyed::{HashedPlan, KeyedPlan, KeyedState};
pub use plan::Plan;
#[doc(hidden)]
pub use quantity::Quantity;
pub use simd_kernels::Level;
pub use slices::{dot, sum_rows};

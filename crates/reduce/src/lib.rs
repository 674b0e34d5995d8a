//! Reductions whose bits depend on the items, their order and the operator, and on nothing else:
//! not on the number of ranks, the distribution of the items, the messages' timing or the SIMD level.
//!
//! Items are numbered 0..N over all ranks, and combined as the leaves of one binary tree: neighbours pair up, a last value
//! without a neighbour moves up unchanged, and so on until one value is left (`docs/order.md` has the
//! specification). Ranks build a [`Plan`] together, once, and run it many times:
//!
//! ```
//! use reduce::{Plan, Sum, threads};
//!
//! // 1/1 + 1/2 + … + 1/1000, spread over p ranks, has the same bits for every p.
//! let harmonic = |p: usize| {
//!     let totals = threads::run(p, |world| {
//!         let share = |rank: usize| 1000 * rank / p;
//!         let local: Vec<f64> = (share(world.rank())..share(world.rank() + 1))
//!             .map(|i| 1.0 / (i + 1) as f64)
//!             .collect();
//!         let plan = Plan::builder(world)
//!             .local_items(local.len() as u64)
//!             .operator(Sum)
//!             .build::<f64>()?;
//!         Ok::<_, Box<dyn std::error::Error + Send + Sync>>(plan.allreduce(&local)?)
//!     });
//!     totals.unwrap().remove(0).unwrap().to_bits()
//! };
//! assert_eq!(harmonic(1), harmonic(7));
//! assert_eq!(harmonic(1), harmonic(64));
//! ```
//!
//! In one process, without ranks, [`sum`] and [`fold`] give the same bits:
//!
//! ```
//! let x: Vec<f64> = (1..=1000).map(|i| 1.0 / f64::from(i)).collect();
//! assert_eq!(reduce::sum(&x)?.to_bits(), 0x401D_F11F_45F4_E619);
//! # Ok::<(), reduce::FoldError>(())
//! ```
//!
//! If items are not numbered, module [`exact`] adds them without rounding errors, in any order.
//!
//! [`dot`], [`squared_norm`] and [`sum_and_absolute_sum`] add values computed from the items, and are reproducible in the same sense.
//! [`fold_rows`] and [`fields`] reduce items of several values. With feature `par`, module `par` has parallel versions of these functions,
//! which give the same bits for every number of threads.

mod algorithm;
mod engines;
pub mod environment;
mod error;
pub mod exact;
mod fold;
mod message_buffer;
mod operation;
pub mod operator;
mod plan;
mod trace;
mod world;

pub use algorithm::{Algorithm, UnknownAlgorithm};
pub use error::{BuildError, FoldError, RunError, Turn, UnknownName};
#[cfg(feature = "par")]
pub use fold::par;
pub use fold::{
    Partial, PartialError, TreeIterator, dot, fields, fold, fold_lanes, fold_rows, fold_rows_lanes,
    scan, scan_rows, squared_norm, sum, sum_and_absolute_sum, sum_lanes, sum_rows,
};
pub use message_buffer::MessageBuffer;
pub use operation::{Call, Operand, Operation};
pub use operator::{Max, Min, Operator, Product, Sum};
#[doc(hidden)]
pub use plan::Operands;
pub use plan::{
    ALGORITHM_VARIABLE, AnyPending, AnyPlan, Builder, Factors, LanesPlan, Pending, Plan,
    WaitAllError, wait_all,
};
pub use schedule::{Error as ScheduleError, Link, Network};
pub use simd_kernels::Float;
#[cfg(feature = "mpi")]
pub use world::mpi;
pub use world::{DEFAULT_LINK, OneWorldPerThread, Shrunk, World, threads};

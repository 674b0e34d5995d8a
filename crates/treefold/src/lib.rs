//! Reductions whose bits depend on the items, their order and the operator, and on nothing else:
//! not on the number of ranks, the distribution of the items, the timing of messages or the SIMD level.
//!
//! This is the one crate to depend on. It re-exports what programs need from the project's other crates, and has no code of its own.
//!
//! The sum of one slice, in one process:
//!
//! ```
//! let x: Vec<f64> = (1..=1000).map(|i| 1.0 / f64::from(i)).collect();
//! assert_eq!(treefold::sum(&x)?.to_bits(), 0x401D_F11F_45F4_E619);
//! # Ok::<(), treefold::FoldError>(())
//! ```
//!
//! The sum over several ranks, each with some of the items. The ranks build a [`Plan`] together, once, and run it many times:
//!
//! ```
//! use treefold::{Plan, Sum, threads};
//!
//! // The same 1000 items, spread over p ranks.
//! for p in [1, 7, 64] {
//!     let totals = threads::run(p, |world| {
//!         let start = |rank: usize| 1000 * rank / p;
//!         let local: Vec<f64> = (start(world.rank())..start(world.rank() + 1))
//!             .map(|i| 1.0 / (i + 1) as f64)
//!             .collect();
//!         let plan = Plan::builder(world)
//!             .local_items(local.len() as u64)
//!             .operator(Sum)
//!             .build::<f64>()
//!             .unwrap();
//!         plan.allreduce(&local).unwrap()
//!     })?;
//!     assert!(totals.iter().all(|total| total.to_bits() == 0x401D_F11F_45F4_E619));
//! }
//! # Ok::<(), threads::RunError>(())
//! ```
//!
//! Here a rank is a thread ([`threads`]), and no MPI is needed. With feature `mpi`, a rank is an MPI process (module `mpi`).
//!
//! # Features
//!
//! All features are off by default. None of them changes the bits of a result.
//!
//! | feature | what |
//! |---|---|
//! | `mpi` | module `mpi`; the MPI library is found when the program runs |
//! | `cuda` | module `cuda`: sums of items in GPU memory; CUDA's driver is found when the program runs |
//! | `par` | module `par`: folds by all threads of a rayon pool |
//! | `num-complex` | [`Sum`] and [`Product`] of `num_complex::Complex` |
//! | `tracing` | spans and events of the crate `tracing`, at level TRACE; a warning if scattered items cause much traffic |
#![forbid(unsafe_code)]

// In one process.
#[cfg(feature = "par")]
pub use reduce::par;
pub use reduce::{
    Float, FoldError, Partial, PartialError, TreeIterator, dot, fields, fold, fold_lanes,
    fold_rows, fold_rows_lanes, scan, scan_rows, squared_norm, sum, sum_and_absolute_sum,
    sum_lanes, sum_rows,
};

// Operators.
pub use reduce::{Max, Min, Operator, Product, Sum, operator};

// Over ranks.
#[doc(hidden)]
pub use reduce::Operands;
pub use reduce::{
    ALGORITHM_VARIABLE, Algorithm, AnyPending, AnyPlan, BuildError, Builder, Call, DEFAULT_LINK,
    Factors, LanesPlan, Link, MessageBuffer, Network, Operand, Operation, Pending, Plan, RunError,
    ScheduleError, Turn, UnknownAlgorithm, UnknownName, WaitAllError, environment, wait_all,
};

// Worlds, of threads or of MPI processes.
#[cfg(feature = "mpi")]
pub use reduce::mpi;
pub use reduce::{OneWorldPerThread, Shrunk, World, threads};

/// Messages between ranks: what a program needs to send its own messages through [`World::transport`], or to implement its own transport.
///
/// A transport implements [`Communicator`](transport::Communicator), keeps the operations under way in [`Requests`](transport::Requests), and passes
/// [`contract::check`](transport::contract::check). The example `own_transport` implements one.
pub mod transport {
    pub use comm::{
        CombineSlots, Communicator, Error, Hints, Interruption, NativeReductions, Request,
        RequestId, Requests, Shrunk, Tag, Traffic, collective, contract,
    };
}

// Exact sums, which need no order.
pub use reduce::exact;

/// Schedules, which [`AnyPlan::schedule`] returns: their steps, their costs, and a checker.
#[doc(inline)]
pub use ::schedule;

/// Sums of items in GPU memory.
#[cfg(feature = "cuda")]
#[doc(inline)]
pub use ::cuda;

// Distributions: which rank has which items.
pub use distribution::{
    Cost, Distribution, Error as DistributionError, Move, Ownership, Rebalance, Rebalanced, Scheme,
    Source,
};

//! The native half of the Python package `treefold`: reductions of NumPy arrays.
//!
//! Every reduction takes the same path. `arguments` parses the arguments, `statistic` determines the computation and its type, `reduce` runs it,
//! in tree order (`in_order`) or exactly (`exactly`), and returns the result. Arrays of any strides and types are read in blocks
//! (`strided`, `copy`, `convert`, `source`); contiguous arrays are reduced in place (`fold`).
//!
//! On Linux (x86-64 and AArch64), this library also exports the functions of `treefold_mpi.h`, for `treefold/mpi`. On all platforms, it
//! exports the functions of crate `treefold-polars`, for Polars.

mod arguments;
mod block;
mod call;
mod convert;
mod copy;
mod cuda;
mod element;
mod error;
mod exact_compact;
mod exact_item;
mod exact_keyed;
mod exact_moments;
mod exact_partial;
mod exact_rolling;
mod exact_slots;
mod exactly;
mod fold;
mod in_order;
mod items;
#[cfg(all(
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod mpi;
mod partial;
mod pool;
mod products;
mod reduce;
mod scans;
mod source;
mod states;
mod statistic;
mod strided;
mod tree;

use pyo3::prelude::*;
// Polars calls this crate's exported functions by name.
use treefold_polars as _;

// The module has not been tested without the GIL: a free-threaded CPython that loads it enables the GIL again.
#[pymodule(gil_used = true)]
mod _native {
    #[pymodule_export]
    use crate::cuda::{cuda_device_of, cuda_sum};
    #[pymodule_export]
    use crate::error::panic_on_purpose;
    #[pymodule_export]
    use crate::exact_compact::ExactCompact;
    #[pymodule_export]
    use crate::exact_keyed::{exact_by_key, factorize};
    #[pymodule_export]
    use crate::exact_moments::ExactAccumulator;
    #[pymodule_export]
    use crate::exact_partial::ExactPartial;
    #[pymodule_export]
    use crate::exact_rolling::ExactWindows;
    #[pymodule_export]
    use crate::exact_slots::{ExactSlots, statistic_defaults};
    #[cfg(all(
        target_os = "linux",
        any(target_arch = "x86_64", target_arch = "aarch64")
    ))]
    #[pymodule_export]
    use crate::mpi::choose_mpi;
    #[pymodule_export]
    use crate::partial::Partial;
    #[pymodule_export]
    use crate::pool::{KeptInPython, level, threads, threads_by_environment};
    #[pymodule_export]
    use crate::products::products;
    #[pymodule_export]
    use crate::reduce::reduce;
    #[pymodule_export]
    use crate::scans::scan;
}

//! Sums items in the memory of NVIDIA GPUs, with the bits of the processor's sums.
//!
//! A [`Device`] adds up [`Items`] in its memory: in tree order ([`Device::sum`], [`Device::sum_rows`]), or exactly
//! ([`Device::exact_sum`]). Over ranks, [`Device::allreduce`] and the related methods run a [`Plan`](reduce::Plan) of
//! [`Sum`](reduce::Sum) on items that are on the GPU of each rank; exact sums are merged as for items in ordinary memory.
//!
//! ```no_run
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = cuda::Device::new(0)?;
//! let items = device.copy(&[0.1, 0.2, 0.3, 0.4])?;
//! assert_eq!(device.sum(items.items())?, (0.1 + 0.2) + (0.3 + 0.4));
//! assert_eq!(device.exact_sum(items.items())?.value(), 1.0);
//! # Ok(())
//! # }
//! ```
//!
//! # Why the bits are the same
//!
//! GPUs add floats as IEEE 754 defines it, like processors, as long as the compiler neither fuses operations nor flushes subnormal numbers
//! to zero. The kernels are compiled without either. A block of threads folds a subtree of items, and the last block folds the subtrees, in
//! the order of the tree. Exact sums split items into parts that floats add without rounding errors, and add up the parts as integers, in
//! any order.

mod device;
mod driver;
mod error;
mod exact;
mod items;
mod plan;
mod runs;
mod tree;

pub use device::Device;
pub use driver::{Lookout, device_of, is_driver_seen, may_have_arrays};
pub use error::Error;
pub use items::{Buffer, Element, Items};

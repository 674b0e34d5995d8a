//! Defines the instruction sets. Each implements [`Vector`](vector::Vector) for its registers. A [`Kernel`](kernel::Kernel) is written once
//! and compiled for all sets. Only `dispatch` chooses a set.

#[cfg(target_arch = "aarch64")]
mod arm;
pub(crate) mod bits;
pub(crate) mod compiled;
pub(crate) mod dispatch;
#[cfg(any(target_arch = "aarch64", target_arch = "x86_64"))]
mod instruction_set;
pub(crate) mod kernel;
pub(crate) mod level;
pub(crate) mod operation;
pub(crate) mod scalar;
mod set;
pub(crate) mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

//! Instruction sets: registers of each as a [`Vector`](vector::Vector), and how a [`Kernel`](kernel::Kernel) that is written once is
//! compiled for all of them. Only `dispatch` chooses among them.

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

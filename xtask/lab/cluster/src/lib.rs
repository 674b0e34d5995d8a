//! A virtual cluster on one machine: nodes joined by a switch in user space that can delay frames, lose some, and cut nodes off.
//!
//! A node is a set of Linux namespaces: it has its own network, host name, `/dev/shm` and System V IPC, so an MPI library treats its
//! processes like another machine's. All nodes share one process namespace, whose first process runs the switch. When that process ends,
//! the kernel ends every process of the cluster, and the namespaces disappear with their devices and mounts. No file remains.
//!
//! ```text
//! outer        waits for signals; ends init, and with it everything
//! └─ init      process 1 of the namespace: the switch, the control socket
//!    ├─ node   one process per node: keeps the node's namespaces
//!    └─ the command, on this machine's network; programs that it starts by `enter` and `agent` run on nodes
//! ```
//!
//! All of these except the command run one program, which starts itself. A program that calls [`run`] must call [`take_part`] first.

#![forbid(unsafe_code)]

#[cfg_attr(not(target_os = "linux"), path = "elsewhere.rs")]
mod linux;
mod settings;
pub mod switch;

pub use linux::{Control, check, on_first_node, run, take_part};
pub use settings::{Error, Loss, Order, Place, Settings, parse_delay};
pub use switch::Random;

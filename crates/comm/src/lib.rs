//! Ranks that exchange bytes.
//!
//! [`Communicator`] is what a reduction needs from a transport: a rank, a size, and non-blocking sends
//! and receives of bytes. There are two transports:
//!
//! - [`threads`]: a rank is a thread of this process. This transport needs nothing but Rust. If a rank panics or leaves early, or if ranks
//!   wait for one another in a cycle, every rank gets an error. Running again with the same seed repeats the order of delivery.
//! - `mpi` (feature `mpi`): a rank is an MPI process, over any communicator that the caller passes.
//!
//! Other crates can implement more transports: [`Requests`] stores sends and receives under way, and [`contract`] tests a transport.
//!
//! This crate knows neither floating-point numbers nor trees: a message is a sequence of bytes.
//!
//! ```
//! use comm::{Communicator, Tag, threads};
//!
//! // Rank 0 sends four bytes to rank 1.
//! let tag = Tag::new(1);
//! let received = threads::run(2, |comm| {
//!     if comm.rank() == 0 {
//!         let request = comm.start_send(1, tag, vec![1, 2, 3, 4], 4)?;
//!         comm.wait(request)?;
//!         Ok(Vec::new())
//!     } else {
//!         let request = comm.start_receive(0, tag, vec![0; 4])?;
//!         comm.wait(request)
//!     }
//! })?;
//! assert_eq!(received[1], Ok::<_, comm::Error>(vec![1, 2, 3, 4]));
//! # Ok::<(), threads::RunError>(())
//! ```

pub mod collective;
mod communicator;
pub mod contract;
mod conversation;
mod error;
mod fork;
#[doc(hidden)]
pub mod hash;
#[cfg(feature = "mpi")]
pub mod mpi;
mod native;
mod request;
#[cfg(any(feature = "mpi", test))]
mod ring;
pub mod setting;
mod tag;
pub mod text;
pub mod threads;
mod traffic;

pub use communicator::{Communicator, Hints, Interruption, Shrunk};
pub use error::Error;
pub use native::{CombineSlots, NativeReductions};
pub use request::{Request, RequestId, Requests};
pub use tag::Tag;
pub use traffic::Traffic;

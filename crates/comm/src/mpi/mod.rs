//! The MPI backend: a rank is an MPI process.
//!
//! [`run`] is for programs that leave MPI to treefold; [`MpiCommunicator::duplicate`] is for programs with communicators
//! of their own. Both work on a duplicate, so that our messages never match the program's, and return errors instead of
//! aborting. Programs are built without MPI: [`library()`] finds the MPI library when they run.
//!
//! Short messages between ranks of a node go through shared memory, an MPI-3 window, and take a third to a half of the time of the
//! library's own messages. MPI sends everything else. `TREEFOLD_SHARED_MEMORY=off` leaves all messages to MPI.
//!
//! MPI does not report that a rank is gone. A wait whose peer stays silent for longer than the
//! [silence limit](crate::Communicator::silence_limit) fails with [`Error::Silent`], which names the same ranks on every rank.

mod calls;
mod channels;
mod communicator;
mod messages;
mod node;
mod session;
mod transport;
mod waiting;

pub use calls::library::{ALONE_VARIABLE, LIBRARY_VARIABLE, library, library_beneath, library_of};
pub use channels::lifetime::is_finalised;
pub use communicator::{DEFAULT_SILENCE_LIMIT, MpiCommunicator};
pub use mpi_library;
pub use node::sharing::SHARED_MEMORY_VARIABLE;
pub use session::duplicate::{Duplicate, check_running};
pub use session::job::{RunError, abort, is_launched, run};

#[cfg(doc)]
use crate::error::Error;

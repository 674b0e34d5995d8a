//! The MPI backend: a rank is an MPI process.
//!
//! [`init`] is for programs that leave MPI to treefold; [`MpiCommunicator::duplicate`] takes any
//! communicator of a program that has its own. Both work on a duplicate, so that their messages never meet the
//! program's, and return errors instead of aborting.
//!
//! Short messages between ranks of a node go through memory that the ranks share, an MPI-3 window, in a half to a third of the time that
//! the library's own take; everything else is sent by MPI. `TREEFOLD_SHARED_MEMORY=off` leaves all to MPI.
//!
//! What MPI cannot tell, a rank that is gone without a word, ends by a time-out: a wait during which its peer
//! stays silent for longer than [`MpiCommunicator::silence_limit`] is an [`Error::Silent`].

mod communicator;
mod message;
mod node;
mod raw;
mod short;
mod user_operation;
mod window;

use std::panic::{self, PanicHookInfo};

use mpi::Threading;
use mpi::topology::SimpleCommunicator;

use crate::communicator::Communicator;
use crate::error::Error;
use crate::threads::panic_message;

pub use communicator::{DEFAULT_SILENCE_LIMIT, MpiCommunicator};
pub use node::SHARED_MEMORY_VARIABLE;

/// Why [`init`] failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InitError {
    /// MPI can be initialised once in a process.
    #[error("MPI is initialised already: hand its communicator to MpiCommunicator::duplicate")]
    AlreadyInitialised,
    /// The library is built without thread support.
    #[error("this MPI library does not support MPI_THREAD_FUNNELED")]
    NoThreadSupport,
    /// A call failed.
    #[error(transparent)]
    Failed(#[from] Error),
}

/// Initialises MPI and returns a duplicate of its world communicator; MPI is finalised with it.
///
/// It also installs a panic hook that prints one line naming the rank. A panic that unwinds past the
/// communicator then ends all processes by `MPI_Abort`, instead of leaving them in `MPI_Finalize`.
///
/// # Errors
/// MPI is initialised already, does not support `MPI_THREAD_FUNNELED`, or fails.
pub fn init() -> Result<MpiCommunicator, InitError> {
    let (universe, threading) =
        mpi::initialize_with_threading(Threading::Funneled).ok_or(InitError::AlreadyInitialised)?;
    if threading < Threading::Funneled {
        return Err(InitError::NoThreadSupport);
    }
    let mut world = MpiCommunicator::duplicate(&SimpleCommunicator::world())?;
    world.finalise_with(universe);
    let rank = world.rank();
    panic::set_hook(Box::new(move |panic| print_panic(rank, panic)));
    Ok(world)
}

fn print_panic(rank: usize, panic: &PanicHookInfo<'_>) {
    let message = panic_message(panic.payload());
    match panic.location() {
        Some(location) => eprintln!("rank {rank} panicked at {location}: {message}"),
        None => eprintln!("rank {rank} panicked: {message}"),
    }
}

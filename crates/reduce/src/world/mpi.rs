//! Worlds of MPI processes; see [`comm::mpi`].

use ::mpi::ffi::MPI_Comm;
use ::mpi::raw::AsRaw;
use comm::mpi::MpiCommunicator;

use super::World;

pub use comm::mpi::Duplicate;
#[cfg(feature = "pmpi")]
pub use comm::mpi::is_finalised;
pub use comm::mpi::{
    ALONE_VARIABLE, DEFAULT_SILENCE_LIMIT, RunError, SHARED_MEMORY_VARIABLE, abort,
};

/// Initialises MPI, runs `body` with the world of all processes, waits for the other ranks and finalises MPI.
///
/// A panic of `body` ends all processes by `MPI_Abort`, after one line that names the rank.
///
/// # Errors
/// MPI is initialised already, does not support `MPI_THREAD_FUNNELED`, was started by another library's launcher, or fails; a setting has
/// a value that it cannot have; or the other ranks do not end.
pub fn run<R>(body: impl FnOnce(&World) -> R) -> Result<R, RunError> {
    comm::mpi::run(|end| body(&World::new(end)))
}

/// The world of a communicator of the program's own, on a duplicate of it. Collective.
///
/// # Errors
/// An MPI call failed, or an environment variable has a value that it cannot have.
pub fn duplicate(comm: &impl AsRaw<Raw = MPI_Comm>) -> Result<World, comm::Error> {
    MpiCommunicator::duplicate(comm).map(World::new)
}

/// [`duplicate`], with a name of the duplicate by which it can be freed before `MPI_Finalize`. Collective.
///
/// # Errors
/// As [`duplicate`].
pub fn duplicate_to_free(
    comm: &impl AsRaw<Raw = MPI_Comm>,
) -> Result<(World, Duplicate), comm::Error> {
    let end = MpiCommunicator::duplicate(comm)?;
    let duplicate = end.library_communicator();
    Ok((World::new(end), duplicate))
}

/// The world of a communicator of the program's, for a library beneath the program: see
/// [`duplicate_beneath`](MpiCommunicator::duplicate_beneath). Collective.
///
/// # Errors
/// As [`duplicate`].
#[cfg(feature = "pmpi")]
pub fn duplicate_beneath(
    comm: &impl AsRaw<Raw = MPI_Comm>,
    wants_memory: bool,
) -> Result<(World, Duplicate), comm::Error> {
    let (end, duplicate) = MpiCommunicator::duplicate_beneath(comm, wants_memory)?;
    Ok((World::new(end), duplicate))
}

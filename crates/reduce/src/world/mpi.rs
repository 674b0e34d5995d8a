//! Worlds of MPI processes; see [`comm::mpi`].

use super::World;

pub use comm::mpi::mpi_library::{Choice, Comm, Family, Library};
pub use comm::mpi::{
    ALONE_VARIABLE, DEFAULT_SILENCE_LIMIT, Duplicate, LIBRARY_VARIABLE, MpiCommunicator, RunError,
    SHARED_MEMORY_VARIABLE, abort, check_running, is_finalised, is_launched, library,
    library_beneath, library_of, mpi_library,
};

/// Initialises MPI, runs `body` with the world of all processes, waits for the other ranks and finalises MPI.
///
/// A panic of `body` ends all processes by `MPI_Abort`, after one line that names the rank.
///
/// # Errors
/// There is no MPI library; MPI is already initialised, does not support `MPI_THREAD_FUNNELED`, was started by another library's launcher, or
/// fails; an environment variable has an invalid value; or the other ranks do not end.
pub fn run<R>(body: impl FnOnce(&World) -> R) -> Result<R, RunError> {
    comm::mpi::run(|end| body(&World::new(end)))
}

/// The world of all processes, for a program that has initialised MPI itself. Collective. For another communicator, give an
/// [`MpiCommunicator::duplicate`] of it to [`World::new`].
///
/// # Errors
/// Those of [`MpiCommunicator::world`].
pub fn world() -> Result<World, comm::Error> {
    MpiCommunicator::world().map(World::new)
}

/// The handle of a world's communicator, for calls that do not change it: see [`MpiCommunicator::handle`]. `None` for ranks that are not processes.
pub fn handle(world: &World) -> Option<Comm> {
    world.transport().mpi_handle()
}

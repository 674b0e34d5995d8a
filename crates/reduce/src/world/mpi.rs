//! Worlds of MPI processes; see [`comm::mpi`].

#![expect(
    unsafe_code,
    reason = "MPI is a C library, whose communicators the compiler cannot check"
)]

use comm::mpi::MpiCommunicator;
use comm::mpi::mpi_library::Comm;

use super::World;

pub use comm::mpi::{
    ALONE_VARIABLE, DEFAULT_SILENCE_LIMIT, Duplicate, LIBRARY_VARIABLE, RunError,
    SHARED_MEMORY_VARIABLE, abort, check_running, is_finalised, is_launched, library,
    library_beneath, library_of, mpi_library,
};

/// Initialises MPI, runs `body` with the world of all processes, waits for the other ranks and finalises MPI.
///
/// A panic of `body` ends all processes by `MPI_Abort`, after one line that names the rank.
///
/// # Errors
/// There is no MPI library; MPI is initialised already, does not support `MPI_THREAD_FUNNELED`, was started by another library's launcher, or
/// fails; a setting has a value that it cannot have; or the other ranks do not end.
pub fn run<R>(body: impl FnOnce(&World) -> R) -> Result<R, RunError> {
    comm::mpi::run(|end| body(&World::new(end)))
}

/// The world of all processes, for a program that has initialised MPI itself. Collective.
///
/// # Errors
/// As [`duplicate`].
pub fn world() -> Result<World, comm::Error> {
    MpiCommunicator::world().map(World::new)
}

/// The handle of a world's communicator, for calls that leave it as it is: see [`MpiCommunicator::handle`]. `None` if its ranks are not MPI's.
pub fn handle(world: &World) -> Option<Comm> {
    world.transport().as_mpi().map(MpiCommunicator::handle)
}

/// The world of a communicator of the program's own, on a duplicate of it. Collective.
///
/// # Errors
/// There is no MPI library, MPI is not initialised or is finalised, a call of it failed, or an environment variable has a value that it cannot
/// have.
///
/// # Safety
/// As [`MpiCommunicator::duplicate`].
pub unsafe fn duplicate(comm: Comm) -> Result<World, comm::Error> {
    // SAFETY: the caller's promise.
    unsafe { MpiCommunicator::duplicate(comm) }.map(World::new)
}

/// [`duplicate`], with a name of the duplicate by which it can be freed before `MPI_Finalize`. Messages go through memory that the ranks of a
/// node share if all ranks want that. Collective.
///
/// # Errors
/// As [`duplicate`].
///
/// # Safety
/// As [`duplicate`].
pub unsafe fn duplicate_to_free(
    comm: Comm,
    wants_memory: bool,
) -> Result<(World, Duplicate), comm::Error> {
    // SAFETY: the caller's promise.
    let end = unsafe { MpiCommunicator::duplicate_where(comm, wants_memory) }?;
    let duplicate = end.library_communicator();
    Ok((World::new(end), duplicate))
}

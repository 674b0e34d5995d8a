//! The MPI library that `treefold.mpi` calls, which is the one that mpi4py has loaded.
//!
//! What Python calls are the functions of `treefold_mpi.h`: this library exports them.

use std::ffi::c_void;
use std::ptr;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use treefold::mpi::mpi_library::{Family, Handle};
// Its functions have no other names here than C's.
use treefold_c_mpi as _;

/// Decides which library is called: that of a function of mpi4py's, which is given by its address. Returns the library's family, as
/// `treefold_mpi.h` names it.
///
/// # Errors
/// It is no library that can be called; or mpi4py's communicator of all ranks is not that library's.
#[pyfunction]
pub(crate) fn choose_mpi(
    function: usize,
    comm_world: usize,
    comm_bytes: usize,
) -> PyResult<&'static str> {
    let function = ptr::without_provenance::<c_void>(function);
    let library = treefold::mpi::library_of(function);
    let library = library.map_err(|error| PyImportError::new_err(error.to_string()))?;
    let family = library.family();
    let own_world = library.handles.MPI_COMM_WORLD.word();
    if (comm_world, comm_bytes) != (own_world, family.handle_bytes()) {
        let message = format!(
            "mpi4py was compiled for another MPI library than it has loaded: its MPI_COMM_WORLD is {comm_world:#x} in {comm_bytes} bytes, and that of {} is {own_world:#x} in {}",
            library.choice(),
            family.handle_bytes()
        );
        return Err(PyImportError::new_err(message));
    }
    Ok(match family {
        Family::OpenMpi => "openmpi",
        Family::Mpich => "mpich",
        Family::Abi => "abi",
    })
}

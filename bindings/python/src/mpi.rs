//! Chooses the MPI library that `treefold.mpi` calls: the one that mpi4py has loaded.
//!
//! Python calls the functions of `treefold_mpi.h`, which this library exports.

use std::ffi::c_void;
use std::ptr;

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use treefold::mpi::mpi_library::{Family, Handle};
// Python calls this crate's exported C functions by name.
use treefold_c_mpi as _;

/// Chooses the MPI library that contains `function`, the address of a function that mpi4py calls. Returns
/// the library's family, as `treefold_mpi.h` names it.
///
/// # Errors
/// The library cannot be called, or mpi4py's MPI_COMM_WORLD belongs to another library.
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
            "mpi4py was compiled for another MPI library than it has loaded: its MPI_COMM_WORLD is {comm_world:#x} in {comm_bytes} bytes, but {} has {own_world:#x} in {} bytes",
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

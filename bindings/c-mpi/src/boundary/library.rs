//! The MPI library of this process, and communicators as programs pass them.

use std::ffi::{CString, c_int, c_void};
use std::sync::OnceLock;

use treefold::World;
use treefold::mpi::MpiCommunicator;
use treefold::mpi::mpi_library::{self, Family, Library, MPI_SUCCESS};
use treefold_c::failure::{Code, Failure};
use treefold_c::raw::place;

use crate::builder::Comm;
use crate::failure::of_transport;

/// A function of the program's MPI library; its address identifies the library.
pub(super) type AnyFunction = Option<unsafe extern "C" fn()>;

/// The MPI library that contains `function` or, if `function` is `None`, the library that treefold finds. Fails unless MPI can be called.
fn running(function: AnyFunction) -> Result<&'static Library, Failure> {
    let library = match function {
        Some(function) => treefold::mpi::library_of(function as *const c_void),
        None => treefold::mpi::library(),
    };
    let library = library.map_err(|error| of_transport(&error))?;
    treefold::mpi::check_running().map_err(|error| of_transport(&error))?;
    Ok(library)
}

fn of_library(error: &mpi_library::Error) -> Failure {
    Failure::new(Code::Mpi, error.to_string())
}

/// The MPI family of a header, from TREEFOLD_MPI_FAMILY.
fn family_of(name: &str) -> Option<Family> {
    match name {
        "openmpi" => Some(Family::OpenMpi),
        "mpich" => Some(Family::Mpich),
        "abi" => Some(Family::Abi),
        _ => None,
    }
}

/// The description of the library as a static C string.
pub(super) fn description() -> Result<&'static CString, Failure> {
    static DESCRIPTION: OnceLock<CString> = OnceLock::new();
    let library = treefold::mpi::library().map_err(|error| of_transport(&error))?;
    let describe = || CString::new(library.choice().to_string()).unwrap_or_default();
    Ok(DESCRIPTION.get_or_init(describe))
}

/// Duplicates the program's communicator, given by its address.
///
/// # Safety
/// `comm` is NULL, or points to a communicator of `comm_bytes` bytes that belongs to the MPI library with which the program was compiled.
/// `function` is the program's `MPI_Comm_size`, or NULL.
pub(super) unsafe fn duplicate(
    comm: *const c_void,
    comm_bytes: usize,
    family: &str,
    function: AnyFunction,
) -> Result<Comm, Failure> {
    place("comm", comm)?;
    let library = running(function)?;
    let is_of_header = family_of(family) == Some(library.family());
    if !is_of_header || comm_bytes != library.family().handle_bytes() {
        let (bytes, choice) = (library.family().handle_bytes(), library.choice());
        let message = format!(
            "this program was compiled with an mpi.h of family `{family}`, whose communicators have {comm_bytes} bytes, but it calls {choice}; communicators of {} have {bytes} bytes",
            library.family()
        );
        return Err(Failure::new(Code::Mpi, message));
    }
    match comm_bytes {
        4 => place("comm", comm.cast::<u32>()),
        _ => place("comm", comm.cast::<usize>()),
    }?;
    // SAFETY: `comm` is aligned, not NULL, and of the library's family, as was just checked; the caller promises a communicator.
    let comm = unsafe { library.family().read(comm, 0) };
    // SAFETY: the caller promises that the handle is a communicator.
    unsafe { duplicate_handle(library, comm) }
}

/// Duplicates a Fortran communicator; `world` is MPI_COMM_WORLD in Fortran.
///
/// # Safety
/// If `world` is MPI_COMM_WORLD in Fortran with this process' library, `comm` is a communicator.
pub(super) unsafe fn duplicate_fortran(comm: i32, world: i32) -> Result<Comm, Failure> {
    let library = running(None)?;
    // SAFETY: MPI_COMM_WORLD is a communicator as long as MPI can be called, as was just checked.
    let own_world = unsafe { library.comm_to_fortran(library.handles.MPI_COMM_WORLD) };
    if own_world != Some(world) {
        let own_world = own_world.map_or_else(|| "nothing".to_owned(), |own| own.to_string());
        let message = format!(
            "`world` is {world}, but MPI_COMM_WORLD is {own_world} in Fortran with {}",
            library.choice()
        );
        return Err(Failure::new(Code::Mpi, message));
    }
    // SAFETY: `comm` is a communicator in Fortran, as the caller promises.
    let comm = unsafe { library.comm_from_fortran(comm) };
    let comm = comm.unwrap_or(library.handles.MPI_COMM_NULL);
    // SAFETY: the caller promises that the handle is a communicator.
    unsafe { duplicate_handle(library, comm) }
}

/// Duplicates MPI_COMM_WORLD.
pub(super) fn duplicate_world() -> Result<Comm, Failure> {
    let library = running(None)?;
    // SAFETY: MPI_COMM_WORLD is a communicator as long as MPI can be called, as was just checked.
    unsafe { duplicate_handle(library, library.handles.MPI_COMM_WORLD) }
}

/// Duplicates a communicator that the program passes as a number. The number is the handle itself, which is an integer or an address.
///
/// # Safety
/// The number is the handle of one of the program's communicators.
pub(super) unsafe fn duplicate_number(number: usize) -> Result<Comm, Failure> {
    let library = running(None)?;
    let comm = library.family().checked(number);
    let comm = comm.map_err(|error| of_library(&error))?;
    // SAFETY: the caller promises that the number is the handle of a communicator.
    unsafe { duplicate_handle(library, comm) }
}

/// This rank in MPI_COMM_WORLD, if MPI can be called.
pub(super) fn world_rank() -> Option<usize> {
    let library = running(None).ok()?;
    let mut rank: c_int = 0;
    // SAFETY: MPI_COMM_WORLD is a communicator as long as MPI can be called, as was just checked; `rank` is a live int.
    let code = unsafe { library.MPI_Comm_rank(library.handles.MPI_COMM_WORLD, &raw mut rank) };
    let rank = usize::try_from(rank).ok();
    rank.filter(|_| code == MPI_SUCCESS)
}

/// # Safety
/// MPI can be called, and the handle is a communicator, or MPI_COMM_NULL.
unsafe fn duplicate_handle(library: &Library, comm: mpi_library::Comm) -> Result<Comm, Failure> {
    if comm == library.handles.MPI_COMM_NULL {
        return Err(Failure::argument("comm", "it is MPI_COMM_NULL"));
    }
    let mut is_inter: c_int = 0;
    // SAFETY: the handle is a communicator, as the caller promises; `is_inter` is a live int.
    let code = unsafe { library.MPI_Comm_test_inter(comm, &raw mut is_inter) };
    if code != MPI_SUCCESS {
        return Err(Failure::argument("comm", "it is not a communicator"));
    }
    if is_inter != 0 {
        let message = "`comm` is an intercommunicator, which treefold does not support";
        return Err(Failure::new(Code::Unsupported, message));
    }
    // SAFETY: the caller promises that the handle is a communicator. It has one group, as was just checked.
    let end = unsafe { MpiCommunicator::duplicate(comm) };
    let end = end.map_err(|error| of_transport(&error))?;
    Ok(Comm {
        duplicate: end.library_communicator(),
        world: World::new(end),
    })
}

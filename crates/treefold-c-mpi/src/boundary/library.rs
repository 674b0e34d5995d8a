//! The MPI library in this process, and communicators as programs pass them.

use std::ffi::{CStr, c_char, c_int, c_void};

use mpi::ffi;
use mpi::raw::AsRaw;
use treefold_c::boundary::place;
use treefold_c::failure::{Code, Failure};

use crate::builder::Comm;
use crate::failure::of_transport;

/// The family of the library that this was built for. MPICH's and its relatives' handles are integers, Open MPI's are pointers.
const FAMILY: &str = match size_of::<ffi::MPI_Comm>() {
    4 => "mpich",
    _ => "openmpi",
};

/// A communicator of the program's.
struct Handle(ffi::MPI_Comm);

// SAFETY: the handle was passed by the program, which promises that it is a communicator of the library that this was built for.
unsafe impl AsRaw for Handle {
    type Raw = ffi::MPI_Comm;

    fn as_raw(&self) -> Self::Raw {
        self.0
    }
}

/// What the MPI library in this process says that it is.
fn library_version() -> Option<String> {
    let mut text: [c_char; ffi::MPI_MAX_LIBRARY_VERSION_STRING as usize] =
        [0; ffi::MPI_MAX_LIBRARY_VERSION_STRING as usize];
    let mut length: c_int = 0;
    // SAFETY: every MPI library has this function with these two arguments, and it may be called at any time (MPI 4.1, 9.1.1). The text
    // has room for what the library that this was built for writes; another library's limit differs, so the next line looks at the end.
    let code = unsafe { ffi::MPI_Get_library_version(text.as_mut_ptr(), &raw mut length) };
    *text.last_mut()? = 0;
    // SAFETY: the text ends with a 0, at the latest with the one that was just written.
    let text = unsafe { CStr::from_ptr(text.as_ptr()) };
    (code == ffi::MPI_SUCCESS.cast_signed()).then(|| text.to_string_lossy().into_owned())
}

/// The family of a library of this version.
fn family_of(version: &str) -> &'static str {
    match version.starts_with("Open MPI") {
        true => "openmpi",
        false => "mpich",
    }
}

/// Checks that the library in this process is of the family that this was built for, and can be called.
fn check_library() -> Result<(), Failure> {
    let version = library_version().unwrap_or_else(|| "no MPI library".to_owned());
    if family_of(&version) != FAMILY {
        let first_line = version.lines().next().unwrap_or_default();
        let message = format!(
            "libtreefold_mpi was built for {FAMILY}, but this program runs with {first_line}"
        );
        return Err(Failure::new(Code::Mpi, message));
    }
    let (mut is_initialised, mut is_finalised): (c_int, c_int) = (0, 0);
    // SAFETY: it may be called at any time, and writes one int (MPI 4.1, 11.4.1).
    unsafe { ffi::MPI_Initialized(&raw mut is_initialised) };
    // SAFETY: as above.
    unsafe { ffi::MPI_Finalized(&raw mut is_finalised) };
    match (is_initialised != 0, is_finalised != 0) {
        (true, false) => Ok(()),
        (false, _) => Err(Failure::new(Code::Mpi, "MPI is not initialised")),
        (true, true) => Err(Failure::new(Code::Mpi, "MPI is finalised")),
    }
}

/// Duplicates a communicator of the program's, given by its address.
///
/// # Safety
/// If it is not NULL, `comm` points to a communicator of the library that the program was compiled with, which has so many bytes.
pub(super) unsafe fn duplicate(
    comm: *const c_void,
    comm_bytes: usize,
    family: &str,
) -> Result<Comm, Failure> {
    place("comm", comm)?;
    if family != FAMILY || comm_bytes != size_of::<ffi::MPI_Comm>() {
        let message = format!(
            "libtreefold_mpi was built for {FAMILY}, but this program was compiled with the mpi.h of {family}"
        );
        return Err(Failure::new(Code::Mpi, message));
    }
    check_library()?;
    let comm = comm.cast::<ffi::MPI_Comm>();
    place("comm", comm)?;
    // SAFETY: not NULL, aligned, and of the size of the handles of the library that this was built for, as was just found; the caller
    // promises the rest.
    let handle = unsafe { comm.read() };
    // SAFETY: the caller promises a communicator.
    unsafe { duplicate_handle(handle) }
}

/// Duplicates a communicator of Fortran's, given with what Fortran has for all ranks.
///
/// # Safety
/// If `world` is all ranks in Fortran with the library that this was built for, `comm` is a communicator.
pub(super) unsafe fn duplicate_fortran(comm: i32, world: i32) -> Result<Comm, Failure> {
    check_library()?;
    // SAFETY: the world is a communicator as long as MPI can be called, as was just found.
    let own_world = unsafe { ffi::RSMPI_Comm_c2f(ffi::RSMPI_COMM_WORLD) };
    if world != own_world {
        let message = format!(
            "`world` is {world}, but MPI_COMM_WORLD is {own_world} in Fortran with {FAMILY}, which libtreefold_mpi was built for"
        );
        return Err(Failure::new(Code::Mpi, message));
    }
    // SAFETY: it takes any integer that is a communicator in Fortran, as the caller promises.
    let handle = unsafe { ffi::RSMPI_Comm_f2c(comm) };
    // SAFETY: the caller promises a communicator.
    unsafe { duplicate_handle(handle) }
}

/// Duplicates the world of all ranks.
pub(super) fn duplicate_world() -> Result<Comm, Failure> {
    check_library()?;
    // SAFETY: a constant of the library, initialised before main.
    let world = unsafe { ffi::RSMPI_COMM_WORLD };
    // SAFETY: it is a communicator as long as MPI can be called, as was just found.
    unsafe { duplicate_handle(world) }
}

/// Duplicates a communicator that the program passes as a number: the handle itself, be it a number or an address.
///
/// # Safety
/// It is a communicator of the program's.
pub(super) unsafe fn duplicate_number(number: usize) -> Result<Comm, Failure> {
    // A cast of an int extends its sign.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the program has extended it"
    )]
    let narrow = number as u32;
    let handle: *const c_void = match size_of::<ffi::MPI_Comm>() {
        4 => (&raw const narrow).cast(),
        _ => (&raw const number).cast(),
    };
    // SAFETY: the caller promises a communicator, and the number is its handle.
    unsafe { duplicate(handle, size_of::<ffi::MPI_Comm>(), FAMILY) }
}

/// This rank in the world of all ranks, if MPI can be called.
pub(super) fn world_rank() -> Option<usize> {
    check_library().ok()?;
    let mut rank: c_int = 0;
    // SAFETY: the world is a communicator as long as MPI can be called, as was just found; `rank` is a live int.
    let code = unsafe { ffi::MPI_Comm_rank(ffi::RSMPI_COMM_WORLD, &raw mut rank) };
    let rank = usize::try_from(rank).ok();
    rank.filter(|_| code == ffi::MPI_SUCCESS.cast_signed())
}

/// # Safety
/// The handle is a communicator, or MPI_COMM_NULL.
unsafe fn duplicate_handle(handle: ffi::MPI_Comm) -> Result<Comm, Failure> {
    // SAFETY: a constant of the library, initialised before main.
    if handle == unsafe { ffi::RSMPI_COMM_NULL } {
        return Err(Failure::argument("comm", "it is MPI_COMM_NULL"));
    }
    let mut is_inter: c_int = 0;
    // SAFETY: the handle is a communicator, as the caller promises; `is_inter` is a live int.
    let code = unsafe { ffi::MPI_Comm_test_inter(handle, &raw mut is_inter) };
    if code != ffi::MPI_SUCCESS.cast_signed() {
        return Err(Failure::argument("comm", "it is no communicator"));
    }
    if is_inter != 0 {
        let message = "`comm` is an intercommunicator: its ranks are in two groups";
        return Err(Failure::new(Code::Unsupported, message));
    }
    let (world, duplicate) =
        treefold::mpi::duplicate_to_free(&Handle(handle)).map_err(|error| of_transport(&error))?;
    Ok(Comm { world, duplicate })
}

#[cfg(test)]
mod tests {
    use super::family_of;

    #[test]
    fn libraries_tell_their_family() {
        assert_eq!(
            family_of("Open MPI v4.1.4, package: Debian OpenMPI"),
            "openmpi"
        );
        assert_eq!(family_of("MPICH Version:      4.0.2"), "mpich");
        assert_eq!(
            family_of("Intel(R) MPI Library 2021.16 for Linux* OS"),
            "mpich"
        );
    }
}

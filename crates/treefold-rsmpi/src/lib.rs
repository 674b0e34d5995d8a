#![doc = include_str!("../README.md")]
#![expect(unsafe_code, reason = "MPI is a C library")]

use std::ffi::c_void;
use std::mem::MaybeUninit;

use mpi::ffi;
use mpi::raw::{AsRaw, FromRaw};
use mpi::topology::SimpleCommunicator;
use treefold::World;
use treefold::mpi::mpi_library::{Comm, Library, MPI_SUCCESS};
use treefold::mpi::{Duplicate, MpiCommunicator};
use treefold::transport::Error;

/// Makes a world of the ranks of a program's communicator, on a duplicate of the communicator. Collective.
///
/// # Errors
/// Those of [`MpiCommunicator::duplicate`]; or this process calls a different MPI library from the one that crate `mpi` is built for.
pub fn world(comm: &impl AsRaw<Raw = ffi::MPI_Comm>) -> Result<World, Error> {
    world_to_free(comm).map(|(world, _)| world)
}

/// Does what [`world`] does, and also returns the duplicate, which the program may free before `MPI_Finalize`. Collective.
///
/// # Errors
/// Those of [`world`].
pub fn world_to_free(comm: &impl AsRaw<Raw = ffi::MPI_Comm>) -> Result<(World, Duplicate), Error> {
    let size: unsafe extern "C" fn(ffi::MPI_Comm, *mut i32) -> i32 = ffi::MPI_Comm_size;
    let library = treefold::mpi::library_of(size as *const c_void)?;
    check_width(library)?;
    let raw = comm.as_raw();
    // SAFETY: the handle is as wide as the family's handles, and is such a handle, because rsmpi is linked to this library.
    let comm = unsafe { library.family().read::<Comm>((&raw const raw).cast(), 0) };
    // SAFETY: `AsRaw` is an unsafe trait, so `comm` is a live handle of the library that rsmpi is linked to, which is `library`.
    let end = unsafe { MpiCommunicator::duplicate(comm) }?;
    let duplicate = end.library_communicator();
    Ok((World::new(end), duplicate))
}

/// Makes a communicator of a world's ranks, for the program's own messages. `None` if the ranks are not MPI processes. Collective.
///
/// # Errors
/// An MPI call failed.
pub fn communicator(world: &World) -> Result<Option<SimpleCommunicator>, Error> {
    let Some(handle) = treefold::mpi::handle(world) else {
        return Ok(None);
    };
    let library = treefold::mpi::library()?;
    let mut duplicate = Comm::UNSET;
    // SAFETY: the world's communicator is live; `duplicate` is room for one handle.
    let code = unsafe { library.MPI_Comm_dup(handle, &raw mut duplicate) };
    if code != MPI_SUCCESS {
        return Err(Error::Mpi {
            rank: world.rank(),
            call: "MPI_Comm_dup",
            code,
            text: "the world's communicator could not be duplicated".to_owned(),
        });
    }
    check_width(library)?;
    let mut raw = MaybeUninit::<ffi::MPI_Comm>::uninit();
    // SAFETY: `raw` has room for a handle of the family's width.
    unsafe {
        library
            .family()
            .write(raw.as_mut_ptr().cast(), 0, duplicate)
    };
    // SAFETY: `raw` was just written.
    let raw = unsafe { raw.assume_init() };
    // SAFETY: `raw` is a new communicator of the program's library, and nobody else frees it.
    Ok(Some(unsafe { SimpleCommunicator::from_raw(raw) }))
}

/// Checks that rsmpi's handles are as wide as the library's handles.
fn check_width(library: &Library) -> Result<(), Error> {
    let (own_bytes, bytes) = (size_of::<ffi::MPI_Comm>(), library.family().handle_bytes());
    if own_bytes == bytes {
        Ok(())
    } else {
        Err(Error::NoLibrary {
            reason: format!(
                "crate `mpi` is built for handles of {own_bytes} bytes, but this process calls {}, whose handles have {bytes} bytes",
                library.choice()
            ),
        })
    }
}

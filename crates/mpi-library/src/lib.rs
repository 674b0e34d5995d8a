//! MPI's functions by `dlsym`: one binary, compiled without `mpi.h` and linked to no MPI library, for the libraries of each [`Family`].
//!
//! [`Library::choose`] finds the library (see [`Options`] for the order) and its [`Family`], and fills a table, which lives as long as the
//! process. A call costs one indirect call, as in a program that is linked to the library and calls through the procedure linkage table.
//! All names are those of MPI:
//!
//! ```no_run
//! use mpi_library::{Library, Options};
//!
//! let mpi = Library::choose(&Options::default())?;
//! println!("{}", mpi.choice());
//! let (mut rank, world) = (0, mpi.handles.MPI_COMM_WORLD);
//! let mut provided = mpi.constants.MPI_THREAD_SINGLE;
//! let none = std::ptr::null_mut();
//! // SAFETY: MPI was not initialised before, and accepts NULL for the arguments (MPI 4.1, 11.2.1); `provided` is a live int.
//! unsafe { mpi.MPI_Init_thread(none, none.cast(), provided, &raw mut provided) };
//! // SAFETY: MPI is initialised; `rank` is a live int.
//! unsafe { mpi.MPI_Comm_rank(world, &raw mut rank) };
//! // SAFETY: nothing is under way.
//! unsafe { mpi.MPI_Finalize() };
//! # Ok::<(), mpi_library::Error>(())
//! ```
//!
//! # Why this works
//! To programs, MPI libraries differ only in handles, statuses and constants.
//!
//! - A **handle** is an `int` in the MPICH family and a pointer elsewhere. Here every handle is one [word](Handle). In a register, or in
//!   its own stack slot, a word can be passed as either, since a function that takes an `int` reads only the lower half of the word (System
//!   V ABI for x86-64, 3.2.3; AAPCS64, 6.8.2, stage C). An output is zeroed first; the MPICH family writes its lower half, since supported
//!   processors are little-endian. The upper half of an `int` that comes *from* C is undefined. So a handle that MPI passes to a callback,
//!   or a program to a replacement of an MPI function, is a [`Passed`], from which [`Family::take`] makes a [`Handle`].
//! - A [`Status`] has 64 bytes, more than an `MPI_Status` of any family, and is read by offset.
//! - **Constants** are tables by family ([`Constants`], [`Handles`]). The tests compare each constant with every `mpi.h` that they find.
//!
//! Functions are called as `C-unwind`, because the program's error handlers and callbacks may throw.

#[cfg(not(any(
    all(target_arch = "x86_64", target_pointer_width = "64", unix),
    all(
        target_arch = "aarch64",
        target_endian = "little",
        target_pointer_width = "64",
        target_os = "linux"
    ),
)))]
compile_error!(
    "mpi-library passes a word where MPI libraries take an int or a pointer, which only the calling conventions of System V x86-64 and of Linux on little-endian AArch64 are known to allow"
);

mod checked;
mod choice;
mod constants;
mod error;
mod family;
mod functions;
mod handle;
mod launcher;
mod library;
mod object;
mod predefined;
mod search;
mod status;
mod text;

pub use choice::{Choice, Names, Options, Reason};
pub use constants::{
    Constants, MAX_ERROR_STRING, MAX_LIBRARY_VERSION_STRING, MAX_OBJECT_NAME, MAX_PORT_NAME,
    MAX_PROCESSOR_NAME, MPI_SUCCESS,
};
pub use error::Error;
pub use family::Family;
pub use functions::{CopyAttribute, DeleteAttribute, Signature, UserFunction, copy_no_attribute};
pub use handle::{
    Comm, Datatype, Errhandler, Group, Handle, Info, Message, Op, Passed, Request, Win,
};
pub use launcher::Launcher;
pub use library::Library;
pub use predefined::Handles;
pub use status::Status;

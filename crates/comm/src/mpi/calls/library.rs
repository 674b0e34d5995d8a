//! The MPI library that this process calls: one for all communicators, chosen when the first communicator is made.

use std::ffi::c_void;
use std::sync::OnceLock;

use mpi_library::{Library, Names, Options};

use crate::error::Error;
use crate::setting;

/// The environment variable that names the file of an MPI library, for a process that has loaded none.
pub const LIBRARY_VARIABLE: &str = "TREEFOLD_MPI_LIBRARY";

/// The environment variable that says whether this process is meant to run alone, although a launcher has prepared the environment
/// for another program, for example in a shell within a Slurm job. If the variable is `on`, the launcher does not influence which library
/// is opened. `off` is the default.
pub const ALONE_VARIABLE: &str = "TREEFOLD_ALONE";

static CHOSEN: OnceLock<&'static Library> = OnceLock::new();

/// The MPI library that this process calls: the library that the process has loaded; else the library that [`LIBRARY_VARIABLE`] names; else
/// the launcher's; else the library that the dynamic linker finds. [`Library::choice`] says how the library was chosen. The first call
/// decides for all later calls. MPI need not be initialised.
///
/// # Errors
/// There is [no library that can be used](mpi_library::Error), or [`ALONE_VARIABLE`] has an invalid value.
pub fn library() -> Result<&'static Library, Error> {
    choose(std::ptr::null())
}

/// Like [`library`], for a program with communicators of its own: chooses the library that contains the program's `MPI_Comm_size`.
/// `function` is the address of that function.
///
/// # Errors
/// Those of [`library`], and another if this process already calls another library.
pub fn library_of(function: *const c_void) -> Result<&'static Library, Error> {
    let library = choose(function)?;
    library.check_function(function).map_err(no_library)?;
    Ok(library)
}

/// Like [`library`], for a tool that replaces MPI functions of a program: MPI is called by its `PMPI_` names, and no library is opened.
/// Duplicating a communicator then calls none of the program's functions that copy attributes, and does not change the error handler of
/// `MPI_COMM_WORLD`.
///
/// # Errors
/// Those of [`library`].
pub fn library_beneath() -> Result<&'static Library, Error> {
    choose_by(&Options {
        opens: false,
        heeds_launcher: false,
        names: Names::Pmpi,
        ..Options::default()
    })
}

fn choose(function: *const c_void) -> Result<&'static Library, Error> {
    if let Some(chosen) = CHOSEN.get() {
        return Ok(chosen);
    }
    choose_by(&Options {
        function,
        variable: Some(LIBRARY_VARIABLE),
        heeds_launcher: !is_meant_to_be_alone()?,
        ..Options::default()
    })
}

fn choose_by(options: &Options<'_>) -> Result<&'static Library, Error> {
    match CHOSEN.get() {
        Some(chosen) => Ok(chosen),
        None => {
            let chosen = Library::choose(options).map_err(no_library)?;
            // Another thread may have been first.
            Ok(CHOSEN.get_or_init(|| chosen))
        }
    }
}

fn no_library(error: mpi_library::Error) -> Error {
    Error::NoLibrary {
        reason: error.to_string(),
    }
}

/// The MPI library, which was chosen before any communicator was made.
#[inline]
pub(crate) fn mpi() -> &'static Library {
    CHOSEN.get().expect("a communicator's library is chosen")
}

/// The MPI library, if one was chosen.
pub(crate) fn chosen() -> Option<&'static Library> {
    CHOSEN.get().copied()
}

/// Whether [`library_beneath`] has chosen the MPI library, for a tool that replaces MPI functions of a program.
#[inline]
pub(crate) fn is_beneath() -> bool {
    mpi().names() == Names::Pmpi
}

/// Whether [`ALONE_VARIABLE`] is on.
pub(crate) fn is_meant_to_be_alone() -> Result<bool, Error> {
    let Some(value) = setting::value(ALONE_VARIABLE) else {
        return Ok(false);
    };
    setting::switch(&value).ok_or_else(|| Error::BadSetting {
        rank: 0,
        variable: ALONE_VARIABLE,
        value: value.to_string_lossy().into_owned(),
        expected: setting::SWITCH_VALUES,
    })
}

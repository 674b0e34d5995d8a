//! The crate's error type: why no MPI library can be used.

use std::path::PathBuf;

use crate::choice::Choice;
use crate::family::Family;
use crate::launcher::Launcher;

/// Why no library can be used, or why a function or handle does not belong to the library. Each text is one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A library that an environment variable names cannot be opened.
    #[error("{variable} is {path:?}, which cannot be opened: {words}")]
    CannotOpen {
        /// The variable.
        variable: String,
        /// The variable's value.
        path: PathBuf,
        /// The dynamic linker's message.
        words: String,
    },
    /// The file that an environment variable names is not an MPI library.
    #[error("{variable} is {path:?}, which is not an MPI library: it has no PMPI_Init")]
    NotMpi {
        /// The variable.
        variable: String,
        /// The variable's value.
        path: PathBuf,
    },
    /// The address that the caller passed is in no MPI library.
    #[error("the function that the program passed belongs to no MPI library")]
    NotMpiAddress,
    /// The library's handles have an unknown layout.
    #[error(
        "{path:?} is an MPI library, but its handles are not those of Open MPI, the MPICH family or the standard ABI; its version is `{version}`"
    )]
    UnknownFamily {
        /// The library.
        path: PathBuf,
        /// The first line of the library's version.
        version: String,
    },
    /// The library that would be opened does not know the ranks that the launcher has started.
    #[error(
        "{path:?} belongs to {family}, but the launcher that has started this process belongs to {}, as {} says: every rank would think that it is the only one",
        launcher.family,
        launcher.variable
    )]
    OtherLauncher {
        /// The library.
        path: PathBuf,
        /// The library's family.
        family: Family,
        /// The launcher.
        launcher: Launcher,
    },
    /// The process has loaded no library, and [`Options::opens`](crate::Options::opens) is false.
    #[error("this process has loaded no MPI library")]
    NoneLoaded,
    /// The process has loaded no library, and the dynamic linker can open none.
    #[error("this process has loaded no MPI library, and none can be opened: {}", tried.join("; "))]
    NotFound {
        /// The dynamic linker's message for each name that was tried.
        tried: Vec<String>,
    },
    /// The library lacks a required function or object.
    #[error("{path:?} lacks {name}")]
    Lacks {
        /// The library.
        path: PathBuf,
        /// The function or object.
        name: &'static str,
    },
    /// A word that cannot be a handle; most likely it is a handle of another library.
    #[error("{word:#x} cannot be the handle of {noun} in {family}")]
    NotAHandle {
        /// What the handle should name, with its article.
        noun: &'static str,
        /// The word.
        word: usize,
        /// The family.
        family: Family,
    },
    /// The program's communicators belong to a different library from this one, as the address of the program's MPI function shows.
    #[error("the program's communicators belong to {other:?}, but this process calls {choice}")]
    OtherLibrary {
        /// The communicators' library.
        other: PathBuf,
        /// The library that is called.
        choice: Choice,
    },
}

//! Why there is no library, or none that can be used.

use std::path::PathBuf;

use crate::choice::Choice;
use crate::family::Family;
use crate::launcher::Launcher;

/// Why a library cannot be used, or why something does not belong to it. Each text is one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A library that an environment variable names cannot be opened.
    #[error("{variable} is {path:?}, which cannot be opened: {words}")]
    CannotOpen {
        /// The variable.
        variable: String,
        /// Its value.
        path: PathBuf,
        /// The dynamic linker's words.
        words: String,
    },
    /// The file that an environment variable names is not an MPI library.
    #[error("{variable} is {path:?}, which is not an MPI library: it has no PMPI_Init")]
    NotMpi {
        /// The variable.
        variable: String,
        /// Its value.
        path: PathBuf,
    },
    /// The address that the caller gave is in no MPI library.
    #[error("the function that the program handed over is of no MPI library")]
    NotMpiAddress,
    /// The library has another layout than those known here.
    #[error(
        "{path:?} is an MPI library, but neither of Open MPI's, of the MPICH family's, nor of the standard ABI's handles: it says that it is `{version}`"
    )]
    UnknownFamily {
        /// The library.
        path: PathBuf,
        /// The first line of its version.
        version: String,
    },
    /// The library that would be opened does not know the ranks that the launcher has started.
    #[error(
        "{path:?} is of {family}, but the launcher that has started this process is of {}, as {} says: every rank would think that it is the only one",
        launcher.family,
        launcher.variable
    )]
    OtherLauncher {
        /// The library.
        path: PathBuf,
        /// Its family.
        family: Family,
        /// The launcher.
        launcher: Launcher,
    },
    /// The process has loaded none, and none may be opened.
    #[error("this process has loaded no MPI library")]
    NoneLoaded,
    /// The process has loaded none, and none can be opened.
    #[error("this process has loaded no MPI library, and none can be opened: {}", tried.join("; "))]
    NotFound {
        /// What was tried, each with the dynamic linker's words.
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
    /// A word that cannot be a handle; most likely it is another library's.
    #[error("{word:#x} cannot be the handle of {noun} in {family}")]
    NotAHandle {
        /// What it should be a handle of.
        noun: &'static str,
        /// The word.
        word: usize,
        /// The family.
        family: Family,
    },
    /// A communicator belongs to another library than the one that is called, as the address of its function shows.
    #[error("a communicator of {other:?} was handed over, but MPI is called by {choice}")]
    OtherLibrary {
        /// The communicator's library.
        other: PathBuf,
        /// The library that is called.
        choice: Choice,
    },
}

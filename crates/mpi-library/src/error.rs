//! Why there is no library, or not this one.

use std::path::PathBuf;

use crate::choice::Choice;
use crate::family::Family;
use crate::launcher::Launcher;

/// Why there is no table of a library's functions, or why something is not of its library. Each in one line.
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
    /// What an environment variable names is something else.
    #[error("{variable} is {path:?}, which is no MPI library: it has no PMPI_Init")]
    NotMpi {
        /// The variable.
        variable: String,
        /// Its value.
        path: PathBuf,
    },
    /// What the caller has named is no function of an MPI library.
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
    /// The library that would be opened knows nothing of the ranks that the launcher has started.
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
    /// The process has none, and none is to be opened.
    #[error("this process has loaded no MPI library")]
    NoneLoaded,
    /// There is none.
    #[error("this process has loaded no MPI library, and none can be opened: {}", tried.join("; "))]
    NotFound {
        /// What was tried, each with the dynamic linker's words.
        tried: Vec<String>,
    },
    /// A required function or object.
    #[error("{path:?} lacks {name}")]
    Lacks {
        /// The library.
        path: PathBuf,
        /// The function or object.
        name: &'static str,
    },
    /// A word that cannot be a handle: most likely one of another library's.
    #[error("{word:#x} cannot be the handle of {noun} in {family}")]
    NotAHandle {
        /// What it should be a handle of.
        noun: &'static str,
        /// The word.
        word: usize,
        /// The family.
        family: Family,
    },
    /// A communicator, by a function of its library, is of another library than the table.
    #[error("a communicator of {other:?} was handed over, but MPI is called by {choice}")]
    OtherLibrary {
        /// The communicator's library.
        other: PathBuf,
        /// The table's.
        choice: Choice,
    },
}

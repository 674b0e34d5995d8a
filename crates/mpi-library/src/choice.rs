//! Which library to call, and how it is found.

use std::ffi::c_void;
use std::fmt;
use std::path::PathBuf;

use crate::family::Family;
use crate::launcher::Launcher;
use crate::text::one_line;

/// The names by which functions are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// `MPI_`, as a program calls them: tools that intercept MPI functions see the calls.
    #[default]
    Mpi,
    /// `PMPI_`, the library's own functions (MPI 4.1, 15.2): for callers that are tools themselves.
    Pmpi,
}

/// How [`Library::choose`](crate::Library::choose) finds the library: the first one in this order.
///
/// 1. the one that [`function`](Self::function) belongs to;
/// 2. the one that the process has loaded: it defines `PMPI_Init`, and may be visible only to the object that loaded it;
/// 3. the one that the environment variable [`variable`](Self::variable) names, if [`opens`](Self::opens);
/// 4. the one of the launcher that has started the process, if the launcher is [known](Launcher::of_process), and if `opens` and
///    [`heeds_launcher`](Self::heeds_launcher);
/// 5. the one that the dynamic linker finds, if `opens`.
///
/// An opened library is visible to the whole process, and is never closed.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The address that the caller uses for an MPI function, such as `MPI_Comm_size`. NULL if there is none.
    pub function: *const c_void,
    /// The environment variable whose value is the path of a library.
    pub variable: Option<&'a str>,
    /// Whether to open the launcher's library, and to reject libraries of other families than the launcher's.
    pub heeds_launcher: bool,
    /// Whether to open a library if the process has loaded none.
    pub opens: bool,
    /// The names by which functions are called.
    pub names: Names,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self {
            function: std::ptr::null(),
            variable: None,
            heeds_launcher: true,
            opens: true,
            names: Names::default(),
        }
    }
}

/// Why a library was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The function in [`Options::function`] belongs to the library.
    Caller,
    /// The process had already loaded the library.
    Loaded,
    /// This environment variable names the library.
    Variable(String),
    /// The library's launcher has started the process.
    Launcher(Launcher),
    /// The dynamic linker has found the library by this name.
    Linker(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caller => formatter.write_str("the program's communicators belong to it"),
            Self::Loaded => formatter.write_str("this process has loaded it"),
            Self::Variable(variable) => write!(formatter, "{variable} names it"),
            Self::Launcher(launcher) => write!(
                formatter,
                "a launcher of {} has started this process, as {} says",
                launcher.family, launcher.variable
            ),
            Self::Linker(name) => write!(formatter, "the dynamic linker has found it as {name}"),
        }
    }
}

/// The library that was chosen, and why. It is displayed as one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The library's file.
    pub path: PathBuf,
    /// The library's family.
    pub family: Family,
    /// The beginning of the library's version text.
    pub version: String,
    /// Why it was chosen.
    pub reason: Reason,
}

impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = one_line(&self.path.to_string_lossy());
        write!(formatter, "{path} ({}): {}", self.version, self.reason)
    }
}

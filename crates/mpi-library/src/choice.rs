//! Which library.

use std::ffi::{OsStr, c_void};
use std::fmt;
use std::path::PathBuf;

use crate::error::{Error, one_line};
use crate::family::Family;
use crate::launcher::Launcher;
use crate::object::{CannotOpen, Object};

/// By which names functions are called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Names {
    /// `MPI_`, as a program calls them: tools that stand before the library see the calls.
    #[default]
    Mpi,
    /// `PMPI_`, the library's own (MPI 4.1, 15.2): for what stands before the library itself.
    Pmpi,
}

/// How [`Library::choose`](crate::Library::choose) finds the library. In this order, the first that there is:
///
/// 1. the one that [`function`](Self::function) belongs to;
/// 2. the one that the process has loaded: that which defines `PMPI_Init`, also where it was loaded for its loader alone;
/// 3. the one that the environment variable [`variable`](Self::variable) names, if [`opens`](Self::opens);
/// 4. the one of the launcher that has started the process, if that is [known](Launcher::of_process), and if `opens` and
///    [`heeds_launcher`](Self::heeds_launcher);
/// 5. the one that the dynamic linker finds, if `opens`.
///
/// What is opened is opened for all of the process, and never closed.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The address of a function of MPI's, as the caller calls it: of its `MPI_Comm_size`, for example. NULL if there is none.
    pub function: *const c_void,
    /// The environment variable whose value is the path of a library.
    pub variable: Option<&'a str>,
    /// Whether the launcher is asked, and a library of another family than its own is an error.
    pub heeds_launcher: bool,
    /// Whether a library is opened if the process has none.
    pub opens: bool,
    /// By which names functions are called.
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
    /// A function of the caller's belongs to it.
    Caller,
    /// The process has loaded it.
    Loaded,
    /// An environment variable names it.
    Variable(String),
    /// Its launcher has started the process.
    Launcher(Launcher),
    /// The dynamic linker has found it by this name.
    Linker(&'static str),
}

impl fmt::Display for Reason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caller => formatter.write_str("the program's communicators are of it"),
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

/// The library that was chosen, and why; as text, one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Its file.
    pub path: PathBuf,
    /// Its family.
    pub family: Family,
    /// The beginning of what it says that it is.
    pub version: String,
    /// Why.
    pub reason: Reason,
}

impl fmt::Display for Choice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = one_line(&self.path.to_string_lossy());
        write!(formatter, "{path} ({}): {}", self.version, self.reason)
    }
}

/// The loader's own choice first: the library that is linked to by `-lmpi`, where that is.
const NAMES: [&str; 6] = [
    "libmpi.so",
    "libmpi.so.40",
    "libmpi.so.12",
    "libmpich.so.12",
    "libmpi_abi.so.0",
    "libmpi_abi.so.1",
];

/// Finds the library. What is opened by the launcher's word, or by none, may yet be of another family than the launcher's.
pub(crate) fn find(
    options: &Options<'_>,
    launcher: Option<Launcher>,
) -> Result<(Object, Reason), Error> {
    if !options.function.is_null() {
        let object = Object::of_address(options.function).ok_or(Error::NotMpiAddress)?;
        return Ok((object, Reason::Caller));
    }
    if let Some(object) = Object::loaded() {
        return Ok((object, Reason::Loaded));
    }
    if !options.opens {
        return Err(Error::NoneLoaded);
    }
    let value = |variable: &str| std::env::var_os(variable).filter(|path| !path.is_empty());
    if let Some(variable) = options.variable
        && let Some(path) = value(variable)
    {
        return Ok((
            open_named(variable, &path)?,
            Reason::Variable(variable.to_owned()),
        ));
    }
    let by_launcher = launcher.into_iter().flat_map(|launcher| {
        let names = launcher.names().iter();
        names.map(move |&name| (name, Reason::Launcher(launcher)))
    });
    let by_linker = NAMES.iter().map(|&name| (name, Reason::Linker(name)));
    let mut tried = Vec::new();
    for (name, reason) in by_launcher.chain(by_linker) {
        match Object::open(OsStr::new(name)) {
            Ok(object) => return Ok((object, reason)),
            Err(CannotOpen::Linker(words)) => tried.push(one_line(&words)),
            Err(CannotOpen::NotMpi) => tried.push(format!("{name}: no MPI library")),
        }
    }
    // The launcher's are among the linker's.
    let mut seen = std::collections::BTreeSet::new();
    tried.retain(|words| seen.insert(words.clone()));
    Err(Error::NotFound { tried })
}

fn open_named(variable: &str, path: &OsStr) -> Result<Object, Error> {
    Object::open(path).map_err(|error| {
        let (variable, path) = (variable.to_owned(), PathBuf::from(path));
        match error {
            CannotOpen::Linker(words) => Error::CannotOpen {
                variable,
                path,
                words: one_line(&words),
            },
            CannotOpen::NotMpi => Error::NotMpi { variable, path },
        }
    })
}

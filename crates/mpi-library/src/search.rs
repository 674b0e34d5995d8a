//! Searches for the MPI library.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsStr;
use std::path::PathBuf;

use crate::choice::{Options, Reason};
use crate::error::Error;
use crate::launcher::Launcher;
use crate::object::{CannotOpen, Object};
use crate::text::one_line;

/// The names that the dynamic linker tries, in this order. The first is the library that `-lmpi` links to, if there is one.
const NAMES: [&str; 6] = [
    "libmpi.so",
    "libmpi.so.40",
    "libmpi.so.12",
    "libmpich.so.12",
    "libmpi_abi.so.0",
    "libmpi_abi.so.1",
];

/// Finds the library. The caller checks whether the library's family differs from the launcher's.
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
    if let Some(variable) = options.variable
        && let Some(path) = env::var_os(variable).filter(|path| !path.is_empty())
    {
        let object = open_named(variable, &path)?;
        return Ok((object, Reason::Variable(variable.to_owned())));
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
            Err(CannotOpen::NotMpi) => tried.push(format!("{name} is not an MPI library")),
        }
    }
    // A name may have been tried twice: for the launcher, and for the linker.
    let mut seen = BTreeSet::new();
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

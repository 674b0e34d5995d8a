//! Compiles programs and runs their ranks with and without the interposer. Only the ranks load the interposer; their launcher does not.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use checkout::files::name;

use crate::c::consumers::TIMEOUT_SECONDS;
use crate::c::programs::C_FLAGS;
use crate::{Result, Steps, command, ranks_of};

/// The file name for LD_PRELOAD, without a path: a space in a path would end the name.
pub(super) const LIBRARY: &str = "libtreefold_pmpi.so";

/// The options of Fortran compilers. Operations must not be fused, because the programs compute the expected bits. Argument mismatches are
/// allowed, because `mpif.h` declares no types of arguments.
const FORTRAN_FLAGS: &str =
    "-O2 -ffp-contract=off -ffree-line-length-none -fallow-argument-mismatch -w";

/// Compiles one file with options, without linking treefold.
pub(crate) fn compile(
    steps: &mut Steps,
    compiler: &str,
    source: &Path,
    options: Vec<OsString>,
    program: PathBuf,
) -> Result<PathBuf> {
    let is_fortran = compiler.starts_with("mpifort");
    let flags = if is_fortran { FORTRAN_FLAGS } else { C_FLAGS };
    let compile = command!(compiler, flags, source, options, "-lm -pthread -o", program);
    let step = format!("{compiler} compiles {}", name(source));
    steps.build(step, compile)?;
    Ok(program)
}

/// How ranks are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Without the interposer.
    Without,
    /// With the interposer.
    On,
    /// With the interposer, which does nothing.
    Off,
    /// With the interposer, which computes each result twice and gives the program that of the MPI library.
    Check,
}

impl Mode {
    pub(super) const ALL: [Self; 4] = [Self::Without, Self::On, Self::Off, Self::Check];

    /// The rank counts of this mode with a library. They are few if the interposer changes no result. An inactive interposer is only tested
    /// with MPICH, because it behaves the same with any library.
    pub(super) fn ranks(self, library: &str) -> &'static [usize] {
        match (self, library) {
            (Self::On, _) => ranks_of(library),
            (Self::Off, "mpich") | (Self::Without, _) => &[2],
            (Self::Off, _) => &[],
            (Self::Check, "mpich") => &[2],
            (Self::Check, _) => &[3],
        }
    }

    /// The name of this mode in messages.
    pub(super) fn title(self) -> String {
        match self.value() {
            None => "without the interposer".to_owned(),
            Some("on") => "with the interposer".to_owned(),
            Some(value) => format!("with TREEFOLD_PMPI={value}"),
        }
    }

    /// The value of TREEFOLD_PMPI if the interposer is loaded.
    fn value(self) -> Option<&'static str> {
        match self {
            Self::Without => None,
            Self::On => Some("on"),
            Self::Off => Some("off"),
            Self::Check => Some("check"),
        }
    }
}

/// The command that starts a program's ranks. The ranks find the interposer by LD_LIBRARY_PATH. A variable says whose bits they should expect.
pub(crate) fn launch(
    steps: &Steps,
    prefix: &Path,
    mode: Mode,
    ranks: usize,
    program: impl AsRef<OsStr>,
) -> Command {
    let mut command = steps.installation.command(ranks, Path::new("env"));
    // The launchers end ranks that hang.
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

/// The command that a user types: `treefold-run` with options such as `--check`, then the launcher's command. It must work although the
/// prefix contains a space, which would end a name in LD_PRELOAD.
pub(crate) fn treefold_run(
    words: &str,
    steps: &Steps,
    prefix: &Path,
    ranks: usize,
    program: impl AsRef<Path>,
) -> Command {
    let launcher = steps.installation.command(ranks, program.as_ref());
    let run = prefix.join("bin/treefold-run");
    let mut command = command!(run, words, launcher.get_program());
    command.args(launcher.get_args());
    for (name, value) in launcher.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    command.env("MPIEXEC_TIMEOUT", TIMEOUT_SECONDS);
    command
}

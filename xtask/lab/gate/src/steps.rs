//! Running the steps of a stage: each is one command, announced before it runs and timed when it ends.

use std::env;
use std::mem;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Instant;

use checkout::workspace::{cargo, workspace};
use harness::plot::Record;
use harness::{Error, Installation};

use super::record::Ran;

/// Runs steps and counts those that passed.
#[derive(Debug)]
pub(super) struct Steps {
    passed_count: usize,
    mpi: bool,
    installation: Installation,
    ran: Vec<Ran>,
    prefix: Option<PathBuf>,
    pictures: Vec<(&'static str, Record)>,
}

/// The path of this very program. It is asked for before any step, since one may build the program anew, and Linux then calls it deleted.
pub(super) fn own_program() -> Result<&'static Path, Error> {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    if let Some(known) = PATH.get() {
        return Ok(known);
    }
    let path = env::current_exe().map_err(|error| Error::Run(error.to_string()))?;
    Ok(PATH.get_or_init(|| path))
}

/// Why a stage ends early.
pub(super) enum Stop {
    /// A step failed.
    Failed,
    /// A step could not be run.
    Error(Error),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<checkout::Error> for Stop {
    fn from(error: checkout::Error) -> Self {
        Self::Error(error.into())
    }
}

impl Steps {
    /// No steps yet.
    pub(super) fn new(mpi: bool, installation: Installation) -> Self {
        Self {
            passed_count: 0,
            mpi,
            installation,
            ran: Vec::new(),
            prefix: None,
            pictures: Vec::new(),
        }
    }

    /// Notes that these members' tests passed with the MPI library in use, on these numbers of ranks.
    pub(super) fn note(&mut self, members: &[&str], ranks: &str) {
        self.ran
            .extend(Ran::new(&self.installation, members, ranks));
    }

    /// What passed with MPI libraries that were named.
    pub(super) fn ran(&self) -> &[Ran] {
        &self.ran
    }

    /// Notes what a file of docs/ shows.
    pub(super) fn note_picture(&mut self, file: &'static str, picture: Record) {
        self.pictures.push((file, picture));
    }

    /// The pictures of what was run.
    pub(super) fn pictures(&self) -> &[(&'static str, Record)] {
        &self.pictures
    }

    /// Notes where treefold was installed.
    pub(super) fn note_prefix(&mut self, prefix: PathBuf) {
        self.prefix = Some(prefix);
    }

    /// Where an earlier step of this run installed it.
    pub(super) fn prefix(&self) -> Option<&Path> {
        self.prefix.as_deref()
    }

    /// The MPI library of the steps that need one.
    pub(super) fn installation(&self) -> &Installation {
        &self.installation
    }

    /// Runs steps with another MPI library.
    pub(super) fn with_installation<R>(
        &mut self,
        installation: Installation,
        run: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let before = mem::replace(&mut self.installation, installation);
        let result = run(self);
        self.installation = before;
        result
    }

    /// How many passed.
    pub(super) fn passed_count(&self) -> usize {
        self.passed_count
    }

    /// Whether steps may need MPI.
    pub(super) fn mpi(&self) -> bool {
        self.mpi
    }

    /// Runs one command.
    pub(super) fn step(&mut self, name: &str, command: &mut Command) -> Result<(), Stop> {
        println!("\n── {name}");
        let begin = Instant::now();
        let status = command.stdin(Stdio::null()).status();
        let status = status.map_err(|error| Stop::Error(Error::Run(format!("{name}: {error}"))))?;
        let seconds = begin.elapsed().as_secs_f64();
        if !status.success() {
            println!("── FAILED: {name} ({status}, {seconds:.0} s)");
            return Err(Stop::Failed);
        }
        println!("── passed: {name} ({seconds:.0} s)");
        self.passed_count += 1;
        Ok(())
    }

    /// Looks at what other steps left; what is found is printed, or what is wrong.
    pub(super) fn check(
        &mut self,
        name: &str,
        check: impl FnOnce() -> Result<String, String>,
    ) -> Result<(), Stop> {
        println!("\n── {name}");
        match check() {
            Ok(found) => {
                println!("── passed: {name}: {found}");
                self.passed_count += 1;
                Ok(())
            }
            Err(wrong) => {
                println!("── FAILED: {name}: {wrong}");
                Err(Stop::Failed)
            }
        }
    }

    /// Runs `cargo` with these words.
    pub(super) fn cargo(&mut self, name: &str, words: &str) -> Result<(), Stop> {
        let mut cargo = cargo();
        self.step(name, cargo.args(words.split_whitespace()))
    }

    /// Runs this very program with these words.
    pub(super) fn xtask(&mut self, name: &str, words: &str) -> Result<(), Stop> {
        let mut command = Command::new(own_program()?);
        self.installation.pass_on(&mut command);
        let words = words.split_whitespace();
        self.step(name, command.args(words).current_dir(workspace()))
    }
}

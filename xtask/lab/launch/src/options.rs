//! Options of every command that starts ranks as processes.

use std::process::Command;

use crate::{Error, Installation};
use clap::Args;

/// Which MPI library to use, and how to start its ranks.
#[derive(Args, Clone, Debug, Default)]
pub struct MpiOptions {
    /// The MPI library: openmpi, mpich, openmpi5, mpich4, mpich5 or impi [default: TREEFOLD_MPI, or the library of MPICC or of the first
    /// mpirun on PATH]
    #[arg(long, value_name = "NAME")]
    mpi: Option<String>,
    /// The command that starts ranks, for example "srun -n {ranks}" [default: TREEFOLD_MPIRUN, or the library's own]
    #[arg(long, value_name = "COMMAND")]
    launcher: Option<String>,
}

impl MpiOptions {
    /// The library and launcher that the options name.
    pub fn installation(&self) -> Result<Installation, Error> {
        Installation::find(self.mpi.as_deref(), self.launcher.as_deref())
    }

    /// Fails if these options are given but not used, because all ranks are threads.
    pub fn check_use(&self, is_used: bool) -> Result<(), Error> {
        match self.given().next() {
            Some((option, _)) if !is_used => {
                let reason = "all ranks are threads; `--backend mpi` makes them processes";
                Err(Error::option(option, reason))
            }
            _ => Ok(()),
        }
    }

    /// The options that are given, with their values.
    fn given(&self) -> impl Iterator<Item = (&'static str, &String)> {
        let options = [("--mpi", &self.mpi), ("--launcher", &self.launcher)];
        let options = options.into_iter();
        options.filter_map(|(option, value)| Some((option, value.as_ref()?)))
    }

    /// Passes the options to another command of this program.
    pub fn pass_on(&self, command: &mut Command) {
        for (option, value) in self.given() {
            command.args([option, value]);
        }
    }
}

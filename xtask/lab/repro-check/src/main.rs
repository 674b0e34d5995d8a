//! Parses the command line, runs the command and sets the exit status.
//!
//! 0: reproducible. 1: not reproducible. 2: a usage or input error, reported in one line.

use std::process::ExitCode;

use clap::Parser;
use repro_check::{Error, Options, ranks};

/// Sums data on many rank counts and compares the bits.
#[derive(Parser)]
#[command(name = "cargo xtask repro-check", version)]
struct Cli {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    // The MPI launcher runs this program on each rank.
    let part = ranks::take_part(|world, words| match words {
        ["repro", job] => ranks::check(world, job),
        _ => Err(Error::Run(
            "usage: repro-check mpi-runner repro JOB".to_owned(),
        )),
    });
    part.unwrap_or_else(|| match checkout::parsed::<Cli>() {
        Ok(cli) => checkout::ended(repro_check::run(&cli.options, None)),
        Err(status) => status,
    })
}

//! The program of `cargo xtask test` and `cargo xtask release`. It contains only the gate, which builds what its stages need.

use std::process::ExitCode;

use clap::Parser;
use gate::{Options, run_stages};

/// Runs the checks that must pass before a change lands.
#[derive(Parser)]
#[command(name = "cargo xtask", version)]
enum Command {
    /// Runs what CI runs, or the named stages
    Test(Options),
    /// Builds the release files in dist/ and tests them; the same as `test --stage release`
    Release,
}

fn main() -> ExitCode {
    let options = match checkout::parsed() {
        Ok(Command::Test(options)) => options,
        Ok(Command::Release) => Options::of_stage("release"),
        Err(status) => return status,
    };
    checkout::ended(run_stages(&options))
}

//! The program behind `cargo xtask test` and `cargo xtask release`: only the gate, which builds what its stages need.

use std::process::ExitCode;

use checkout::{in_a_line, refuse};
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
    let command = match Command::try_parse() {
        Ok(command) => command,
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => return refuse(&in_a_line(&error.to_string())),
    };
    let options = match command {
        Command::Test(options) => options,
        Command::Release => Options::of_stage("release"),
    };
    match run_stages(&options) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => refuse(&format!("error: {error}")),
    }
}

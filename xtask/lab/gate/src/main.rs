//! What `cargo xtask test` and `cargo xtask release` start: the gate alone, which builds what its stages use.

use std::process::ExitCode;

use checkout::{in_a_line, refuse};
use clap::Parser;
use gate::{Options, run_stages};

/// What must pass before a change lands.
#[derive(Parser)]
#[command(name = "cargo xtask", version)]
enum Command {
    /// Runs what CI runs, or the stages that are named
    Test(Options),
    /// Makes in dist/ what people download, and tries it: the stage `release` of `test`
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

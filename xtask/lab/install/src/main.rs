//! The program behind `cargo xtask install`.

use std::process::ExitCode;

use checkout::{in_a_line, refuse};
use clap::Parser;
use install::{Options, install};

/// Installs the libraries for C, C++ and Fortran
#[derive(Parser)]
#[command(name = "cargo xtask install", version)]
struct Cli {
    #[command(flatten)]
    options: Options,
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if !error.use_stderr() => error.exit(),
        Err(error) => return refuse(&in_a_line(&error.to_string())),
    };
    match install(&cli.options) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => refuse(&format!("error: {error}")),
    }
}

//! The program of `cargo xtask install`.

use std::process::ExitCode;

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
    match checkout::parsed::<Cli>() {
        Ok(cli) => checkout::ended(install(&cli.options).map(|()| true)),
        Err(status) => status,
    }
}

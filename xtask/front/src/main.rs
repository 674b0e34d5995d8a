//! What `cargo xtask` runs: it builds what a command needs, and no more. To install takes the installer alone; all other commands are in
//! package `xtask`.

use std::env;
use std::ffi::OsString;
use std::process::{Command, ExitCode};

/// How cargo ends where it cannot build; what it runs ends otherwise.
const CARGO_FAILED: u8 = 101;

fn main() -> ExitCode {
    let mut words: Vec<OsString> = env::args_os().skip(1).collect();
    let package = if words.first().is_some_and(|word| word == "install") {
        words.remove(0);
        "install"
    } else {
        "xtask"
    };
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    // Optimised: it runs the numbers itself.
    cargo.args([
        "run",
        "--quiet",
        "--release",
        "--package",
        package,
        "--bin",
        package,
    ]);
    let is_offline = package == "install" && words.iter().any(|word| word == "--offline");
    if is_offline {
        cargo.arg("--offline");
    }
    cargo.arg("--");
    let ended = cargo.args(words).status();
    match ended {
        Ok(status) => {
            let code = status.code().and_then(|code| u8::try_from(code).ok());
            if is_offline && code == Some(CARGO_FAILED) {
                eprintln!(
                    "error: --offline: the tarball has all that treefold is built of; a clone has it after `cargo fetch`"
                );
            }
            code.map_or(ExitCode::FAILURE, ExitCode::from)
        }
        Err(error) => {
            eprintln!("error: cargo: {error}");
            ExitCode::from(2)
        }
    }
}

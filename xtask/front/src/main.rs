//! The entry point of `cargo xtask`. It builds only the package that contains the given command: `repro-check`, `install` and `book` are in
//! packages of these names, `test` and `release` are in `gate`, and all other commands are in `xtask`.

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitCode};

/// Cargo's exit status if a build fails. The programs that Cargo runs never end with this status.
const CARGO_FAILED: u8 = 101;

/// Cargo's settings for the gate, which builds everything once.
const ONCE: [(&str, &str); 3] = [
    ("CARGO_INCREMENTAL", "0"),
    ("CARGO_PROFILE_DEV_DEBUG", "none"),
    ("CARGO_PROFILE_RELEASE_DEBUG", "none"),
];

/// The help in the installation tarball, which has only the installer.
const OF_TARBALL: &str = "\
Installs the libraries for C, C++ and Fortran.

Usage: cargo xtask install [OPTIONS]

`cargo xtask install --help` lists the options. The other commands need a clone of treefold.
";

fn main() -> ExitCode {
    let mut words: Vec<OsString> = env::args_os().skip(1).collect();
    let command = words.first().and_then(|word| word.to_str());
    // These options need no build.
    match command {
        Some("-h" | "--help" | "help") if words.len() == 1 => {
            let whole = include_str!("help.txt");
            return print(if is_here("xtask") { whole } else { OF_TARBALL });
        }
        Some("-V" | "--version") => {
            return print(concat!("cargo xtask ", env!("CARGO_PKG_VERSION"), "\n"));
        }
        None => return refuse("no command; `cargo xtask --help` lists them"),
        _ => {}
    }
    let package = match command {
        Some("install") => "install",
        Some("book") => "book",
        // This small program cannot draw pictures; `xtask` can.
        Some("repro-check") if !words.iter().any(is_plot) => "repro-check",
        Some("test" | "release") => "gate",
        _ => "xtask",
    };
    if !is_here(package) {
        return refuse(
            "this folder has only `cargo xtask install`; the other commands need a clone of treefold",
        );
    }
    // These programs have a single command, so its name is dropped.
    if matches!(package, "repro-check" | "install" | "book") {
        words.remove(0);
    }
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["run", "--package", package, "--bin", package]);
    match package {
        // The gate builds everything once, so it needs no data for incremental builds, which would be a third of the target folder. Debug
        // information would be half of the rest.
        "gate" => cargo.envs(
            ONCE.into_iter()
                .filter(|(name, _)| env::var_os(name).is_none()),
        ),
        // This profile is optimised, because `repro-check` computes many sums.
        "repro-check" => cargo.args(["--profile", "quick"]),
        "xtask" => cargo.arg("--release"),
        _ => &mut cargo,
    };
    let is_offline = package == "install" && words.iter().any(|word| word == "--offline");
    if is_offline {
        cargo.arg("--offline");
    }
    let status = match cargo.arg("--").args(words).status() {
        Ok(status) => status,
        Err(error) => return refuse(&format!("cargo: {error}")),
    };
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    if is_offline && code == Some(CARGO_FAILED) {
        eprintln!(
            "error: --offline: the dependencies may be missing; the tarball includes them, and in a clone, `cargo fetch` downloads them"
        );
    }
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Prints an error and returns exit status 2.
fn refuse(error: &str) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::from(2)
}

/// Whether this folder has a package's sources. The installation tarball has only some packages.
fn is_here(package: &str) -> bool {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = match package {
        "xtask" => xtask,
        _ => xtask.join("lab").join(package),
    };
    folder.join("Cargo.toml").exists()
}

/// Whether an argument is `--plot`, which asks for a picture.
fn is_plot(word: &OsString) -> bool {
    word.to_str()
        .is_some_and(|word| word == "--plot" || word.starts_with("--plot="))
}

/// Prints a text. Ignores errors, since a reader may close the stream early.
fn print(text: &str) -> ExitCode {
    let _ = io::stdout().write_all(text.as_bytes());
    ExitCode::SUCCESS
}
